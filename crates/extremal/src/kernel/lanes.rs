//! Formulas on eight numbers at a time, in explicit vector registers of any width.
//!
//! Nothing is fused, and sums are added in the same order on every processor. Results therefore have
//! the same bits everywhere.

#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop)] // as in `sweep`

use std::ops::{Add, AddAssign, Div, Mul, Sub};

pub(crate) use pulp::Simd;
use pulp::{Scalar, WithSimd};

use super::sweep::{Apart, LANES, dispatch, load, total};

/// Eight numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Eight(pub [f64; LANES]);

/// The size of an item of a table, in numbers.
pub(crate) const ITEM: usize = 2 * LANES;

/// Reads the items in up to eight slots of a table. Lane j of the k-th [`Eight`] is the k-th number
/// of item j. The item `missing` fills the lanes without a slot.
#[inline]
pub(crate) fn gather<T: AsRef<[f64; ITEM]>>(
    table: &[T],
    slots: &[u32],
    missing: &T,
    to: &mut [Eight; ITEM],
) {
    let items: [&[f64; ITEM]; LANES] = std::array::from_fn(|lane| match slots.get(lane) {
        Some(slot) => table[*slot as usize].as_ref(),
        None => missing.as_ref(),
    });
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V4::try_new() {
        let from = items.map(|item| item.as_ptr());
        let to = to.as_mut_ptr().cast();
        // SAFETY: an item has 16 numbers, and an `Eight` is 8 numbers in a row.
        return unsafe { avx512::gather(simd, &from, to) };
    }
    for (k, eight) in to.iter_mut().enumerate() {
        *eight = Eight(items.map(|item| item[k]));
    }
}

/// Writes items into up to eight slots of a table. This is the inverse of [`gather`].
#[inline]
pub(crate) fn scatter<T: AsMut<[f64; ITEM]>>(from: &[Eight; ITEM], table: &mut [T], slots: &[u32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V4::try_new() {
        let from = from.as_ptr().cast();
        let mut left = [0.0; ITEM];
        let left = left.as_mut_ptr();
        let to = std::array::from_fn(|lane| match slots.get(lane) {
            Some(slot) => table[*slot as usize].as_mut().as_mut_ptr(),
            None => left,
        });
        // SAFETY: an `Eight` is 8 numbers in a row. An item has 16 numbers, and so has `left`.
        return unsafe { avx512::scatter(simd, from, &to) };
    }
    for (lane, slot) in slots.iter().enumerate().take(LANES) {
        let item = table[*slot as usize].as_mut();
        for (number, eight) in item.iter_mut().zip(from) {
            *number = eight.0[lane];
        }
    }
}

/// Both functions in registers. A square of 8 by 8 numbers takes 24 instructions.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::__m512d;

    use pulp::x86::V4;

    use super::LANES;

    type Square = [__m512d; LANES];

    #[inline(always)]
    fn transposed(simd: V4, [a, b, c, d, e, f, g, h]: Square) -> Square {
        let avx = simd.avx512f;
        let even = |a, b| avx._mm512_unpacklo_pd(a, b);
        let odd = |a, b| avx._mm512_unpackhi_pd(a, b);
        // pairs of columns 0, 2, 4, 6 and 1, 3, 5, 7
        let [ab, cd, ef, gh] = [even(a, b), even(c, d), even(e, f), even(g, h)];
        let [ab1, cd1, ef1, gh1] = [odd(a, b), odd(c, d), odd(e, f), odd(g, h)];
        let first = avx._mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let second = avx._mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        let mix = |a, which, b| avx._mm512_permutex2var_pd(a, which, b);
        let low = |a, b| avx._mm512_shuffle_f64x2::<0x44>(a, b);
        let high = |a, b| avx._mm512_shuffle_f64x2::<0xee>(a, b);
        // columns 0 and 4, 2 and 6, 1 and 5, 3 and 7
        let [abcd04, efgh04] = [mix(ab, first, cd), mix(ef, first, gh)];
        let [abcd26, efgh26] = [mix(ab, second, cd), mix(ef, second, gh)];
        let [abcd15, efgh15] = [mix(ab1, first, cd1), mix(ef1, first, gh1)];
        let [abcd37, efgh37] = [mix(ab1, second, cd1), mix(ef1, second, gh1)];
        [
            low(abcd04, efgh04),
            low(abcd15, efgh15),
            low(abcd26, efgh26),
            low(abcd37, efgh37),
            high(abcd04, efgh04),
            high(abcd15, efgh15),
            high(abcd26, efgh26),
            high(abcd37, efgh37),
        ]
    }

    /// # Safety
    /// There must be 16 numbers at each address of `from`, and memory for 128 numbers at `to`.
    #[inline(always)]
    pub(super) unsafe fn gather(simd: V4, from: &[*const f64; LANES], to: *mut f64) {
        simd.vectorize(
            #[inline(always)]
            || {
                for half in [0, LANES] {
                    let mut square = [simd.avx512f._mm512_setzero_pd(); LANES];
                    for k in 0..LANES {
                        let row = from[k].wrapping_add(half).cast::<__m512d>();
                        // SAFETY: as above
                        square[k] = unsafe { row.read_unaligned() };
                    }
                    let square = transposed(simd, square);
                    for k in 0..LANES {
                        let column = to.wrapping_add((half + k) * LANES).cast::<__m512d>();
                        // SAFETY: as above
                        unsafe { column.write_unaligned(square[k]) };
                    }
                }
            },
        );
    }

    /// # Safety
    /// There must be 128 numbers at `from`, and memory for 16 numbers at each address of `to`.
    #[inline(always)]
    pub(super) unsafe fn scatter(simd: V4, from: *const f64, to: &[*mut f64; LANES]) {
        simd.vectorize(
            #[inline(always)]
            || {
                for half in [0, LANES] {
                    let mut square = [simd.avx512f._mm512_setzero_pd(); LANES];
                    for k in 0..LANES {
                        let column = from.wrapping_add((half + k) * LANES).cast::<__m512d>();
                        // SAFETY: as above
                        square[k] = unsafe { column.read_unaligned() };
                    }
                    let square = transposed(simd, square);
                    for k in 0..LANES {
                        let row = to[k].wrapping_add(half).cast::<__m512d>();
                        // SAFETY: as above
                        unsafe { row.write_unaligned(square[k]) };
                    }
                }
            },
        );
    }
}

