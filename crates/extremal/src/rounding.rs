//! Bounds on rounding errors, for every number that the library claims to have proven.
//!
//! A certificate is a difference of large sums, and rounding errors could make the certificate smaller
//! than the regret. Each upper bound is therefore increased by a bound on its rounding error, and each
//! lower bound is decreased in the same way. The bounds on rounding errors are from the literature
//! (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002; Ogita, Rump & Oishi, *Accurate Sum
//! and Dot Product*, 2005). These error bounds are relative to the sizes of the terms of a sum, not to
//! the sum itself.
//!
//! Underflow is ignored, because an operation that underflows adds an error below 1e-300.

use serde::{Deserialize, Serialize};

use crate::{Row, kernel};

/// The unit roundoff: the largest relative error of a single operation.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// The error of a computed ⟨a, b⟩ over n entries is at most this factor times Σ|a_i·b_i|.
///
/// The kernels add in at least four lanes. In a lane, each product and each addition has one rounding
/// error. The 8 covers the products, the sums of the lanes, and later operations on the result (a
/// scaling, a square root, a few additions).
pub(crate) fn of_dot(n: usize) -> f64 {
    UNIT * (0.25 * n as f64 + 8.0)
}

/// The factor of [`of_dot`] for a row. The entries of a matrix are added one after the other.
pub(crate) fn of_row(row: &Row<'_>) -> f64 {
    match row {
        Row::Entries { values, .. } => UNIT * (values.len() as f64 + 8.0),
        _ => of_dot(row.stored()),
    }
}

/// A bound on the error of an oracle's atom v, for a direction of norm `direction`: ⟨direction, v⟩
/// is at most this far from the minimum, even if v lies slightly outside the set.
///
/// An oracle computes norms, powers and roots of numbers up to the set's diameter, with errors of at most
/// a few hundred units in the last place. The entries of v are rounded relative to the set's distance
/// from the origin. For a set of given points, the inner products are rounded in the same way.
/// `tests/exact` checks that all sets satisfy the bound.
pub(crate) fn of_oracle(dim: usize, direction: f64, diameter: f64, norm_bound: f64) -> f64 {
    let dim = dim as f64;
    UNIT * direction * ((512.0 + dim) * diameter + (16.0 + 0.5 * dim) * norm_bound)
}

/// A factor for a regret bound that was computed from the sums of a run. Without this factor, the bound
/// holds only in exact arithmetic.
///
/// Each round adds a few rounding errors, relative to the bound. The learner's decision is rounded
/// relative to its distance from the origin. This distance is at most 10⁴ diameters, because sets that
/// are farther away are rejected. The rounding of a decision costs at most ‖g‖ times the rounding error.
/// This cost is small relative to the bound. At T = 10⁶ the factor exceeds 1 by 2e-6.
pub(crate) fn of_run(rounds: f64) -> f64 {
    1.0 + 16384.0 * (rounds + 1.0) * UNIT
}

/// a + b = sum + error, exactly (Knuth).
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// A number of about 106 bits, stored as the sum of two numbers. After n terms are added, the number's
/// error is at most 2n²·UNIT² times the sum of the terms' absolute values.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Wide {
    pub high: f64,
    pub low: f64,
}

impl Wide {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, v: f64) {
        let (high, error) = two_sum(self.high, v);
        self.high = high;
        self.low += error;
    }

    /// Adds a product.
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        // the exact rounding error of the product
        self.low += a.mul_add(b, -product);
    }

    /// Adds k·v. The product of k and the low part of v is rounded, with an error of about UNIT²·|k·v|.
    pub fn add_scaled(&mut self, k: f64, v: Wide) {
        self.add_product(k, v.high);
        self.low += k * v.low;
    }

    /// The nearest `f64`.
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// The nearest `f64`, and the number minus this `f64`.
    pub fn parts(self) -> (f64, f64) {
        two_sum(self.high, self.low)
    }
}

/// The error of a [`Wide`] inner product of n terms is at most this factor times Σ|a_i·b_i|.
pub(crate) fn of_wide_dot(n: usize) -> f64 {
    let n = n as f64 + 4.0;
    2.0 * n * n * UNIT * UNIT
}

