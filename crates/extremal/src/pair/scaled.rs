//! A vector that is scaled in O(1) and added to in O(non-zeros), with its norm known: what the
//! projected learners need on an ℓ2 ball, where a projection is a scale.
//!
//! It is s·w, in blocks as [`Cells`](super::cells) are. s becomes a part of w when it leaves the
//! range of [`SCALES`]. ‖w‖² is kept by what each row adds to it, and computed anew when it has
//! cancelled, or when as many non-zeros were added as w has: O(non-zeros) per row on average.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::marks::Marks;
use super::{Accuracy, Row};
use crate::room::room;
use crate::{Error, Result, kernel};

/// Entries in a block, and lanes of sums.
const LANES: usize = 8;

/// s stays in this range, and so does what a row adds to w.
const SCALES: RangeInclusive<f64> = 1e-100..=1e100;

/// ‖w‖² below this share of its largest value has lost digits.
const SHRUNK: f64 = 0.1;

/// s·w.
pub(crate) struct Scaled {
    w: Vec<f64>,
    /// The blocks that rows have touched.
    touched: Marks,
    numbers: Numbers,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Numbers {
    /// s
    scale: f64,
    /// ‖w‖²
    square: f64,
    /// The largest of it since it was computed from the entries.
    top: f64,
    /// Non-zeros added since then.
    added: u64,
}

const ZERO: Numbers = Numbers {
    scale: 1.0,
    square: 0.0,
    top: 0.0,
    added: 0,
};

/// What of a [`Scaled`] is saved: the blocks that were touched, and of them what is not 0.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedScaled {
    dim: u64,
    numbers: Numbers,
    /// Of each block how many were skipped, and which of its entries follow.
    blocks: Vec<(u32, u8)>,
    entries: Vec<f64>,
}

impl Scaled {
    /// Of a decision that is a multiple of it. In units u in the last place, a row of n non-zeros
    /// puts ‖w‖² off by at most (90 + 3n)u times the largest value so far, so that d non-zeros put
    /// it off by 930·d·u times itself before it is computed anew.
    pub const ACCURACY: Accuracy = Accuracy {
        dot: 4.0,
        norm: 4096.0,
    };

    /// 0.
    pub fn new(dim: usize) -> Self {
        Self {
            w: vec![0.0; dim],
            touched: Marks::new(dim.div_ceil(LANES)),
            numbers: ZERO,
        }
    }

    pub fn dim(&self) -> usize {
        self.w.len()
    }

    /// More entries, all 0.
    pub fn grow(&mut self, dim: usize) {
        self.w.resize(dim, 0.0);
        self.touched.grow(dim.div_ceil(LANES));
    }

