//! A vector with a known norm. Scaling costs O(1), and adding a row costs O(non-zeros). The
//! projected learners use it on ℓ2 balls, where a projection only scales the vector.
//!
//! The vector is s·w. If s leaves the range [`SCALES`], w becomes s·w. Each added row updates ‖w‖².
//! ‖w‖² is recomputed from the entries if it has cancelled, or when the number of added non-zeros
//! reaches the number of entries in use. The average cost is O(non-zeros) per row.

use serde::{Deserialize, Serialize};

use crate::point::Accuracy;
use crate::range::SCALES;
use crate::surrogate::sparse_vector::SparseVector;
use crate::surrogate::touched::{BLOCK, Touched};
use crate::{Result, Row, kernel};

/// ‖w‖² has lost digits if it is below this share of its largest value.
const SHRUNK: f64 = 0.1;

/// The vector s·w.
pub(crate) struct Scaled {
    w: Touched<f64>,
    numbers: Numbers,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Numbers {
    /// The scale s.
    scale: f64,
    /// ‖w‖².
    square: f64,
    /// The largest ‖w‖² since it was last computed from the entries.
    top: f64,
    /// The number of non-zeros added since ‖w‖² was last computed from the entries.
    added: u64,
}

/// The saved form of [`Scaled`]: its non-zeros, and one entry of each marked block whose entries
/// are all 0.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedScaled {
    numbers: Numbers,
    entries: SparseVector,
}

impl Scaled {
    /// The accuracy of a decision that is a multiple of this vector. A row of n non-zeros changes
    /// the error of ‖w‖² by at most (90 + 3n)u times the largest ‖w‖² so far, where u is the
    /// rounding unit. d non-zeros thus cause an error of at most 930·d·u times ‖w‖² before ‖w‖² is
    /// recomputed.
    pub const ACCURACY: Accuracy = Accuracy {
        dot: 4.0,
        norm: 4096.0,
    };

    /// The zero vector.
    pub fn new(dim: usize) -> Self {
        Self {
            w: Touched::new(dim),
            numbers: Numbers {
                scale: 1.0,
                square: 0.0,
                top: 0.0,
                added: 0,
            },
        }
    }

    pub fn dim(&self) -> usize {
        self.w.items.len()
    }

    /// Extends the vector to `dim` entries. The new entries are 0.
    pub fn grow(&mut self, dim: usize) {
        self.w.grow(dim);
    }

    /// Reserves memory for this many entries. [`Scaled::grow`] adds them.
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        self.w.reserve(dim)
    }

    /// ‖s·w‖.
    pub fn norm(&self) -> f64 {
        self.numbers.scale.abs() * self.numbers.square.max(0.0).sqrt()
    }

    /// ⟨a, s·w⟩. The row must not exceed the dimension.
    pub fn dot(&self, row: &Row<'_>) -> f64 {
        if let Row::Sparse { indices, .. } = *row {
            kernel::prefetch(&self.w.items, indices.iter().copied(), false);
        }
        self.numbers.scale * row.dot(&self.w.items)
    }

    /// Multiplies the vector by the finite number k.
    pub fn multiply(&mut self, k: f64) {
        self.numbers.scale *= k;
        if !SCALES.contains(&self.numbers.scale.abs()) {
            self.settle();
        }
    }

    /// Adds k·a, where `size` is ‖k·a‖ and `dot` is ⟨a, s·w⟩. The row must not exceed the
    /// dimension.
    pub fn add(&mut self, k: f64, row: &Row<'_>, size: f64, dot: f64) {
        if size == 0.0 {
            return;
        }
        if size > SCALES.end() * self.numbers.scale.abs() {
            self.settle();
        }
        let scale = self.numbers.scale;
        let delta = k / scale;
        let Touched { items, marks } = &mut self.w;
        let w = &mut items[..];
        row.for_each(|i, a| {
            if w[i] == 0.0 {
                marks.set(i);
            }
            w[i] += delta * a;
        });
        let numbers = &mut self.numbers;
        let length = size / scale;
        numbers.square += 2.0 * (delta * (dot / scale)) + length * length;
        numbers.top = numbers.top.max(numbers.square);
        numbers.added += row.stored() as u64;
        let many = numbers.added >= self.w.size() as u64;
        if many || !(numbers.square >= SHRUNK * numbers.top) {
            self.measure();
        }
    }

    /// Sets w = s·w and s = 1 in O(touched).
    #[cold]
    fn settle(&mut self) {
        let scale = self.numbers.scale;
        self.w.for_each_mut(|_, w| *w *= scale);
        self.numbers.scale = 1.0;
        self.measure();
    }

    /// Recomputes ‖w‖² from the entries in O(touched).
    fn measure(&mut self) {
        let mut sums = [0.0; BLOCK];
        for (_, part) in self.w.blocks() {
            for (sum, w) in sums.iter_mut().zip(part) {
                *sum += w * w;
            }
        }
        let square = sums.iter().sum();
        self.numbers.square = square;
        self.numbers.top = square;
        self.numbers.added = 0;
    }

    /// The entries that are not 0, in order.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let nonzeros = self.w.entries().filter(|(_, w)| **w != 0.0);
        nonzeros.map(|(i, w)| (i, self.numbers.scale * w))
    }

    pub fn save(&self) -> SavedScaled {
        let mut entries = SparseVector::default();
        for (start, part) in self.w.blocks() {
            let before = entries.len();
            let nonzeros = (start..).zip(part).filter(|(_, w)| **w != 0.0);
            nonzeros.for_each(|(i, w)| entries.push(i, *w));
            if entries.len() == before {
                entries.push(start, 0.0);
            }
        }
        SavedScaled {
            numbers: self.numbers,
            entries,
        }
    }

    /// Restores a saved vector in `dim` dimensions.
    pub fn restore(saved: &SavedScaled, dim: usize) -> Result<Self> {
        saved.entries.check(dim)?;
        let mut restored = Self::new(dim);
        restored.numbers = saved.numbers;
        for (i, w) in saved.entries.entries() {
            restored.w.items[i] = w;
            restored.w.marks.set(i);
        }
        Ok(restored)
    }
}

