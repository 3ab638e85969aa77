//! An atom: the extreme point that an oracle returns, in its own structure.

use serde::{Deserialize, Serialize};

use crate::kernel;

/// An extreme point, kept in its own structure; the memory is reused from call to call.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Atom {
    kind: Kind,
    values: Vec<f64>,
    indices: Vec<u32>,
}

impl Clone for Atom {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind,
            values: self.values.clone(),
            indices: self.indices.clone(),
        }
    }

    /// Reuses the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        self.kind = other.kind;
        self.values.clone_from(&other.values);
        self.indices.clone_from(&other.indices);
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
enum Kind {
    #[default]
    Zero,
    Coordinate(u32, f64),
    Sparse,
    Dense,
    RankOne {
        rows: usize,
        scale: f64,
    },
}

/// An atom to read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AtomView<'a> {
    /// The origin.
    Zero,
    /// value·e_index.
    Coordinate {
        /// Where.
        index: usize,
        /// How much.
        value: f64,
    },
    /// values_k at indices_k (distinct), 0 elsewhere.
    Sparse {
        /// Where.
        indices: &'a [u32],
        /// How much.
        values: &'a [f64],
    },
    /// Every entry.
    Dense(&'a [f64]),
    /// scale·left·rightᵀ, a matrix stored by rows.
    RankOne {
        /// The factor.
        scale: f64,
        /// One entry per row.
        left: &'a [f64],
        /// One entry per column.
        right: &'a [f64],
    },
}

impl Atom {
    /// The origin, with no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Becomes the origin.
    pub fn set_zero(&mut self) {
        self.become_empty(Kind::Zero);
    }

    /// Becomes value·e_index.
    pub fn set_coordinate(&mut self, index: usize, value: f64) {
        self.become_empty(Kind::Coordinate(index as u32, value));
    }

    /// Nothing of an earlier atom is left, so that equal atoms are saved as equal bytes.
    fn become_empty(&mut self, kind: Kind) {
        self.kind = kind;
        self.indices.clear();
        self.values.clear();
    }

    /// Becomes an atom with a few entries, 0 elsewhere; the caller pushes as many indices
    /// (distinct) as values. Both are empty at first.
    pub fn sparse_mut(&mut self) -> (&mut Vec<u32>, &mut Vec<f64>) {
        self.become_empty(Kind::Sparse);
        (&mut self.indices, &mut self.values)
    }

    /// Becomes dense with `dim` entries, which the caller fills in.
    pub fn dense_mut(&mut self, dim: usize) -> &mut [f64] {
        self.kind = Kind::Dense;
        self.indices.clear();
        self.values.resize(dim, 0.0);
        &mut self.values
    }

    /// Becomes an atom with these entries, 0 elsewhere, sparse if they are `few`. It reserves
    /// memory for either form: which one it is may change from call to call.
    pub(crate) fn set_entries(
        &mut self,
        dim: usize,
        few: bool,
        entries: impl Iterator<Item = (u32, f64)>,
    ) {
        let (indices, values) = self.sparse_mut();
        indices.reserve(dim);
        values.reserve(dim);
        if few {
            for (i, v) in entries {
                indices.push(i);
                values.push(v);
            }
        } else {
            let out = self.dense_mut(dim);
            out.fill(0.0);
            entries.for_each(|(i, v)| out[i as usize] = v);
        }
    }

    /// Becomes scale·left·rightᵀ; the caller fills in left and right.
    pub fn rank_one_mut(
        &mut self,
        scale: f64,
        rows: usize,
        columns: usize,
    ) -> (&mut [f64], &mut [f64]) {
        self.kind = Kind::RankOne { rows, scale };
        self.indices.clear();
        self.values.resize(rows + columns, 0.0);
        self.values.split_at_mut(rows)
    }

