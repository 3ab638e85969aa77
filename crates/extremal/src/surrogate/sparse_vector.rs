//! A vector that is stored as its non-zeros.

use serde::{Deserialize, Serialize};

use crate::saved::check_shape;
use crate::{Result, Row};

/// The entries of a vector that differ from 0, or from a common value, with their indices.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SparseVector {
    pub indices: Vec<u32>,
    pub values: Vec<f64>,
}

impl SparseVector {
    /// Creates an empty vector with memory for this many entries.
    pub fn with_capacity(len: usize) -> Self {
        Self {
            indices: Vec::with_capacity(len),
            values: Vec::with_capacity(len),
        }
    }

    pub fn len(&self) -> usize {
        self.indices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    pub fn push(&mut self, index: usize, value: f64) {
        self.indices.push(index as u32);
        self.values.push(value);
    }

    /// Replaces all entries. There may be at most `len` new entries.
    pub fn set(&mut self, len: usize, entries: impl Iterator<Item = (usize, f64)>) {
        self.indices.clear();
        self.values.clear();
        self.indices.reserve(len);
        self.values.reserve(len);
        entries.for_each(|(i, v)| self.push(i, v));
    }

    pub fn entry(&self, n: usize) -> (usize, f64) {
        (self.indices[n] as usize, self.values[n])
    }

    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.len()).map(|n| self.entry(n))
    }

    pub fn row(&self) -> Row<'_> {
        Row::sparse(&self.indices, &self.values)
    }

    /// Returns an error unless all indices are below `dim`.
    pub fn check(&self, dim: usize) -> Result<()> {
        let fits = self.indices.iter().all(|i| (*i as usize) < dim);
        check_shape(fits && self.indices.len() == self.values.len())
    }
}
