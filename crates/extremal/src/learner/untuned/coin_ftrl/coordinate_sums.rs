//! The sum of gradients c, and y = −c with a scale for each coordinate, in O(non-zeros) per
//! gradient.

use std::array::from_fn;

use serde::{Deserialize, Serialize};

use crate::kernel::compiled_with_caller;
use crate::range::SMALLEST_DIRECTION;
use crate::surrogate::{Marks, Touched};
use crate::{Result, Row, kernel};

/// The number of partial sums, and the number of cells that are updated together. The processor
/// computes four square roots in the time of one, and independent sums need not wait for each
/// other.
const LANES: usize = 4;

/// The number of neighbouring cells that a dense row updates together. It is large enough for the
/// compiler to use vector instructions.
const TOGETHER: usize = 32;

/// An entry smaller than this is treated as 0, because its square would underflow.
const SMALLEST: f64 = SMALLEST_DIRECTION;

/// The numbers of one coordinate. The alignment keeps them within one cache line.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[repr(align(32))]
struct CoordinateState {
    /// −c/√(Σg² + top²).
    y: f64,
    /// Σg.
    c: f64,
    /// Σg².
    square: f64,
    /// max |g|.
    top: f64,
}

impl CoordinateState {
    /// The terms of [`Lanes`] for an entry a of the row.
    #[inline]
    fn terms(self, new: Self, a: f64) -> [f64; 5] {
        [
            a * self.y,
            a * self.c,
            (new.y - self.y) * (new.y + self.y),
            new.y * new.c - self.y * self.c,
            (new.c - self.c) * (new.c + self.c),
        ]
    }

    /// The state after one more entry of a gradient.
    #[inline]
    fn after(self, g: f64) -> Self {
        let g = if g.abs() < SMALLEST { 0.0 } else { g };
        let top = if g.abs() > self.top {
            g.abs()
        } else {
            self.top
        };
        let (c, square) = (self.c + g, self.square + g * g);
        // this is 0/MIN_POSITIVE if all entries were 0
        let y = (0.0 - c) / (square + top * top).max(f64::MIN_POSITIVE).sqrt();
        Self { y, c, square, top }
    }
}

/// The inner products of y and c.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Products {
    pub yy: f64,
    pub yc: f64,
    pub cc: f64,
}

/// The sums of a pass over a gradient: ⟨a, y⟩ and ⟨a, c⟩ before the gradient, and the increases of
/// yy, yc and cc.
#[derive(Default)]
struct Lanes([[f64; LANES]; 5]);

/// y and c with their inner products.
#[derive(Default)]
pub(crate) struct CoordinateSums {
    cells: Touched<CoordinateState>,
    sums: Sums,
}

/// The saved form of [`CoordinateSums`]: the cells that are not 0, in order.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedSums {
    cells: Vec<(u32, CoordinateState)>,
    sums: Sums,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Sums {
    products: Products,
    /// The largest cc since the inner products were last computed from the cells.
    top: f64,
    /// The number of entries absorbed since the products were last computed from the cells, plus 4
    /// per gradient.
    taken: u64,
}