/// The numbers of an [`Eight`] that one register holds.
#[derive(Clone, Copy)]
pub(crate) struct Part<S> {
    s: S,
    /// The index of the first of these numbers. `first + S::F64_LANES` is at most eight.
    first: usize,
}

impl<S: Simd> Part<S> {
    /// A register with this number in every lane.
    #[inline(always)]
    pub fn all(self, number: f64) -> Lanes<S> {
        Lanes(self.s, self.s.splat_f64s(number))
    }

    #[inline(always)]
    pub fn of(self, eight: &Eight) -> Lanes<S> {
        // SAFETY: the part lies within the eight numbers.
        Lanes(self.s, unsafe {
            load::<S>(eight.0.as_ptr().add(self.first))
        })
    }

    /// Replaces this part of the eight numbers.
    #[inline(always)]
    pub fn set(self, eight: &mut Eight, lanes: Lanes<S>) {
        // SAFETY: the part lies within the eight numbers.
        let to = unsafe { eight.0.as_mut_ptr().add(self.first) };
        unsafe { to.cast::<S::f64s>().write_unaligned(lanes.1) };
    }
}

impl Part<Scalar> {
    /// The part that consists of a single number.
    pub fn single(lane: usize) -> Self {
        assert!(lane < LANES);
        Self {
            s: Scalar,
            first: lane,
        }
    }
}

/// A register of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<S: Simd>(S, S::f64s);

impl Lanes<Scalar> {
    pub fn number(self) -> f64 {
        self.1
    }
}

impl<S: Simd> Lanes<S> {
    #[inline(always)]
    pub fn abs(self) -> Self {
        Self(self.0, self.0.abs_f64s(self.1))
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self(self.0, self.0.sqrt_f64s(self.1))
    }

    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        Self(self.0, self.0.max_f64s(self.1, other.1))
    }

    /// Lane by lane: `then` if `self` is above `other`, and `otherwise` in all other cases.
    #[inline(always)]
    pub fn if_above(self, other: Self, then: Self, otherwise: Self) -> Self {
        let above = self.0.less_than_f64s(other.1, self.1);
        Self(self.0, self.0.select_f64s(above, then.1, otherwise.1))
    }
}

macro_rules! operator {
    ($operator:ident, $method:ident, $function:ident) => {
        impl<S: Simd> $operator for Lanes<S> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0, self.0.$function(self.1, other.1))
            }
        }
    };
}

operator!(Add, add, add_f64s);
operator!(Sub, sub, sub_f64s);
operator!(Mul, mul, mul_f64s);
operator!(Div, div, div_f64s);

impl<S: Simd> AddAssign for Lanes<S> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A formula on blocks of [`Eight`]s, with K sums.
pub(crate) trait Formula<B, const K: usize>: Copy {
    /// Applies the formula to a part of every [`Eight`] of a block. The implementation must be
    /// wrapped in [`compiled_with_caller`].
    fn apply<S: Simd>(self, part: Part<S>, block: &mut B, sums: &mut [Lanes<S>; K]);
}

/// Applies a formula to all blocks, compiled for the best instruction set of this processor. Returns
/// the sums.
#[inline(always)]
pub(crate) fn apply<B, const K: usize>(blocks: &mut [B], formula: impl Formula<B, K>) -> [f64; K] {
    let mut sums = [Apart(0.0); K];
    dispatch(Blocks {
        blocks,
        formula,
        sums: &mut sums,
    });
    sums.map(|Apart(sum)| sum)
}

struct Blocks<'a, B, F, const K: usize> {
    blocks: &'a mut [B],
    formula: F,
    sums: &'a mut [Apart; K],
}