    /// Memory for so many entries; they come with [`Scaled::grow`].
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        room(&mut self.w, dim, dim)?;
        self.touched.reserve(dim.div_ceil(LANES), dim)
    }

    /// ‖s·w‖.
    pub fn norm(&self) -> f64 {
        self.numbers.scale.abs() * self.numbers.square.max(0.0).sqrt()
    }

    /// ⟨a, k·s·w⟩; the row must fit.
    pub fn dot(&self, k: f64, row: &Row<'_>) -> f64 {
        let sum = match *row {
            Row::Sparse { indices, values } => {
                kernel::fetch(&self.w, indices);
                kernel::dot_sparse(indices, values, &self.w)
            }
            _ => row.dot(&self.w),
        };
        (k * self.numbers.scale) * sum
    }

    /// Multiplies by k, a finite number.
    pub fn multiply(&mut self, k: f64) {
        self.numbers.scale *= k;
        if !SCALES.contains(&self.numbers.scale.abs()) {
            self.settle();
        }
    }

    /// Adds k·a, with ‖k·a‖ = `size`; the row must fit.
    pub fn add(&mut self, k: f64, row: &Row<'_>, size: f64) {
        if size == 0.0 {
            return;
        }
        if size > SCALES.end() * self.numbers.scale.abs() {
            self.settle();
        }
        let delta = k / self.numbers.scale;
        let bw = match *row {
            Row::Sparse { indices, values } => self.add_sparse(indices, values, delta),
            _ => {
                let mut bw = 0.0;
                let entries = row.entries();
                entries.for_each(|(i, a)| self.add_entry(i, delta * a, &mut bw));
                bw
            }
        };
        let numbers = &mut self.numbers;
        let length = size / numbers.scale.abs();
        numbers.square += 2.0 * bw + length * length;
        numbers.top = numbers.top.max(numbers.square);
        numbers.added += row.stored() as u64;
        let many = numbers.added >= (LANES * self.touched.count()) as u64;
        if many || !(numbers.square >= SHRUNK * numbers.top) {
            self.measure();
        }
    }

    /// w += δa; gives ⟨δa, w⟩ from before.
    fn add_sparse(&mut self, indices: &[u32], values: &[f64], delta: f64) -> f64 {
        let mut sums = [0.0; LANES];
        let (i8, i) = indices.as_chunks::<LANES>();
        let (a8, a) = values.as_chunks::<LANES>();
        for (i, a) in i8.iter().zip(a8) {
            for j in 0..LANES {
                self.add_entry(i[j] as usize, delta * a[j], &mut sums[j]);
            }
        }
        for (j, (&i, &a)) in i.iter().zip(a).enumerate() {
            self.add_entry(i as usize, delta * a, &mut sums[j]);
        }
        tree(sums)
    }

    #[inline]
    fn add_entry(&mut self, i: usize, b: f64, sum: &mut f64) {
        let w = &mut self.w[i];
        if *w == 0.0 {
            self.touched.set(i / LANES);
        }
        *sum += b * *w;
        *w += b;
    }

    /// w = s·w, s = 1; O(touched).
    #[cold]
    fn settle(&mut self) {
        let (scale, len) = (self.numbers.scale, self.w.len());
        for block in self.touched.iter() {
            let part = &mut self.w[LANES * block..len.min(LANES * (block + 1))];
            part.iter_mut().for_each(|w| *w *= scale);
        }
        self.numbers.scale = 1.0;
        self.measure();
    }

    /// ‖w‖² from the entries; O(touched).
    fn measure(&mut self) {
        let mut sums = [0.0; LANES];
        for (_, part) in self.parts() {
            for (sum, w) in sums.iter_mut().zip(part) {
                *sum += w * w;
            }
        }
        let square = tree(sums);
        self.numbers = Numbers {
            square,
            top: square,
            added: 0,
            ..self.numbers
        };
    }

    /// The entries that may not be 0, in order.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = self.parts().flat_map(move |(block, part)| {
            let entries = (LANES * block..).zip(part);
            entries.map(move |(i, w)| (i, self.numbers.scale * w))
        });
        all.filter(|(_, v)| v.to_bits() != 0)
    }

    /// The blocks that were touched.
    fn parts(&self) -> impl Iterator<Item = (usize, &[f64])> + '_ {
        let len = self.w.len();
        self.touched.iter().map(move |block| {
            let part = &self.w[LANES * block..len.min(LANES * (block + 1))];
            (block, part)
        })
    }

    pub fn save(&self) -> SavedScaled {
        let mut next = 0;
        let mut saved = SavedScaled {
            dim: self.w.len() as u64,
            numbers: self.numbers,
            blocks: Vec::with_capacity(self.touched.count()),
            entries: Vec::new(),
        };
        for (block, part) in self.parts() {
            let mut mask = 0;
            for (j, w) in part.iter().enumerate() {
                if w.to_bits() != 0 {
                    mask |= 1 << j;
                    saved.entries.push(*w);
                }
            }
            saved.blocks.push(((block - next) as u32, mask));
            next = block + 1;
        }
        saved
    }

    /// Takes back what [`Scaled::save`] gave; errors, and changes nothing, unless it is sound and
    /// of this dimension.
    pub fn load(&mut self, saved: &SavedScaled) -> Result<()> {
        let len = self.w.len();
        saved.check(len)?;
        for block in self.touched.iter() {
            self.w[LANES * block..len.min(LANES * (block + 1))].fill(0.0);
        }
        self.touched.clear();
        let mut entries = saved.entries.iter();
        let mut next = 0;
        for &(skipped, mask) in &saved.blocks {
            let block = next + skipped as usize;
            let part = &mut self.w[LANES * block..len.min(LANES * (block + 1))];
            let places = part.iter_mut().enumerate();
            for (_, place) in places.filter(|(j, _)| mask & (1 << j) != 0) {
                *place = entries.next().copied().unwrap_or(0.0);
            }
            self.touched.set(block);
            next = block + 1;
        }
        self.numbers = saved.numbers;
        Ok(())
    }
}

