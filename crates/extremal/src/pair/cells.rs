//! Two vectors w and u over the same features, for [`LazyPair`](super::LazyPair): touched where a
//! gradient is non-zero, and w scaled as a whole in O(1).
//!
//! What belongs to one feature lies together, and four of them in a cache line, so that a touched
//! feature costs one miss. Whatever goes over all features goes over the blocks that were ever
//! touched, in order: the numbers do not depend on how many others there are.

use serde::{Deserialize, Serialize};

use super::Row;
use super::marks::Marks;
use crate::kernel;
use crate::{Error, Result};

/// Features in a block, and lanes of sums: a fixed order, so that the same cells give the same
/// bits.
const LANES: usize = 4;

/// (w_i, u_i) of four features.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Block([[f64; 2]; LANES]);

/// w and u. Each [`Cells::scale_w`] starts an epoch; a block of an older one has its factor
/// pending. Two epochs back the factors multiply to nothing, as each is below [`Cells::VANISHING`].
#[derive(Default)]
pub(super) struct Cells {
    dim: usize,
    blocks: Vec<Block>,
    /// The epoch that a block's w was last brought up to, 0 before it is touched.
    stamps: Vec<u32>,
    /// The blocks with a stamp.
    touched: Marks,
    /// From 1.
    epoch: u32,
    /// The factor of the present epoch's start.
    factor: f64,
}

/// What of [`Cells`] is saved: the blocks that were touched, and of them what is not 0.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedCells {
    pub dim: u64,
    epoch: u32,
    factor: f64,
    /// Of each block how many were skipped, its stamp, and which of its numbers follow.
    blocks: Vec<(u32, u32, u8)>,
    numbers: Vec<f64>,
}

/// Coordinates of a vector over the basis (w, u).
pub(super) type Coordinates = [f64; 2];

/// The inner products of w and u.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Gram {
    pub ww: f64,
    pub wu: f64,
    pub uu: f64,
}

impl Gram {
    /// ⟨y, z⟩.
    pub fn dot(&self, y: Coordinates, z: Coordinates) -> f64 {
        let [a, b, c] = self.terms(y, z);
        a + b + c
    }

    /// ⟨y, z⟩, unless its terms are so much larger that the sum is worth little.
    pub fn dot_unless_cancelled(&self, y: Coordinates, z: Coordinates, least: f64) -> Option<f64> {
        let [a, b, c] = self.terms(y, z);
        let sum = a + b + c;
        (sum.abs() >= least * (a.abs() + b.abs() + c.abs())).then_some(sum)
    }

    /// At least ‖y‖, and nearly that unless w and u cancel.
    pub fn size(&self, y: Coordinates) -> f64 {
        y[0].abs() * self.ww.sqrt() + y[1].abs() * self.uu.sqrt()
    }

    fn terms(&self, y: Coordinates, z: Coordinates) -> [f64; 3] {
        [
            y[0] * z[0] * self.ww,
            (y[0] * z[1] + y[1] * z[0]) * self.wu,
            y[1] * z[1] * self.uu,
        ]
    }
}

/// What [`Cells::absorb`] does: u += δa and w += ρδa, with `size` = |δ|·‖a‖.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub delta: f64,
    pub rho: f64,
    pub size: f64,
}

impl Cells {
    /// A factor that may start an epoch is smaller than this.
    pub const VANISHING: f64 = 1e-60;

    /// w = u = 0.
    pub fn new(dim: usize) -> Self {
        let blocks = dim.div_ceil(LANES);
        Self {
            dim,
            blocks: vec![Block::default(); blocks],
            stamps: vec![0; blocks],
            touched: Marks::new(blocks),
            epoch: 1,
            factor: 0.0,
        }
    }

    pub fn dim(&self) -> usize {
        self.dim
    }

    /// More features, all 0.
    pub fn grow(&mut self, dim: usize) {
        let blocks = dim.div_ceil(LANES);
        self.dim = dim;
        self.blocks.resize(blocks, Block::default());
        self.stamps.resize(blocks, 0);
        self.touched.grow(blocks);
    }

    /// What a pass over all features goes through; each was touched, or lies next to one that was.
    pub fn room(&self) -> usize {
        LANES * self.touched.count()
    }

    /// The factor pending at a block, by the age of its stamp; a look-up, as a branch would be
    /// mispredicted.
    fn pending(&self) -> [f64; 3] {
        [1.0, self.factor, 0.0]
    }

