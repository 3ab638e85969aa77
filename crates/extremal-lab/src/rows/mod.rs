//! Collected examples, which are kept in memory and replayed as a stream. They come from a file or from
//! an embedded data set. The examples are in the file's order, or in a random order that a seed
//! determines.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use extremal::Row;
use extremal::stream::Stream;
use extremal_data::{Batch, Features, Labels, ReadOptions, Reader};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::experiment::{RowLabels, RowSource};
use crate::format::count;

mod embedded;
mod replay;

pub use embedded::{Dataset, Task, datasets};
use replay::Replay;

/// The smallest share of non-zero entries for which rows are stored densely.
const DENSE: f64 = 1.0 / 3.0;

/// A factor on the largest norm of a row, to allow for rounding errors.
const SLACK: f64 = 1.0 + 1e-12;

/// Collected examples in memory.
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
/// assert_eq!((rows.len(), rows.dim), (1250, 10));
/// let mut stream = rows.stream(7, 10).unwrap();
/// # Ok::<(), extremal_lab::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Rows {
    /// The number of features, including the column of ones if there is one.
    pub dim: usize,
    /// The SHA-256 of the file's bytes, in hexadecimal. For a compressed file, this is the hash of the
    /// compressed bytes.
    pub sha256: String,
    /// Notes to the user on how the file was read.
    pub notes: Vec<String>,
    /// Whether the examples have labels. Those that lack one are left out.
    pub has_labels: bool,
    /// The labels in the file's order. An example without a label has the label 0.
    pub labels: Vec<f64>,
    /// The largest ℓ2 norm of a row.
    pub row_bound: f64,
    /// The largest absolute value of a label.
    pub label_bound: f64,
    /// The largest weight of an example. Bounds on gradients are multiplied by this weight.
    pub weight_bound: f64,
    /// The smallest and the largest entry of all rows, including zeros. For x in the probability simplex,
    /// ⟨a, x⟩ lies between these two numbers.
    pub entry_range: (f64, f64),
    weights: Vec<f64>,
    shuffle: bool,
    /// For each row, the index at which its non-zero entries end.
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// All entries row by row, if few of them are 0.
    dense: Option<Vec<f64>>,
}

impl RowSource {
    /// Reads the examples. A relative path starts from `base`, the folder of the experiment's file.
    pub fn load(&self, base: &Path) -> Result<Arc<Rows>> {
        let mut options = ReadOptions {
            format: self.format,
            intercept: self.intercept,
            labels: match self.labels.clone() {
                None | Some(RowLabels::Present(true)) => Labels::Auto,
                Some(RowLabels::Present(false)) => Labels::None,
                Some(RowLabels::Pair(negative, positive)) => Labels::Pair { negative, positive },
            },
            ..self.reading.options()
        };
        if let Some(name) = &self.data {
            let set = embedded::find(name)?;
            if set.task == Task::Portfolio {
                options.labels = Labels::None;
            }
            return self.read(set.file, set.bytes, &options);
        }
        let path = base.join(self.file.as_deref().unwrap_or_default());
        // The whole file is read before it is parsed, so that the hash is of the parsed bytes.
        let bytes = fs::read(&path).map_err(Error::file(&path, "can't be read"))?;
        self.read(&path.display().to_string(), bytes, &options)
    }

    fn read(
        &self,
        name: &str,
        bytes: impl AsRef<[u8]> + Send + 'static,
        options: &ReadOptions,
    ) -> Result<Arc<Rows>> {
        let hash = Sha256::digest(bytes.as_ref());
        let mut rows = Rows {
            sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
            has_labels: options.labels != Labels::None,
            shuffle: self.shuffle,
            ..Rows::default()
        };
        let mut unlabelled = 0;
        let mut reader = Reader::from_read(Box::new(std::io::Cursor::new(bytes)), name, options)?;
        while let Some(batch) = reader.next()? {
            unlabelled += rows.extend(batch);
        }
        let refuse = |what: &str| Err(extremal_data::Error::content(name, what).into());
        if rows.labels.is_empty() {
            return refuse(match unlabelled {
                0 => "the file has no examples",
                _ => "no example has a label. Write labels = false if the loss uses none",
            });
        }
        if rows.dim == 0 {
            return refuse("the examples have no features");
        }
        rows.notes = reader.warnings();
        if unlabelled > 0 {
            let count = count(unlabelled);
            rows.notes
                .push(format!("left out {count} examples without a label"));
        }
        if self.unit_columns {
            rows.divide_columns();
        }
        if self.unit_rows {
            rows.divide_rows();
        }
        rows.finish();
        Ok(Arc::new(rows))
    }
}

