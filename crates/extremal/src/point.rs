//! Decisions, rows and gradients, dense or sparse.

use serde::{Deserialize, Serialize};

use crate::range::{GRADIENTS, SETS, check_size};
use crate::set::check_len;
use crate::{Error, Result, kernel};

/// Read access to a decision in any storage.
pub trait Point {
    /// The dimension.
    fn dim(&self) -> usize;

    /// The inner product ⟨a, x⟩ with a row a. A row of another dimension is an error.
    fn dot(&self, row: &Row<'_>) -> Result<f64>;

    /// ‖x‖².
    fn norm_squared(&self) -> f64;

    /// Writes all entries of x to `out`.
    ///
    /// # Panics
    /// Panics if `out` does not have [`Point::dim`] entries.
    fn write(&self, out: &mut [f64]);

    /// All entries of x. The result is `None` if the entries are not stored as a slice.
    fn as_slice(&self) -> Option<&[f64]> {
        None
    }

    /// Calls `each` with the index and value of every non-zero entry, in the order of the indices. Lazy
    /// storage visits only the features that occurred in gradients. Other storages visit all entries.
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

    /// The accuracy of [`Point::dot`] and [`Point::norm_squared`]. The default is the accuracy of sums
    /// over the entries.
    fn accuracy(&self) -> Accuracy {
        Accuracy {
            dot: 1.0,
            norm: 1.0,
        }
    }
}

/// A plain vector: a slice, a `Vec` or an array.
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

/// The accuracy of a [`Point`]'s inner products, as a factor. A factor of 2 means that rounding errors
/// may be twice as large as the rounding errors of a sum over the entries. Certificates allow for these
/// errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// The factor for [`Point::dot`].
    pub dot: f64,
    /// The factor for [`Point::norm_squared`].
    pub norm: f64,
}

/// Calls `each` with the index and value of every non-zero entry.
pub(crate) fn nonzeros(x: &[f64], each: &mut dyn FnMut(usize, f64)) {
    let all = x.iter().enumerate().filter(|(_, v)| **v != 0.0);
    all.for_each(|(i, v)| each(i, *v));
}

/// A row a, which holds the coefficients of a prediction ⟨a, x⟩.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Row<'a> {
    /// All entries.
    Dense(&'a [f64]),
    /// The non-zero entries of a vector. The indices must increase ([`Error::Order`]).
    Sparse {
        /// The indices of the entries.
        indices: &'a [u32],
        /// The values of the entries.
        values: &'a [f64],
    },
    /// The non-zero entries of a matrix. They must be sorted by row, and by column within a row. The
    /// matrix stands for the vector of its rows, one row after the other.
    Entries {
        /// The number of columns of the matrix.
        width: usize,
        /// The row of each entry.
        rows: &'a [u32],
        /// The column of each entry.
        columns: &'a [u32],
        /// The values of the entries.
        values: &'a [f64],
    },
}

impl<'a> Row<'a> {
    /// A row with these values at these indices and 0 elsewhere. The indices must increase.
    pub fn sparse(indices: &'a [u32], values: &'a [f64]) -> Self {
        Self::Sparse { indices, values }
    }

    /// The number of entries that are stored.
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

    // This function is separate, so that `dot` is short enough to be inlined.
    fn dot_entries(&self, x: &[f64]) -> f64 {
        match *self {
            Self::Sparse { indices, values } => kernel::dot_sparse(indices, values, x),
            _ => self.entries().map(|(i, v)| v * x[i]).sum(),
        }
    }

    /// y ← y + k·a for a dense y.
    pub fn add_to(&self, k: f64, y: &mut [f64]) {
        match *self {
            Self::Dense(a) => kernel::axpy(k, a, y),
            _ => self.for_each(|i, v| y[i] += k * v),
        }
    }

    /// Calls `each` with the index and value of every stored entry.
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

    /// The stored entries as pairs (index, value).
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

    /// Returns an error unless the row has this dimension and its indices increase. The values are not
    /// checked.
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
                let height = dim.checked_div(width).unwrap_or(0);
                let mut last = None;
                for (&r, &c) in rows.iter().zip(columns) {
                    let (r, c) = (r as usize, c as usize);
                    let index = r.saturating_mul(width).saturating_add(c);
                    if r >= height || c >= width {
                        return outside(index);
                    }
                    if last >= Some((r, c)) {
                        return Err(Error::Order { what, index });
                    }
                    last = Some((r, c));
                }
                Ok(())
            }
        }
    }

    /// Returns an error unless the row has this dimension and a norm in the range of [`crate::range`].
    pub(crate) fn check_size(&self, dim: usize) -> Result<()> {
        self.check_shape(dim)?;
        self.check_finite()?;
        check_size("row", kernel::norm(self.values())).map(|_| ())
    }

    /// Returns an error if an entry is NaN or infinite.
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

