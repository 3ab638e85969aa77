//! A vector that is scaled in O(1) and added to in O(non-zeros), with its norm known: what the
//! projected learners need on an ℓ2 ball, where a projection is a scale.
//!
//! It is s·w, in blocks as [`Cells`](super::cells) are. A row beside which s vanishes brings a scale
//! of its own, and w takes over the old one in O(1), by epochs. ‖w‖² is kept by what each row adds
//! to it, with a bound on how far rounding may have led it astray; beyond a share of it, the sum is
//! computed anew.

use serde::{Deserialize, Serialize};

use super::marks::Marks;
use super::{Accuracy, Row};
use crate::room::room;
use crate::{Error, Result, kernel};

/// Entries in a block, and lanes of sums.
const LANES: usize = 8;

/// A factor that may start an epoch is smaller than this: two of them make nothing of any number
/// that is worth keeping.
const VANISHING: f64 = 1e-60;

/// How far ‖w‖² may be off, relative to itself.
const DOUBTFUL: f64 = 1e-10;

/// Scales are chosen among these, away from the ends of the range of numbers,
const SCALES: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// and chosen anew beyond these.
const REACH: std::ops::RangeInclusive<f64> = 1e-250..=1e250;

/// ‖w‖² beyond these says that w is over a scale that is not its own.
const SQUARES: std::ops::RangeInclusive<f64> = 1e-150..=1e150;

/// s·w.
pub(crate) struct Scaled {
    w: Vec<f64>,
    /// The epoch that a block was last brought up to, 0 before it is touched.
    stamps: Vec<u32>,
    touched: Marks,
    numbers: Numbers,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Numbers {
    /// From 1.
    epoch: u32,
    /// What w was multiplied by when the epoch began.
    factor: f64,
    /// s
    scale: f64,
    /// ‖w‖²
    square: f64,
    /// What rounding may have done to it.
    doubt: f64,
}

/// What of a [`Scaled`] is saved: the blocks that were touched, and of them what is not 0.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedScaled {
    dim: u64,
    numbers: Numbers,
    /// Of each block how many were skipped, its stamp, and which of its entries follow.
    blocks: Vec<(u32, u32, u8)>,
    entries: Vec<f64>,
}

impl Scaled {
    /// Of a decision that is a multiple of it. The norm is summed up anew before it is off by more.
    pub const ACCURACY: Accuracy = Accuracy {
        dot: 4.0,
        norm: 4096.0,
    };

    /// 0.
    pub fn new(dim: usize) -> Self {
        let blocks = dim.div_ceil(LANES);
        Self {
            w: vec![0.0; dim],
            stamps: vec![0; blocks],
            touched: Marks::new(blocks),
            numbers: Numbers {
                epoch: 1,
                factor: 0.0,
                scale: 1.0,
                square: 0.0,
                doubt: 0.0,
            },
        }
    }

    pub fn dim(&self) -> usize {
        self.w.len()
    }

    /// More entries, all 0.
    pub fn grow(&mut self, dim: usize) {
        let blocks = dim.div_ceil(LANES);
        self.w.resize(dim, 0.0);
        self.stamps.resize(blocks, 0);
        self.touched.grow(blocks);
    }

