//! Vector kernels: reductions with a fixed number of lanes and a fixed tree, so that the same
//! input gives the same bits on every instruction set. There is no fused multiply-add in them.
//!
//! Each function is compiled for AVX-512, AVX2 and the baseline, and the best one that the
//! processor has is chosen at run time.

mod pow;
mod round;
mod select;

pub use pow::{Exponent, power_map, power_sum};
pub(crate) use round::{
    Form, move_shrunk, move_to_dense, move_to_direction, place_dense, place_direction,
    residual_dense, residual_direction, scan_general, scan_power, scan_quadratic,
};
pub use select::{argmax_abs, argmin};

use multiversion::multiversion;

/// Lanes of the reductions that carry several sums at once.
pub(crate) const LANES: usize = 8;
const WIDE: usize = 32;

#[inline(always)]
pub(crate) fn tree(a: [f64; LANES]) -> f64 {
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

#[inline(always)]
fn tree_wide(a: &[f64; WIDE]) -> [f64; LANES] {
    std::array::from_fn(|j| (a[j] + a[j + 16]) + (a[j + 8] + a[j + 24]))
}

/// ⟨a, b⟩. Both slices have the same length; extra entries of the longer one are ignored.
///
/// ```
/// assert_eq!(extremal::kernel::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let (aw, a) = a.as_chunks::<WIDE>();
    let (bw, b) = b.as_chunks::<WIDE>();
    let mut acc = [0.0; LANES];
    if !aw.is_empty() {
        let mut wide = [0.0; WIDE];
        for (a, b) in aw.iter().zip(bw) {
            for j in 0..WIDE {
                wide[j] += a[j] * b[j];
            }
        }
        acc = tree_wide(&wide);
    }
    let (a8, a) = a.as_chunks::<LANES>();
    let (b8, b) = b.as_chunks::<LANES>();
    for (a, b) in a8.iter().zip(b8) {
        for j in 0..LANES {
            acc[j] += a[j] * b[j];
        }
    }
    for j in 0..a.len() {
        acc[j] += a[j] * b[j];
    }
    tree(acc)
}

/// Σ values_i · x[indices_i].
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

/// max |a_i|, 0 for an empty slice; NaN entries are ignored.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn max_abs(a: &[f64]) -> f64 {
    let mut acc = [0.0_f64; WIDE];
    let (wide, rest) = a.as_chunks::<WIDE>();
    for a in wide {
        for j in 0..WIDE {
            let v = a[j].abs();
            acc[j] = if v > acc[j] { v } else { acc[j] };
        }
    }
    for j in 0..rest.len() {
        let v = rest[j].abs();
        acc[j] = if v > acc[j] { v } else { acc[j] };
    }
    acc.into_iter().fold(0.0, f64::max)
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
    if dot_self_is_finite(a) {
        return None;
    }
    a.iter().copied().enumerate().find(|(_, v)| !v.is_finite())
}

fn dot_self_is_finite(a: &[f64]) -> bool {
    dot(a, a).is_finite()
}

/// y += k·x.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn axpy(k: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += k * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn norm_survives_every_scale() {
        for scale in [1e-320, 1e-300, 1e-170, 1.0, 1e170, 1e300] {
            let v = [3.0 * scale, 4.0 * scale];
            let relative = norm(&v) / (5.0 * scale) - 1.0;
            assert!(
                relative.abs() < 1e-3 * (1e-300 / scale).max(1e-12),
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
