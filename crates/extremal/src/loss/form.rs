//! Quadratic forms ½⟨x, Ax⟩ with A positive semidefinite, and their extreme eigenvalues.

use crate::spec::Kind;
use crate::{Error, Result, kernel};

/// A positive semidefinite A, with bounds of its eigenvalues that rounding does not break.
#[derive(Debug, Clone)]
pub struct Form {
    shape: Shape,
    smallest: f64,
    largest: f64,
}

#[derive(Debug, Clone)]
enum Shape {
    /// k times the identity, in any dimension.
    Multiple(f64),
    Diagonal(Vec<f64>),
    /// By rows.
    Matrix {
        dim: usize,
        entries: Vec<f64>,
    },
}

const OWNER: &str = "quadratic";
const SEMIDEFINITE: &str = "a symmetric positive semidefinite matrix of finite numbers";

impl Form {
    /// k times the identity, k ≥ 0.
    pub fn multiple(k: f64) -> Result<Self> {
        check_diagonal(k)?;
        Ok(Self {
            shape: Shape::Multiple(k),
            smallest: k,
            largest: k,
        })
    }

    /// The diagonal matrix of these numbers ≥ 0.
    pub fn diagonal(values: &[f64]) -> Result<Self> {
        for k in values {
            check_diagonal(*k)?;
        }
        if values.is_empty() {
            return Err(Error::parameter(
                OWNER,
                "diagonal",
                "[]",
                "a number or a list of them",
            ));
        }
        Ok(Self {
            smallest: kernel::min(values),
            largest: kernel::max(values),
            shape: Shape::Diagonal(values.to_vec()),
        })
    }

    /// A symmetric matrix by its rows; an error if it is not positive semidefinite. O(d³), once.
    pub fn matrix(rows: &[Vec<f64>]) -> Result<Self> {
        let dim = rows.len();
        let refused = |what: String| Error::parameter(OWNER, "matrix", what, SEMIDEFINITE);
        if let Some(row) = rows.iter().find(|row| row.len() != dim) {
            return Err(refused(format!(
                "{dim} rows, one of them with {} entries",
                row.len()
            )));
        }
        if dim == 0 {
            return Err(refused("[]".into()));
        }
        let entries = kernel::symmetric(rows).map_err(|(i, j)| {
            let (a, b) = (rows[i][j], rows[j][i]);
            refused(format!(
                "a matrix with {a} at ({i}, {j}) and {b} at ({j}, {i})"
            ))
        })?;
        // Room for the sums of squares below; nobody's A is there.
        let size = kernel::max_abs(&entries);
        if size > 1e100 || (size > 0.0 && size < 1e-100) {
            return Err(refused(format!("a matrix with entries of {size:e}")));
        }
        let (smallest, largest) = kernel::extreme_eigenvalues(dim, entries.clone());
        let margin = 16.0 * dim as f64 * f64::EPSILON * largest.abs().max(-smallest);
        if smallest < -margin {
            return Err(refused(format!("a matrix with the eigenvalue {smallest}")));
        }
        Ok(Self {
            shape: Shape::Matrix { dim, entries },
            smallest: (smallest - margin).max(0.0),
            largest: largest + margin,
        })
    }

    /// A lower bound of A's eigenvalues, exact up to rounding.
    pub fn smallest(&self) -> f64 {
        self.smallest
    }

    /// An upper bound of A's eigenvalues, exact up to rounding.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// k, where A is k times the identity and Ax needs no memory.
    pub(crate) fn as_multiple(&self) -> Option<f64> {
        match self.shape {
            Shape::Multiple(k) => Some(k),
            _ => None,
        }
    }

    /// The dimension, where A has one.
    pub fn dim(&self) -> Option<usize> {
        match &self.shape {
            Shape::Multiple(_) => None,
            Shape::Diagonal(values) => Some(values.len()),
            Shape::Matrix { dim, .. } => Some(*dim),
        }
    }

