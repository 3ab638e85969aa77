//! Examples that were collected, kept in memory and replayed as a stream: in their own order, or in
//! one that a seed chooses. They come from files, or from data sets that are part of the program.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use extremal::Row;
use extremal::stream::Stream;
use extremal_data::{Batch, Labels, ReadOptions, Reader};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::experiment::RowSource;

mod embedded;
mod replay;

pub use embedded::{Dataset, Task, datasets};
use replay::Replay;

/// Rows with fewer non-zeros than this share of the dimension are kept sparse.
const DENSE: f64 = 1.0 / 3.0;

/// A stream's bounds hold however norms are rounded.
const SLACK: f64 = 1.0 + 1e-12;

/// Examples in memory. Clones share it.
///
/// ```
/// use extremal_lab::experiment::RowSource;
/// let source = RowSource {
///     shuffle: true,
///     unit_rows: true,
///     intercept: true,
///     ..RowSource::embedded("phishing")
/// };
/// let rows = source.load(std::path::Path::new("."))?;
/// assert_eq!((rows.len(), rows.dim()), (1250, 10));
/// let mut stream = rows.stream(7, 10).unwrap();
/// # Ok::<(), extremal_lab::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rows(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    dim: usize,
    shuffle: bool,
    sha256: String,
    notes: Vec<String>,
    labelled: bool,
    entries: Entries,
    labels: Vec<f64>,
    weights: Vec<f64>,
    row_bound: f64,
    label_bound: f64,
    weight_bound: f64,
    entry_range: (f64, f64),
}

/// What the rows hold.
#[derive(Debug)]
enum Entries {
    /// Row by row.
    Dense(Vec<f64>),
    /// Non-zeros, and where each row's end.
    Sparse {
        ends: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    },
}

impl RowSource {
    /// Reads the examples. A path is meant from `base`, the folder of the experiment's file.
    ///
    /// A file's labels are numbers, and have to be there where there are labels. A column of ones comes before all others.
    pub fn load(&self, base: &Path) -> Result<Rows> {
        let mut options = ReadOptions {
            intercept: self.intercept,
            label_column: self.label.clone(),
            ..ReadOptions::default()
        };
        if self.labels == Some(false) {
            options.labels = Labels::None;
        }
        if let Some(name) = &self.data {
            let set = embedded::find(name)?;
            if set.task == Task::Portfolio {
                options.labels = Labels::None;
            }
            return self.read(set.file, set.bytes, &options);
        }
        if let Some(format) = &self.format {
            options.format = Some(format.parse().map_err(Error::Unsupported)?);
        }
        let path = base.join(self.file.as_deref().unwrap_or_default());
        // All of it at once: the bytes that are hashed are those that are read.
        let bytes = fs::read(&path).map_err(|why| Error::Read {
            path: path.clone(),
            why: why.to_string(),
        })?;
        self.read(&path.display().to_string(), bytes, &options)
    }

    fn read(
        &self,
        name: &str,
        bytes: impl AsRef<[u8]> + Send + 'static,
        options: &ReadOptions,
    ) -> Result<Rows> {
        let sha256 = hexadecimal(&Sha256::digest(bytes.as_ref()));
        let mut reader = Reader::from_read(Box::new(std::io::Cursor::new(bytes)), name, options)?;
        let mut table = Table::new(self.intercept);
        while let Some(batch) = reader.next()? {
            table.extend(batch);
        }
        if table.labels.is_empty() {
            return Err(extremal_data::Error::Content {
                file: name.into(),
                what: "there are no examples in it".into(),
            }
            .into());
        }
        if table.dim == 0 {
            return Err(extremal_data::Error::Content {
                file: name.into(),
                what: "its examples have no features".into(),
            }
            .into());
        }
        if self.unit_columns {
            table.divide_columns();
        }
        if self.unit_rows {
            table.divide_rows();
        }
        Ok(Rows(Arc::new(table.keep(
            self.shuffle,
            sha256,
            reader.warnings(),
        ))))
    }
}

impl Rows {
    /// How many features, that of ones included.
    pub fn dim(&self) -> usize {
        self.0.dim
    }

    /// How many examples.
    #[allow(clippy::len_without_is_empty)] // it never is: a file without examples is an error
    pub fn len(&self) -> usize {
        self.0.labels.len()
    }

    /// SHA-256, hexadecimal, of the file's bytes, packed as it was found.
    pub fn sha256(&self) -> &str {
        &self.0.sha256
    }

    /// Whether every example has a label. Those of one that has none are 0, and mean nothing.
    pub fn has_labels(&self) -> bool {
        self.0.labelled
    }

    /// The labels, in the file's order.
    pub fn labels(&self) -> &[f64] {
        &self.0.labels
    }

    /// The examples one by one in the file's order, whatever the seed would choose.
    pub fn in_order(&self, dim: usize) -> extremal::Result<Box<dyn Stream>> {
        self.check_dim(dim)?;
        Ok(Box::new(Replay::in_order(self.clone(), dim)))
    }

    /// What the user should know about how the file was read.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// No row's ℓ2 norm exceeds this.
    pub fn row_bound(&self) -> f64 {
        self.0.row_bound
    }

    /// No |label| exceeds this.
    pub fn label_bound(&self) -> f64 {
        self.0.label_bound
    }

    /// No example counts more often than this. A bound of gradients is to be multiplied by it.
    pub fn weight_bound(&self) -> f64 {
        self.0.weight_bound
    }

