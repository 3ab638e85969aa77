//! Small dense matrices, by one-sided Jacobi rotations: singular values with the inverse, the
//! principal axes of an ellipsoid, and extreme eigenvalues. O(n³), once per set or loss.

use super::{axpy, dot, max_abs, norm};

/// Singular values and the inverse of a square matrix.
#[derive(Debug, Clone)]
pub struct Singular {
    /// The largest singular value.
    pub largest: f64,
    /// The smallest.
    pub smallest: f64,
    /// The inverse, by rows; of no use where `smallest` is next to 0.
    pub inverse: Vec<f64>,
}

/// The principal axes of {xᵀA⁻¹x ≤ 1}.
#[derive(Debug)]
pub struct PrincipalAxes {
    /// The lengths √λ of the semi-axes.
    pub lengths: Vec<f64>,
    /// Their directions, one after the other.
    pub directions: Vec<f64>,
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
pub fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The smallest of some numbers.
pub fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The entries of a matrix of n rows of n numbers, made exactly symmetric. Products of data
/// matrices differ from their transposes by rounding; where an entry differs by more, its row and
/// its column are the error.
pub fn symmetric(rows: &[Vec<f64>]) -> Result<Vec<f64>, (usize, usize)> {
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
/// full relative precision, and M⁻¹ = V·diag(σ⁻²)·Wᵀ. The matrix is stored by rows.
pub fn singular(n: usize, matrix: &[f64]) -> Singular {
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
pub fn principal_axes(n: usize, a: &[f64]) -> Option<PrincipalAxes> {
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
pub fn extreme_eigenvalues(n: usize, mut a: Vec<f64>) -> (f64, f64) {
    let row_sums = a.chunks(n).map(|row| row.iter().map(|v| v.abs()).sum());
    let shift = row_sums.fold(0.0, f64::max);
    (0..n).for_each(|i| a[i * n + i] += shift);
    let lengths = orthogonalise(n, &mut a, &mut []);
    (min(&lengths) - shift, max(&lengths) - shift)
}
