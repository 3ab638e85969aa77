//! A symmetric matrix M = I + Σ hhᵀ, stored as its factor: M = RᵀR with R upper triangular.
//! Rotations add a term hhᵀ in O(d²). M stays symmetric, and rounding can't make it smaller than I.

use serde::{Deserialize, Serialize};

use super::{axpy, dot};

/// The factor R. Its rows are stored one after the other, each starting at its diagonal entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Factor {
    dim: usize,
    rows: Vec<f64>,
}

impl Factor {
    /// The factor of M = I.
    pub fn identity(dim: usize) -> Self {
        let mut rows = vec![0.0; Self::len(dim)];
        let mut at = 0;
        for k in 0..dim {
            rows[at] = 1.0;
            at += dim - k;
        }
        Self { dim, rows }
    }

    /// The number of entries that a factor of this dimension stores.
    pub fn len(dim: usize) -> usize {
        dim * (dim + 1) / 2
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.rows.copy_from_slice(&other.rows);
    }

    fn rows(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let mut rest = &self.rows[..];
        (0..self.dim).map(move |k| {
            let (row, after) = rest.split_at(self.dim - k);
            rest = after;
            (k, row)
        })
    }

    /// M ← M + hhᵀ. The call overwrites h.
    pub fn absorb(&mut self, h: &mut [f64]) {
        let mut rest = &mut self.rows[..];
        for k in 0..self.dim {
            let (row, after) = rest.split_at_mut(self.dim - k);
            rest = after;
            let length = row[0].hypot(h[k]);
            let (c, s) = (row[0] / length, h[k] / length);
            row[0] = length;
            if s == 0.0 {
                continue;
            }
            for (r, h) in row[1..].iter_mut().zip(&mut h[k + 1..]) {
                (*r, *h) = (c * *r + s * *h, c * *h - s * *r);
            }
        }
    }

    /// z ← Rz.
    pub fn apply(&self, z: &mut [f64]) {
        for (k, row) in self.rows() {
            z[k] = dot(row, &z[k..]);
        }
    }

    /// out ← out + Rᵀz.
    pub fn add_transposed(&self, z: &[f64], out: &mut [f64]) {
        for (k, row) in self.rows() {
            axpy(z[k], row, &mut out[k..]);
        }
    }

    /// h ← M⁻¹h.
    pub fn solve(&self, h: &mut [f64]) {
        for (k, row) in self.rows() {
            h[k] /= row[0];
            let (done, rest) = h.split_at_mut(k + 1);
            axpy(-done[k], &row[1..], rest);
        }
        let mut end = self.rows.len();
        for k in (0..self.dim).rev() {
            let row = &self.rows[end - (self.dim - k)..end];
            end -= row.len();
            h[k] = (h[k] - dot(&row[1..], &h[k + 1..])) / row[0];
        }
    }
}