    /// Memory for so many entries; they come with [`Scaled::grow`].
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        let blocks = dim.div_ceil(LANES);
        room(&mut self.w, dim, dim)?;
        room(&mut self.stamps, blocks, dim)?;
        self.touched.reserve(blocks, dim)
    }

    /// ‖s·w‖.
    pub fn norm(&self) -> f64 {
        self.numbers.scale.abs() * self.numbers.square.max(0.0).sqrt()
    }

    /// ⟨a, k·s·w⟩, for a k that may be as small as s is large; the row must fit.
    pub fn dot(&self, k: f64, row: &Row<'_>) -> f64 {
        let sum = match *row {
            Row::Sparse { indices, values } if self.numbers.epoch == 1 => {
                self.dot_sparse::<true>(indices, values)
            }
            Row::Sparse { indices, values } => self.dot_sparse::<false>(indices, values),
            _ => row
                .entries()
                .map(|(i, a)| a * self.entry::<false>(i))
                .sum::<f64>(),
        };
        (k * self.numbers.scale) * sum
    }

    fn dot_sparse<const CURRENT: bool>(&self, indices: &[u32], values: &[f64]) -> f64 {
        kernel::fetch(&self.w, indices);
        let mut sums = [0.0; LANES];
        let (i8, i) = indices.as_chunks::<LANES>();
        let (a8, a) = values.as_chunks::<LANES>();
        for (i, a) in i8.iter().zip(a8) {
            for j in 0..LANES {
                sums[j] += a[j] * self.entry::<CURRENT>(i[j] as usize);
            }
        }
        for (j, (&i, &a)) in i.iter().zip(a).enumerate() {
            sums[j] += a * self.entry::<CURRENT>(i as usize);
        }
        tree(sums)
    }

    /// w_i.
    #[inline(always)]
    fn entry<const CURRENT: bool>(&self, i: usize) -> f64 {
        if CURRENT {
            self.w[i]
        } else {
            self.w[i] * self.pending(self.stamps[i / LANES])
        }
    }

    /// The factor pending at a block.
    #[inline(always)]
    fn pending(&self, stamp: u32) -> f64 {
        let Numbers { epoch, factor, .. } = self.numbers;
        [1.0, factor, 0.0][(epoch - stamp).min(2) as usize]
    }

    /// Multiplies by k, a finite number.
    pub fn multiply(&mut self, k: f64) {
        if k == 0.0 {
            return self.begin_epoch(0.0, 1.0);
        }
        if k.abs() > 1.0 / VANISHING {
            self.normalise();
        }
        self.numbers.scale *= k;
        if !REACH.contains(&self.numbers.scale.abs()) {
            self.normalise();
        }
    }

    /// Adds k·a, with ‖k·a‖ = `size` finite; the row must fit.
    pub fn add(&mut self, k: f64, row: &Row<'_>, size: f64) {
        if size == 0.0 {
            return;
        }
        let natural = power_of_two(size.clamp(*SCALES.start(), *SCALES.end()));
        let Numbers {
            scale,
            square,
            doubt,
            ..
        } = self.numbers;
        if self.touched.count() == 0 {
            self.numbers.scale = natural;
        } else if square == 0.0 && doubt == 0.0 {
            self.begin_epoch(0.0, natural);
        } else if (scale / natural).abs() < VANISHING {
            self.begin_epoch(scale / natural, natural);
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
        let bb = row.square(delta, length);
        let terms = 2.0 * bb.sqrt() * numbers.square.max(0.0).sqrt() + bb;
        let long = 2.0 + row.stored() as f64 / LANES as f64;
        numbers.square += 2.0 * bw + bb;
        numbers.doubt += f64::EPSILON * (numbers.square.abs() + long * terms);
        if !(numbers.doubt <= DOUBTFUL * numbers.square) {
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

    #[inline(always)]
    fn add_entry(&mut self, i: usize, b: f64, sum: &mut f64) {
        let block = i / LANES;
        if self.stamps[block] != self.numbers.epoch {
            self.catch_up(block);
        }
        let w = &mut self.w[i];
        *sum += b * *w;
        *w += b;
    }

    /// Brings a block up to the present epoch.
    #[inline(never)]
    fn catch_up(&mut self, block: usize) {
        let stamp = self.stamps[block];
        if stamp == 0 {
            self.touched.set(block);
        } else {
            let factor = self.pending(stamp);
            let end = self.w.len().min(LANES * (block + 1));
            let part = &mut self.w[LANES * block..end];
            part.iter_mut().for_each(|w| *w *= factor);
        }
        self.stamps[block] = self.numbers.epoch;
    }

    /// w *= factor in O(1), for |factor| < [`VANISHING`], over a new scale.
    fn begin_epoch(&mut self, factor: f64, scale: f64) {
        if self.numbers.epoch == u32::MAX {
            self.settle(1.0);
        }
        let numbers = &mut self.numbers;
        numbers.epoch += 1;
        numbers.factor = factor;
        numbers.scale = scale;
        numbers.square *= factor * factor;
        numbers.doubt *= factor * factor;
    }

    /// w *= k, all of it; O(touched).
    fn settle(&mut self, k: f64) {
        let Numbers { epoch, factor, .. } = self.numbers;
        let len = self.w.len();
        for block in self.touched.iter() {
            let pending = [1.0, factor, 0.0][(epoch - self.stamps[block]).min(2) as usize];
            let part = &mut self.w[LANES * block..len.min(LANES * (block + 1))];
            part.iter_mut().for_each(|w| *w *= k * pending);
            self.stamps[block] = 1;
        }
        self.numbers.epoch = 1;
    }

    /// The same vector over a scale as large as itself; O(touched).
    fn normalise(&mut self) {
        if self.numbers.square == 0.0 {
            return self.begin_epoch(0.0, 1.0);
        }
        let natural = power_of_two(self.norm().clamp(*SCALES.start(), *SCALES.end()));
        self.settle(self.numbers.scale / natural);
        self.numbers.scale = natural;
        self.measure();
    }

    /// ‖w‖² from the entries, everything brought up to date; O(touched).
    fn measure(&mut self) {
        if self.numbers.epoch > 1 {
            self.settle(1.0);
        }
        let mut square = self.sum_of_squares();
        if !SQUARES.contains(&square) {
            // what is left after cancelling may be too small to be squared
            let parts = self.parts().flat_map(|(_, part)| part);
            let top = parts.fold(0.0, |top: f64, w| top.max(w.abs()));
            let natural = power_of_two(top.max(f64::MIN_POSITIVE));
            if top == 0.0 || (self.numbers.scale * natural).abs() < *REACH.start() {
                return self.begin_epoch(0.0, 1.0);
            }
            self.settle(1.0 / natural);
            self.numbers.scale *= natural;
            square = self.sum_of_squares();
        }
        let length = self.touched.count() as f64;
        self.numbers.square = square;
        self.numbers.doubt = f64::EPSILON * length.sqrt() * square;
    }

    fn sum_of_squares(&self) -> f64 {
        let mut sums = [0.0; LANES];
        for (_, part) in self.parts() {
            for (sum, w) in sums.iter_mut().zip(part) {
                *sum += w * w;
            }
        }
        tree(sums)
    }

    /// The entries that may not be 0, in order.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = self.parts().flat_map(move |(block, part)| {
            let k = self.pending(self.stamps[block]);
            let entries = (LANES * block..).zip(part);
            entries.map(move |(i, w)| (i, self.numbers.scale * (k * w)))
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
            let skipped = (block - next) as u32;
            saved.blocks.push((skipped, self.stamps[block], mask));
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
            self.stamps[block] = 0;
        }
        self.touched.clear();
        let mut entries = saved.entries.iter();
        let mut next = 0;
        for &(skipped, stamp, mask) in &saved.blocks {
            let block = next + skipped as usize;
            let part = &mut self.w[LANES * block..len.min(LANES * (block + 1))];
            let places = part.iter_mut().enumerate();
            for (_, place) in places.filter(|(j, _)| mask & (1 << j) != 0) {
                *place = entries.next().copied().unwrap_or(0.0);
            }
            self.stamps[block] = stamp;
            self.touched.set(block);
            next = block + 1;
        }
        self.numbers = saved.numbers;
        Ok(())
    }
}