impl SavedScaled {
    fn check(&self, dim: usize) -> Result<()> {
        let trouble = |why: String| Err(Error::State(why));
        if self.dim != dim as u64 {
            return trouble(format!("it is of dimension {}, the set of {dim}", self.dim));
        }
        let (mut end, mut entries) = (0, 0);
        for &(skipped, mask) in &self.blocks {
            end += skipped as usize + 1;
            entries += mask.count_ones() as usize;
            // the last block may be a part of one
            let last = LANES * (end - 1) + usize::from(7 - (mask | 1).leading_zeros() as u8);
            if mask != 0 && last >= dim {
                return trouble(format!("it holds an entry {last} in dimension {dim}"));
            }
        }
        let Numbers {
            scale, square, top, ..
        } = self.numbers;
        let sound = SCALES.contains(&scale.abs()) && square >= 0.0 && (square + top).is_finite();
        if end > dim.div_ceil(LANES) || entries != self.entries.len() || !sound {
            return trouble("its blocks and numbers do not fit".into());
        }
        Ok(())
    }
}

fn tree(a: [f64; LANES]) -> f64 {
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIM: usize = 21;

    fn written(x: &Scaled) -> Vec<f64> {
        let mut out = vec![0.0; x.dim()];
        x.entries().for_each(|(i, v)| out[i] = v);
        out
    }

    /// Multiplications and additions of every size against a plain vector.
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
            let row = Row::Sparse {
                indices: &indices,
                values: &values,
            };
            let top = plain.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
            // what one rounding of a plain vector may do, since it was last as large
            let scale = top.max(k);
            assert!((x.dot(1.0, &row) - row.dot(&plain)).abs() <= 1e-9 * scale);
            x.add(k, &row, k * kernel::norm(&values));
            row.add_to(k, &mut plain);
            for (a, b) in written(&x).iter().zip(&plain) {
                assert!((a - b).abs() <= 1e-9 * scale, "step {step}: {a} {b}");
            }
            let norm = kernel::norm(&written(&x));
            assert!(
                (x.norm() - norm).abs() <= 1e-10 * norm,
                "step {step}: {norm}"
            );
            let mut other = Scaled::new(DIM);
            other.load(&x.save()).unwrap();
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

    #[test]
    fn what_is_small_may_grow() {
        let mut x = Scaled::new(3);
        x.add(1e-100, &Row::Dense(&[1.0, 2.0, 2.0]), 3e-100);
        for k in [1e61, -1e62, 1e61] {
            x.multiply(k);
        }
        for (a, b) in written(&x).iter().zip([-1e84, -2e84, -2e84]) {
            assert!((a / b - 1.0).abs() < 1e-14, "{a} {b}");
        }
        assert!((x.norm() / 3e84 - 1.0).abs() < 1e-14);
    }

    #[test]
    fn what_is_small_beside_what_cancels_is_still_there() {
        let mut x = Scaled::new(3);
        x.add(1.0, &Row::Dense(&[0.0, 3.0, 4.0]), 5.0);
        for k in [1e100, -1e100] {
            x.add(k, &Row::Dense(&[1.0, 0.0, 0.0]), 1e100);
        }
        assert_eq!(written(&x), [0.0, 3.0, 4.0]);
        assert!((x.norm() - 5.0).abs() < 1e-14);
    }

    #[test]
    fn what_can_not_be_is_refused() {
        let mut x = Scaled::new(3);
        x.add(1.0, &Row::Dense(&[1.0, 2.0, 2.0]), 3.0);
        let forged = |forge: &dyn Fn(&mut SavedScaled)| {
            let mut saved = x.save();
            forge(&mut saved);
            Scaled::new(3).load(&saved)
        };
        assert!(forged(&|_| {}).is_ok());
        let forgeries: [&dyn Fn(&mut SavedScaled); 7] = [
            &|saved| saved.dim = 4,
            &|saved| saved.blocks[0].0 = 1,
            &|saved| saved.blocks[0].1 = 0b1011,
            &|saved| saved.blocks[0].1 = 0b11,
            &|saved| saved.numbers.scale = 0.0,
            &|saved| saved.numbers.square = -1.0,
            &|saved| saved.numbers.top = f64::NAN,
        ];
        for (k, forge) in forgeries.into_iter().enumerate() {
            assert!(forged(forge).is_err(), "{k}");
        }
    }
}
