//! Vector kernels: reductions with a fixed number of lanes and a fixed tree, their products added
//! by fused multiply-add, and all else without it, so that the same input gives the same bits on
//! AVX2, AVX-512 and NEON alike. (A processor that has none of them has no fused multiply-add
//! either, and differs in the last places.)
//!
//! Each is compiled for AVX-512, AVX2 and the baseline, and the best one that the processor has
//! is chosen at run time.

mod buffer;
mod jacobi;
mod pow;
mod round;
mod select;
mod sweep;

pub(crate) use buffer::Buffer;
pub(crate) use jacobi::{Singular, orthogonalise, singular};
pub use pow::{Exponent, power_map, power_sum};
pub(crate) use round::{
    Form, Formed, place_at_dense, place_at_direction, residual_dense, residual_direction, scan,
    scan_direction, scan_power, shrink, step_to_dense, step_to_direction,
};
pub use select::{argmax_abs, argmin, max_abs};

use pulp::{Arch, Simd, WithSimd};
use sweep::widest;

/// ⟨a, b⟩. Both slices have the same length; extra entries of the longer one are ignored.
///
/// ```
/// assert_eq!(extremal::kernel::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    Arch::new().dispatch(Dot {
        n,
        a: &a[..n],
        b: &b[..n],
    })
}

/// The same where b is a [`Buffer`].
#[inline]
pub(crate) fn dot_buffer(a: &[f64], b: &Buffer) -> f64 {
    Arch::new().dispatch(Dot {
        n: a.len().min(b.len()),
        a,
        b: b.padded(),
    })
}

/// Thirty-two lanes: one sum alone needs more of them than several do to keep the adders busy.
struct Dot<'a> {
    n: usize,
    a: &'a [f64],
    b: &'a [f64],
}

const WIDE: usize = 32;

impl WithSimd for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> f64 {
        // A short vector does not fill so many lanes, and adding them up would cost more than it.
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

impl Dot<'_> {
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, s: S) -> f64 {
        let whole = self.n / S::F64_LANES;
        let (a, a_rest) = S::as_simd_f64s(self.a);
        let (b, b_rest) = S::as_simd_f64s(self.b);
        assert!(a.len() >= whole && b.len() >= whole);
        let mut sums = [s.splat_f64s(0.0); REGISTERS];
        let mut i = 0;
        while i + REGISTERS <= whole {
            let mut r = 0;
            while r < REGISTERS {
                sums[r] = s.mul_add_e_f64s(a[i + r], b[i + r], sums[r]);
                r += 1;
            }
            i += REGISTERS;
        }
        // The rest goes to the first lanes, as if it were a last block filled up with zeros. The
        // loop has a fixed length, so that it unrolls and the sums stay in registers.
        let rest = whole - i;
        let mut r = 0;
        while r < REGISTERS {
            if r < rest {
                sums[r] = s.mul_add_e_f64s(a[i + r], b[i + r], sums[r]);
            } else if r == rest && !self.n.is_multiple_of(S::F64_LANES) {
                let a = if whole < a.len() {
                    a[whole]
                } else {
                    s.partial_load_f64s(a_rest)
                };
                let b = if whole < b.len() {
                    b[whole]
                } else {
                    s.partial_load_f64s(b_rest)
                };
                sums[r] = s.mul_add_e_f64s(a, b, sums[r]);
            }
            r += 1;
        }
        let mut lanes = [0.0; WIDE];
        let (out, _) = S::as_mut_simd_f64s(&mut lanes);
        let mut r = 0;
        while r < REGISTERS {
            out[r] = sums[r];
            r += 1;
        }
        let mut width = REGISTERS * S::F64_LANES / 2;
        while width > 0 {
            for j in 0..width {
                lanes[j] += lanes[j + width];
            }
            width /= 2;
        }
        lanes[0]
    }
}

/// Σ values_i · x_(indices_i).
pub fn dot_sparse(indices: &[u32], values: &[f64], x: &[f64]) -> f64 {
    let mut acc = [0.0; 4];
    let (i4, i) = indices.as_chunks::<4>();
    let (v4, v) = values.as_chunks::<4>();
    for (i, v) in i4.iter().zip(v4) {
        for j in 0..4 {
            acc[j] += v[j] * x[i[j] as usize];
        }
    }
    for (j, (&i, &v)) in i.iter().zip(v).enumerate() {
        acc[j] += v * x[i as usize];
    }
    (acc[0] + acc[2]) + (acc[1] + acc[3])
}

/// Squares inside this range lose nothing to underflow or overflow.
const SAFE: std::ops::RangeInclusive<f64> = 1e-280..=1e280;