impl Rows {
    /// The number of examples.
    #[allow(clippy::len_without_is_empty)] // A file without examples is an error.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// A stream of the examples in the file's order. It is an error if `dim` is smaller than the number of
    /// features.
    pub fn in_order(self: &Arc<Self>, dim: usize) -> extremal::Result<Box<dyn Stream>> {
        if dim >= self.dim {
            return Ok(Box::new(Replay::new(self.clone(), None, dim)));
        }
        Err(extremal::Error::Unsupported(format!(
            "the examples have {} features, but the set has dimension {dim}",
            self.dim
        )))
    }

    /// A stream of the examples. If rows are shuffled, the seed determines their order. Otherwise the
    /// rows have the file's order, as in [`Rows::in_order`].
    pub fn stream(self: &Arc<Self>, seed: u64, dim: usize) -> extremal::Result<Box<dyn Stream>> {
        if self.shuffle && dim >= self.dim {
            return Ok(Box::new(Replay::new(self.clone(), Some(seed), dim)));
        }
        self.in_order(dim)
    }

    fn nonzeros(&self, k: usize) -> std::ops::Range<usize> {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        start..self.ends[k]
    }

    /// The row of example k, counted from 0 in the file's order.
    pub fn row(&self, k: usize) -> Row<'_> {
        if let Some(entries) = &self.dense {
            return Row::Dense(&entries[k * self.dim..(k + 1) * self.dim]);
        }
        Row::Sparse {
            indices: &self.indices[self.nonzeros(k)],
            values: &self.values[self.nonzeros(k)],
        }
    }

    /// Adds the examples of a batch. Those that lack a label are left out, and counted.
    fn extend(&mut self, batch: &Batch) -> u64 {
        // A table's last column may contain only zeros.
        self.dim = self.dim.max(batch.features().map_or(0, Features::len));
        let mut unlabelled = 0;
        for example in batch.iter() {
            if self.has_labels && example.label.is_none() {
                unlabelled += 1;
                continue;
            }
            self.indices.extend_from_slice(example.indices);
            self.values.extend_from_slice(example.values);
            self.ends.push(self.indices.len());
            self.labels.push(example.label.unwrap_or(0.0));
            self.weights.push(example.weight);
            let last = example.indices.last();
            self.dim = self.dim.max(last.map_or(0, |last| *last as usize + 1));
        }
        unlabelled
    }

    fn divide_columns(&mut self) {
        let mut largest = vec![0.0_f64; self.dim];
        for (&i, v) in self.indices.iter().zip(&self.values) {
            largest[i as usize] = largest[i as usize].max(v.abs());
        }
        // Stored entries are not 0. Every column with a stored entry therefore has a maximum above 0.
        for (&i, v) in self.indices.iter().zip(&mut self.values) {
            *v /= largest[i as usize];
        }
    }

    fn divide_rows(&mut self) {
        for k in 0..self.len() {
            let row = self.nonzeros(k);
            let row = &mut self.values[row];
            let (largest, root) = scaled_norm(row);
            if largest > 0.0 {
                row.iter_mut().for_each(|v| *v = *v / largest / root);
            }
        }
    }

    /// Computes the bounds, and stores the rows densely if few entries are 0.
    fn finish(&mut self) {
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |top, v| top.max(v.abs()));
        let norms = (0..self.len()).map(|k| {
            let (largest, root) = scaled_norm(&self.values[self.nonzeros(k)]);
            largest * root
        });
        self.row_bound = SLACK * norms.fold(0.0, f64::max);
        self.label_bound = largest(&self.labels);
        self.weight_bound = largest(&self.weights);
        let all = self.len() as f64 * self.dim as f64;
        let stored = self.values.len() as f64;
        // An entry that is not stored is 0, and counts too.
        let first = if stored < all { 0.0 } else { self.values[0] };
        self.entry_range = self
            .values
            .iter()
            .fold((first, first), |(low, high), &v| (low.min(v), high.max(v)));
        if stored >= DENSE * all {
            let mut entries = vec![0.0; self.len() * self.dim];
            for (k, row) in entries.chunks_mut(self.dim).enumerate() {
                self.row(k).add_to(1.0, row);
            }
            self.dense = Some(entries);
            (self.indices, self.values) = (Vec::new(), Vec::new());
        }
    }
}

/// The largest absolute value t of an entry, and the norm divided by t. Without the division, squares
/// could overflow.
fn scaled_norm(values: &[f64]) -> (f64, f64) {
    let largest = values.iter().fold(0.0_f64, |top, v| top.max(v.abs()));
    if largest == 0.0 {
        return (0.0, 0.0);
    }
    let sum: f64 = values.iter().map(|v| (v / largest).powi(2)).sum();
    (largest, sum.sqrt())
}