impl SavedScaled {
    /// ‖s·w‖ from its entries, at least; ∞ or NaN where they are no numbers.
    pub fn norm(&self) -> f64 {
        let Numbers { scale, epoch, .. } = self.numbers;
        let mut entries = self.entries.iter();
        let mut square = 0.0;
        for &(_, stamp, mask) in &self.blocks {
            let k = [1.0, self.numbers.factor, 0.0][epoch.saturating_sub(stamp).min(2) as usize];
            for _ in 0..mask.count_ones() {
                let w = k * entries.next().copied().unwrap_or(0.0);
                square += w * w;
            }
        }
        scale.abs() * square.sqrt()
    }

    fn check(&self, dim: usize) -> Result<()> {
        let trouble = |why: String| Err(Error::State(why));
        if self.dim != dim as u64 {
            return trouble(format!("it is of dimension {}, the set of {dim}", self.dim));
        }
        let (mut end, mut entries) = (0, 0);
        for &(skipped, stamp, mask) in &self.blocks {
            end += skipped as usize + 1;
            entries += mask.count_ones() as usize;
            if stamp == 0 || stamp > self.numbers.epoch {
                return trouble("it holds stamps from the future".into());
            }
            // the last block may be a part of one
            let last = LANES * (end - 1) + usize::from(7 - (mask | 1).leading_zeros() as u8);
            if mask != 0 && last >= dim {
                return trouble(format!("it holds an entry {last} in dimension {dim}"));
            }
        }
        let Numbers {
            epoch,
            factor,
            scale,
            square,
            doubt,
        } = self.numbers;
        let sound = [factor, scale, square, doubt].iter().all(|v| v.is_finite());
        if end > dim.div_ceil(LANES) || entries != self.entries.len() || epoch == 0 || !sound {
            return trouble("its blocks and numbers do not fit".into());
        }
        if !(scale.is_normal() && square >= 0.0 && doubt >= 0.0) {
            return trouble("its scales are out of range".into());
        }
        Ok(())
    }
}

