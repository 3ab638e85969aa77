//! A batch of examples in flat memory.

use std::sync::Arc;

use crate::{Column, Features};

/// A batch of examples. A cleared batch keeps its memory for the next examples.
#[derive(Debug, Default, Clone)]
pub struct Batch {
    labels: Vec<f64>,
    weights: Vec<f64>,
    lines: Vec<u64>,
    /// The end of each example's non-zeros.
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// The end of each example's tag.
    tag_ends: Vec<usize>,
    tags: String,
    columns: Option<Arc<[Column]>>,
    /// The position of each invalid record that was skipped.
    skipped: Vec<usize>,
    features: Option<Features>,
}

/// One example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example<'a> {
    /// The label, if there is one: a number, ±1 for a pair of labels, or the index of a class, from 0.
    pub label: Option<f64>,
    /// The weight in the total loss.
    pub weight: f64,
    /// The name of the example in the file, often empty.
    pub tag: &'a str,
    /// The indices of the non-zeros, strictly increasing.
    pub indices: &'a [u32],
    /// The values of the non-zeros.
    pub values: &'a [f64],
    /// The number of the example's first line in the file, from 1.
    pub line: u64,
}

impl Batch {
    /// The number of examples.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the batch has no examples.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of non-zeros in all examples.
    pub fn stored(&self) -> usize {
        self.indices.len()
    }

    /// The example with index `k`. The first example has index 0.
    ///
    /// # Panics
    /// If the batch has `k` examples or fewer.
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

    /// Iterates over the examples.
    pub fn iter(&self) -> impl Iterator<Item = Example<'_>> {
        (0..self.len()).map(|k| self.get(k))
    }

    /// Removes all examples and keeps the memory.
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
        self.skipped.clear();
        self.features = None;
    }

    /// The position of each invalid record that the reader skipped: the number of examples before it
    /// in this batch.
    pub fn skipped(&self) -> &[usize] {
        &self.skipped
    }

    /// Stores the position of an invalid record.
    pub(crate) fn skip(&mut self) {
        self.skipped.push(self.ends.len());
    }

    /// The columns of the table, with the types that are known after these examples. They have the
    /// model's order if [`ReadOptions::columns`](crate::ReadOptions::columns) is set.
    pub fn columns(&self) -> Option<&Arc<[Column]>> {
        self.columns.as_ref()
    }

    /// The names of all features up to these examples. `None` if the features have numbers only.
    pub fn features(&self) -> Option<&Features> {
        self.features.as_ref()
    }

    pub(crate) fn set_columns(&mut self, columns: Option<Arc<[Column]>>) {
        self.columns = columns;
    }

    pub(crate) fn set_features(&mut self, features: Option<Features>) {
        self.features = features;
    }

    /// The position of the first non-zero of the example being written.
    pub(crate) fn open(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Adds a non-zero to the example being written.
    #[inline(always)]
    pub(crate) fn push(&mut self, index: u32, value: f64) {
        self.indices.push(index);
        self.values.push(value);
    }

    /// Adds several non-zeros.
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

    /// Ends the example being written. A label of NaN means no label.
    pub(crate) fn finish(&mut self, label: f64, weight: f64, line: u64) {
        self.labels.push(label);
        self.weights.push(weight);
        self.lines.push(line);
        self.ends.push(self.indices.len());
        self.tag_ends.push(self.tags.len());
    }

    /// Discards the example being written.
    pub(crate) fn abandon(&mut self) {
        let start = self.open();
        self.indices.truncate(start);
        self.values.truncate(start);
        let start = self.tag_ends.last().copied().unwrap_or(0);
        self.tags.truncate(start);
    }

    /// The length of all tags in bytes.
    pub(crate) fn tag_bytes(&self) -> usize {
        self.tags.len()
    }

    /// All indices and values, and the position at which the example being written begins.
    pub(crate) fn row_mut(&mut self) -> (&mut Vec<u32>, &mut Vec<f64>, usize) {
        let start = self.open();
        (&mut self.indices, &mut self.values, start)
    }
}