    /// The smallest and the largest entry of a row, zeros included: over the simplex ⟨a, x⟩ lies
    /// between them.
    pub fn entry_range(&self) -> (f64, f64) {
        self.0.entry_range
    }

    fn check_dim(&self, dim: usize) -> extremal::Result<()> {
        if dim >= self.dim() {
            return Ok(());
        }
        Err(extremal::Error::Unsupported(format!(
            "the examples have {} features, but the set has dimension {dim}",
            self.dim()
        )))
    }

    /// The examples one by one, in the order that the seed chooses if they are to be shuffled, as
    /// rows of a dimension no lower than their own. After the last one the stream ends.
    pub fn stream(&self, seed: u64, dim: usize) -> extremal::Result<Box<dyn Stream>> {
        self.check_dim(dim)?;
        Ok(Box::new(Replay::new(self.clone(), seed, dim)))
    }

    /// The k-th example's row, in the file's order.
    pub fn row(&self, k: usize) -> Row<'_> {
        let Kept { entries, dim, .. } = &*self.0;
        match entries {
            Entries::Dense(values) => Row::Dense(&values[k * dim..(k + 1) * dim]),
            Entries::Sparse {
                ends,
                indices,
                values,
            } => {
                let start = if k == 0 { 0 } else { ends[k - 1] };
                Row::Sparse {
                    indices: &indices[start..ends[k]],
                    values: &values[start..ends[k]],
                }
            }
        }
    }
}

/// Examples as they are read: their non-zeros.
struct Table {
    intercept: bool,
    dim: usize,
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    labels: Vec<f64>,
    labelled: bool,
    weights: Vec<f64>,
}

impl Table {
    fn new(intercept: bool) -> Self {
        Self {
            intercept,
            dim: 0,
            ends: Vec::new(),
            indices: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
            labelled: true,
            weights: Vec::new(),
        }
    }

    fn extend(&mut self, batch: &Batch) {
        // A table's last column may hold nothing but zeros.
        if let Some(columns) = batch.columns() {
            let features = columns.iter().filter(|c| {
                use extremal_data::Holds::{Label, Nothing, Numbers, Text, Weight};
                match c.holds {
                    Nothing | Numbers | Text => true,
                    Label | Weight => false,
                }
            });
            self.dim = self.dim.max(features.count() + usize::from(self.intercept));
        }
        for example in batch.iter() {
            self.indices.extend_from_slice(example.indices);
            self.values.extend_from_slice(example.values);
            self.ends.push(self.indices.len());
            // where there is none, none may be looked at: see `has_labels`
            self.labels.push(example.label.unwrap_or(0.0));
            self.labelled = self.labelled && example.label.is_some();
            self.weights.push(example.weight);
            if let Some(last) = example.indices.last() {
                self.dim = self.dim.max(*last as usize + 1);
            }
        }
    }

    fn divide_columns(&mut self) {
        let mut tops = vec![0.0_f64; self.dim];
        for (&i, v) in self.indices.iter().zip(&self.values) {
            let top = &mut tops[i as usize];
            *top = top.max(v.abs());
        }
        // a column that holds an entry has a top above 0: zeros are not kept
        for (&i, v) in self.indices.iter().zip(&mut self.values) {
            *v /= tops[i as usize];
        }
    }

    fn divide_rows(&mut self) {
        let mut start = 0;
        for &end in &self.ends {
            let row = &mut self.values[start..end];
            let (top, root) = scaled_norm(row);
            if top > 0.0 {
                row.iter_mut().for_each(|v| *v = *v / top / root);
            }
            start = end;
        }
    }

    fn keep(self, shuffle: bool, sha256: String, notes: Vec<String>) -> Kept {
        let (rows, dim) = (self.labels.len(), self.dim);
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let row_bound = starts
            .zip(&self.ends)
            .map(|(start, &end)| {
                let (top, root) = scaled_norm(&self.values[start..end]);
                top * root
            })
            .fold(0.0, f64::max);
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |top, v| top.max(v.abs()));
        let whole = rows as f64 * dim as f64;
        let stored = self.values.len() as f64;
        // a zero that is not stored is an entry too
        let seed = if stored < whole { 0.0 } else { self.values[0] };
        let entry_range = (self.values.iter()).fold((seed, seed), |(low, high), &v| {
            (f64::min(low, v), f64::max(high, v))
        });
        let (row_bound, label_bound, weight_bound) = (
            row_bound * SLACK,
            largest(&self.labels),
            largest(&self.weights),
        );
        let entries = if stored >= DENSE * whole {
            let mut dense = vec![0.0; rows * dim];
            let mut start = 0;
            for (row, &end) in dense.chunks_mut(dim).zip(&self.ends) {
                for k in start..end {
                    row[self.indices[k] as usize] = self.values[k];
                }
                start = end;
            }
            Entries::Dense(dense)
        } else {
            Entries::Sparse {
                ends: self.ends,
                indices: self.indices,
                values: self.values,
            }
        };
        Kept {
            dim,
            shuffle,
            sha256,
            notes,
            labelled: self.labelled,
            entries,
            labels: self.labels,
            weights: self.weights,
            row_bound,
            label_bound,
            weight_bound,
            entry_range,
        }
    }
}

/// The largest size t of an entry, and the norm over t, so that no square overflows.
fn scaled_norm(values: &[f64]) -> (f64, f64) {
    let top = values.iter().fold(0.0_f64, |top, v| top.max(v.abs()));
    if top == 0.0 {
        return (0.0, 0.0);
    }
    let sum: f64 = values.iter().map(|v| (v / top) * (v / top)).sum();
    (top, sum.sqrt())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
