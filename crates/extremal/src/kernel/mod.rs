//! Vector kernels. Reductions have a fixed number of lanes and a fixed tree, and add products by
//! fused multiply-add; nothing else is fused. The same input therefore gives the same bits on AVX2,
//! AVX-512 and NEON. (A processor without these has no fused multiply-add, and its results differ
//! in the last places.)
//!
//! Each kernel is compiled for AVX-512, AVX2 and the baseline. The best one that the processor
//! supports is chosen at run time.

mod buffer;
mod dot;
mod factor;
mod lanes;
mod linalg;
mod pow;
mod prefetch;
mod round;
mod select;
mod sweep;

pub(crate) use buffer::Buffer;
pub(crate) use factor::Factor;
pub(crate) use lanes::{
    Eight, Formula, ITEM, Lanes, Part, Simd, apply, compiled_with_caller, gather, scatter,
};
pub use linalg::{
    PrincipalAxes, Singular, extreme_eigenvalues, max, min, principal_axes, singular, symmetric,
};
pub use pow::{Exponent, power_map, power_sum};
pub(crate) use prefetch::{increases, prefetch};
pub(crate) use round::{
    InnerProducts, Pass, PassResult, move_to_dense, move_to_direction, residual_dense,
    residual_direction, scan, scan_direction, scan_power, step_to_direction,
};
pub use select::{argmax_abs, argmin, max_abs};

pub(crate) use sweep::{Apart, LANES, on_best_cpu, vectorised};

/// ⟨a, b⟩. Both slices have the same length; extra entries of the longer one are ignored.
///
/// ```
/// assert_eq!(extremal::kernel::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    dot::dot(a, b)
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

/// ‖a‖₂, without underflow or overflow: entries of 1e±300 are fine.
///
/// ```
/// let norm = extremal::kernel::norm(&[3e200, -4e200]);
/// assert!((norm / 5e200 - 1.0).abs() < 1e-15);
/// ```
pub fn norm(a: &[f64]) -> f64 {
    let square = dot(a, a);
    if crate::range::SQUARES.contains(&square) {
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
    on_best_cpu(
        #[inline(always)]
        || {
            for (y, x) in y.iter_mut().zip(x) {
                *y += k * x;
            }
        },
    );
}

/// x −= k·x.
pub(crate) fn shrink(k: f64, x: &mut [f64]) {
    on_best_cpu(
        #[inline(always)]
        || x.iter_mut().for_each(|x| *x = (-k).mul_add(*x, *x)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

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
