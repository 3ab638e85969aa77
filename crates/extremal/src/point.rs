//! The decision as a point, and the gradient that a round reveals, dense or sparse.

use serde::{Deserialize, Serialize};

use crate::range::{GRADIENTS, SETS, check_size};
use crate::set::check_len;
use crate::{Error, Result, kernel};

/// Read access to a decision in any storage.
pub trait Point {
    /// The dimension.
    fn dim(&self) -> usize;

    /// ⟨a, x⟩; an error if the shape does not fit.
    fn dot(&self, row: &Row<'_>) -> Result<f64>;

    /// ‖x‖².
    fn norm_squared(&self) -> f64;

    /// out = x.
    ///
    /// # Panics
    /// If `out` does not have [`Point::dim`] entries.
    fn write(&self, out: &mut [f64]);

    /// All entries, where they are stored as a slice.
    fn as_slice(&self) -> Option<&[f64]> {
        None
    }

    /// Calls `each` with the index and value of every entry that is not 0, in order. Lazy storage
    /// goes through the features that gradients have touched, others through all.
    ///
    /// ```
    /// use extremal::{learner::{LearnerSpec, Storage}, Gradient, SetSpec};
    /// let set = "l2:dim=1000000".parse::<SetSpec>()?.build(None)?;
    /// let spec: LearnerSpec = "gauge-ftrl".parse()?;
    /// let mut learner = spec.build_stored(&set, Storage::Lazy)?;
    /// learner.decide()?;
    /// learner.observe(&Gradient::sparse(&[7, 70_000], &[1.0, -1.0]))?;
    /// let mut found = Vec::new();
    /// learner.decision().for_each_nonzero(&mut |i, _| found.push(i));
    /// assert_eq!(found, [7, 70_000]);
    /// # Ok::<(), extremal::Error>(())
    /// ```
    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        let mut x = vec![0.0; self.dim()];
        self.write(&mut x);
        nonzeros(&x, each);
    }

    /// The accuracy of [`Point::dot`] and [`Point::norm_squared`]; that of sums over the entries by
    /// default.
    fn accuracy(&self) -> Accuracy {
        Accuracy {
            dot: 1.0,
            norm: 1.0,
        }
    }
}

/// A plain vector: a slice, a `Vec`, an array.
impl<T: AsRef<[f64]> + ?Sized> Point for T {
    fn dim(&self) -> usize {
        self.as_ref().len()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.as_ref().len())?;
        Ok(row.dot(self.as_ref()))
    }

    fn norm_squared(&self) -> f64 {
        kernel::dot(self.as_ref(), self.as_ref())
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(self.as_ref());
    }

    fn as_slice(&self) -> Option<&[f64]> {
        Some(self.as_ref())
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        nonzeros(self.as_ref(), each);
    }
}

/// How accurate a [`Point`]'s inner products are: how many times the rounding error of the same
/// product, computed from the entries, they may be off. Certificates allow for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Of [`Point::dot`].
    pub dot: f64,
    /// Of [`Point::norm_squared`].
    pub norm: f64,
}

/// Calls `each` with the index and value of every entry that is not 0.
pub(crate) fn nonzeros(x: &[f64], each: &mut dyn FnMut(usize, f64)) {
    let all = x.iter().enumerate().filter(|(_, v)| **v != 0.0);
    all.for_each(|(i, v)| each(i, *v));
}

/// The coefficients a of a loss over ⟨a, x⟩.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Row<'a> {
    /// Every entry.
    Dense(&'a [f64]),
    /// values_i at indices_i, 0 elsewhere. The indices increase, hence no entry is given twice;
    /// other rows are refused ([`Error::Order`]).
    Sparse {
        /// Where.
        indices: &'a [u32],
        /// How much.
        values: &'a [f64],
    },
    /// values_k at (rows_k, columns_k) of a matrix with `width` columns, stored by rows. The entries
    /// come row by row, and with increasing columns in each row.
    Entries {
        /// The matrix's number of columns.
        width: usize,
        /// Row of each entry.
        rows: &'a [u32],
        /// Column of each entry.
        columns: &'a [u32],
        /// How much.
        values: &'a [f64],
    },
}

impl<'a> Row<'a> {
    /// A row with a few entries, the others 0; the indices increase.
    pub fn sparse(indices: &'a [u32], values: &'a [f64]) -> Self {
        Self::Sparse { indices, values }
    }

    /// How many entries are stored.
    pub fn stored(&self) -> usize {
        self.values().len()
    }

    pub(crate) fn values(&self) -> &[f64] {
        match self {
            Self::Dense(values) | Self::Sparse { values, .. } | Self::Entries { values, .. } => {
                values
            }
        }
    }

    /// ⟨a, x⟩ for a dense x.
    #[inline]
    pub fn dot(&self, x: &[f64]) -> f64 {
        match *self {
            Self::Dense(a) => kernel::dot(a, x),
            _ => self.dot_entries(x),
        }
    }

