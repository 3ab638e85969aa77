//! Atoms. An oracle returns an atom: an extreme point in dense, sparse or rank-one form.

use serde::{Deserialize, Serialize};

use crate::kernel;

/// An extreme point, in dense, sparse or rank-one form. Its memory is reused from call to call.
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

    /// Copies `other` into the memory that this atom already owns.
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

/// A read-only view of an atom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AtomView<'a> {
    /// The origin.
    Zero,
    /// value·e_index.
    Coordinate {
        /// The index of the only non-zero entry.
        index: usize,
        /// The value of the only non-zero entry.
        value: f64,
    },
    /// The entries at the distinct `indices` are `values`. All other entries are 0.
    Sparse {
        /// The indices of the listed entries.
        indices: &'a [u32],
        /// The values of the listed entries.
        values: &'a [f64],
    },
    /// All entries.
    Dense(&'a [f64]),
    /// The matrix scale·left·rightᵀ, stored row by row.
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
    /// The origin, with no memory reserved.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the atom to the origin.
    pub fn set_zero(&mut self) {
        self.become_empty(Kind::Zero);
    }

    /// Sets the atom to value·e_index, where e_index is a unit vector.
    pub fn set_coordinate(&mut self, index: usize, value: f64) {
        self.become_empty(Kind::Coordinate(index as u32, value));
    }

    /// Clears all memory, so that equal atoms are saved as equal bytes.
    fn become_empty(&mut self, kind: Kind) {
        self.kind = kind;
        self.indices.clear();
        self.values.clear();
    }

    /// Turns the atom into a sparse atom. The caller fills the two empty lists: distinct indices, and a
    /// value for each index.
    pub fn sparse_mut(&mut self) -> (&mut Vec<u32>, &mut Vec<f64>) {
        self.become_empty(Kind::Sparse);
        (&mut self.indices, &mut self.values)
    }

    /// Turns the atom into a dense atom with `dim` entries. The caller writes the entries.
    pub fn dense_mut(&mut self, dim: usize) -> &mut [f64] {
        self.kind = Kind::Dense;
        self.indices.clear();
        self.values.resize(dim, 0.0);
        &mut self.values
    }

    /// Sets the atom to the given entries, and to 0 elsewhere. The atom is sparse if `few` is true, and
    /// dense if `few` is false. Memory is reserved for both forms, because the next call may need the
    /// other form.
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

    /// Sets the atom to scale·left·rightᵀ. The caller writes left and right.
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

    /// A read-only view of the atom.
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

    /// The numbers of values and of indices for which memory is reserved.
    pub(crate) fn capacity(&self) -> (usize, usize) {
        (self.values.capacity(), self.indices.capacity())
    }

    /// Reserves memory for this total number of values and of indices.
    pub(crate) fn reserve(&mut self, values: usize, indices: usize) {
        let (now, there) = (self.values.len(), self.indices.len());
        self.values.reserve(values.saturating_sub(now));
        self.indices.reserve(indices.saturating_sub(there));
    }

    /// Whether the atom stores only the entries that may differ from 0.
    pub(crate) fn has_few_entries(&self) -> bool {
        !matches!(self.kind, Kind::Dense | Kind::RankOne { .. })
    }

    /// The stored entries with their indices. Call this method only if [`Self::has_few_entries`] is true.
    pub(crate) fn few_entries(&self) -> impl Iterator<Item = (u32, f64)> {
        let one = match self.kind {
            Kind::Coordinate(index, value) => Some((index, value)),
            _ => None,
        };
        let all = self.indices.iter().zip(&self.values);
        one.into_iter().chain(all.map(|(i, v)| (*i, *v)))
    }

    /// Whether the atom is a point of this dimension.
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

    /// Multiplies the atom by k.
    pub fn scale(&mut self, k: f64) {
        match &mut self.kind {
            Kind::Zero => {}
            Kind::Coordinate(_, value) => *value *= k,
            Kind::Sparse | Kind::Dense => self.values.iter_mut().for_each(|v| *v *= k),
            Kind::RankOne { scale, .. } => *scale *= k,
        }
    }

    /// Writes all entries of the atom into `out`.
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