    /// The atom to read.
    pub fn view(&self) -> AtomView<'_> {
        match self.kind {
            Kind::Zero => AtomView::Zero,
            Kind::Coordinate(index, value) => AtomView::Coordinate {
                index: index as usize,
                value,
            },
            Kind::Sparse => AtomView::Sparse {
                indices: &self.indices,
                values: &self.values,
            },
            Kind::Dense => AtomView::Dense(&self.values),
            Kind::RankOne { rows, scale } => {
                let (left, right) = self.values.split_at(rows);
                AtomView::RankOne { scale, left, right }
            }
        }
    }

    /// For how many values and indices there is memory.
    pub(crate) fn capacity(&self) -> (usize, usize) {
        (self.values.capacity(), self.indices.capacity())
    }

    /// Reserves memory for so many values and indices in all.
    pub(crate) fn reserve(&mut self, values: usize, indices: usize) {
        let (now, there) = (self.values.len(), self.indices.len());
        self.values.reserve(values.saturating_sub(now));
        self.indices.reserve(indices.saturating_sub(there));
    }

    /// Whether its structure lists the entries that can be other than 0.
    pub(crate) fn has_few_entries(&self) -> bool {
        !matches!(self.kind, Kind::Dense | Kind::RankOne { .. })
    }

    /// These, with their indices.
    pub(crate) fn few_entries(&self) -> impl Iterator<Item = (u32, f64)> {
        let one = match self.kind {
            Kind::Coordinate(index, value) => Some((index, value)),
            _ => None,
        };
        let all = self.indices.iter().zip(&self.values);
        one.into_iter().chain(all.map(|(i, v)| (*i, *v)))
    }

    /// Whether the atom is a point in this dimension.
    pub(crate) fn fits(&self, dim: usize) -> bool {
        match self.kind {
            Kind::Zero => true,
            Kind::Coordinate(index, _) => (index as usize) < dim,
            Kind::Sparse => {
                let inside = self.indices.iter().all(|i| (*i as usize) < dim);
                inside && self.indices.len() == self.values.len()
            }
            Kind::Dense => self.values.len() == dim,
            Kind::RankOne { rows, .. } => {
                let columns = self.values.len().checked_sub(rows);
                columns.and_then(|columns| rows.checked_mul(columns)) == Some(dim)
            }
        }
    }

    /// Becomes k times itself.
    pub fn scale(&mut self, k: f64) {
        match &mut self.kind {
            Kind::Zero => {}
            Kind::Coordinate(_, value) => *value *= k,
            Kind::Sparse | Kind::Dense => self.values.iter_mut().for_each(|v| *v *= k),
            Kind::RankOne { scale, .. } => *scale *= k,
        }
    }

    /// out = the atom, every entry written.
    pub fn write(&self, out: &mut [f64]) {
        match self.view() {
            AtomView::Dense(values) => out.copy_from_slice(values),
            _ => {
                out.fill(0.0);
                self.add_to(1.0, out);
            }
        }
    }

    /// ⟨a, atom⟩.
    pub fn dot(&self, a: &[f64]) -> f64 {
        match self.view() {
            AtomView::Zero => 0.0,
            AtomView::Coordinate { index, value } => a[index] * value,
            AtomView::Sparse { indices, values } => kernel::dot_sparse(indices, values, a),
            AtomView::Dense(values) => kernel::dot(a, values),
            AtomView::RankOne { scale, left, right } => {
                let rows = a.chunks(right.len()).zip(left);
                let sum: f64 = rows.map(|(row, l)| l * kernel::dot(row, right)).sum();
                scale * sum
            }
        }
    }

    /// ‖atom‖².
    pub fn norm_squared(&self) -> f64 {
        match self.view() {
            AtomView::Zero => 0.0,
            AtomView::Coordinate { value, .. } => value * value,
            AtomView::Dense(values) | AtomView::Sparse { values, .. } => {
                kernel::dot(values, values)
            }
            AtomView::RankOne { scale, left, right } => {
                scale * scale * kernel::dot(left, left) * kernel::dot(right, right)
            }
        }
    }

    /// x += k·atom.
    pub fn add_to(&self, k: f64, x: &mut [f64]) {
        match self.view() {
            AtomView::Dense(values) => kernel::axpy(k, values, x),
            AtomView::RankOne { scale, left, right } => {
                for (row, l) in x.chunks_mut(right.len()).zip(left) {
                    kernel::axpy(k * scale * l, right, row);
                }
            }
            _ => self.few_entries().for_each(|(i, v)| x[i as usize] += k * v),
        }
    }
}
