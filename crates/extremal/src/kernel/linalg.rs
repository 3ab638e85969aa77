//! Small dense matrices, by one-sided Jacobi rotations: singular values with the inverse, the
//! principal axes of an ellipsoid, and extreme eigenvalues. O(n³), once per set or loss.

use super::{axpy, dot, max_abs, norm};

/// What is known of a square matrix once its columns have been turned orthogonal.
#[derive(Debug, Clone)]
pub(crate) struct Singular {
    /// The largest singular value.
    pub(crate) largest: f64,
    /// The smallest.
    pub(crate) smallest: f64,
    /// The inverse, by rows; of no use where `smallest` is next to 0.
    pub(crate) inverse: Vec<f64>,
}

/// The principal axes of {xᵀA⁻¹x ≤ 1}.
#[derive(Debug)]
pub(crate) struct PrincipalAxes {
    /// The lengths √λ of the semi-axes.
    pub(crate) lengths: Vec<f64>,
    /// Their directions, one after the other.
    pub(crate) directions: Vec<f64>,
}

/// Sweeps over all pairs of columns; ten are enough for anything, and rounding can't go on for
/// ever.
const SWEEPS: usize = 60;

/// One-sided Jacobi (Hestenes): turns the columns `w`, n numbers each, one after the other, in
/// their planes until they are orthogonal. Those of `v` are turned alike; it may be empty.
/// Returns the lengths of the columns.
fn orthogonalise(n: usize, w: &mut [f64], v: &mut [f64]) -> Vec<f64> {
    for _ in 0..SWEEPS {
        let mut turned = false;
        for q in 1..n {
            for p in 0..q {
                turned |= turn(n, w, v, p, q);
            }
        }
        if !turned {
            break;
        }
    }
    w.chunks(n).map(norm).collect()
}

