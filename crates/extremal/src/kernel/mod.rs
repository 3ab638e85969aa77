//! Vector kernels. A sum is computed in a fixed number of lanes, which are added in a fixed tree.
//! Products are added by fused multiply-add, and nothing else is fused. The same input therefore
//! gives the same bits on AVX2, AVX-512 and NEON. (Other processors have no fused multiply-add, and
//! their results differ in the last places.)
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

/// ⟨a, b⟩. If one slice is longer, its extra entries are ignored.
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

/// ‖a‖₂, without underflow or overflow, also for entries of size 1e-300 or 1e300.
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
    // A sum of squares is finite only if every entry is finite.
    if dot(a, a).is_finite() {
        return None;
    }
    a.iter().copied().enumerate().find(|(_, v)| !v.is_finite())
}

/// y ← y + k·x.
pub fn axpy(k: f64, x: &[f64], y: &mut [f64]) {
    vectorised!(for (y, x) in y.iter_mut().zip(x) {
        *y += k * x;
    });
}

/// x ← x − k·x.
pub(crate) fn shrink(k: f64, x: &mut [f64]) {
    vectorised!(x.iter_mut().for_each(|x| *x = (-k).mul_add(*x, *x)));
}
