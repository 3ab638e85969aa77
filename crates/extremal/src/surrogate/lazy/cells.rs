//! Two vectors w and u over the same features, for
//! [`LazySurrogate`](crate::surrogate::LazySurrogate). A gradient changes them only where it is
//! non-zero, and w can be scaled in O(1).
//!
//! The numbers of one feature are stored together, so that a touched feature costs one cache miss.
//! A pass over all features visits, in order, the blocks that contain a touched feature. The
//! results therefore do not depend on the number of other features.

use serde::{Deserialize, Serialize};

use crate::saved::check_shape;
use crate::surrogate::touched::{BLOCK, Touched, part};
use crate::{Result, Row, kernel};

/// The number of partial sums over a row. They are added in a fixed order, so that equal cells give
/// equal bits.
const LANES: usize = 4;

/// The entries of w and u for one feature. The alignment keeps it within one cache line.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[repr(align(32))]
struct LazyEntry {
    /// The epoch up to which `w` is current, or 0 if the cell was never touched.
    stamp: u32,
    w: f64,
    u: f64,
}

/// The vectors w and u. Each call of [`Cells::scale_w`] starts an epoch. The factor of this epoch
/// is pending for all cells with an older stamp. If a cell is two or more epochs behind, its w is
/// treated as 0, because each factor is below [`Cells::VANISHING`].
#[derive(Default)]
pub(crate) struct Cells {
    cells: Touched<LazyEntry>,
    /// The current epoch, counted from 1.
    epoch: u32,
    /// The factor passed to the [`Cells::scale_w`] call that started the current epoch.
    factor: f64,
    /// The cells before their changes, recorded after [`Cells::note`] for [`Cells::undo`].
    noted: Vec<(u32, LazyEntry)>,
    notes: bool,
    noted_epoch: u32,
}

/// The saved form of [`Cells`]: the cells that were touched.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedCells {
    epoch: u32,
    factor: f64,
    cells: Vec<(u32, LazyEntry)>,
}

/// The coordinates of a vector with respect to the basis (w, u).
pub(crate) type Coordinates = [f64; 2];

/// The inner products of w and u.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gram {
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

    /// ⟨y, z⟩, or `None` if this is below `least` times the sum of its terms' absolute values.
    pub fn dot_unless_cancelled(&self, y: Coordinates, z: Coordinates, least: f64) -> Option<f64> {
        let [a, b, c] = self.terms(y, z);
        let sum = a + b + c;
        (sum.abs() >= least * (a.abs() + b.abs() + c.abs())).then_some(sum)
    }

    /// An upper bound on ‖y‖. It is nearly exact unless the parts of y along w and u cancel.
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

/// The update of [`Cells::absorb`]: u += δa and w += ρδa, where `size` is |δ|·‖a‖.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    pub delta: f64,
    pub rho: f64,
    pub size: f64,
}

impl Cells {
    /// The upper limit of a factor that starts an epoch.
    pub const VANISHING: f64 = 1e-60;

    /// w = u = 0.
    pub fn new(dim: usize) -> Self {
        Self {
            cells: Touched::new(dim),
            epoch: 1,
            ..Self::default()
        }
    }

    pub fn dim(&self) -> usize {
        self.cells.items.len()
    }

    /// Adds features whose entries are 0.
    pub fn grow(&mut self, dim: usize) {
        self.cells.grow(dim);
    }