    /// ⟨a, y⟩; the row must fit.
    pub fn dot(&self, row: &Row<'_>, y: Coordinates) -> f64 {
        let [w, u] = match *row {
            Row::Sparse { indices, values } => kernel::widest(
                #[inline(always)]
                || {
                    // What is pending is nothing in the first epoch, and there is seldom another.
                    if self.epoch == 1 {
                        self.dot_sparse::<true>(indices, values)
                    } else {
                        self.dot_sparse::<false>(indices, values)
                    }
                },
            ),
            _ => {
                let mut sums = [0.0; 2];
                let entries = row.entries();
                entries.for_each(|(i, a)| self.add_term::<false>(i, a, &mut sums));
                sums
            }
        };
        y[0] * w + y[1] * u
    }

    /// ⟨a, w⟩ and ⟨a, u⟩.
    #[inline(always)]
    fn dot_sparse<const CURRENT: bool>(&self, indices: &[u32], values: &[f64]) -> [f64; 2] {
        let mut sums = [[0.0; 2]; LANES];
        let (i4, i) = indices.as_chunks::<LANES>();
        let (a4, a) = values.as_chunks::<LANES>();
        for (i, a) in i4.iter().zip(a4) {
            for j in 0..LANES {
                self.add_term::<CURRENT>(i[j] as usize, a[j], &mut sums[j]);
            }
        }
        for (j, (&i, &a)) in i.iter().zip(a).enumerate() {
            self.add_term::<CURRENT>(i as usize, a, &mut sums[j]);
        }
        tree(sums)
    }

    #[inline(always)]
    fn add_term<const CURRENT: bool>(&self, i: usize, a: f64, sums: &mut [f64; 2]) {
        let block = i / LANES;
        let [w, u] = self.blocks[block].0[i % LANES];
        let k = if CURRENT {
            a
        } else {
            a * self.pending()[(self.epoch - self.stamps[block]).min(2) as usize]
        };
        sums[0] += k * w;
        sums[1] += a * u;
    }

    /// u += δa, w += ρδa, with the inner products kept; gives ⟨a, y⟩ before that. The row must
    /// fit.
    pub fn absorb(
        &mut self,
        row: &Row<'_>,
        change: Change,
        gram: &mut Gram,
        y: Coordinates,
    ) -> f64 {
        let Change { delta, rho, size } = change;
        // where δ is too small to divide by
        let apart = (!delta.is_normal()).then(|| self.dot(row, y));
        let [bw, bu] = match *row {
            Row::Sparse { indices, values } => kernel::widest(
                #[inline(always)]
                || self.absorb_sparse(indices, values, delta, rho),
            ),
            _ => {
                let mut sums = [0.0; 2];
                let entries = row.entries();
                entries.for_each(|(i, a)| self.absorb_entry(i, delta * a, rho, &mut sums));
                sums
            }
        };
        let bb = size * size;
        gram.uu += 2.0 * bu + bb;
        gram.wu += bw + rho * (bu + bb);
        gram.ww += rho * (2.0 * bw + rho * bb);
        apart.unwrap_or((y[0] * bw + y[1] * bu) / delta)
    }

    /// ⟨δa, w⟩ and ⟨δa, u⟩ from before.
    #[inline(always)]
    fn absorb_sparse(
        &mut self,
        indices: &[u32],
        values: &[f64],
        delta: f64,
        rho: f64,
    ) -> [f64; 2] {
        let mut sums = [[0.0; 2]; LANES];
        let (i4, i) = indices.as_chunks::<LANES>();
        let (a4, a) = values.as_chunks::<LANES>();
        for (i, a) in i4.iter().zip(a4) {
            for j in 0..LANES {
                self.absorb_entry(i[j] as usize, delta * a[j], rho, &mut sums[j]);
            }
        }
        for (j, (&i, &a)) in i.iter().zip(a).enumerate() {
            self.absorb_entry(i as usize, delta * a, rho, &mut sums[j]);
        }
        tree(sums)
    }

    #[inline(always)]
    fn absorb_entry(&mut self, i: usize, b: f64, rho: f64, sums: &mut [f64; 2]) {
        let block = i / LANES;
        if self.stamps[block] != self.epoch {
            self.catch_up(block);
        }
        let cell = &mut self.blocks[block].0[i % LANES];
        let [w, u] = *cell;
        sums[0] += b * w;
        sums[1] += b * u;
        *cell = [w + rho * b, u + b];
    }

    /// Brings a block up to the present epoch.
    #[inline(never)]
    fn catch_up(&mut self, block: usize) {
        let stamp = &mut self.stamps[block];
        if *stamp == 0 {
            self.touched.set(block);
        } else {
            let factor = if self.epoch - *stamp == 1 {
                self.factor
            } else {
                0.0
            };
            self.blocks[block].0.iter_mut().for_each(|c| c[0] *= factor);
        }
        *stamp = self.epoch;
    }

    /// w *= factor in O(1), for |factor| < [`Cells::VANISHING`].
    pub fn scale_w(&mut self, factor: f64) {
        if self.epoch == u32::MAX {
            self.rewrite([[1.0, 0.0], [0.0, 1.0]]);
        }
        self.epoch += 1;
        self.factor = factor;
    }