pub(crate) fn is_safe_square(s: f64) -> bool {
    SAFE.contains(&s)
}

/// ‖a‖₂, without underflow or overflow: entries of 1e±300 are fine.
///
/// ```
/// let norm = extremal::kernel::norm(&[3e200, -4e200]);
/// assert!((norm / 5e200 - 1.0).abs() < 1e-15);
/// ```
pub fn norm(a: &[f64]) -> f64 {
    let square = dot(a, a);
    if is_safe_square(square) {
        return square.sqrt();
    }
    let scale = max_abs(a);
    if scale == 0.0 || !scale.is_finite() {
        return if a.iter().any(|v| v.is_nan()) {
            f64::NAN
        } else {
            scale
        };
    }
    let sum: f64 = a.iter().map(|v| (v / scale) * (v / scale)).sum();
    scale * sum.sqrt()
}

/// The position and value of the first entry that is not finite.
pub fn find_not_finite(a: &[f64]) -> Option<(usize, f64)> {
    // A sum of squares is finite only if every entry is.
    if dot(a, a).is_finite() {
        return None;
    }
    a.iter().copied().enumerate().find(|(_, v)| !v.is_finite())
}

/// y += k·x.
pub fn axpy(k: f64, x: &[f64], y: &mut [f64]) {
    widest(
        #[inline(always)]
        || {
            for (y, x) in y.iter_mut().zip(x) {
                *y += k * x;
            }
        },
    );
}

/// y += k₀·x₀ + … + k₃·x₃, with the bits of four [`axpy`] but one pass over y.
pub(crate) fn axpy4(k: [f64; 4], x: [&[f64]; 4], y: &mut [f64]) {
    let [a, b, c, d] = x;
    widest(
        #[inline(always)]
        || {
            for ((((y, a), b), c), d) in y.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *y = (((*y + k[0] * a) + k[1] * b) + k[2] * c) + k[3] * d;
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_at_once_have_the_bits_of_one_after_the_other() {
        let x: Vec<f64> = (0..148).map(|i| (i as f64 * 0.37).sin()).collect();
        let k = [0.3, -1.7, 0.0, 2.9];
        let rows: [&[f64]; 4] = std::array::from_fn(|j| &x[37 * j..37 * (j + 1)]);
        let (mut at_once, mut one_by_one) = (vec![0.1; 37], vec![0.1; 37]);
        axpy4(k, rows, &mut at_once);
        for (k, row) in k.into_iter().zip(rows) {
            axpy(k, row, &mut one_by_one);
        }
        assert_eq!(at_once, one_by_one);
    }

    #[test]
    fn dot_equals_the_plain_sum_for_every_length() {
        for n in 0..200 {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
            let b: Vec<f64> = (0..n).map(|i| (i as f64 * 1.13).cos()).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((dot(&a, &b) - plain).abs() < 1e-13, "n = {n}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn dot_has_the_same_bits_on_avx2_and_avx512() {
        let Some(avx2) = pulp::x86::V3::try_new() else {
            println!("skipped: the processor has no AVX2");
            return;
        };
        for n in 0..200 {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
            let b: Vec<f64> = (0..n).map(|i| (i as f64 * 1.13).cos()).collect();
            let other = Simd::vectorize(avx2, Dot { n, a: &a, b: &b });
            assert_eq!(dot(&a, &b).to_bits(), other.to_bits(), "n = {n}");
        }
    }

    #[test]
    fn norm_survives_every_scale() {
        for scale in [1e-320, 1e-300, 1e-170, 1.0, 1e170, 1e300] {
            let v = [3.0 * scale, 4.0 * scale];
            let relative = norm(&v) / (5.0 * scale) - 1.0;
            assert!(
                relative.abs() < if scale < 1e-310 { 1e-3 } else { 1e-15 },
                "{scale}: {relative}"
            );
        }
        assert_eq!(norm(&[]), 0.0);
        assert!(norm(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn the_first_bad_entry_is_found() {
        let mut a = vec![1.0; 100];
        assert_eq!(find_not_finite(&a), None);
        a[40] = 1e200; // its square overflows, itself it is fine
        assert_eq!(find_not_finite(&a), None);
        a[57] = f64::INFINITY;
        assert_eq!(find_not_finite(&a), Some((57, f64::INFINITY)));
    }

    #[test]
    fn sparse_dot_equals_dense_dot() {
        let x: Vec<f64> = (0..50).map(|i| i as f64).collect();
        let (i, v) = (vec![3, 17, 22, 40, 41], vec![1.0, -2.0, 0.5, 4.0, 3.0]);
        assert_eq!(dot_sparse(&i, &v, &x), 3.0 - 34.0 + 11.0 + 160.0 + 123.0);
    }
}
