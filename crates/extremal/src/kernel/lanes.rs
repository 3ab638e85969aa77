//! Formulas on eight numbers at a time, in explicit vector registers of any width.
//!
//! Nothing is fused, and sums are added in the same order on every processor: results have the same
//! bits everywhere.

#![allow(unsafe_code)]

use std::ops::{Add, AddAssign, Div, Mul, Sub};

pub(crate) use pulp::Simd;
use pulp::{Scalar, WithSimd};

use super::sweep::{Apart, LANES, dispatch, load, total};

/// Eight numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Eight(pub [f64; LANES]);

impl Eight {
    pub const fn all(number: f64) -> Self {
        Self([number; LANES])
    }
}

/// The numbers of an [`Eight`] that one register holds.
#[derive(Clone, Copy)]
pub(crate) struct Part<S> {
    s: S,
    /// The first of them. `first + S::F64_LANES` is at most eight.
    first: usize,
}

impl<S: Simd> Part<S> {
    /// This number in every lane.
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
    /// A single number.
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

    /// `then` where a lane exceeds that of the other one, else `otherwise`.
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

/// A formula on blocks of eight, with K sums.
pub(crate) trait Formula<B, const K: usize>: Copy {
    /// Applies the formula to a part of every [`Eight`] of a block. The implementation must be in
    /// [`compiled_with_caller`].
    fn apply<S: Simd>(self, part: Part<S>, block: &mut B, sums: &mut [Lanes<S>; K]);
}

/// Applies a formula to all blocks, compiled for the best instruction set there is. Returns the sums.
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
        // Eight lanes in as many registers as they take.
        match S::F64_LANES {
            8 => self.run::<S, 1>(s),
            4 => self.run::<S, 2>(s),
            2 => self.run::<S, 4>(s),
            _ => self.run::<S, 8>(s),
        }
    }
}

/// Compiles a function as a part of its callers, for the instruction sets that they chose.
macro_rules! compiled_with_caller {
    ($(#[$attribute:meta])* fn $($function:tt)*) => {
        $(#[$attribute])*
        #[inline(always)]
        fn $($function)*
    };
}
pub(crate) use compiled_with_caller;
