//! Orthogonal columns by rotations, singular values of a small square matrix, and its inverse.

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

/// Sweeps over all pairs of columns; ten are enough for anything, and rounding can't go on for
/// ever.
const SWEEPS: usize = 60;

/// One-sided Jacobi (Hestenes): turns the columns `w`, n numbers each, one after the other, in
/// their planes until they are orthogonal. Those of `v` are turned alike; it may be empty.
pub(crate) fn orthogonalise(n: usize, w: &mut [f64], v: &mut [f64]) {
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

/// Rotations V make the columns of W = MV orthogonal. Their lengths σ are the singular values, to
/// full relative precision, and M⁻¹ = V·diag(σ⁻²)·Wᵀ. The matrix comes by rows.
pub(crate) fn singular(n: usize, matrix: &[f64]) -> Singular {
    let top = max_abs(matrix);
    let mut inverse = vec![0.0; n * n];
    if top == 0.0 {
        return Singular {
            largest: 0.0,
            smallest: 0.0,
            inverse,
        };
    }
    // by columns, next to 1 so that squares are numbers
    let (mut w, mut v) = (vec![0.0; n * n], vec![0.0; n * n]);
    for j in 0..n {
        v[j * n + j] = 1.0;
        for i in 0..n {
            w[j * n + i] = matrix[i * n + j] / top;
        }
    }
    orthogonalise(n, &mut w, &mut v);
    let lengths: Vec<f64> = w.chunks(n).map(norm).collect();
    for ((w, v), length) in w.chunks(n).zip(v.chunks(n)).zip(&lengths) {
        for (row, v) in inverse.chunks_mut(n).zip(v) {
            axpy(v / length / length / top, w, row);
        }
    }
    Singular {
        largest: top * lengths.iter().copied().fold(0.0, f64::max),
        smallest: top * lengths.iter().copied().fold(f64::INFINITY, f64::min),
        inverse,
    }
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
            (2, &[0.0, 1e80, -1e75, 0.0], 1e80, 1e75),
            // rank 2: σ² = (285 ± √79929)/2
            (
                3,
                &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
                (0.5 * (285.0 + 79929f64.sqrt())).sqrt(),
                0.0,
            ),
            // 2I + 1·1ᵀ
            (3, &[3.0, 1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 3.0], 5.0, 2.0),
        ];
        for (n, matrix, largest, smallest) in known {
            let found = singular(n, matrix);
            assert!(
                (found.largest - largest).abs() <= 1e-14 * largest,
                "{found:?}"
            );
            assert!(
                (found.smallest - smallest).abs() <= 1e-14 * largest,
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        for n in 1..20 {
            let entry =
                |k: usize| ((k * k + 3 * k + 1) as f64).sin() + f64::from(k.is_multiple_of(n + 1));
            let matrix: Vec<f64> = (0..n * n).map(entry).collect();
            let Singular {
                largest,
                smallest,
                inverse,
            } = singular(n, &matrix);
            for i in 0..n {
                for j in 0..n {
                    let sum: f64 = (0..n).map(|k| matrix[i * n + k] * inverse[k * n + j]).sum();
                    let off = (sum - f64::from(i == j)).abs();
                    assert!(off <= 1e-13 * largest / smallest, "{n}: {off:e}");
                }
            }
        }
    }
}