impl CoordinateSums {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            cells: Touched::new(dim),
            sums: Sums::default(),
        }
    }

    /// Extends the sums to `dim` coordinates. The new coordinates are 0.
    pub(crate) fn grow(&mut self, dim: usize) {
        self.cells.grow(dim);
    }

    /// Reserves memory for this many coordinates. [`CoordinateSums::grow`] adds them.
    pub(crate) fn reserve(&mut self, dim: usize) -> Result<()> {
        self.cells.reserve(dim)
    }

    /// Calls `each` for the non-zeros of k·y + l·c, in order.
    pub(crate) fn for_each_nonzero(&self, (k, l): (f64, f64), each: &mut dyn FnMut(usize, f64)) {
        for (i, cell) in self.cells.entries() {
            let v = k * cell.y + l * cell.c;
            if v != 0.0 {
                each(i, v);
            }
        }
    }

    pub(crate) fn save(&self) -> SavedSums {
        SavedSums {
            cells: self.cells.save(|cell| cell.top != 0.0),
            sums: self.sums,
        }
    }

    /// Restores saved sums in `dim` dimensions.
    pub(crate) fn restored(saved: &SavedSums, dim: usize) -> Result<Self> {
        Ok(Self {
            cells: Touched::restore(&saved.cells, dim)?,
            sums: saved.sums,
        })
    }

    pub(crate) fn dim(&self) -> usize {
        self.cells.items.len()
    }

    pub(crate) fn products(&self) -> Products {
        self.sums.products
    }

    /// ‖c‖.
    pub(crate) fn sum_norm(&self) -> f64 {
        self.sums.products.cc.max(0.0).sqrt()
    }

    /// ⟨a, y⟩ and ⟨a, c⟩.
    pub(crate) fn dot(&self, row: &Row<'_>) -> (f64, f64) {
        let cells = &self.cells.items[..];
        if let Row::Sparse { indices, .. } = *row {
            kernel::prefetch(cells, indices.iter().copied(), false);
        }
        kernel::vectorised!({
            let mut dots = Dots::default();
            match *row {
                Row::Sparse { indices, values } => {
                    let (i4, i) = indices.as_chunks::<LANES>();
                    let (v4, v) = values.as_chunks::<LANES>();
                    for (i, v) in i4.iter().zip(v4) {
                        dots.add_all(i.map(|i| &cells[i as usize]), v);
                    }
                    for (lane, (&i, &v)) in i.iter().zip(v).enumerate() {
                        dots.add(lane, &cells[i as usize], v);
                    }
                }
                Row::Dense(values) => {
                    let (c4, c) = cells.as_chunks::<LANES>();
                    let (v4, v) = values.as_chunks::<LANES>();
                    for (c, v) in c4.iter().zip(v4) {
                        dots.add_all(c.each_ref(), v);
                    }
                    for (lane, (cell, &v)) in c.iter().zip(v).enumerate() {
                        dots.add(lane, cell, v);
                    }
                }
                Row::Entries { .. } => {
                    for (i, v) in row.entries() {
                        dots.add(0, &cells[i], v);
                    }
                }
            }
            (sum(dots.y), sum(dots.c))
        })
    }

    /// Writes k·y + l·c into `out`.
    pub(crate) fn write(&self, (k, l): (f64, f64), out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "out has the decision's dimension");
        for (out, cell) in out.iter_mut().zip(&self.cells.items) {
            *out = k * cell.y + l * cell.c;
        }
    }

    /// Adds k·a to c. Returns ⟨a, y⟩ and ⟨a, c⟩ before the change. The inner products are
    /// recomputed if their error may be too large relative to cc + `floor`².
    pub(crate) fn absorb(&mut self, floor: f64, k: f64, row: &Row<'_>) -> (f64, f64) {
        let Touched { items, marks } = &mut self.cells;
        let cells = &mut items[..];
        // Each kind of row has its own loop, whose sums stay in registers.
        let lanes = match *row {
            Row::Sparse { indices, values } => kernel::vectorised!({
                let mut lanes = Lanes::default();
                let (i4, i) = indices.as_chunks::<LANES>();
                let (v4, v) = values.as_chunks::<LANES>();
                for (i, v) in i4.iter().zip(v4) {
                    step(cells, marks, k, i.map(|i| i as usize), *v, &mut lanes, 0);
                }
                for (lane, (&i, &v)) in i.iter().zip(v).enumerate() {
                    step(cells, marks, k, [i as usize], [v], &mut lanes, lane);
                }
                lanes
            }),
            Row::Dense(values) => kernel::vectorised!(absorb_dense(cells, marks, k, values)),
            Row::Entries { .. } => {
                let mut lanes = Lanes::default();
                for (i, v) in row.entries() {
                    step(cells, marks, k, [i], [v], &mut lanes, 0);
                }
                lanes
            }
        };
        self.tidy(floor, &lanes, row.stored());
        (sum(lanes.0[0]), sum(lanes.0[1]))
    }

    /// Adds the sums of a pass over `taken` entries, and recomputes the inner products if
    /// necessary.
    fn tidy(&mut self, floor: f64, lanes: &Lanes, taken: usize) {
        let sums = &mut self.sums;
        // 4 more for the rounding errors of the sums themselves
        sums.taken += taken as u64 + 4;
        let [_, _, yy, yc, cc] = lanes.0.map(sum);
        sums.products.yy += yy;
        sums.products.yc += yc;
        sums.products.cc += cc;
        let cc = sums.products.cc;
        sums.top = sums.top.max(cc);
        let error = sums.taken as f64 * f64::EPSILON * sums.top;
        // this counts only the cells in use, because the dimension may still grow
        let room = self.cells.size() as u64;
        if sums.taken >= 16 * room || error > 1e-10 * (cc + floor * floor) {
            let products = self.summed_up();
            self.sums = Sums {
                products,
                top: products.cc,
                taken: 0,
            };
        }
    }

    /// The inner products, computed from the entries, without the rounding errors of updates.
    pub(crate) fn summed_up(&self) -> Products {
        let [mut yy, mut yc, mut cc] = [[0.0; LANES]; 3];
        let mut add = |lane: usize, cell: &CoordinateState| {
            yy[lane] += cell.y * cell.y;
            yc[lane] += cell.y * cell.c;
            cc[lane] += cell.c * cell.c;
        };
        for (_, block) in self.cells.blocks() {
            for (n, cell) in block.iter().enumerate() {
                add(n % LANES, cell);
            }
        }
        Products {
            yy: sum(yy),
            yc: sum(yc),
            cc: sum(cc),
        }
    }
}