    /// (w, u) = matrix·(w, u); O(touched).
    pub fn rewrite(&mut self, [to_w, to_u]: [Coordinates; 2]) {
        let (pending, epoch) = (self.pending(), self.epoch);
        for block in self.touched.iter() {
            let factor = pending[(epoch - self.stamps[block]).min(2) as usize];
            for cell in &mut self.blocks[block].0 {
                let (w, u) = (factor * cell[0], cell[1]);
                *cell = [to_w[0] * w + to_w[1] * u, to_u[0] * w + to_u[1] * u];
            }
            self.stamps[block] = 1;
        }
        self.epoch = 1;
    }

    /// w = u = 0; O(touched).
    pub fn clear(&mut self) {
        for block in self.touched.iter() {
            self.blocks[block] = Block::default();
            self.stamps[block] = 0;
        }
        self.touched.clear();
        self.epoch = 1;
    }

    /// Adds multiples of a vector with few entries to w and u; everything must be current, as it
    /// is after [`Cells::clear`] and [`Cells::rewrite`].
    pub fn add(&mut self, [w, u]: Coordinates, indices: &[u32], values: &[f64]) {
        for (&i, v) in indices.iter().zip(values) {
            let block = i as usize / LANES;
            if self.stamps[block] == 0 {
                self.catch_up(block);
            }
            let cell = &mut self.blocks[block].0[i as usize % LANES];
            *cell = [cell[0] + w * v, cell[1] + u * v];
        }
    }

    /// The touched blocks: where each begins, and its w and u as they are.
    fn current(&self) -> impl Iterator<Item = (usize, [[f64; 2]; LANES])> + '_ {
        let (pending, epoch) = (self.pending(), self.epoch);
        self.touched.iter().map(move |block| {
            let factor = pending[(epoch - self.stamps[block]).min(2) as usize];
            let cells = self.blocks[block].0.map(|[w, u]| [factor * w, u]);
            (LANES * block, cells)
        })
    }

    /// The entries of y that may not be 0, in order.
    pub fn entries(&self, y: Coordinates) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = self.current().flat_map(move |(first, cells)| {
            let entries = cells.map(|[w, u]| y[0] * w + y[1] * u);
            entries.into_iter().enumerate().map(move |(j, v)| (first + j, v))
        });
        all.filter(|(i, v)| v.to_bits() != 0 && *i < self.dim)
    }

    /// out = y.
    pub fn write(&self, y: Coordinates, out: &mut [f64]) {
        out.fill(0.0);
        self.entries(y).for_each(|(i, v)| out[i] = v);
    }

    /// The inner products from the vectors themselves; O(touched).
    pub fn gram(&self) -> Gram {
        let [ww, wu, uu] = self.sums(|w, u| [w * w, w * u, u * u]);
        Gram { ww, wu, uu }
    }

    /// Sums over all features, in a fixed order; O(touched).
    pub fn sums<const N: usize>(&self, each: impl Fn(f64, f64) -> [f64; N]) -> [f64; N] {
        let mut sums = [[0.0; N]; LANES];
        for (_, cells) in self.current() {
            for (sums, [w, u]) in sums.iter_mut().zip(cells) {
                for (sum, term) in sums.iter_mut().zip(each(w, u)) {
                    *sum += term;
                }
            }
        }
        tree(sums)
    }

    /// The largest absolute entry of y; O(touched).
    pub fn top(&self, y: Coordinates) -> f64 {
        let all = self.current().flat_map(|(_, cells)| cells);
        all.fold(0.0, |top: f64, [w, u]| top.max((y[0] * w + y[1] * u).abs()))
    }

    /// Brings everything up to date; O(touched).
    pub fn settle(&mut self) {
        if self.epoch > 1 {
            for block in self.touched.iter() {
                let age = self.epoch - self.stamps[block];
                let factor = [1.0, self.factor, 0.0][age.min(2) as usize];
                self.blocks[block].0.iter_mut().for_each(|c| c[0] *= factor);
                self.stamps[block] = 1;
            }
            self.epoch = 1;
        }
    }

    pub fn save(&self) -> SavedCells {
        let mut next = 0;
        let mut saved = SavedCells {
            dim: self.dim as u64,
            epoch: self.epoch,
            factor: self.factor,
            blocks: Vec::with_capacity(self.touched.count()),
            numbers: Vec::new(),
        };
        for block in self.touched.iter() {
            let mut mask = 0;
            for (j, number) in self.blocks[block].0.as_flattened().iter().enumerate() {
                if number.to_bits() != 0 {
                    mask |= 1 << j;
                    saved.numbers.push(*number);
                }
            }
            let skipped = (block - next) as u32;
            saved.blocks.push((skipped, self.stamps[block], mask));
            next = block + 1;
        }
        saved
    }

    /// Takes back what [`Cells::save`] gave, once [`SavedCells::check`] has found it sound.
    pub fn load(&mut self, saved: &SavedCells) {
        self.clear();
        let mut numbers = saved.numbers.iter();
        let mut next = 0;
        for &(skipped, stamp, mask) in &saved.blocks {
            let block = next + skipped as usize;
            let cells = self.blocks[block].0.as_flattened_mut();
            let places = cells.iter_mut().enumerate();
            for (_, place) in places.filter(|(j, _)| mask & (1 << j) != 0) {
                *place = numbers.next().copied().unwrap_or(0.0);
            }
            self.stamps[block] = stamp;
            self.touched.set(block);
            next = block + 1;
        }
        (self.epoch, self.factor) = (saved.epoch, saved.factor);
    }
}