/// ⟨a, b⟩ as a [`Wide`] number.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> Wide {
    kernel::vectorised!({
        let mut lanes = [Wide::default(); LANES];
        let (a8, a) = a.as_chunks::<LANES>();
        let (b8, b) = b.as_chunks::<LANES>();
        for (a, b) in a8.iter().zip(b8) {
            for j in 0..LANES {
                lanes[j].add_product(a[j], b[j]);
            }
        }
        for (j, (a, b)) in a.iter().zip(b).enumerate() {
            lanes[j].add_product(*a, *b);
        }
        let mut sum = Wide::default();
        for lane in lanes {
            sum.add(lane.high);
            sum.low += lane.low;
        }
        sum
    })
}

/// ⟨a, x⟩ for a row a, as a [`Wide`] number.
pub(crate) fn dot_row(row: &Row<'_>, x: &[f64]) -> Wide {
    match *row {
        Row::Dense(a) => dot(a, x),
        _ => kernel::vectorised!({
            let mut sum = Wide::default();
            for (i, v) in row.entries() {
                sum.add_product(v, x[i]);
            }
            sum
        }),
    }
}

/// The number of independent sums. With a single sum, every addition would wait for the previous
/// addition.
const LANES: usize = 8;

/// A vector of [`Wide`] entries. Both parts of an entry lie in the same cache line. A saved state
/// contains only the non-zero entries.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "NonZeros", into = "NonZeros")]
pub(crate) struct WideVector {
    entries: Vec<Wide>,
}

/// The dimension, and the entries that are not 0.
type NonZeros = (usize, Vec<(u32, Wide)>);

impl From<WideVector> for NonZeros {
    fn from(vector: WideVector) -> Self {
        let entries = (0..).zip(vector.iter());
        let nonzeros = entries.filter(|(_, v)| v.high.to_bits() | v.low.to_bits() != 0);
        (vector.len(), nonzeros.collect())
    }
}

impl From<NonZeros> for WideVector {
    fn from((dim, nonzeros): NonZeros) -> Self {
        let mut vector = Self::zeros(dim);
        for (i, wide) in nonzeros {
            if let Some(entry) = vector.entries.get_mut(i as usize) {
                *entry = wide;
            }
        }
        vector
    }
}

impl WideVector {
    pub fn zeros(dim: usize) -> Self {
        let entries = vec![Wide::default(); dim];
        Self { entries }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Extends the vector to `dim` entries. The new entries are 0.
    pub fn grow(&mut self, dim: usize) {
        self.entries.resize(dim, Wide::default());
    }

    /// Sets all entries to 0.
    pub fn clear(&mut self) {
        self.entries.fill(Wide::default());
    }

    /// Subtracts another vector.
    pub fn subtract(&mut self, other: &Self) {
        for (entry, other) in self.entries.iter_mut().zip(&other.entries) {
            entry.add_scaled(-1.0, *other);
        }
    }

    /// Reserves memory for `dim` entries.
    pub fn reserve(&mut self, dim: usize) -> crate::Result<()> {
        crate::memory::reserve(&mut self.entries, dim, dim)
    }

    /// Prefetches the entries that [`WideVector::add_row`] will change.
    pub fn fetch(&self, row: &Row<'_>) {
        if let Row::Sparse { indices, .. } = *row {
            kernel::prefetch(&self.entries, indices.iter().copied(), false);
        }
    }

    /// Adds k·row. After T rows the norm of the vector's error is at most
    /// [`of_wide_dot`](of_wide_dot)(T)·Σ‖k·row‖.
    pub fn add_row(&mut self, k: f64, row: &Row<'_>) {
        let entries = &mut self.entries[..];
        kernel::vectorised!(match *row {
            Row::Dense(a) => {
                for (entry, v) in entries.iter_mut().zip(a) {
                    entry.add_product(k, *v);
                }
            }
            Row::Sparse { indices, values } => {
                for (&i, &v) in indices.iter().zip(values) {
                    entries[i as usize].add_product(k, v);
                }
            }
            Row::Entries { .. } => {
                for (i, v) in row.entries() {
                    entries[i].add_product(k, v);
                }
            }
        });
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = Wide> + '_ {
        self.entries.iter().copied()
    }
}
