//! Examples read together, in flat memory.

use std::sync::Arc;

use crate::Column;

/// Examples read together. Cleared and filled again it does not allocate once it has seen the
/// largest of them.
#[derive(Debug, Default, Clone)]
pub struct Batch {
    labels: Vec<f64>,
    weights: Vec<f64>,
    lines: Vec<u64>,
    /// Where an example's non-zeros end.
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Where an example's tag ends.
    tag_ends: Vec<usize>,
    tags: String,
    columns: Option<Arc<[Column]>>,
}

/// One example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example<'a> {
    /// The label, where there is one: a number, ±1 of a pair, or the number of a class from 0.
    pub label: Option<f64>,
    /// How often it counts.
    pub weight: f64,
    /// What the file calls it; often nothing.
    pub tag: &'a str,
    /// Where it is not 0: distinct, rising.
    pub indices: &'a [u32],
    /// How much.
    pub values: &'a [f64],
    /// The line it begins on, from 1.
    pub line: u64,
}

impl Batch {
    /// How many examples.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many non-zeros.
    pub fn stored(&self) -> usize {
        self.indices.len()
    }

    /// Example `k`, from 0.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn get(&self, k: usize) -> Example<'_> {
        let start = |ends: &[usize]| if k == 0 { 0 } else { ends[k - 1] };
        let row = start(&self.ends)..self.ends[k];
        Example {
            label: Some(self.labels[k]).filter(|label| !label.is_nan()),
            weight: self.weights[k],
            tag: &self.tags[start(&self.tag_ends)..self.tag_ends[k]],
            indices: &self.indices[row.clone()],
            values: &self.values[row],
            line: self.lines[k],
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Example<'_>> {
        (0..self.len()).map(|k| self.get(k))
    }

    /// Forgets the examples, and keeps the memory.
    pub fn clear(&mut self) {
        self.labels.clear();
        self.weights.clear();
        self.lines.clear();
        self.ends.clear();
        self.indices.clear();
        self.values.clear();
        self.tag_ends.clear();
        self.tags.clear();
        self.columns = None;
    }

    /// The columns of the table that they are from, with what is known about them after these
    /// examples; of a model's table ([`ReadOptions::columns`](crate::ReadOptions::columns)), in
    /// its order.
    pub fn columns(&self) -> Option<&Arc<[Column]>> {
        self.columns.as_ref()
    }

    pub(crate) fn set_columns(&mut self, columns: Option<Arc<[Column]>>) {
        self.columns = columns;
    }

    /// Where the example being written begins among the non-zeros.
    pub(crate) fn open(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Adds a non-zero to the example being written.
    #[inline(always)]
    pub(crate) fn push(&mut self, index: u32, value: f64) {
        self.indices.push(index);
        self.values.push(value);
    }

    /// Adds several at once.
    pub(crate) fn extend(&mut self, indices: &[u32], values: &[f64]) {
        self.indices.extend_from_slice(indices);
        self.values.extend_from_slice(values);
    }

    /// Sets the tag of the example being written.
    pub(crate) fn set_tag(&mut self, tag: &str) {
        let start = self.tag_ends.last().copied().unwrap_or(0);
        self.tags.truncate(start);
        self.tags.push_str(tag);
    }

    /// Ends the example being written. A label that is NaN is none.
    pub(crate) fn finish(&mut self, label: f64, weight: f64, line: u64) {
        self.labels.push(label);
        self.weights.push(weight);
        self.lines.push(line);
        self.ends.push(self.indices.len());
        self.tag_ends.push(self.tags.len());
    }

    /// Forgets the example being written.
    pub(crate) fn abandon(&mut self) {
        let start = self.open();
        self.indices.truncate(start);
        self.values.truncate(start);
        let start = self.tag_ends.last().copied().unwrap_or(0);
        self.tags.truncate(start);
    }

    /// How much text its tags hold.
    pub(crate) fn tag_bytes(&self) -> usize {
        self.tags.len()
    }

    /// The non-zeros of the example being written, for putting them in order.
    pub(crate) fn row_mut(&mut self) -> (&mut Vec<u32>, &mut Vec<f64>, usize) {
        let start = self.open();
        (&mut self.indices, &mut self.values, start)
    }
}
