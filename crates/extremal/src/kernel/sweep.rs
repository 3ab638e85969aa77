//! One pass over several vectors of the same length, in explicit vector registers.
//!
//! A sum has eight lanes, and entry i is added to lane i mod 8. At the end the upper half of the
//! lanes is added to the lower half, and this is repeated until one lane is left. The result has the
//! same bits whether a register holds two, four or eight numbers.

#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop)] // iterators are not always inlined, see below

use std::marker::PhantomData;

use pulp::{Arch, MemMask, Simd, WithSimd};

use super::buffer::Buffer;
use super::prefetch::prefetch_line;

/// The number of lanes of a sum.
pub(crate) const LANES: usize = 8;

/// The computation on one register of entries.
pub(crate) trait Body<const N: usize, const R: usize, const W: usize, const K: usize>:
    Copy
{
    /// Whether the last vector that is read is a row of a matrix, and the next pass is likely to read
    /// the next row. The pass then prefetches the next row.
    const PREFETCHES_NEXT_ROW: bool = false;

    /// Returns the new values of the W vectors that are written, and adds to K sums. The inputs are N
    /// numbers, R vectors that are only read, and the old values of the W vectors.
    fn lane<S: Simd>(
        self,
        s: S,
        numbers: [S::f64s; N],
        read: [S::f64s; R],
        own: [S::f64s; W],
        sums: &mut [S::f64s; K],
    ) -> [S::f64s; W];
}

/// A vector that a pass writes.
///
/// # Safety
/// [`Own::parts`] returns the address and the number of the entries. If [`Own::PADDED`] is true, the
/// memory behind this address may be written up to the next multiple of [`LANES`] entries.
pub(crate) unsafe trait Own {
    /// Whether the last register may be stored as a whole. The processor can't forward a partial
    /// store to the pass that reads it next.
    const PADDED: bool;

    fn parts(&mut self) -> (*mut f64, usize);
}

// SAFETY: a slice has memory for its entries, and `PADDED` is false.
unsafe impl Own for [f64] {
    const PADDED: bool = false;

    #[inline(always)]
    fn parts(&mut self) -> (*mut f64, usize) {
        (self.as_mut_ptr(), self.len())
    }
}

// SAFETY: a buffer consists of whole blocks of `LANES` entries.
unsafe impl Own for Buffer {
    const PADDED: bool = true;

    #[inline(always)]
    fn parts(&mut self) -> (*mut f64, usize) {
        (self.padded_mut().as_mut_ptr(), self.len())
    }
}

/// Runs `body` over all entries of the vectors, which have the same length. Returns the K sums.
///
/// This function and the passes that call it are inlined. In a short round, copying the arguments
/// between stack frames would cost more than the sums.
#[inline(always)]
pub(crate) fn sweep<
    O: Own + ?Sized,
    const N: usize,
    const R: usize,
    const W: usize,
    const K: usize,
>(
    numbers: [f64; N],
    read: [&[f64]; R],
    own: [&mut O; W],
    body: impl Body<N, R, W, K>,
) -> [f64; K] {
    let mut sums = [Apart(0.0); K];
    dispatch(Sweep::new(&numbers, &mut sums, read, own, body));
    sums.map(|Apart(sum)| sum)
}

/// A sum that is not adjacent to another sum in memory. Two adjacent sums would be read as one
/// register, and the read waits until both have left the store buffer. In a short pass this wait
/// takes longer than the sums.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(crate) struct Apart(pub f64);

/// The arguments of a pass. Vectors are passed as addresses, because an address is half as large as a
/// slice. `new` checks the lengths.
struct Sweep<'a, O: ?Sized, B, const N: usize, const R: usize, const W: usize, const K: usize> {
    n: usize,
    numbers: &'a [f64; N],
    sums: &'a mut [Apart; K],
    read: [*const f64; R],
    own: [*mut f64; W],
    body: B,
    written: PhantomData<O>,
}

impl<'a, O, B, const N: usize, const R: usize, const W: usize, const K: usize>
    Sweep<'a, O, B, N, R, W, K>
