//! Two vectors w and u over the same features, for [`LazyPair`](super::LazyPair): touched where a
//! gradient is non-zero, and w scaled as a whole in O(1).
//!
//! What belongs to one feature lies together, so that a touched feature costs one cache miss.

use serde::{Deserialize, Serialize};

use super::Row;

/// Lanes of the sums over all cells: a fixed order, so that the same cells give the same bits.
const LANES: usize = 8;

/// Aligned, as a cell across two cache lines would cost two misses.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[repr(align(32))]
struct Cell {
    w: f64,
    u: f64,
    /// The epoch that `w` was last brought up to.
    stamp: u32,
}

/// w and u. Each [`Cells::scale_w`] starts an epoch; a cell of an older one has its factor
/// pending. Two epochs back the factors multiply to nothing, as each is below [`Cells::VANISHING`].
#[derive(Serialize, Deserialize)]
pub(super) struct Cells {
    cells: Vec<Cell>,
    epoch: u32,
    /// The factor of the present epoch's start.
    factor: f64,
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

/// What [`Cells::absorb`] does: u += δa and w += ρδa.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub delta: f64,
    pub rho: f64,
}

impl Cells {
    /// A factor that may start an epoch is smaller than this.
    pub const VANISHING: f64 = 1e-60;

    /// w = u = 0.
    pub fn new(dim: usize) -> Self {
        Self {
            cells: vec![Cell::default(); dim],
            epoch: 0,
            factor: 0.0,
        }
    }

    pub fn dim(&self) -> usize {
        self.cells.len()
    }

    /// Whether the stamps and the factor make sense, for a state that comes from outside.
    pub fn is_sound(&self) -> bool {
        self.factor.is_finite() && self.cells.iter().all(|cell| cell.stamp <= self.epoch)
    }

    /// The factor pending at a cell, by the age of its stamp; a look-up, as a branch would be
    /// mispredicted.
    fn pending(&self) -> [f64; 3] {
        [1.0, self.factor, 0.0]
    }

    /// ⟨a, y⟩; the row must fit.
    pub fn dot(&self, row: &Row<'_>, y: Coordinates) -> f64 {
        match *row {
            Row::Dense(a) => self.dot_entries(a.iter().copied().enumerate(), y),
            Row::Sparse { indices, values } => {
                if !self.are_current(indices) {
                    return self.dot_entries(sparse(indices).zip(values.iter().copied()), y);
                }
                let terms = sparse(indices).zip(values).map(|(i, a)| {
                    let Cell { w, u, .. } = self.cells[i];
                    a * (y[0] * w + y[1] * u)
                });
                terms.sum()
            }
            Row::Entries { .. } => self.dot_entries(row.entries(), y),
        }
    }

    /// Whether nothing is pending at these cells. Reading the stamps first, in a loop that does
    /// little else, lets the cache misses overlap: on 10⁷ features it pays for itself.
    fn are_current(&self, indices: &[u32]) -> bool {
        sparse(indices).fold(true, |all, i| all & (self.cells[i].stamp == self.epoch))
    }

    fn dot_entries(&self, entries: impl Iterator<Item = (usize, f64)>, y: Coordinates) -> f64 {
        let (pending, epoch) = (self.pending(), self.epoch);
        let mut sum = 0.0;
        for (i, a) in entries {
            let Cell { w, u, stamp } = self.cells[i];
            let w = w * pending[(epoch - stamp).min(2) as usize];
            sum += a * (y[0] * w + y[1] * u);
        }
        sum
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
        match *row {
            Row::Dense(a) => self.absorb_entries(a.iter().copied().enumerate(), change, gram, y),
            Row::Sparse { indices, values } => {
                let entries = sparse(indices).zip(values.iter().copied());
                self.absorb_entries(entries, change, gram, y)
            }
            Row::Entries { .. } => self.absorb_entries(row.entries(), change, gram, y),
        }
    }

    fn absorb_entries(
        &mut self,
        entries: impl Iterator<Item = (usize, f64)>,
        Change { delta, rho }: Change,
        gram: &mut Gram,
        y: Coordinates,
    ) -> f64 {
        let (pending, epoch) = (self.pending(), self.epoch);
        let (mut ay, mut bb, mut bu, mut bw) = (0.0, 0.0, 0.0, 0.0);
        for (i, a) in entries {
            let cell = &mut self.cells[i];
            let w = cell.w * pending[(epoch - cell.stamp).min(2) as usize];
            let (u, b) = (cell.u, delta * a);
            ay += a * (y[0] * w + y[1] * u);
            bb += b * b;
            bu += b * u;
            bw += b * w;
            *cell = Cell {
                w: w + rho * b,
                u: u + b,
                stamp: epoch,
            };
        }
        gram.uu += 2.0 * bu + bb;
        gram.wu += bw + rho * (bu + bb);
        gram.ww += rho * (2.0 * bw + rho * bb);
        ay
    }