    /// out = Ax.
    ///
    /// # Panics
    /// If `x` and `out` do not have A's dimension.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!(x.len(), out.len());
        assert!(self.dim().is_none_or(|dim| dim == x.len()));
        match &self.shape {
            Shape::Multiple(k) => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = k * x;
                }
            }
            Shape::Diagonal(values) => {
                for ((out, k), x) in out.iter_mut().zip(values).zip(x) {
                    *out = k * x;
                }
            }
            Shape::Matrix { dim, entries } => {
                for (out, row) in out.iter_mut().zip(entries.chunks_exact(*dim)) {
                    *out = kernel::dot(row, x);
                }
            }
        }
    }
}

fn check_diagonal(k: f64) -> Result<f64> {
    Kind::NOT_NEGATIVE.admit(OWNER, "diagonal", k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HDH with a reflection H along (1, 2, …, n): symmetric, with D's eigenvalues.
    fn reflected(eigenvalues: &[f64]) -> Vec<Vec<f64>> {
        let n = eigenvalues.len();
        let length = (1..=n).map(|k| (k * k) as f64).sum::<f64>();
        let h = |i: usize, j: usize| {
            let one = if i == j { 1.0 } else { 0.0 };
            one - 2.0 * ((i + 1) * (j + 1)) as f64 / length
        };
        let entry = |i, j| (0..n).map(|k| h(i, k) * eigenvalues[k] * h(k, j)).sum();
        (0..n)
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect()
    }

    #[test]
    fn extreme_eigenvalues_are_found_and_never_promised_better_than_they_are() {
        for eigenvalues in [
            vec![3.0],
            vec![1.0, 3.0],
            vec![2.0, 2.0, 2.0],
            vec![0.0, 0.0, 5.0, 1e-3],
            vec![1e-6, 1.0, 1e6],
            (0..40).map(|k| 0.1 + (k * k) as f64).collect(),
        ] {
            let form = Form::matrix(&reflected(&eigenvalues)).unwrap();
            let low = eigenvalues.iter().copied().fold(f64::INFINITY, f64::min);
            let high = eigenvalues.iter().copied().fold(0.0, f64::max);
            let tolerance = 1e-13 * eigenvalues.len() as f64 * high;
            assert!(
                form.smallest() <= low && form.smallest() >= low - tolerance,
                "{form:?}"
            );
            assert!(
                form.largest() >= high && form.largest() <= high + tolerance,
                "{form:?}"
            );
        }
    }

    #[test]
    fn a_hundred_dimensions_agree_with_the_closed_form() {
        // the second difference has the eigenvalues 2 − 2cos(kπ/(n+1)), shuffled to be dense
        let n = 100;
        let place = |i: usize| (37 * i) % n;
        let mut rows = vec![vec![0.0; n]; n];
        for i in 0..n {
            rows[place(i)][place(i)] = 2.0;
            if i + 1 < n {
                rows[place(i)][place(i + 1)] = -1.0;
                rows[place(i + 1)][place(i)] = -1.0;
            }
        }
        let form = Form::matrix(&rows).unwrap();
        let angle = std::f64::consts::PI / (n + 1) as f64;
        assert!((form.smallest() - (2.0 - 2.0 * angle.cos())).abs() < 2e-12);
        assert!((form.largest() - (2.0 + 2.0 * angle.cos())).abs() < 2e-12);
    }

    #[test]
    fn what_is_no_semidefinite_matrix_is_refused_in_words() {
        for (rows, word) in [
            (reflected(&[1.0, -1e-9, 2.0]), "eigenvalue"),
            (vec![vec![0.0, 1.0], vec![1.0, 0.0]], "eigenvalue -1"),
            (vec![vec![1.0, 0.5], vec![0.4, 1.0]], "0.4"),
            (vec![vec![1.0, 0.0]], "2 entries"),
            (vec![vec![f64::NAN]], "NaN"),
            (vec![vec![1e200]], "1e200"),
            (vec![], "[]"),
        ] {
            let error = Form::matrix(&rows).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("must be"), "{error}");
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Form::multiple(bad).is_err());
            assert!(Form::diagonal(&[1.0, bad]).is_err());
        }
        assert!(Form::diagonal(&[]).is_err());
        assert_eq!(Form::matrix(&[vec![0.0]]).unwrap().largest(), 0.0);
    }
}
