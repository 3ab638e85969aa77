//! Examples read together, in flat memory.

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
    }
}