    /// Reserves memory for this many features. [`Cells::grow`] adds them.
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        self.cells.reserve(dim)
    }

    /// The number of features that a pass visits: all features in blocks with a touched feature.
    pub fn touched_len(&self) -> usize {
        self.cells.size()
    }

    /// The factor that is pending at a cell, by the age of its stamp. It is a table, because a
    /// branch would often be mispredicted.
    #[inline]
    fn pending(&self) -> [f64; 3] {
        [1.0, self.factor, 0.0]
    }

    /// ⟨a, y⟩. The row must not exceed the dimension.
    pub fn dot(&self, row: &Row<'_>, y: Coordinates) -> f64 {
        let (pending, epoch, cells) = (&self.pending(), self.epoch, &self.cells.items[..]);
        let add = |i: usize, a: f64, sums: &mut [f64; 2]| {
            let LazyEntry { w, u, stamp } = cells[i];
            let w = w * pending[(epoch - stamp).min(2) as usize];
            sums[0] += a * w;
            sums[1] += a * u;
        };
        if let Row::Sparse { indices, .. } = *row {
            kernel::prefetch(cells, indices.iter().copied(), false);
        }
        let [w, u] = sum_over(row, add);
        y[0] * w + y[1] * u
    }

    /// Sets u += δa and w += ρδa, and updates the inner products. Returns ⟨a, y⟩ before the change.
    /// The row must not exceed the dimension.
    pub fn absorb(
        &mut self,
        row: &Row<'_>,
        change: Change,
        gram: &mut Gram,
        y: Coordinates,
    ) -> f64 {
        let Change { delta, rho, size } = change;
        // the product is computed separately if δ is too small for a division
        let apart = (!delta.is_normal()).then(|| self.dot(row, y));
        let (pending, epoch) = (&self.pending(), self.epoch);
        let Touched { items, marks } = &mut self.cells;
        let cells = &mut items[..];
        if self.notes {
            let before = row.entries().map(|(i, _)| (i as u32, cells[i]));
            self.noted.extend(before);
        }
        // ⟨δa, w⟩ and ⟨δa, u⟩ before the change
        let add = |i: usize, a: f64, sums: &mut [f64; 2]| {
            let LazyEntry { w, u, stamp } = cells[i];
            let (w, b) = (w * pending[(epoch - stamp).min(2) as usize], delta * a);
            sums[0] += b * w;
            sums[1] += b * u;
            cells[i] = LazyEntry {
                w: w + rho * b,
                u: u + b,
                stamp: epoch,
            };
            if stamp == 0 {
                marks.set(i);
            }
        };
        let [bw, bu] = sum_over(row, add);
        let bb = size * size;
        gram.uu += 2.0 * bu + bb;
        gram.wu += bw + rho * (bu + bb);
        gram.ww += rho * (2.0 * bw + rho * bb);
        apart.unwrap_or((y[0] * bw + y[1] * bu) / delta)
    }

    /// If `notes` is true, starts to record changes for [`Cells::undo`]. Otherwise, stops
    /// recording.
    pub fn note(&mut self, notes: bool) {
        self.noted.clear();
        self.notes = notes;
        self.noted_epoch = self.epoch;
    }

    /// Reverts all changes since [`Cells::note`], bit for bit.
    pub fn undo(&mut self) {
        for &(i, cell) in self.noted.iter().rev() {
            self.cells.items[i as usize] = cell;
        }
        self.epoch = self.noted_epoch;
        // the mark of a block that was untouched before is removed
        for (i, _) in self.noted.drain(..).filter(|(_, cell)| cell.stamp == 0) {
            let first = i as usize / BLOCK * BLOCK;
            if part(&self.cells.items, first)
                .iter()
                .all(|cell| cell.stamp == 0)
            {
                self.cells.marks.unset(first);
            }
        }
        self.notes = false;
    }

    /// w *= factor in O(1), for |factor| < [`Cells::VANISHING`].
    pub fn scale_w(&mut self, factor: f64) {
        if self.epoch == u32::MAX {
            self.settle();
        }
        self.epoch += 1;
        self.factor = factor;
    }

    /// Applies all pending factors in O(touched).
    fn settle(&mut self) {
        self.rewrite([[1.0, 0.0], [0.0, 1.0]]);
    }

    /// Sets (w, u) = matrix·(w, u) in O(touched).
    pub fn rewrite(&mut self, [to_w, to_u]: [Coordinates; 2]) {
        let (pending, epoch) = (self.pending(), self.epoch);
        let (notes, noted) = (self.notes, &mut self.noted);
        self.cells.for_each_mut(|i, cell| {
            if notes {
                noted.push((i as u32, *cell));
            }
            let w = cell.w * pending[(epoch - cell.stamp).min(2) as usize];
            let u = cell.u;
            *cell = LazyEntry {
                w: to_w[0] * w + to_w[1] * u,
                u: to_u[0] * w + to_u[1] * u,
                stamp: cell.stamp.min(1),
            };
        });
        self.epoch = 1;
    }

    /// Sets w = u = 0 in O(touched).
    pub fn clear(&mut self) {
        self.cells.clear();
        self.epoch = 1;
    }

    /// Adds multiples of a sparse vector to w and u. Call it only if no factor is pending, for
    /// example after [`Cells::clear`] or [`Cells::rewrite`].
    pub fn add(&mut self, [w, u]: Coordinates, indices: &[u32], values: &[f64]) {
        for (&i, v) in indices.iter().zip(values) {
            let cell = &mut self.cells.items[i as usize];
            *cell = LazyEntry {
                w: cell.w + w * v,
                u: cell.u + u * v,
                stamp: self.epoch,
            };
            self.cells.marks.set(i as usize);
        }
    }

    /// The touched cells, in order.
    fn touched(&self) -> impl Iterator<Item = (usize, &LazyEntry)> + '_ {
        self.cells.entries().filter(|(_, cell)| cell.stamp > 0)
    }

    /// The entries of y at touched cells, in order.
    pub fn entries(&self, y: Coordinates) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (pending, epoch) = (self.pending(), self.epoch);
        self.touched().map(move |(i, cell)| {
            let w = cell.w * pending[(epoch - cell.stamp).min(2) as usize];
            (i, y[0] * w + y[1] * cell.u)
        })
    }

    /// Writes y into `out`.
    pub fn write(&self, y: Coordinates, out: &mut [f64]) {
        out.fill(0.0);
        self.entries(y).for_each(|(i, v)| out[i] = v);
    }

    /// The inner products, computed from the entries in O(touched).
    pub fn gram(&self) -> Gram {
        let [ww, wu, uu] = self.sums(|w, u| [w * w, w * u, u * u]);
        Gram { ww, wu, uu }
    }

    /// The sums of the terms of `each` over all features, in a fixed order, in O(touched).
    pub fn sums<const N: usize>(&self, each: impl Fn(f64, f64) -> [f64; N]) -> [f64; N] {
        let (pending, epoch) = (self.pending(), self.epoch);
        let mut sums = [[0.0; N]; BLOCK];
        for (_, cells) in self.cells.blocks() {
            for (sums, cell) in sums.iter_mut().zip(cells) {
                let w = cell.w * pending[(epoch - cell.stamp).min(2) as usize];
                for (sum, term) in sums.iter_mut().zip(each(w, cell.u)) {
                    *sum += term;
                }
            }
        }
        let (first, second) = sums.split_at(LANES);
        let lane = |j: usize| std::array::from_fn(|n| first[j][n] + second[j][n]);
        tree(std::array::from_fn(lane))
    }

    /// The largest absolute entry of y, in O(touched).
    pub fn top(&self, y: Coordinates) -> f64 {
        let all = self.entries(y);
        all.fold(0.0, |top: f64, (_, v)| top.max(v.abs()))
    }

    pub fn save(&self) -> SavedCells {
        SavedCells {
            epoch: self.epoch,
            factor: self.factor,
            cells: self.cells.save(|cell| cell.stamp > 0),
        }
    }

    /// Restores a saved state in `dim` dimensions.
    pub fn restore(saved: &SavedCells, dim: usize) -> Result<Self> {
        let mut stamps = saved.cells.iter().map(|(_, cell)| cell.stamp);
        check_shape(stamps.all(|stamp| stamp <= saved.epoch))?;
        Ok(Self {
            cells: Touched::restore(&saved.cells, dim)?,
            epoch: saved.epoch,
            factor: saved.factor,
            ..Self::default()
        })
    }
}