    // A function of its own, so that the other case is short enough to be inlined.
    fn dot_entries(&self, x: &[f64]) -> f64 {
        match *self {
            Self::Sparse { indices, values } => kernel::dot_sparse(indices, values, x),
            _ => self.entries().map(|(i, v)| v * x[i]).sum(),
        }
    }

    /// y += k·a for a dense y.
    pub fn add_to(&self, k: f64, y: &mut [f64]) {
        match *self {
            Self::Dense(a) => kernel::axpy(k, a, y),
            _ => self.for_each(|i, v| y[i] += k * v),
        }
    }

    /// Calls `each` with the index and value of every entry that is stored.
    #[inline]
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize, f64)) {
        match *self {
            Self::Dense(a) => a.iter().enumerate().for_each(|(i, v)| each(i, *v)),
            Self::Sparse { indices, values } => {
                let entries = indices.iter().zip(values);
                entries.for_each(|(i, v)| each(*i as usize, *v));
            }
            Self::Entries { .. } => self.entries().for_each(|(i, v)| each(i, v)),
        }
    }

    /// (index, value) of what is stored.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.stored()).map(move |k| match *self {
            Self::Dense(a) => (k, a[k]),
            Self::Sparse { indices, values } => (indices[k] as usize, values[k]),
            Self::Entries {
                width,
                rows,
                columns,
                values,
            } => (rows[k] as usize * width + columns[k] as usize, values[k]),
        })
    }

    /// Errors unless the shape fits the dimension and the indices increase. Values are not read.
    #[inline]
    pub fn check_shape(&self, dim: usize) -> Result<()> {
        match self {
            Self::Dense(a) if a.len() == dim => Ok(()),
            _ => self.check_indices(dim),
        }
    }

    fn check_indices(&self, dim: usize) -> Result<()> {
        let what = "gradient";
        let size = |expected, found| check_len(what, expected, found);
        let outside = |index: usize| Err(Error::Index { what, index, dim });
        match *self {
            Self::Dense(a) => size(dim, a.len()),
            Self::Sparse { indices, values } => {
                size(indices.len(), values.len())?;
                if !kernel::increases(indices) {
                    let unordered = indices.windows(2).find(|two| two[0] >= two[1]);
                    let index = unordered.map_or(0, |two| two[1] as usize);
                    return Err(Error::Order { what, index });
                }
                match indices.last() {
                    Some(&i) if i as usize >= dim => outside(i as usize),
                    _ => Ok(()),
                }
            }
            Self::Entries {
                width,
                rows,
                columns,
                values,
            } => {
                size(values.len(), rows.len())?;
                size(values.len(), columns.len())?;
                // rows · width can't overflow once the rows are known to lie in the matrix
                let height = dim.checked_div(width).unwrap_or(0);
                let places = || {
                    rows.iter()
                        .zip(columns)
                        .map(|(&r, &c)| (r as usize, c as usize))
                };
                let index = |(r, c): (usize, usize)| r.saturating_mul(width).saturating_add(c);
                if let Some(place) = places().find(|(r, c)| *r >= height || *c >= width) {
                    return outside(index(place));
                }
                match places().zip(places().skip(1)).find(|(a, b)| a >= b) {
                    Some((_, place)) => Err(Error::Order {
                        what,
                        index: index(place),
                    }),
                    None => Ok(()),
                }
            }
        }
    }

    /// Errors unless the shape fits and the row passes the numeric door ([`crate::range`]).
    pub(crate) fn check_size(&self, dim: usize) -> Result<()> {
        self.check_shape(dim)?;
        self.check_finite()?;
        check_size("row", kernel::norm(self.values()))?;
        Ok(())
    }

    /// Errors if an entry is NaN or infinite.
    pub fn check_finite(&self) -> Result<()> {
        match kernel::find_not_finite(self.values()) {
            None => Ok(()),
            Some((index, value)) => Err(Error::NotFinite {
                what: "gradient",
                index,
                value,
            }),
        }
    }
}

/// A copy of a row, in buffers that are used again.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct HeldRow {
    /// `None` for a dense row, 0 for a sparse one, otherwise the width of the matrix.
    kind: Option<usize>,
    indices: [Vec<u32>; 2],
    values: Vec<f64>,
}

impl HeldRow {
    pub fn hold(&mut self, row: &Row<'_>) {
        let [first, second] = &mut self.indices;
        first.clear();
        second.clear();
        self.values.clear();
        self.values.extend_from_slice(row.values());
        self.kind = match *row {
            Row::Dense(_) => None,
            Row::Sparse { indices, .. } => {
                first.extend_from_slice(indices);
                Some(0)
            }
            Row::Entries {
                width,
                rows,
                columns,
                ..
            } => {
                first.extend_from_slice(rows);
                second.extend_from_slice(columns);
                Some(width)
            }
        };
    }