/// A copy of a row, in buffers that are reused.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct HeldRow {
    /// The width of the matrix. It is `None` for a dense row, and 0 for a sparse row.
    kind: Option<usize>,
    indices: [Vec<u32>; 2],
    values: Vec<f64>,
}

impl HeldRow {
    pub fn hold(&mut self, row: &Row<'_>) {
        let (kind, indices): (_, [&[u32]; 2]) = match *row {
            Row::Dense(_) => (None, [&[], &[]]),
            Row::Sparse { indices, .. } => (Some(0), [indices, &[]]),
            Row::Entries {
                width,
                rows,
                columns,
                ..
            } => (Some(width), [rows, columns]),
        };
        self.kind = kind;
        for (own, indices) in self.indices.iter_mut().zip(indices) {
            own.clear();
            own.extend_from_slice(indices);
        }
        self.values.clear();
        self.values.extend_from_slice(row.values());
    }

    /// Makes this a dense row of this dimension. The caller writes the returned entries.
    pub fn dense(&mut self, dim: usize) -> &mut [f64] {
        self.kind = None;
        self.indices.iter_mut().for_each(Vec::clear);
        self.values.resize(dim, 0.0);
        &mut self.values
    }

    /// Extends a dense row to this dimension. The new entries are 0.
    pub fn grow(&mut self, dim: usize) {
        if self.kind.is_none() {
            self.values.resize(dim, 0.0);
        }
    }

    pub fn row(&self) -> Row<'_> {
        let ([rows, columns], values) = (&self.indices, &self.values[..]);
        match self.kind {
            None => Row::Dense(values),
            Some(0) => Row::sparse(rows, values),
            Some(width) => Row::Entries {
                width,
                rows,
                columns,
                values,
            },
        }
    }
}

/// A gradient g = scale·a + ridge·x_t at the decision x_t. The second term is the gradient of a ridge
/// term (ridge/2)‖x‖². This term is stored as a factor, so that g stays sparse if the row a is sparse.
///
/// The two factors are not adjacent in memory. If they were adjacent, one instruction would load both
/// factors and would wait for the store buffer. The wait would cost a fifth of the time of a short round.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Gradient<'a> {
    /// The factor of the row a.
    pub scale: f64,
    /// The row a.
    pub row: Row<'a>,
    /// The factor of x_t.
    pub ridge: f64,
}

impl<'a> Gradient<'a> {
    /// The gradient with these entries.
    pub fn dense(values: &'a [f64]) -> Self {
        Self {
            row: Row::Dense(values),
            scale: 1.0,
            ridge: 0.0,
        }
    }

    /// The gradient with these values at these indices and 0 elsewhere. The indices must increase.
    pub fn sparse(indices: &'a [u32], values: &'a [f64]) -> Self {
        Self {
            row: Row::sparse(indices, values),
            scale: 1.0,
            ridge: 0.0,
        }
    }

    /// Returns an error unless the gradient has this dimension and all numbers are finite.
    pub fn check(&self, dim: usize) -> Result<()> {
        self.row.check_shape(dim)?;
        self.check_finite()
    }

    /// Returns an error unless all numbers are finite.
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

    /// An upper bound on ‖g‖: the sum of the norms of both terms. The arguments are ‖a‖ and ‖x‖².
    #[inline]
    pub(crate) fn size(&self, row_norm: f64, xx: f64) -> f64 {
        let scaled = self.scale.abs() * row_norm;
        if self.ridge == 0.0 {
            scaled
        } else {
            scaled + self.ridge.abs() * xx.sqrt()
        }
    }

    /// Checks that the size of the gradient is in the range of [`crate::range`]. The arguments are ‖a‖
    /// and ‖x‖². Returns false if the term scale·a is treated as 0. A number that is too large or not
    /// finite is an error.
    #[inline]
    pub(crate) fn counts(&self, row_norm: f64, xx: f64) -> Result<bool> {
        let scaled = self.scale.abs() * row_norm;
        let size = self.size(row_norm, xx);
        // the condition is also false for NaN
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

    /// The gradient. Its scale is 0 if its row is treated as 0. A gradient that is too large or not
    /// finite is an error.
    pub(crate) fn admit(&self, row_norm: f64, xx: f64) -> Result<Self> {
        let counts = self.counts(row_norm, xx)?;
        let scale = if counts { self.scale } else { 0.0 };
        Ok(Self { scale, ..*self })
    }

    /// ‖g‖ of a gradient that passed the check. The arguments are ‖a‖, ⟨a, x⟩ and ‖x‖². A tiny norm is
    /// returned as 0.
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