where
    O: Own + ?Sized,
    B: Body<N, R, W, K>,
{
    #[inline(always)]
    fn new(
        numbers: &'a [f64; N],
        sums: &'a mut [Apart; K],
        read: [&'a [f64]; R],
        own: [&'a mut O; W],
        body: B,
    ) -> Self {
        let own = own.map(O::parts);
        let n = match (read.first(), own.first()) {
            (Some(first), _) => first.len(),
            (None, Some((_, len))) => *len,
            (None, None) => 0,
        };
        let mut from = [std::ptr::null(); R];
        for k in 0..R {
            assert_eq!(read[k].len(), n);
            from[k] = read[k].as_ptr();
        }
        let mut to = [std::ptr::null_mut(); W];
        for k in 0..W {
            let (entries, len) = own[k];
            assert_eq!(len, n);
            to[k] = entries;
        }
        Self {
            n,
            numbers,
            sums,
            read: from,
            own: to,
            body,
            written: PhantomData,
        }
    }

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, s: S) {
        let zero = s.splat_f64s(0.0);
        let mut splats = [zero; N];
        for k in 0..N {
            splats[k] = s.splat_f64s(self.numbers[k]);
        }
        let Self {
            n,
            sums: out,
            read,
            own,
            body,
            ..
        } = self;
        // sums[r] belongs to the r-th register of each group of eight entries
        let mut sums = [[zero; K]; REGISTERS];

        // These are macros and plain loops, because closures and iterators are not always inlined.
        // Only inlined code is compiled for the chosen instruction set.
        //
        // SAFETY, here and below: `new` checked that every vector has n entries, and padded vectors
        // have memory for the whole last register. Apart from its alignment, a register has the
        // layout of an array of its lanes.
        macro_rules! one {
            ($at:expr, $sums:expr, $from:ident => $load:expr, $to:ident, $v:ident => $store:expr) => {{
                let at = $at;
                let mut old_read = [zero; R];
                for k in 0..R {
                    let $from = read[k].wrapping_add(at);
                    old_read[k] = unsafe { $load };
                }
                let mut old_own = [zero; W];
                for k in 0..W {
                    let $from = own[k].wrapping_add(at).cast_const();
                    old_own[k] = unsafe { $load };
                }
                let new = body.lane(s, splats, old_read, old_own, $sums);
                for k in 0..W {
                    let ($to, $v) = (own[k].wrapping_add(at), new[k]);
                    unsafe { $store };
                }
            }};
        }
        // The hardware prefetches short rows by itself, and long rows would evict the vectors. In
        // sparse storage the vectors are not padded, and the row is scratch memory without a next
        // row.
        let has_next = B::PREFETCHES_NEXT_ROW && O::PADDED;
        let next_row = match read.last() {
            Some(row) if has_next && (256..=65_536).contains(&n) => row.wrapping_add(n),
            _ => std::ptr::null(),
        };
        let mut i = 0;
        while i + LANES <= n {
            if !next_row.is_null() {
                prefetch_line(next_row.wrapping_add(i), true);
            }
            let mut r = 0;
            while r < REGISTERS {
                let at = i + r * S::F64_LANES;
                one!(at, &mut sums[r],
                    from => load::<S>(from),
                    to, v => to.cast::<S::f64s>().write_unaligned(v));
                r += 1;
            }
            i += LANES;
        }
        // Handles the remaining entries. The loop has a fixed length, so that the sums stay in
        // registers.
        if i < n {
            let mut r = 0;
            while r < REGISTERS {
                let at = i + r * S::F64_LANES;
                if at + S::F64_LANES <= n {
                    one!(at, &mut sums[r],
                    from => load::<S>(from),
                    to, v => to.cast::<S::f64s>().write_unaligned(v));
                } else if at < n {
                    let part = first_lanes(s, n - at);
                    one!(at, &mut sums[r],
                    from => s.mask_load_ptr_f64s(part, from),
                    to, v => match O::PADDED {
                        true => to.cast::<S::f64s>().write_unaligned(v),
                        false => s.mask_store_ptr_f64s(part, to, v),
                    });
                }
                r += 1;
            }
        }
        for k in 0..K {
            let mut registers = [zero; REGISTERS];
            for r in 0..REGISTERS {
                registers[r] = sums[r][k];
            }
            out[k] = Apart(total(s, registers));
        }
    }
}

impl<O, B, const N: usize, const R: usize, const W: usize, const K: usize> WithSimd
    for Sweep<'_, O, B, N, R, W, K>
where
    O: Own + ?Sized,
    B: Body<N, R, W, K>,
{
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

/// Loads one register.
///
/// # Safety
/// The address must point to as many numbers as a register has lanes.
#[inline(always)]
pub(super) unsafe fn load<S: Simd>(from: *const f64) -> S::f64s {
    unsafe { from.cast::<S::f64s>().read_unaligned() }
}

/// A mask for the first `count` lanes, where `count` is less than the number of lanes. (The partial
/// loads of pulp use a jump table instead.)
#[inline(always)]
pub(super) fn first_lanes<S: Simd>(s: S, count: usize) -> MemMask<S::m64s> {
    MemMask::new(s.mask_between_m64s(0, count as u64).mask())
}

/// The sum of all lanes. The second half of the lanes is added to the first half, and this is
/// repeated until one lane is left. All steps stay in registers. A value that is written to the stack
/// and read again delays a short round whenever a vector has the same offset in its memory page.
#[inline(always)]
pub(super) fn total<S: Simd, const REGISTERS: usize>(
    s: S,
    mut registers: [S::f64s; REGISTERS],
) -> f64 {
    let mut width = REGISTERS / 2;
    while width > 0 {
        for r in 0..width {
            registers[r] = s.add_f64s(registers[r], registers[r + width]);
        }
        width /= 2;
    }
    s.reduce_sum_f64s(registers[0])
}

/// Runs `pass` with the best instruction set of this processor. Only the code for AVX-512 is inlined.
/// If the code for all instruction sets were inlined, the code of a round would exceed the
/// instruction caches.
#[inline(always)]
pub(super) fn dispatch<P: WithSimd>(pass: P) -> P::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V4::try_new() {
        return Simd::vectorize(simd, pass);
    }
    dispatch_elsewhere(pass)
}

#[inline(never)]
fn dispatch_elsewhere<P: WithSimd>(pass: P) -> P::Output {
    Arch::new().dispatch(pass)
}

/// Runs a plain loop compiled for the best instruction set of this processor. The closure must be
/// marked `#[inline(always)]`, and the functions that it calls must be small enough to be inlined.
#[inline(always)]
pub(crate) fn on_best_cpu<T>(f: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(f)
}

/// Evaluates an expression with [`on_best_cpu`].
macro_rules! vectorised {
    ($body:expr) => {
        $crate::kernel::on_best_cpu(
            #[inline(always)]
            || $body,
        )
    };
}
pub(crate) use vectorised;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// own = k·a + own, with the sums ⟨a, own⟩ and ‖own‖² of the new values.
    #[derive(Clone, Copy)]
    struct Add;

    impl Body<1, 1, 1, 2> for Add {
        #[inline(always)]
        fn lane<S: Simd>(
            self,
            s: S,
            [k]: [S::f64s; 1],
            [a]: [S::f64s; 1],
            [own]: [S::f64s; 1],
            sums: &mut [S::f64s; 2],
        ) -> [S::f64s; 1] {
            let new = s.mul_add_e_f64s(k, a, own);
            sums[0] = s.mul_add_e_f64s(a, new, sums[0]);
            sums[1] = s.mul_add_e_f64s(new, new, sums[1]);
            [new]
        }
    }

    #[test]
    fn a_pass_has_the_same_bits_on_avx2_and_avx512() {
        let Some(avx2) = pulp::x86::V3::try_new() else {
            println!("skipped: the processor has no AVX2");
            return;
        };
        for n in 0..100 {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
            let mut first: Vec<f64> = (0..n).map(|i| (i as f64 * 1.13).cos()).collect();
            let mut second = first.clone();
            let here = sweep([0.3], [&a], [&mut first[..]], Add);
            let mut there = [Apart(0.0); 2];
            Simd::vectorize(
                avx2,
                Sweep::new(&[0.3], &mut there, [&a], [&mut second[..]], Add),
            );
            assert_eq!((here, first), (there.map(|sum| sum.0), second), "n = {n}");
        }
    }

    #[test]
    fn a_padded_vector_gets_the_same_entries_and_keeps_zeros_behind_them() {
        for n in 1..40 {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
            let mut plain = vec![1.5; n];
            let mut padded = Buffer::zeros(n);
            padded.fill(1.5);
            let sums = sweep([0.3], [&a], [&mut plain[..]], Add);
            assert_eq!(sweep([0.3], [&a], [&mut padded], Add), sums, "n = {n}");
            assert_eq!(padded[..], plain[..]);
            assert!(padded.padded()[n..].iter().all(|v| *v == 0.0), "n = {n}");
        }
    }
}