    /// A dense row of this dimension, to be written.
    pub fn dense(&mut self, dim: usize) -> &mut [f64] {
        self.kind = None;
        self.indices.iter_mut().for_each(Vec::clear);
        self.values.resize(dim, 0.0);
        &mut self.values
    }

    /// Adds entries that are 0 to a dense row.
    pub fn grow(&mut self, dim: usize) {
        if self.kind.is_none() {
            self.values.resize(dim, 0.0);
        }
    }

    pub fn row(&self) -> Row<'_> {
        let ([rows, columns], values) = (&self.indices, &self.values[..]);
        match self.kind {
            None => Row::Dense(values),
            Some(0) => Row::Sparse {
                indices: rows,
                values,
            },
            Some(width) => Row::Entries {
                width,
                rows,
                columns,
                values,
            },
        }
    }
}

/// A gradient g = scale·a + ridge·x_t at the decision x_t. The second part is the gradient of a
/// ridge term (ridge/2)‖x‖². Stored apart, it stays implicit.
///
/// The two factors do not lie side by side in memory. Otherwise they would be loaded as one
/// register, and the load would wait for the store buffer, which costs a fifth of a short round's
/// time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Gradient<'a> {
    /// The factor of a.
    pub scale: f64,
    /// a
    pub row: Row<'a>,
    /// The factor of x_t.
    pub ridge: f64,
}

impl<'a> Gradient<'a> {
    /// A gradient with every entry given.
    pub fn dense(values: &'a [f64]) -> Self {
        Self {
            row: Row::Dense(values),
            scale: 1.0,
            ridge: 0.0,
        }
    }

    /// A gradient with a few entries, the others 0; the indices increase.
    pub fn sparse(indices: &'a [u32], values: &'a [f64]) -> Self {
        Self {
            row: Row::sparse(indices, values),
            scale: 1.0,
            ridge: 0.0,
        }
    }

    /// Errors unless the shape fits and every number is finite.
    pub fn check(&self, dim: usize) -> Result<()> {
        self.row.check_shape(dim)?;
        self.check_finite()
    }

    /// Errors unless every number is finite.
    pub(crate) fn check_finite(&self) -> Result<()> {
        for value in [self.scale, self.ridge] {
            if !value.is_finite() {
                return Err(Error::NotFinite {
                    what: "factor of a gradient",
                    index: 0,
                    value,
                });
            }
        }
        self.row.check_finite()
    }

    /// An upper bound of ‖g‖, given ‖a‖ and ‖x‖²: the sum of its parts' norms.
    #[inline]
    pub(crate) fn size(&self, row_norm: f64, xx: f64) -> f64 {
        let scaled = self.scale.abs() * row_norm;
        if self.ridge == 0.0 {
            scaled
        } else {
            scaled + self.ridge.abs() * xx.sqrt()
        }
    }

    /// Checks the gradient's size ([`crate::range`]), given ‖a‖ and ‖x‖²: whether the row's part
    /// counts, or an error if a number is too large or not finite.
    #[inline]
    pub(crate) fn counts(&self, row_norm: f64, xx: f64) -> Result<bool> {
        let scaled = self.scale.abs() * row_norm;
        let size = self.size(row_norm, xx);
        // NaN is not in range either
        if row_norm <= *GRADIENTS.end()
            && size <= *GRADIENTS.end()
            && self.ridge.abs() <= *SETS.end()
        {
            return Ok(row_norm >= *GRADIENTS.start() && scaled >= *GRADIENTS.start());
        }
        self.refuse(row_norm, size)
    }

    #[cold]
    fn refuse(&self, row_norm: f64, size: f64) -> Result<bool> {
        self.check_finite()?;
        check_size("gradient", size)?;
        check_size("row of a gradient", row_norm)?;
        Err(Error::Range {
            what: "ridge term",
            size: self.ridge.abs(),
            largest: *SETS.end(),
        })
    }

    /// The gradient, without its row if that counts as 0. An error if it is too large or not
    /// finite.
    pub(crate) fn admit(&self, row_norm: f64, xx: f64) -> Result<Self> {
        Ok(if self.counts(row_norm, xx)? {
            *self
        } else {
            Self {
                scale: 0.0,
                ..*self
            }
        })
    }

    /// ‖g‖ from the row's ‖a‖ and ⟨a, x⟩, and ‖x‖², for a gradient that was admitted; 0 where that
    /// counts as 0.
    #[inline]
    pub(crate) fn norm_from(&self, row_norm: f64, row_dot: f64, xx: f64) -> f64 {
        let scaled = self.scale.abs() * row_norm;
        let norm = if self.ridge == 0.0 {
            scaled
        } else {
            let both = scaled * scaled + 2.0 * self.ridge * (self.scale * row_dot);
            (both + self.ridge * (self.ridge * xx)).max(0.0).sqrt()
        };
        if norm >= *GRADIENTS.start() {
            norm
        } else {
            0.0
        }
    }
}