/// Turns columns p < q until they are orthogonal; whether they were not.
fn turn(n: usize, w: &mut [f64], v: &mut [f64], p: usize, q: usize) -> bool {
    let column = |k: usize| &w[k * n..(k + 1) * n];
    let (x, y) = (column(p), column(q));
    let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
    if xy.abs() <= 1e-15 * (xx.sqrt() * yy.sqrt()) {
        return false;
    }
    let ratio = (yy - xx) / (2.0 * xy);
    let tangent = 1.0_f64.copysign(ratio) / (ratio.abs() + ratio.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = cosine * tangent;
    for columns in [w, v] {
        if columns.is_empty() {
            continue;
        }
        let (left, right) = columns.split_at_mut(q * n);
        for (a, b) in left[p * n..(p + 1) * n].iter_mut().zip(right) {
            (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
        }
    }
    true
}

/// The largest of some numbers ≥ 0.
pub(crate) fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The smallest of some numbers.
pub(crate) fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The entries of a matrix of n rows of n numbers, made exactly symmetric. Products of data
/// matrices differ from their transposes by rounding; where an entry differs by more, its row and
/// its column are the error.
pub(crate) fn symmetric(rows: &[Vec<f64>]) -> Result<Vec<f64>, (usize, usize)> {
    let n = rows.len();
    let mut entries = rows.concat();
    for i in 0..n {
        for j in 0..n {
            let (here, there) = (rows[i][j], rows[j][i]);
            let scale = rows[i][i].abs().sqrt() * rows[j][j].abs().sqrt();
            if !((here - there).abs() <= 1e-12 * scale) {
                return Err((i, j));
            }
            entries[i * n + j] = 0.5 * (here + there);
        }
    }
    Ok(entries)
}

/// Rotations V make the columns of W = MV orthogonal. Their lengths σ are the singular values, to
/// full relative precision, and M⁻¹ = V·diag(σ⁻²)·Wᵀ. The matrix comes by rows.
pub(crate) fn singular(n: usize, matrix: &[f64]) -> Singular {
    // next to 1 so that squares are numbers
    let top = max_abs(matrix).max(f64::MIN_POSITIVE);
    let (mut w, mut v) = (vec![0.0; n * n], vec![0.0; n * n]);
    for j in 0..n {
        v[j * n + j] = 1.0;
        for i in 0..n {
            w[j * n + i] = matrix[i * n + j] / top;
        }
    }
    let lengths = orthogonalise(n, &mut w, &mut v);
    let mut inverse = vec![0.0; n * n];
    for ((w, v), length) in w.chunks(n).zip(v.chunks(n)).zip(&lengths) {
        for (row, v) in inverse.chunks_mut(n).zip(v) {
            axpy(v / length / length / top, w, row);
        }
    }
    Singular {
        largest: top * max(&lengths),
        smallest: top * min(&lengths),
        inverse,
    }
}

/// The axes of the n×n matrix `a`, stored by rows and taken to be symmetric; `None` if it is not
/// positive definite. Cholesky's factor is turned, not `a`: short axes next to long ones keep all
/// their digits, which eigenvalues of `a` would lose.
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
    let mut lengths = orthogonalise(n, &mut w, &mut []);
    for (column, length) in w.chunks_mut(n).zip(&mut lengths) {
        column.iter_mut().for_each(|v| *v /= *length);
        *length *= size.sqrt();
    }
    Some(PrincipalAxes {
        lengths,
        directions: w,
    })
}

/// The smallest and the largest eigenvalue of a symmetric matrix, to a few units in the last place
/// of the larger. Shifted by the largest row sum, no eigenvalue is below 0 and all of them are
/// singular values.
pub(crate) fn extreme_eigenvalues(n: usize, mut a: Vec<f64>) -> (f64, f64) {
    let row_sums = a.chunks(n).map(|row| row.iter().map(|v| v.abs()).sum());
    let shift = row_sums.fold(0.0, f64::max);
    (0..n).for_each(|i| a[i * n + i] += shift);
    let lengths = orthogonalise(n, &mut a, &mut []);
    (min(&lengths) - shift, max(&lengths) - shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_values_of_known_matrices() {
        let root = 5f64.sqrt();
        let known: [(usize, &[f64], f64, f64); 5] = [
            (1, &[-3.0], 3.0, 3.0),
            // σ² = 3 ± √5
            (
                2,
                &[2.0, 1.0, 0.0, 1.0],
                (3.0 + root).sqrt(),
                (3.0 - root).sqrt(),
            ),
            (2, &[0.0, 1e50, -1e45, 0.0], 1e50, 1e45),
            // rank 2: σ² = (285 ± √79929)/2
            (
                3,
                &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
                (0.5 * (285.0 + 79929f64.sqrt())).sqrt(),
                0.0,
            ),
            (2, &[0.0; 4], 0.0, 0.0),
        ];
        for (n, matrix, largest, smallest) in known {
            let found = singular(n, matrix);
            for (found, expected) in [(found.largest, largest), (found.smallest, smallest)] {
                assert!((found - expected).abs() <= 1e-14 * largest, "{matrix:?}");
            }
        }
    }

    /// Σ_k a_ik·b_kj of square matrices.
    fn product(
        n: usize,
        a: impl Fn(usize, usize) -> f64,
        b: impl Fn(usize, usize) -> f64,
    ) -> Vec<f64> {
        let sum = |i: usize, j: usize| (0..n).map(|k| a(i, k) * b(k, j)).sum();
        (0..n * n).map(|at| sum(at / n, at % n)).collect()
    }

    fn differ(a: &[f64], b: &[f64]) -> f64 {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        max_abs(&differences)
    }

    /// Numbers without a pattern, larger on the diagonal.
    fn entry(n: usize) -> impl Fn(usize, usize) -> f64 {
        move |i, j| ((i * i + 3 * j + n) as f64 * 0.7).sin() + f64::from(i == j)
    }

    fn identity(n: usize) -> Vec<f64> {
        (0..n * n).map(|at| f64::from(at / n == at % n)).collect()
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        for n in 1..20 {
            let m = entry(n);
            let matrix: Vec<f64> = (0..n * n).map(|at| m(at / n, at % n)).collect();
            let found = singular(n, &matrix);
            let one = product(n, m, |k, j| found.inverse[k * n + j]);
            let condition = found.largest / found.smallest;
            assert!(differ(&one, &identity(n)) <= 1e-13 * condition, "{n}");
        }
    }

    #[test]
    fn the_axes_are_orthonormal_and_make_up_the_matrix() {
        for n in [1, 2, 3, 7, 30] {
            for scale in [1e-100, 1.0, 1e100] {
                let m = entry(n);
                let mut a = product(n, &m, |k, j| scale * m(j, k));
                (0..n).for_each(|i| a[i * n + i] += 0.1 * scale);
                let PrincipalAxes {
                    lengths,
                    directions: q,
                } = principal_axes(n, &a).unwrap();
                let gram = product(n, |i, k| q[i * n + k], |k, j| q[j * n + k]);
                assert!(differ(&gram, &identity(n)) < 1e-14, "n = {n}");
                let stretched = |k: usize, j: usize| lengths[k] * lengths[k] * q[k * n + j];
                let back = product(n, |i, k| q[k * n + i], stretched);
                assert!(differ(&a, &back) <= 1e-13 * scale * n as f64, "n = {n}");
            }
        }
    }

    #[test]
    fn two_by_two_has_the_axes_of_its_closed_form() {
        // eigenvalues (5 ± √5)/2
        let lengths = principal_axes(2, &[2.0, 1.0, 1.0, 3.0]).unwrap().lengths;
        for (length, sign) in [(min(&lengths), -1.0), (max(&lengths), 1.0)] {
            let expected = ((5.0 + sign * 5f64.sqrt()) / 2.0).sqrt();
            assert!((length / expected - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_short_axis_next_to_a_long_one_keeps_its_digits() {
        // scaled from [[2,1],[1,2]]; det/trace gives the small eigenvalue to first order
        let (d, e) = (1e-8, 1.0);
        let axes = principal_axes(2, &[2.0 * d * d, d * e, d * e, 2.0 * e * e]).unwrap();
        let short = min(&axes.lengths);
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