/// Sums over a row. Entry j of a sparse row is added to partial sum j mod [`LANES`].
#[inline]
fn sum_over(row: &Row<'_>, mut add: impl FnMut(usize, f64, &mut [f64; 2])) -> [f64; 2] {
    let mut sums = [[0.0; 2]; LANES];
    let Row::Sparse { indices, values } = *row else {
        row.entries().for_each(|(i, a)| add(i, a, &mut sums[0]));
        return sums[0];
    };
    let (i4, i) = indices.as_chunks::<LANES>();
    let (a4, a) = values.as_chunks::<LANES>();
    for (i, a) in i4.iter().zip(a4) {
        for j in 0..LANES {
            add(i[j] as usize, a[j], &mut sums[j]);
        }
    }
    for (j, (&i, &a)) in i.iter().zip(a).enumerate() {
        add(i as usize, a, &mut sums[j]);
    }
    tree(sums)
}

fn tree<const N: usize>([a, b, c, d]: [[f64; N]; LANES]) -> [f64; N] {
    std::array::from_fn(|n| (a[n] + c[n]) + (b[n] + d[n]))
}

#[cfg(test)]
mod tests {
    use crate::surrogate::lazy::cells::*;

    fn row(values: &[f64]) -> Row<'_> {
        Row::sparse(&[0, 2], values)
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
            for (kept, found) in [
                (gram.ww, found.ww),
                (gram.wu, found.wu),
                (gram.uu, found.uu),
            ] {
                assert!(
                    (kept - found).abs() <= 1e-12 * found.abs(),
                    "{kept} {found}"
                );
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
        let cells = Cells::restore(&cells.save(), 3).unwrap();
        assert_eq!(cells.dot(&row(&[1.0, 0.0]), [1.0, 0.0]), 2e-70);
    }
}
