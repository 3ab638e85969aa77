//! The inner product ⟨a, b⟩ in explicit vector registers. The result has the same bits for every
//! width of the registers.

#![allow(unsafe_code)]

use pulp::{Simd, WithSimd};

use super::sweep::{dispatch, first_lanes, load, total};

/// The number of lanes of a single sum. A pass that computes several sums keeps the adders busy
/// with fewer lanes.
const WIDE: usize = 32;

/// ⟨a, b⟩. Extra entries of the longer slice are ignored.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    dispatch(Dot {
        n: a.len().min(b.len()),
        a: a.as_ptr(),
        b: b.as_ptr(),
    })
}

struct Dot {
    n: usize,
    a: *const f64,
    b: *const f64,
}

impl WithSimd for Dot {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> f64 {
        // For a short vector, adding up this many lanes would cost more than the products.
        match (S::F64_LANES, self.n < 2 * WIDE) {
            (8, true) => self.run::<S, 1>(s),
            (4, true) => self.run::<S, 2>(s),
            (2, true) => self.run::<S, 4>(s),
            (_, true) => self.run::<S, 8>(s),
            (8, false) => self.run::<S, 4>(s),
            (4, false) => self.run::<S, 8>(s),
            (2, false) => self.run::<S, 16>(s),
            (_, false) => self.run::<S, 32>(s),
        }
    }
}

impl Dot {
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, s: S) -> f64 {
        let Self { n, a, b } = self;
        let mut sums = [s.splat_f64s(0.0); REGISTERS];
        // SAFETY, here and below: both vectors have n entries.
        macro_rules! add {
            ($at:expr, $to:expr) => {{
                let at = $at;
                let a = unsafe { load::<S>(a.wrapping_add(at)) };
                let b = unsafe { load::<S>(b.wrapping_add(at)) };
                $to = s.mul_add_e_f64s(a, b, $to);
            }};
        }
        let mut i = 0;
        while i + REGISTERS * S::F64_LANES <= n {
            let mut r = 0;
            while r < REGISTERS {
                add!(i + r * S::F64_LANES, sums[r]);
                r += 1;
            }
            i += REGISTERS * S::F64_LANES;
        }
        // The remaining products are added to the first lanes, as if zeros filled the last block.
        // The loop has a fixed length, so that it unrolls and the sums stay in registers.
        let mut r = 0;
        while r < REGISTERS {
            let at = i + r * S::F64_LANES;
            if at + S::F64_LANES <= n {
                add!(at, sums[r]);
            } else if at < n {
                let part = first_lanes(s, n - at);
                let a = unsafe { s.mask_load_ptr_f64s(part, a.wrapping_add(at)) };
                let b = unsafe { s.mask_load_ptr_f64s(part, b.wrapping_add(at)) };
                sums[r] = s.mul_add_e_f64s(a, b, sums[r]);
            }
            r += 1;
        }
        total(s, sums)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn dot_has_the_same_bits_on_avx2_and_avx512() {
        let Some(avx2) = pulp::x86::V3::try_new() else {
            println!("skipped: the processor has no AVX2");
            return;
        };
        for n in 0..200 {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
            let b: Vec<f64> = (0..n).map(|i| (i as f64 * 1.13).cos()).collect();
            let other = Simd::vectorize(
                avx2,
                Dot {
                    n,
                    a: a.as_ptr(),
                    b: b.as_ptr(),
                },
            );
            assert_eq!(dot(&a, &b).to_bits(), other.to_bits(), "n = {n}");
        }
    }
}
