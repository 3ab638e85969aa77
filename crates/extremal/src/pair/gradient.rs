//! What a round reveals: a gradient in the structure it comes in.

use crate::{Error, Result, kernel};

/// The coefficients a of a loss over ⟨a, x⟩.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Row<'a> {
    /// Every entry.
    Dense(&'a [f64]),
    /// values_i at indices_i (distinct), 0 elsewhere.
    Sparse {
        /// Where.
        indices: &'a [u32],
        /// How much.
        values: &'a [f64],
    },
    /// values_k at (rows_k, columns_k) of a matrix with `width` columns, stored by rows.
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

/// A norm below this may be subnormal, or the root of numbers that are.
const SMALLEST_NORM: f64 = 1e-290;

impl Row<'_> {
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

    /// ‖k·a‖² from ‖k·a‖, or from the entries where ‖a‖ is so small that it has lost digits.
    #[inline]
    pub(crate) fn square(&self, k: f64, size: f64) -> f64 {
        if size >= SMALLEST_NORM * k.abs() {
            size * size
        } else {
            self.values().iter().map(|a| (k * a) * (k * a)).sum()
        }
    }

    /// ⟨a, x⟩ for a dense x.
    pub fn dot(&self, x: &[f64]) -> f64 {
        match *self {
            Self::Dense(a) => kernel::dot(a, x),
            Self::Sparse { indices, values } => kernel::dot_sparse(indices, values, x),
            Self::Entries { .. } => self.entries().map(|(i, v)| v * x[i]).sum(),
        }
    }

    /// y += k·a for a dense y.
    pub fn add_to(&self, k: f64, y: &mut [f64]) {
        match *self {
            Self::Dense(a) => kernel::axpy(k, a, y),
            Self::Sparse { indices, values } => {
                for (&i, v) in indices.iter().zip(values) {
                    y[i as usize] += k * v;
                }
            }
            Self::Entries { .. } => self.entries().for_each(|(i, v)| y[i] += k * v),
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

    /// Errors unless the shape fits the dimension. Entries are not looked at.
    #[inline(always)]
    pub fn check_shape(&self, dim: usize) -> Result<()> {
        match self {
            Self::Dense(a) if a.len() == dim => Ok(()),
            _ => self.look_at_shape(dim),
        }
    }

    fn look_at_shape(&self, dim: usize) -> Result<()> {
        let size = |expected: usize, found: usize| {
            if expected == found {
                Ok(())
            } else {
                Err(Error::Size {
                    what: "gradient",
                    expected,
                    found,
                })
            }
        };
        match *self {
            Self::Dense(a) => size(dim, a.len()),
            Self::Sparse { indices, values } => {
                size(indices.len(), values.len())?;
                match kernel::largest(indices) {
                    Some(i) if i as usize >= dim => Err(Error::Index {
                        what: "gradient",
                        index: i as usize,
                        dim,
                    }),
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
                // rows · width fits a number only once the rows are known to be in the matrix
                let height = dim.checked_div(width).unwrap_or(0);
                let mut places = rows.iter().zip(columns);
                match places.find(|(r, c)| **r as usize >= height || **c as usize >= width) {
                    Some((&r, &c)) => Err(Error::Index {
                        what: "gradient",
                        index: (r as usize)
                            .saturating_mul(width)
                            .saturating_add(c as usize),
                        dim,
                    }),
                    None => Ok(()),
                }
            }
        }
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

/// A gradient g = scale·a + ridge·x_t at the decision x_t. The second part is what a ridge term
/// (ridge/2)‖x‖² adds; kept apart, it need not be written out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gradient<'a> {
    /// a
    pub row: Row<'a>,
    /// The factor of a.
    pub scale: f64,
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

    /// A gradient with a few entries; the indices are distinct.
    pub fn sparse(indices: &'a [u32], values: &'a [f64]) -> Self {
        Self {
            row: Row::Sparse { indices, values },
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

    /// ‖g‖ from the row's ‖a‖² and ⟨a, x⟩, and ‖x‖².
    #[inline(always)]
    pub(crate) fn norm_from_squares(&self, row: f64, row_dot: f64, xx: f64) -> f64 {
        let [scale, ridge] = [kernel::alone(&self.scale), kernel::alone(&self.ridge)];
        let square = if ridge == 0.0 {
            scale * scale * row
        } else {
            scale * (scale * row + 2.0 * ridge * row_dot) + ridge * ridge * xx
        };
        if kernel::is_safe_square(square) && kernel::is_safe_square(row) {
            square.sqrt()
        } else {
            self.norm_from_entries(row_dot, xx)
        }
    }

    #[cold]
    fn norm_from_entries(&self, row_dot: f64, xx: f64) -> f64 {
        if self.scale == 0.0 {
            return self.ridge.abs() * xx.sqrt();
        }
        self.norm_from(kernel::norm(self.row.values()), row_dot, xx)
    }

    /// ‖g‖ from the row's ‖a‖ and ⟨a, x⟩, and ‖x‖², without overflow.
    pub(crate) fn norm_from(&self, row_norm: f64, row_dot: f64, xx: f64) -> f64 {
        let scaled = self.scale.abs() * row_norm;
        if self.ridge == 0.0 {
            return scaled;
        }
        let pull = self.ridge.abs() * xx.sqrt();
        let top = scaled.max(pull);
        if scaled == 0.0 || pull == 0.0 {
            return top;
        }
        // Through the angle: a factor divided by a subnormal norm would be no number.
        let cosine = (row_dot / row_norm / xx.sqrt()).clamp(-1.0, 1.0);
        let cosine = cosine * self.scale.signum() * self.ridge.signum();
        let (a, b) = (scaled / top, pull / top);
        top * (a * a + 2.0 * a * b * cosine + b * b).max(0.0).sqrt()
    }
}
