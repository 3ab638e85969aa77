//! The principal axes of {xᵀA⁻¹x ≤ 1}: Cholesky, then one-sided Jacobi on the factor, which finds
//! short axes next to long ones with all their digits, where eigenvalues of A would lose them.

use crate::kernel;

/// A symmetric matrix's principal axes.
#[derive(Debug)]
pub(crate) struct PrincipalAxes {
    /// The lengths √λ of the semi-axes.
    pub(crate) lengths: Vec<f64>,
    /// Their directions, one after the other.
    pub(crate) directions: Vec<f64>,
}

/// The axes of the n×n matrix `a`, stored by rows and taken to be symmetric; `None` if it is not
/// positive definite.
pub(crate) fn principal_axes(n: usize, a: &[f64]) -> Option<PrincipalAxes> {
    let size = (0..n).map(|i| a[i * n + i]).fold(0.0, f64::max);
    // by columns: w[j·n + i] is entry (i, j) of the factor
    let mut w = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            let before: f64 = (0..j).map(|k| w[k * n + i] * w[k * n + j]).sum();
            let rest = a[i * n + j] / size - before;
            w[j * n + i] = if i > j {
                rest / w[j * n + j]
            } else if rest > 0.0 && rest.is_finite() {
                rest.sqrt()
            } else {
                return None;
            };
        }
    }
    kernel::orthogonalise(n, &mut w, &mut []);
    let mut lengths = Vec::with_capacity(n);
    for column in w.chunks_mut(n) {
        let norm = kernel::norm(column);
        column.iter_mut().for_each(|v| *v /= norm);
        lengths.push(norm * size.sqrt());
    }
    Some(PrincipalAxes {
        lengths,
        directions: w,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::dot;

    /// Σ λ q qᵀ of the axes.
    fn back(n: usize, axes: &PrincipalAxes) -> Vec<f64> {
        let mut a = vec![0.0; n * n];
        for (length, q) in axes.lengths.iter().zip(axes.directions.chunks(n)) {
            for i in 0..n {
                for j in 0..n {
                    a[i * n + j] += length * length * q[i] * q[j];
                }
            }
        }
        a
    }

    #[test]
    fn the_axes_are_orthonormal_and_make_up_the_matrix() {
        for n in [1, 2, 3, 7, 30] {
            for scale in [1e-200, 1.0, 1e200] {
                // a Gram matrix of vectors without a pattern
                let entry = |i: usize, k: usize| ((i * i + 3 * k) as f64 * 0.7).sin();
                let mut a = vec![0.0; n * n];
                for i in 0..n {
                    for j in 0..n {
                        let sum: f64 = (0..2 * n).map(|k| entry(i, k) * entry(j, k)).sum();
                        a[i * n + j] = scale * (sum + if i == j { 0.1 } else { 0.0 });
                    }
                }
                let axes = principal_axes(n, &a).unwrap();
                for (i, p) in axes.directions.chunks(n).enumerate() {
                    for (j, q) in axes.directions.chunks(n).enumerate() {
                        let expected = f64::from(i == j);
                        assert!((dot(p, q) - expected).abs() < 1e-14, "n = {n}: {i}, {j}");
                    }
                }
                for (a, b) in a.iter().zip(back(n, &axes)) {
                    assert!(
                        (a - b).abs() <= 1e-13 * scale * n as f64,
                        "n = {n}: {a} {b}"
                    );
                }
            }
        }
    }

    #[test]
    fn two_by_two_has_the_axes_of_its_closed_form() {
        // eigenvalues (5 ± √5)/2
        let mut lengths = principal_axes(2, &[2.0, 1.0, 1.0, 3.0]).unwrap().lengths;
        lengths.sort_by(f64::total_cmp);
        for (length, sign) in lengths.iter().zip([-1.0, 1.0]) {
            let expected = ((5.0 + sign * 5f64.sqrt()) / 2.0).sqrt();
            assert!((length / expected - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_short_axis_next_to_a_long_one_keeps_its_digits() {
        // scaled from [[2,1],[1,2]]; det/trace gives the small eigenvalue to first order
        let (d, e) = (1e-8, 1.0);
        let axes = principal_axes(2, &[2.0 * d * d, d * e, d * e, 2.0 * e * e]).unwrap();
        let short = axes.lengths.iter().copied().fold(f64::INFINITY, f64::min);
        let trace = 2.0 * (d * d + e * e);
        let square = 3.0 * d * d * e * e / trace * (1.0 + 3.0 * d * d * e * e / (trace * trace));
        assert!((short / square.sqrt() - 1.0).abs() < 1e-14, "{short:e}");
    }

    #[test]
    fn what_is_not_positive_definite_has_no_axes() {
        for a in [
            [1.0, 2.0, 2.0, 1.0],
            [1.0, 1.0, 1.0, 1.0],
            [0.0, 0.0, 0.0, 0.0],
            [-1.0, 0.0, 0.0, -1.0],
            [1.0, f64::NAN, f64::NAN, 1.0],
        ] {
            assert!(principal_axes(2, &a).is_none(), "{a:?}");
        }
    }
}