impl<B, F: Formula<B, K>, const K: usize> Blocks<'_, B, F, K> {
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, s: S) {
        // sums[r] belongs to the r-th register of each block
        let mut sums = [[Lanes(s, s.splat_f64s(0.0)); K]; REGISTERS];
        for block in self.blocks {
            let mut r = 0;
            while r < REGISTERS {
                let first = r * S::F64_LANES;
                self.formula.apply(Part { s, first }, block, &mut sums[r]);
                r += 1;
            }
        }
        for k in 0..K {
            let mut registers = [s.splat_f64s(0.0); REGISTERS];
            for r in 0..REGISTERS {
                registers[r] = sums[r][k].1;
            }
            self.sums[k] = Apart(total(s, registers));
        }
    }
}

impl<B, F: Formula<B, K>, const K: usize> WithSimd for Blocks<'_, B, F, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        // Eight lanes need one, two or four registers.
        match S::F64_LANES {
            8 => self.run::<S, 1>(s),
            4 => self.run::<S, 2>(s),
            2 => self.run::<S, 4>(s),
            _ => self.run::<S, 8>(s),
        }
    }
}

/// Compiles a function as a part of its callers, for their instruction sets. Every function that it
/// calls must be compiled in this way, too, or be a method of [`Lanes`] or [`Part`]. Closures are
/// not.
macro_rules! compiled_with_caller {
    ($(#[$attribute:meta])* fn $($function:tt)*) => {
        $(#[$attribute])*
        #[inline(always)]
        fn $($function)*
    };
}
pub(crate) use compiled_with_caller;

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the root of the second number to the first number.
    #[derive(Clone, Copy)]
    struct AddRoot;

    impl Formula<[Eight; 2], 2> for AddRoot {
        compiled_with_caller! {
            fn apply<S: Simd>(self, part: Part<S>, block: &mut [Eight; 2], sums: &mut [Lanes<S>; 2]) {
                let [a, b] = [part.of(&block[0]), part.of(&block[1])];
                let zero = part.all(0.0);
                let root = b.if_above(zero, b.sqrt(), zero - b.abs() / part.all(3.0));
                sums[0] += a * root;
                sums[1] += a.max(b);
                part.set(&mut block[0], a + root);
            }
        }
    }

    fn blocks(n: usize) -> Vec<[Eight; 2]> {
        let eight = |start: usize, step: f64| {
            Eight(std::array::from_fn(|k| ((start + k) as f64 * step).sin()))
        };
        let block = |b| [eight(LANES * b, 0.37), eight(LANES * b, 1.13)];
        (0..n).map(block).collect()
    }

    #[test]
    fn a_formula_gives_each_lane_what_it_gives_a_single_number() {
        let (mut all, mut single) = (blocks(5), blocks(5));
        apply(&mut all, AddRoot);
        for block in &mut single {
            for lane in 0..LANES {
                let part = Part::single(lane);
                AddRoot.apply(part, block, &mut [part.all(0.0); 2]);
            }
        }
        assert_eq!(all, single);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_formula_has_the_same_bits_on_avx2_and_avx512() {
        let Some(avx2) = pulp::x86::V3::try_new() else {
            println!("skipped: the processor has no AVX2");
            return;
        };
        for n in 0..10 {
            let (mut first, mut second) = (blocks(n), blocks(n));
            let here = apply(&mut first, AddRoot);
            let mut there = [Apart(0.0); 2];
            let pass = Blocks {
                blocks: &mut second,
                formula: AddRoot,
                sums: &mut there,
            };
            Simd::vectorize(avx2, pass);
            assert_eq!((here, first), (there.map(|sum| sum.0), second), "n = {n}");
        }
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Item([f64; ITEM]);

    impl AsRef<[f64; ITEM]> for Item {
        fn as_ref(&self) -> &[f64; ITEM] {
            &self.0
        }
    }

    impl AsMut<[f64; ITEM]> for Item {
        fn as_mut(&mut self) -> &mut [f64; ITEM] {
            &mut self.0
        }
    }

    #[test]
    fn items_are_gathered_into_lanes_and_scattered_back() {
        let items = |start: usize| -> Vec<Item> {
            let item = |i: usize| Item(std::array::from_fn(|k| (start + 100 * i + k) as f64));
            (0..12).map(item).collect()
        };
        let (before, missing) = (items(0), Item([-1.0; ITEM]));
        for n in 0..=LANES {
            let slots = &[7, 0, 11, 3, 4, 10, 1, 5][..n];
            let mut eights = [Eight::default(); ITEM];
            gather(&before, slots, &missing, &mut eights);
            for (k, eight) in eights.iter().enumerate() {
                for lane in 0..LANES {
                    let item = slots.get(lane).map_or(&missing, |i| &before[*i as usize]);
                    assert_eq!(eight.0[lane], item.0[k], "n = {n}");
                }
            }
            let mut after = items(5000);
            scatter(&eights, &mut after, slots);
            for (i, item) in after.iter().enumerate() {
                let written = slots.contains(&(i as u32));
                let expected = if written { &before[i] } else { &items(5000)[i] };
                assert_eq!(item, expected, "n = {n}");
            }
        }
    }
}
