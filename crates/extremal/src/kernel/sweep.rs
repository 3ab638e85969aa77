//! One pass over several vectors of one length, in explicit vector registers.
//!
//! Sums are kept in eight lanes, entry i in lane i mod 8, and added up by a fixed tree: the
//! result has the same bits whether a register holds two, four or eight numbers.

use pulp::{Arch, Simd, WithSimd};

/// Lanes of a sum.
pub(crate) const LANES: usize = 8;

/// What happens to one register's worth of entries.
pub(crate) trait Body<const R: usize, const W: usize, const K: usize>: Copy {
    /// From R vectors that are read and W that are written, the new values of the latter; adds
    /// to K sums.
    fn lane<S: Simd>(
        self,
        s: S,
        read: [S::f64s; R],
        own: [S::f64s; W],
        sums: &mut [S::f64s; K],
    ) -> [S::f64s; W];
}

/// Runs `body` over `n` entries and returns the K sums. A slice has n entries, or more of which
/// those up to the next multiple of eight are zeros that the body leaves zeros: it is then read
/// in whole registers.
#[inline]
pub(crate) fn sweep<const R: usize, const W: usize, const K: usize>(
    n: usize,
    read: [&[f64]; R],
    own: [&mut [f64]; W],
    body: impl Body<R, W, K>,
) -> [f64; K] {
    Arch::new().dispatch(Sweep { n, read, own, body })
}

struct Sweep<'a, B, const R: usize, const W: usize, const K: usize> {
    n: usize,
    read: [&'a [f64]; R],
    own: [&'a mut [f64]; W],
    body: B,
}

impl<B: Body<R, W, K>, const R: usize, const W: usize, const K: usize> WithSimd
    for Sweep<'_, B, R, W, K>
{
    type Output = [f64; K];

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> [f64; K] {
        // Eight lanes in as many registers as they take.
        match S::F64_LANES {
            8 => self.run::<S, 1>(s),
            4 => self.run::<S, 2>(s),
            2 => self.run::<S, 4>(s),
            _ => self.run::<S, 8>(s),
        }
    }
}

impl<B: Body<R, W, K>, const R: usize, const W: usize, const K: usize> Sweep<'_, B, R, W, K> {
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, s: S) -> [f64; K] {
        let Self { n, read, own, body } = self;
        let read = read.map(
            #[inline(always)]
            |a| S::as_simd_f64s(a),
        );
        let mut own = own.map(
            #[inline(always)]
            |a| S::as_mut_simd_f64s(a),
        );
        let zero = s.splat_f64s(0.0);
        let whole = n / S::F64_LANES;
        for (registers, _) in &read {
            assert!(registers.len() >= whole);
        }
        for (registers, _) in &own {
            assert!(registers.len() >= whole);
        }
        // sums[r] belongs to the r-th register of each group of eight entries
        let mut sums = [[zero; K]; REGISTERS];

        // A macro and plain loops, not closures and iterators: only what is inlined for certain
        // is compiled for the instruction set chosen.
        macro_rules! one {
            ($i:expr, $sums:expr) => {{
                let i = $i;
                let mut old_read = [zero; R];
                for k in 0..R {
                    old_read[k] = read[k].0[i];
                }
                let mut old_own = [zero; W];
                for k in 0..W {
                    old_own[k] = own[k].0[i];
                }
                let new = body.lane(s, old_read, old_own, $sums);
                for k in 0..W {
                    own[k].0[i] = new[k];
                }
            }};
        }
        let mut i = 0;
        while i + REGISTERS <= whole {
            let mut r = 0;
            while r < REGISTERS {
                one!(i + r, &mut sums[r]);
                r += 1;
            }
            i += REGISTERS;
        }
        let mut r = 0;
        while i < whole {
            one!(i, &mut sums[r]);
            i += 1;
            r += 1;
        }
        if !n.is_multiple_of(S::F64_LANES) {
            let mut old_read = [zero; R];
            for k in 0..R {
                let (registers, rest) = read[k];
                old_read[k] = if whole < registers.len() {
                    registers[whole]
                } else {
                    s.partial_load_f64s(rest)
                };
            }
            let mut old_own = [zero; W];
            for k in 0..W {
                let (registers, rest) = &own[k];
                old_own[k] = if whole < registers.len() {
                    registers[whole]
                } else {
                    s.partial_load_f64s(rest)
                };
            }
            let new = body.lane(s, old_read, old_own, &mut sums[r]);
            for k in 0..W {
                let (registers, rest) = &mut own[k];
                if whole < registers.len() {
                    registers[whole] = new[k];
                } else {
                    s.partial_store_f64s(rest, new[k]);
                }
            }
        }
        let mut totals = [0.0; K];
        for k in 0..K {
            let mut lanes = [0.0; LANES];
            let (out, _) = S::as_mut_simd_f64s(&mut lanes);
            let mut r = 0;
            while r < REGISTERS {
                out[r] = sums[r][k];
                r += 1;
            }
            totals[k] = tree(lanes);
        }
        totals
    }
}

#[inline(always)]
fn tree(a: [f64; LANES]) -> f64 {
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

/// Runs a plain loop compiled for the best instruction set there is. The closure must be marked
/// `#[inline(always)]`, and so must all that it calls.
#[inline(always)]
pub(crate) fn widest<T>(f: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(f)
}
