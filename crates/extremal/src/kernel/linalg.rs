//! Small dense matrices: singular values and the inverse, the principal axes of an ellipsoid, and
//! extreme eigenvalues. All computations use one-sided Jacobi rotations. The cost is O(n³), once
//! per set or loss.

use super::{axpy, dot, max_abs, norm};

/// Singular values and the inverse of a square matrix.
#[derive(Debug, Clone)]
pub struct Singular {
    /// The largest singular value.
    pub largest: f64,
    /// The smallest singular value.
    pub smallest: f64,
    /// The inverse, stored by rows. It is meaningless if `smallest` is close to 0.
    pub inverse: Vec<f64>,
}

/// The principal axes of the ellipsoid {x : xᵀA⁻¹x ≤ 1}.
#[derive(Debug)]
pub struct PrincipalAxes {
    /// The lengths of the semi-axes: the square roots of A's eigenvalues.
    pub lengths: Vec<f64>,
    /// The directions of the semi-axes, one after the other.
    pub directions: Vec<f64>,
}

/// The largest number of sweeps over all pairs of columns. Ten are enough in practice. Without the
/// limit, rounding errors could prevent the end of the loop.
const SWEEPS: usize = 60;

/// One-sided Jacobi method (Hestenes): rotates pairs of columns of `w` until all columns are
/// orthogonal, and returns their lengths. `w` stores columns of n numbers each, one after the
/// other. The same rotations are applied to the columns of `v`, which may be empty.
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

/// Rotates the columns p < q until they are orthogonal. Returns false if they already were
/// orthogonal.
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

/// The entries of a square matrix, made exactly symmetric. A product of data matrices differs from
/// its transpose by rounding. If an entry differs by more, the error is its row and its column.
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

/// The singular values and the inverse of the n×n matrix M, which is stored by rows. Rotations V
/// make the columns of W = MV orthogonal. The lengths σ of these columns are the singular values,
/// to full relative precision, and M⁻¹ = V·diag(σ⁻²)·Wᵀ.
pub fn singular(n: usize, matrix: &[f64]) -> Singular {
    // scaled so that no square overflows or underflows
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

/// The axes of the symmetric n×n matrix `a`, which is stored by rows. The result is `None` if `a`
/// is not positive definite. The rotations are applied to the Cholesky factor and not to `a`. Short
/// axes then lose no digits, even if other axes are long. Eigenvalues computed from `a` would lose
/// digits.
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
/// of the larger one. The largest row sum is added to the diagonal, so that no eigenvalue is
/// negative. The eigenvalues then equal the singular values.
pub fn extreme_eigenvalues(n: usize, mut a: Vec<f64>) -> (f64, f64) {
    let row_sums = a.chunks(n).map(|row| row.iter().map(|v| v.abs()).sum());
    let shift = row_sums.fold(0.0, f64::max);
    (0..n).for_each(|i| a[i * n + i] += shift);
    let lengths = orthogonalise(n, &mut a, &mut []);
    (min(&lengths) - shift, max(&lengths) - shift)
}