/// The power of two next below a normal number > 0: dividing by it is exact.
fn power_of_two(size: f64) -> f64 {
    f64::from_bits(size.to_bits() & 0x7ff0_0000_0000_0000)
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
    fn epochs_may_run_out() {
        let mut x = Scaled::new(3);
        let row = Row::Dense(&[1.0, 2.0, 2.0]);
        x.add(1.0, &row, 3.0);
        x.numbers.epoch = u32::MAX;
        x.stamps.fill(u32::MAX);
        x.add(1e70, &row, 3e70);
        assert_eq!(written(&x), [1e70, 2e70, 2e70]);
        assert_eq!(x.numbers.epoch, 2);
    }

    #[test]
    fn what_lies_far_below_what_cancels_is_still_there() {
        let mut x = Scaled::new(3);
        x.add(1.0, &Row::Dense(&[0.0, 3.0, 4.0]), 5.0);
        for k in [1e170, -1e170] {
            x.add(k, &Row::Dense(&[1.0, 0.0, 0.0]), 1e170);
        }
        assert_eq!(written(&x)[0], 0.0);
        for (a, b) in written(&x)[1..].iter().zip([3.0, 4.0]) {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
        assert!((x.norm() - 5.0).abs() < 1e-14);
        x.multiply(1e-170);
        x.add(1e-200, &Row::Dense(&[1.0, 0.0, 0.0]), 1e-200);
        assert!((x.norm() / 5e-170 - 1.0).abs() < 1e-14);
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
        let forgeries: [&dyn Fn(&mut SavedScaled); 9] = [
            &|saved| saved.dim = 4,
            &|saved| saved.blocks[0].0 = 1,
            &|saved| saved.blocks[0].1 = 0,
            &|saved| saved.blocks[0].1 = 2,
            &|saved| saved.blocks[0].2 = 0b1011,
            &|saved| saved.blocks[0].2 = 0b11,
            &|saved| saved.numbers.scale = 0.0,
            &|saved| saved.numbers.square = -1.0,
            &|saved| saved.numbers.factor = f64::NAN,
        ];
        for (k, forge) in forgeries.into_iter().enumerate() {
            assert!(forged(forge).is_err(), "{k}");
        }
    }
}