    /// w *= factor in O(1), for |factor| < [`Cells::VANISHING`].
    pub fn scale_w(&mut self, factor: f64) {
        if self.epoch == u32::MAX {
            self.rewrite([[1.0, 0.0], [0.0, 1.0]]);
        }
        self.epoch += 1;
        self.factor = factor;
    }

    /// (w, u) = matrix·(w, u); O(d).
    pub fn rewrite(&mut self, [to_w, to_u]: [Coordinates; 2]) {
        let (pending, epoch) = (self.pending(), self.epoch);
        for cell in &mut self.cells {
            let w = cell.w * pending[(epoch - cell.stamp).min(2) as usize];
            let u = cell.u;
            *cell = Cell {
                w: to_w[0] * w + to_w[1] * u,
                u: to_u[0] * w + to_u[1] * u,
                stamp: 0,
            };
        }
        self.epoch = 0;
    }

    /// w = u = 0; O(d).
    pub fn clear(&mut self) {
        self.cells.fill(Cell::default());
        self.epoch = 0;
    }

    /// Adds multiples of a vector with few entries to w and u; everything must be current, as it
    /// is after [`Cells::clear`] and [`Cells::rewrite`].
    pub fn add(&mut self, [w, u]: Coordinates, indices: &[u32], values: &[f64]) {
        for (i, v) in sparse(indices).zip(values) {
            self.cells[i].w += w * v;
            self.cells[i].u += u * v;
        }
    }

    /// The entries of y, in order.
    pub fn entries(&self, y: Coordinates) -> impl Iterator<Item = f64> + '_ {
        let (pending, epoch) = (self.pending(), self.epoch);
        self.cells.iter().map(move |cell| {
            let w = cell.w * pending[(epoch - cell.stamp).min(2) as usize];
            y[0] * w + y[1] * cell.u
        })
    }

    /// out = y; O(d).
    pub fn write(&self, y: Coordinates, out: &mut [f64]) {
        for (out, y) in out.iter_mut().zip(self.entries(y)) {
            *out = y;
        }
    }

    /// The inner products from the vectors themselves; O(d).
    pub fn gram(&self) -> Gram {
        let [ww, wu, uu] = self.sums(|w, u| [w * w, w * u, u * u]);
        Gram { ww, wu, uu }
    }

    /// Sums over all features, in a fixed order; O(d).
    pub fn sums<const N: usize>(&self, each: impl Fn(f64, f64) -> [f64; N]) -> [f64; N] {
        let (pending, epoch) = (self.pending(), self.epoch);
        let mut sums = [[0.0; LANES]; N];
        for cells in self.cells.chunks(LANES) {
            for (j, cell) in cells.iter().enumerate() {
                let w = cell.w * pending[(epoch - cell.stamp).min(2) as usize];
                for (sum, term) in sums.iter_mut().zip(each(w, cell.u)) {
                    sum[j] += term;
                }
            }
        }
        sums.map(tree)
    }

    /// The largest absolute entry of y; O(d).
    pub fn top(&self, y: Coordinates) -> f64 {
        let (pending, epoch) = (self.pending(), self.epoch);
        self.cells.iter().fold(0.0, |top: f64, cell| {
            let w = cell.w * pending[(epoch - cell.stamp).min(2) as usize];
            top.max((y[0] * w + y[1] * cell.u).abs())
        })
    }
}

fn tree(a: [f64; LANES]) -> f64 {
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

fn sparse(indices: &[u32]) -> impl Iterator<Item = usize> + '_ {
    indices.iter().map(|&i| i as usize)
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
        let change = Change { delta: 2.0, rho };
        cells.absorb(&row(&[1.0, -3.0]), change, gram, [1.0, 0.0]);
    }

    #[test]
    fn absorbing_keeps_the_inner_products() {
        let (mut cells, mut gram) = (Cells::new(3), Gram::default());
        for rho in [0.5, -2.0, 3.0] {
            absorb(&mut cells, &mut gram, rho);
            assert_eq!(gram, cells.gram());
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
        assert!(cells.is_sound());
        assert_eq!(cells.dot(&row(&[1.0, 0.0]), [1.0, 0.0]), 2e-70);
    }
}