#[cfg(test)]
mod tests {
    use crate::surrogate::scaled::*;

    const DIM: usize = 21;

    fn written(x: &Scaled) -> Vec<f64> {
        let mut out = vec![0.0; x.dim()];
        x.entries().for_each(|(i, v)| out[i] = v);
        out
    }

    /// Compares multiplications and additions of every size with the same operations on a plain
    /// vector.
    fn mixed(seed: u64, factors: &[f64], sizes: &[f64]) {
        let mut state = seed;
        let mut below = |n: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        let (mut x, mut plain) = (Scaled::new(DIM), vec![0.0; DIM]);
        for step in 0..5000 {
            let k = factors[below(factors.len())];
            x.multiply(k);
            plain.iter_mut().for_each(|v| *v *= k);
            let first = below(DIM - 3) as u32;
            let indices = [first, first + 1, first + 3];
            let values = [0.0; 3].map(|_| below(2000) as f64 / 1000.0 - 1.0);
            let k = sizes[below(sizes.len())];
            let row = Row::sparse(&indices, &values);
            let top = plain.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
            // the error of a plain vector is relative to its largest norm
            let scale = top.max(k);
            let dot = x.dot(&row);
            assert!((dot - row.dot(&plain)).abs() <= 1e-9 * scale);
            x.add(k, &row, k * kernel::norm(&values), dot);
            row.add_to(k, &mut plain);
            for (a, b) in written(&x).iter().zip(&plain) {
                assert!((a - b).abs() <= 1e-9 * scale, "step {step}: {a} {b}");
            }
            let norm = kernel::norm(&written(&x));
            assert!(
                (x.norm() - norm).abs() <= 1e-10 * norm,
                "step {step}: {norm}"
            );
            let other = Scaled::restore(&x.save(), DIM).unwrap();
            assert_eq!(written(&other), written(&x), "step {step}");
        }
    }

    #[test]
    fn it_is_what_a_plain_vector_would_be() {
        mixed(1, &[1.0, 0.9, 1.1, -0.5], &[1.0, 0.1, 3.0]);
        mixed(2, &[1e-3, 1.0, 1e3], &[1.0]);
    }

    #[test]
    fn scales_may_jump_and_vanish() {
        mixed(3, &[1e-30, 1.0, 0.0], &[1.0, 1e-20, 1e20]);
        mixed(4, &[1e-70, 1.0], &[1.0, 1e80]);
        mixed(5, &[1e-90, 1.0, 1.0], &[1e-100, 1e-60]);
    }
}
