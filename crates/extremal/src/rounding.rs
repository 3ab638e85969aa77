//! Bounds of rounding errors, for every number that is claimed to be proven.
//!
//! A certificate is a difference of large sums. Computed as it is written it can end up below the
//! truth, so each certificate is raised (and each floor lowered) by a bound of what rounding can
//! have done. The bounds here are the textbook ones (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, 2002; Ogita, Rump & Oishi, *Accurate Sum and Dot Product*, 2005). They always use
//! the sizes of the terms that were added, never the size of the sum.
//!
//! Underflow is left out: it adds less than 1e-300 per operation.

use serde::{Deserialize, Serialize};

use crate::{Row, kernel};

/// The unit roundoff: a single operation is off by at most this, relative to its result.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// A computed ⟨a, b⟩ over n entries is off by at most this many times Σ|a_i·b_i|.
///
/// The kernels add in at least four lanes, and a lane's error is one rounding for each product and
/// one for each sum. The 8 covers the products, the sums of the lanes, and what is done with the
/// result (a scaling, a square root, a few additions).
pub(crate) fn of_dot(n: usize) -> f64 {
    UNIT * (0.25 * n as f64 + 8.0)
}

/// Like [`of_dot`], for a row. Entries of a matrix are added one after the other.
pub(crate) fn of_row(row: &Row<'_>) -> f64 {
    match row {
        Row::Entries { values, .. } => UNIT * (values.len() as f64 + 8.0),
        _ => of_dot(row.stored()),
    }
}

/// An oracle's atom v has ⟨direction, v⟩ at most this far above the true minimum, for a direction
/// of this norm, and lies no further outside the set.
///
/// Oracles compute norms, powers and roots, to a few hundred units in the last place at worst, of
/// numbers as large as the set is wide; and v itself is rounded, as are the inner products by
/// which a set of given points chooses, relative to how far the set lies from the origin.
/// `tests/exact` holds the sets to it.
pub(crate) fn of_oracle(dim: usize, direction: f64, diameter: f64, norm_bound: f64) -> f64 {
    let dim = dim as f64;
    UNIT * direction * ((512.0 + dim) * diameter + (16.0 + 0.5 * dim) * norm_bound)
}

/// A bound that was summed up along the run is multiplied by this, as it holds in exact arithmetic
/// only.
///
/// Each round adds a few roundings of the bound's own terms, relative to the bound. The decision
/// played is rounded, too, relative to its distance from the origin, which is at most 10⁴
/// diameters (sets that lie farther away are refused); what the rounded decision loses is that part of ‖g‖
/// times the diameter, and the bounds are at least of that order. At T = 10⁶ the
/// factor exceeds 1 by 2e-6.
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

/// A number as the unevaluated sum of two: about 106 bits. Adding n terms to it leaves an error of
/// at most 2n²·UNIT² times the sum of their sizes.
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
        // what the product lost, exactly
        self.low += a.mul_add(b, -product);
    }

    /// Adds k times another one. The product of k and the low part is rounded, at UNIT² of k·v.
    pub fn add_scaled(&mut self, k: f64, v: Wide) {
        self.add_product(k, v.high);
        self.low += k * v.low;
    }

    /// The nearest number.
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// The nearest number and what it leaves out.
    pub fn parts(self) -> (f64, f64) {
        two_sum(self.high, self.low)
    }
}

/// A [`Wide`] dot product of n terms is off by at most this many times Σ|a_i·b_i|.
pub(crate) fn of_wide_dot(n: usize) -> f64 {
    let n = n as f64 + 4.0;
    2.0 * n * n * UNIT * UNIT
}

/// ⟨a, b⟩.
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

/// ⟨a, x⟩ of a row.
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

/// Sums side by side, as one would wait for itself.
const LANES: usize = 8;

/// A vector of [`Wide`] entries, both parts of one in the same cache line. Saved, it takes the room
/// of what is not 0.
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

    /// More entries, all 0.
    pub fn grow(&mut self, dim: usize) {
        self.entries.resize(dim, Wide::default());
    }

    /// All entries become 0.
    pub fn clear(&mut self) {
        self.entries.fill(Wide::default());
    }

    /// Takes another vector off.
    pub fn subtract(&mut self, other: &Self) {
        for (entry, other) in self.entries.iter_mut().zip(&other.entries) {
            entry.add_scaled(-1.0, *other);
        }
    }

    /// Memory for so many entries.
    pub fn reserve(&mut self, dim: usize) -> crate::Result<()> {
        crate::memory::reserve(&mut self.entries, dim, dim)
    }

    /// Asks for the entries that [`WideVector::add_row`] will change.
    pub fn fetch(&self, row: &Row<'_>) {
        if let Row::Sparse { indices, .. } = *row {
            kernel::prefetch(&self.entries, indices);
        }
    }

    /// Adds k·row. After T rows the vector is off by at most
    /// [`of_wide_dot`](of_wide_dot)(T)·Σ‖k·row‖ in norm.
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