impl SavedCells {
    /// Errors unless it can be that of cells in `dim` dimensions.
    pub fn check(&self, dim: usize) -> Result<()> {
        let trouble = |why: String| Err(Error::State(why));
        if self.dim != dim as u64 {
            return trouble(format!("it is of dimension {}, the set of {dim}", self.dim));
        }
        let (mut end, mut numbers) = (0, 0);
        for &(skipped, stamp, mask) in &self.blocks {
            end += skipped as usize + 1;
            numbers += mask.count_ones() as usize;
            if stamp == 0 || stamp > self.epoch {
                return trouble("it holds stamps from the future".into());
            }
            // the last block may be a part of one
            let last = LANES * (end - 1) + usize::from(7 - (mask | 1).leading_zeros() as u8) / 2;
            if mask != 0 && last >= dim {
                return trouble(format!("it holds an entry {last} in dimension {dim}"));
            }
        }
        if end > dim.div_ceil(LANES) || numbers != self.numbers.len() {
            return trouble("its blocks and numbers do not fit".into());
        }
        if self.epoch == 0 {
            return trouble("its epochs do not start at 1".into());
        }
        Ok(())
    }
}

fn tree<const N: usize>([a, b, c, d]: [[f64; N]; LANES]) -> [f64; N] {
    std::array::from_fn(|n| (a[n] + c[n]) + (b[n] + d[n]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f64]) -> Row<'_> {
        Row::Sparse {
            indices: &[0, 2],
            values,
        }
    }

    fn absorb(cells: &mut Cells, gram: &mut Gram, rho: f64) {
        let change = Change {
            delta: 2.0,
            rho,
            size: 40f64.sqrt(),
        };
        cells.absorb(&row(&[1.0, -3.0]), change, gram, [1.0, 0.0]);
    }

    #[test]
    fn absorbing_keeps_the_inner_products() {
        let (mut cells, mut gram) = (Cells::new(3), Gram::default());
        for rho in [0.5, -2.0, 3.0] {
            absorb(&mut cells, &mut gram, rho);
            let found = cells.gram();
            for (kept, found) in [(gram.ww, found.ww), (gram.wu, found.wu), (gram.uu, found.uu)] {
                assert!((kept - found).abs() <= 1e-12 * found.abs(), "{kept} {found}");
            }
        }
        assert_eq!(cells.dot(&row(&[1.0, 0.0]), [1.0, 1.0]), 2.0 * 1.5 + 6.0);
    }

    #[test]
    fn a_pending_factor_is_applied_once_and_two_of_them_vanish() {
        let (mut cells, mut gram) = (Cells::new(3), Gram::default());
        let w = |cells: &Cells| cells.dot(&row(&[1.0, 0.0]), [1.0, 0.0]);
        absorb(&mut cells, &mut gram, 1.0);
        cells.scale_w(1e-70);
        assert_eq!(w(&cells), 2e-70);
        assert_eq!(cells.top([1.0, 0.0]), 6e-70);
        absorb(&mut cells, &mut gram, 0.0);
        assert_eq!(w(&cells), 2e-70);
        cells.scale_w(1e-70);
        assert_eq!(w(&cells), 2e-70 * 1e-70);
        cells.scale_w(1e-70);
        assert_eq!(w(&cells), 0.0);
        assert_eq!(cells.dot(&row(&[1.0, 0.0]), [0.0, 1.0]), 4.0);
    }

    #[test]
    fn epochs_may_run_out() {
        let (mut cells, mut gram) = (Cells::new(3), Gram::default());
        cells.epoch = u32::MAX;
        absorb(&mut cells, &mut gram, 1.0);
        cells.scale_w(1e-70);
        assert!(cells.save().check(3).is_ok());
        assert_eq!(cells.dot(&row(&[1.0, 0.0]), [1.0, 0.0]), 2e-70);
    }
}