/// Σ v·y and Σ v·c as partial sums.
#[derive(Default)]
struct Dots {
    y: [f64; LANES],
    c: [f64; LANES],
}

impl Dots {
    #[inline]
    fn add(&mut self, lane: usize, cell: &CoordinateState, v: f64) {
        self.y[lane] += v * cell.y;
        self.c[lane] += v * cell.c;
    }

    #[inline]
    fn add_all(&mut self, cells: [&CoordinateState; LANES], v: &[f64; LANES]) {
        for lane in 0..LANES {
            self.add(lane, cells[lane], v[lane]);
        }
    }
}

compiled_with_caller! {
    /// c += k·a for a dense row.
    fn absorb_dense(cells: &mut [CoordinateState], marks: &mut Marks, k: f64, values: &[f64]) -> Lanes {
        let mut lanes = Lanes::default();
        let (blocks, rest) = values.as_chunks::<TOGETHER>();
        let (block_cells, _) = cells.as_chunks_mut::<TOGETHER>();
        for (n, (cells, a)) in block_cells.iter_mut().zip(blocks).enumerate() {
            let mut terms = [[0.0; TOGETHER]; 5];
            let (mut new, mut is_new) = ([CoordinateState::default(); TOGETHER], false);
            for j in 0..TOGETHER {
                new[j] = cells[j].after(k * a[j]);
                is_new |= (cells[j].top == 0.0) & (new[j].top > 0.0);
                let [ay, ac, yy, yc, cc] = cells[j].terms(new[j], a[j]);
                (terms[0][j], terms[1][j]) = (ay, ac);
                (terms[2][j], terms[3][j], terms[4][j]) = (yy, yc, cc);
            }
            if is_new {
                for j in 0..TOGETHER {
                    if cells[j].top == 0.0 && new[j].top > 0.0 {
                        marks.set(TOGETHER * n + j);
                    }
                }
            }
            *cells = new;
            for (sums, terms) in lanes.0.iter_mut().zip(&terms) {
                for terms in terms.as_chunks::<LANES>().0 {
                    *sums = from_fn(|lane| sums[lane] + terms[lane]);
                }
            }
        }
        let (v4, rest) = rest.as_chunks::<LANES>();
        let mut done = TOGETHER * blocks.len();
        for v in v4 {
            let i = from_fn(|j| done + j);
            step(cells, marks, k, i, *v, &mut lanes, 0);
            done += LANES;
        }
        for (lane, &v) in rest.iter().enumerate() {
            step(cells, marks, k, [done + lane], [v], &mut lanes, lane);
        }
        lanes
    }
}

compiled_with_caller! {
    /// c_i += k·a_i for N distinct i. The terms are added to the partial sums that start at `lane`.
    fn step<const N: usize>(
        cells: &mut [CoordinateState],
        marks: &mut Marks,
        k: f64,
        i: [usize; N],
        a: [f64; N],
        lanes: &mut Lanes,
        lane: usize,
    ) {
        let old = i.map(|i| cells[i]);
        let new: [_; N] = from_fn(|j| old[j].after(k * a[j]));
        // All N share one branch, because its condition is rarely true.
        if old.iter().any(|cell| cell.top == 0.0) {
            for j in 0..N {
                if old[j].top == 0.0 && new[j].top > 0.0 {
                    marks.set(i[j]);
                }
            }
        }
        for j in 0..N {
            cells[i[j]] = new[j];
        }
        for j in 0..N {
            let (old, new, a) = (old[j], new[j], a[j]);
            let [ay, ac, yy, yc, cc] = &mut lanes.0;
            ay[lane + j] += a * old.y;
            ac[lane + j] += a * old.c;
            yy[lane + j] += (new.y - old.y) * (new.y + old.y);
            yc[lane + j] += new.y * new.c - old.y * old.c;
            cc[lane + j] += (new.c - old.c) * (new.c + old.c);
        }
    }
}

fn sum(a: [f64; LANES]) -> f64 {
    (a[0] + a[2]) + (a[1] + a[3])
}
