//! Quadratic forms ½⟨x, Ax⟩ with a positive semidefinite A, and bounds on the eigenvalues of A.

use crate::set::boxes::Bound;
use crate::spec::Kind;
use crate::{Error, Result, kernel};

/// A positive semidefinite matrix A with bounds on its eigenvalues. The bounds allow for rounding.
#[derive(Debug, Clone)]
pub struct QuadraticForm {
    shape: Shape,
    smallest: f64,
    largest: f64,
}

#[derive(Debug, Clone)]
enum Shape {
    /// A diagonal matrix. A single number k stands for k times the identity, in any dimension.
    Diagonal(Bound),
    /// A matrix, stored by rows.
    Matrix { dim: usize, entries: Vec<f64> },
}

const OWNER: &str = "quadratic";
const DIAGONAL: Kind = Kind::Each(&Kind::NOT_NEGATIVE);
const SEMIDEFINITE: &str = "a symmetric positive semidefinite matrix of finite numbers";

impl QuadraticForm {
    /// The diagonal matrix with these entries ≥ 0. A single number k is k times the identity.
    pub fn diagonal(values: Bound) -> Result<Self> {
        DIAGONAL.check(OWNER, "diagonal", &values)?;
        let all = match &values {
            Bound::All(k) => std::slice::from_ref(k),
            Bound::Each(values) => values,
        };
        if all.is_empty() {
            let allowed = DIAGONAL.to_string();
            return Err(Error::parameter(OWNER, "diagonal", "[]", allowed));
        }
        Ok(Self {
            smallest: kernel::min(all),
            largest: kernel::max(all),
            shape: Shape::Diagonal(values),
        })
    }

    /// A symmetric matrix from its rows, in O(d³). It must be positive semidefinite.
    pub fn matrix(rows: &[Vec<f64>]) -> Result<Self> {
        let dim = rows.len();
        let refused = |what: String| Error::parameter(OWNER, "matrix", what, SEMIDEFINITE);
        if let Some(row) = rows.iter().find(|row| row.len() != dim) {
            let what = format!("{dim} rows, one with {} entries", row.len());
            return Err(refused(what));
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
        // for other sizes, sums of squares could overflow or underflow
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

    /// A lower bound on the eigenvalues of A, exact up to rounding.
    pub fn smallest(&self) -> f64 {
        self.smallest
    }

    /// An upper bound on the eigenvalues of A, exact up to rounding.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The k of an A that is given as k times the identity. Then Ax needs no memory.
    pub(crate) fn as_multiple(&self) -> Option<f64> {
        match self.shape {
            Shape::Diagonal(Bound::All(k)) => Some(k),
            _ => None,
        }
    }

    /// The dimension. It is `None` if A is a multiple of the identity in any dimension.
    pub fn dim(&self) -> Option<usize> {
        match &self.shape {
            Shape::Diagonal(values) => values.len(),
            Shape::Matrix { dim, .. } => Some(*dim),
        }
    }

    /// Writes Ax to `out`.
    ///
    /// # Panics
    /// Panics if `x` or `out` does not have the dimension of A.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!(x.len(), out.len());
        assert!(self.dim().is_none_or(|dim| dim == x.len()));
        match &self.shape {
            Shape::Diagonal(Bound::All(k)) => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = k * x;
                }
            }
            Shape::Diagonal(Bound::Each(values)) => {
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
