//! The sum of gradients c, and y = −c scaled per coordinate, at O(non-zeros) per gradient.

use std::array::from_fn;

use serde::{Deserialize, Serialize};

use crate::pair::{Marks, Row};
use crate::room::room;
use crate::{Result, kernel};

/// Cells in a block: passes go over the blocks that were touched.
const BLOCK: usize = 8;

/// Sums side by side, as one would wait for itself, and cells that change at once: roots and
/// quotients come four at the cost of one.
const LANES: usize = 4;

/// Cells of a dense row that change at once: enough of them for a loop that the compiler turns into
/// vectors by itself, transposing the cells on the way.
const PART: usize = 32;

/// No |y_i| is larger: |Σg| ≤ √(TΣg²), and T rounds are counted in 64 bits.
const LONGEST: f64 = 4_294_967_296.0;

/// Aligned, as a cell across two cache lines would cost two misses.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[repr(align(32))]
struct Cell {
    /// −c/√(Σg² + top²)
    y: f64,
    /// Σg
    c: f64,
    /// −Σg² where that is a safe square, √Σg² where it is not.
    size: f64,
    /// max |g|
    top: f64,
}

impl Cell {
    /// Takes a g that is not 0, whatever the size of the numbers.
    fn add(&mut self, g: f64) {
        self.c += g;
        self.top = self.top.max(g.abs());
        let (square, root) = if self.size < 0.0 {
            (-self.size, (-self.size).sqrt())
        } else {
            (self.size * self.size, self.size)
        };
        let square = square + g * g;
        if kernel::is_safe_square(square) {
            self.size = -square;
            self.y = -self.c / (square + self.top * self.top).sqrt();
        } else {
            self.size = root.hypot(g);
            self.y = -self.c / self.size.hypot(self.top);
        }
    }
}

/// Products of y and of c/unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Products {
    pub yy: f64,
    pub yc: f64,
    pub cc: f64,
}

/// What a pass sums up.
#[derive(Default)]
struct Lanes {
    /// ⟨a, y⟩ and ⟨a, c⟩/unit, from before.
    ay: [f64; LANES],
    ac: [f64; LANES],
    /// What the products grow by.
    yy: [f64; LANES],
    yc: [f64; LANES],
    cc: [f64; LANES],
}

/// y and c with their products. c is looked at in a unit, so that its square is a number.
#[derive(Default)]
pub(super) struct CoordinateSums {
    cells: Vec<Cell>,
    touched: Marks,
    sums: Sums,
}

/// What of a [`CoordinateSums`] is saved: the cells that are not 0, in order.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedSums {
    dim: u64,
    cells: Vec<(u32, Cell)>,
    sums: Sums,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Sums {
    /// A power of two, 0 before the first gradient.
    unit: f64,
    products: Products,
    /// The largest cc since the products were last summed up from the cells.
    top: f64,
    /// Entries taken since then.
    taken: u64,
}

impl CoordinateSums {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            cells: vec![Cell::default(); dim],
            touched: Marks::new(dim.div_ceil(BLOCK)),
            sums: Sums::default(),
        }
    }

    /// More coordinates, all 0.
    pub(super) fn grow(&mut self, dim: usize) {
        self.cells.resize(dim, Cell::default());
        self.touched.grow(dim.div_ceil(BLOCK));
    }

    /// Memory for so many; they come with [`CoordinateSums::grow`].
    pub(super) fn reserve(&mut self, dim: usize) -> Result<()> {
        room(&mut self.cells, dim, dim)?;
        self.touched.reserve(dim.div_ceil(BLOCK), dim)
    }

    /// The cells that may not be 0, in order.
    fn used(&self) -> impl Iterator<Item = (usize, &Cell)> + '_ {
        self.touched.iter().flat_map(move |block| {
            let start = BLOCK * block;
            let end = self.cells.len().min(start + BLOCK);
            (start..).zip(&self.cells[start..end])
        })
    }

    /// What is not 0 of along_y·y + along_c·c/unit, in order.
    pub(super) fn for_each_nonzero(
        &self,
        along_y: f64,
        along_c: f64,
        each: &mut dyn FnMut(usize, f64),
    ) {
        let per_unit = self.per_unit();
        for (i, cell) in self.used() {
            let v = along_y * cell.y + along_c * (cell.c * per_unit);
            if v != 0.0 {
                each(i, v);
            }
        }
    }

    pub(super) fn save(&self) -> SavedSums {
        let mut cells = Vec::with_capacity(BLOCK * self.touched.count());
        let used = self.used().filter(|(_, cell)| cell.top != 0.0);
        cells.extend(used.map(|(i, cell)| (i as u32, *cell)));
        SavedSums {
            dim: self.dim() as u64,
            cells,
            sums: self.sums,
        }
    }

    /// What was saved, unless it is not of this dimension or can't be the sums of gradients.
    pub(super) fn restored(saved: &SavedSums, dim: usize) -> Option<Self> {
        let rising = saved.cells.is_sorted_by(|a, b| a.0 < b.0);
        let last = saved.cells.last().map_or(0, |(i, _)| *i as usize);
        if saved.dim != dim as u64 || !rising || last >= dim {
            return None;
        }
        let mut scaled = Self::new(dim);
        scaled.sums = saved.sums;
        for (i, cell) in &saved.cells {
            scaled.cells[*i as usize] = *cell;
            scaled.touched.set(*i as usize / BLOCK);
        }
        scaled.is_sound().then_some(scaled)
    }

    pub(super) fn dim(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn unit(&self) -> f64 {
        self.sums.unit
    }

    pub(super) fn products(&self) -> Products {
        self.sums.products
    }

    /// ‖c‖.
    pub(super) fn sum_norm(&self) -> f64 {
        self.sums.unit * self.sums.products.cc.max(0.0).sqrt()
    }

    /// The same, through all entries, and free of what rounding has done to the products.
    pub(super) fn sum_norm_from_entries(&self) -> f64 {
        self.sums.unit * self.summed_up().cc.sqrt()
    }

    /// |⟨a, y⟩| is at most this many times ‖a‖, for an a with so many entries.
    pub(super) fn most_along_y(&self, entries: usize) -> f64 {
        LONGEST * (entries as f64).sqrt()
    }

    /// |⟨a, c⟩|/unit is at most this many times ‖a‖: cc is off by a small part of its largest.
    pub(super) fn most_along_c(&self) -> f64 {
        2.0 * self.sums.top.sqrt()
    }

    /// 1/unit; nothing has been summed up where there is none.
    fn per_unit(&self) -> f64 {
        if self.sums.unit > 0.0 {
            self.sums.unit.recip()
        } else {
            0.0
        }
    }

    /// ⟨a, y⟩ and ⟨a, c⟩/unit.
    pub(super) fn dot(&self, row: &Row<'_>) -> (f64, f64) {
        let (cells, per_unit) = (&self.cells[..], self.per_unit());
        if let Row::Sparse { indices, .. } = *row {
            kernel::fetch(cells, indices);
        }
        kernel::widest(
            #[inline(always)]
            || match *row {
                Row::Sparse { indices, values } => {
                    let (i4, i) = indices.as_chunks::<LANES>();
                    let (v4, v) = values.as_chunks::<LANES>();
                    let whole = i4.iter().map(|i| i.map(|i| &cells[i as usize])).zip(v4);
                    let rest = i.iter().map(|i| &cells[*i as usize]).zip(v);
                    dots(per_unit, whole, rest)
                }
                Row::Dense(values) => {
                    let (c4, c) = cells.as_chunks::<LANES>();
                    let (v4, v) = values.as_chunks::<LANES>();
                    dots(
                        per_unit,
                        c4.iter().map(|c| c.each_ref()).zip(v4),
                        c.iter().zip(v),
                    )
                }
                Row::Entries { .. } => row.entries().fold((0.0, 0.0), |(y, c), (i, v)| {
                    let cell = &cells[i];
                    (y + v * cell.y, c + v * (cell.c * per_unit))
                }),
            },
        )
    }

    /// along_y·y + along_c·c/unit.
    pub(super) fn write(&self, along_y: f64, along_c: f64, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "out has the decision's dimension");
        let per_unit = self.per_unit();
        for (out, cell) in out.iter_mut().zip(&self.cells) {
            *out = along_y * cell.y + along_c * (cell.c * per_unit);
        }
    }

    /// Whether a gradient of this norm leaves the unit as it is.
    pub(super) fn has_unit_for(&self, norm: f64) -> bool {
        !(norm > self.sums.unit * 2f64.powi(100))
    }

    /// c += g for g = k·a of this norm, and what [`CoordinateSums::dot`] gave before it: ⟨a, y⟩ and
    /// ⟨a, c⟩/unit. Products whose error could be seen beside cc + `floor`² unit² are summed up anew.
    pub(super) fn absorb(&mut self, norm: f64, floor: f64, k: f64, row: &Row<'_>) -> (f64, f64) {
        if !self.has_unit_for(norm) {
            self.sums.unit = power_of_two(norm);
            self.sum_up();
        }
        let per_unit = self.per_unit();
        let (cells, touched) = (&mut self.cells[..], &mut self.touched);
        let lanes = kernel::widest(
            #[inline(always)]
            || {
                let mut lanes = Lanes::default();
                match *row {
                    Row::Sparse { indices, values } => {
                        let (i4, i) = indices.as_chunks::<LANES>();
                        let (v4, v) = values.as_chunks::<LANES>();
                        for (i, v) in i4.iter().zip(v4) {
                            let entries = (i.map(|i| i as usize), *v, v.map(|v| k * v));
                            step(cells, touched, per_unit, entries, &mut lanes, 0);
                        }
                        for (lane, (&i, &v)) in i.iter().zip(v).enumerate() {
                            let entry = ([i as usize], [v], [k * v]);
                            step(cells, touched, per_unit, entry, &mut lanes, lane);
                        }
                    }
                    Row::Dense(values) => {
                        let mut done = 0;
                        for part in values.as_chunks::<PART>().0 {
                            let next = &mut cells[done..];
                            if !next.first_chunk_mut().is_some_and(
                                #[inline(always)]
                                |cells| step_together(cells, part, k, per_unit, &mut lanes),
                            ) {
                                for (n, v) in part.as_chunks::<LANES>().0.iter().enumerate() {
                                    let at = from_fn(|j| done + LANES * n + j);
                                    let entries = (at, *v, v.map(|v| k * v));
                                    step(cells, touched, per_unit, entries, &mut lanes, 0);
                                }
                            }
                            done += PART;
                        }
                        let (v4, rest) = values[done..].as_chunks::<LANES>();
                        for v in v4 {
                            let entries = (from_fn(|j| done + j), *v, v.map(|v| k * v));
                            step(cells, touched, per_unit, entries, &mut lanes, 0);
                            done += LANES;
                        }
                        for (lane, &v) in rest.iter().enumerate() {
                            let entry = ([done + lane], [v], [k * v]);
                            step(cells, touched, per_unit, entry, &mut lanes, lane);
                        }
                    }
                    Row::Entries { .. } => {
                        for (i, v) in row.entries() {
                            let entry = ([i], [v], [k * v]);
                            step(cells, touched, per_unit, entry, &mut lanes, 0);
                        }
                    }
                }
                lanes
            },
        );
        self.tidy(floor, &lanes, row.stored());
        (sum(lanes.ay), sum(lanes.ac))
    }

    /// Takes what a pass over so many entries has summed up.
    fn tidy(&mut self, floor: f64, lanes: &Lanes, taken: usize) {
        let per_unit = self.per_unit();
        let sums = &mut self.sums;
        sums.taken += taken as u64;
        sums.products.yy += sum(lanes.yy);
        sums.products.yc += sum(lanes.yc);
        sums.products.cc += sum(lanes.cc);
        let cc = sums.products.cc;
        sums.top = sums.top.max(cc);
        let floor = floor * per_unit;
        let error = sums.taken as f64 * f64::EPSILON * sums.top;
        // by what was touched: the dimension may be yet to grow
        let room = (BLOCK * self.touched.count()) as u64;
        if sums.taken >= 16 * room || error > 1e-11 * (cc + floor * floor) {
            self.sum_up();
        }
    }

    fn sum_up(&mut self) {
        self.sums.products = self.summed_up();
        self.sums.top = self.sums.products.cc;
        self.sums.taken = 0;
    }

    fn summed_up(&self) -> Products {
        let per_unit = self.per_unit();
        let [mut yy, mut yc, mut cc] = [[0.0; LANES]; 3];
        let mut add = |lane: usize, cell: &Cell| {
            let c = cell.c * per_unit;
            yy[lane] += cell.y * cell.y;
            yc[lane] += cell.y * c;
            cc[lane] += c * c;
        };
        for block in self.touched.iter() {
            let start = BLOCK * block;
            let end = self.cells.len().min(start + BLOCK);
            let (whole, rest) = self.cells[start..end].as_chunks::<LANES>();
            for four in whole {
                four.iter()
                    .enumerate()
                    .for_each(|(lane, cell)| add(lane, cell));
            }
            rest.iter()
                .enumerate()
                .for_each(|(lane, cell)| add(lane, cell));
        }
        Products {
            yy: sum(yy),
            yc: sum(yc),
            cc: sum(cc),
        }
    }

    /// Whether what was loaded can be the sums of gradients.
    fn is_sound(&self) -> bool {
        let numbers = |cell: &Cell| {
            cell.y.abs() <= LONGEST
                && cell.c.is_finite()
                && (kernel::is_safe_square(-cell.size) || (0.0..f64::INFINITY).contains(&cell.size))
                && (0.0..f64::INFINITY).contains(&cell.top)
        };
        let Sums {
            unit,
            products: here,
            top,
            ..
        } = self.sums;
        let power = unit == 0.0 || unit == power_of_two(unit);
        if !power || !self.used().all(|(_, cell)| numbers(cell)) {
            return false;
        }
        let there = self.summed_up();
        let near = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-6 * size;
        near(here.cc, there.cc, top.max(there.cc))
            && near(here.yy, there.yy, 1.0 + there.yy)
            && here.yc.is_finite()
            && top.is_finite()
    }
}

/// Σ v·y and Σ v·c/unit over cells in lanes, and those that are left over.
#[inline(always)]
fn dots<'a>(
    per_unit: f64,
    whole: impl Iterator<Item = ([&'a Cell; LANES], &'a [f64; LANES])>,
    rest: impl Iterator<Item = (&'a Cell, &'a f64)>,
) -> (f64, f64) {
    let (mut y, mut c) = ([0.0; LANES], [0.0; LANES]);
    let mut add = |lane: usize, cell: &Cell, v: f64| {
        y[lane] += v * cell.y;
        c[lane] += v * (cell.c * per_unit);
    };
    for (cells, v) in whole {
        for lane in 0..LANES {
            add(lane, cells[lane], v[lane]);
        }
    }
    for (lane, (cell, v)) in rest.enumerate() {
        add(lane, cell, *v);
    }
    (sum(y), sum(c))
}

/// c_i += g for N distinct i, with a beside g for the sums, in the lanes from `lane` on.
#[inline(always)]
fn step<const N: usize>(
    cells: &mut [Cell],
    touched: &mut Marks,
    per_unit: f64,
    (i, a, g): ([usize; N], [f64; N], [f64; N]),
    lanes: &mut Lanes,
    lane: usize,
) {
    let old = i.map(|i| cells[i]);
    let square: [f64; N] = from_fn(|j| g[j] * g[j] - old[j].size);
    // without a way out in the middle, so that all are looked at together
    let plain = (0..N).fold(true, |plain, j| {
        plain & (old[j].size < 0.0) & (square[j] <= kernel::LARGEST_SAFE)
    });
    let mut new = old;
    if plain {
        for j in 0..N {
            let (c, size) = (old[j].c + g[j], g[j].abs());
            let top = if size > old[j].top { size } else { old[j].top };
            new[j] = Cell {
                y: -c / (square[j] + top * top).sqrt(),
                c,
                size: -square[j],
                top,
            };
        }
        for j in 0..N {
            cells[i[j]] = new[j];
        }
    } else {
        step_with_care(cells, touched, &i, &g);
        new = i.map(|i| cells[i]);
    }
    for j in 0..N {
        let (y, c) = (old[j].y, old[j].c * per_unit);
        let (new_y, new_c) = (new[j].y, new[j].c * per_unit);
        lanes.ay[lane + j] += a[j] * y;
        lanes.ac[lane + j] += a[j] * c;
        lanes.yy[lane + j] += (new_y - y) * (new_y + y);
        lanes.yc[lane + j] += new_y * new_c - y * c;
        lanes.cc[lane + j] += (new_c - c) * (new_c + c);
    }
}

/// The same for neighbours; false, and nothing has changed, where one of them needs care.
#[inline(always)]
fn step_together(
    cells: &mut [Cell; PART],
    a: &[f64; PART],
    k: f64,
    per_unit: f64,
    lanes: &mut Lanes,
) -> bool {
    let mut plain = true;
    let mut new = [Cell::default(); PART];
    let [mut ay, mut ac, mut yy, mut yc, mut cc] = [[0.0; PART]; 5];
    for j in 0..PART {
        let (old, g) = (cells[j], k * a[j]);
        let square = g * g - old.size;
        // one of a column that was always 0 stays as it is
        let idle = (old.top == 0.0) & (g == 0.0);
        plain &= idle | ((old.size < 0.0) & (square <= kernel::LARGEST_SAFE));
        let (c, size) = (old.c + g, g.abs());
        let top = if size > old.top { size } else { old.top };
        let scaled = -c / (square + top * top).sqrt();
        let y = if idle { 0.0 } else { scaled };
        new[j] = Cell {
            y,
            c,
            size: if idle { old.size } else { -square },
            top,
        };
        let (old_c, new_c) = (old.c * per_unit, c * per_unit);
        ay[j] = a[j] * old.y;
        ac[j] = a[j] * old_c;
        yy[j] = (y - old.y) * (y + old.y);
        yc[j] = y * new_c - old.y * old_c;
        cc[j] = (new_c - old_c) * (new_c + old_c);
    }
    if plain {
        *cells = new;
        deal(&ay, &mut lanes.ay);
        deal(&ac, &mut lanes.ac);
        deal(&yy, &mut lanes.yy);
        deal(&yc, &mut lanes.yc);
        deal(&cc, &mut lanes.cc);
    }
    plain
}

/// Adds terms to the lanes in turn.
#[inline(always)]
fn deal(terms: &[f64; PART], lanes: &mut [f64; LANES]) {
    let mut sums = *lanes;
    for terms in terms.as_chunks::<LANES>().0 {
        sums = from_fn(|lane| sums[lane] + terms[lane]);
    }
    *lanes = sums;
}

/// The same, where a cell is new or its square not a safe one.
#[cold]
#[inline(never)]
fn step_with_care(cells: &mut [Cell], touched: &mut Marks, i: &[usize], g: &[f64]) {
    for (&i, &g) in i.iter().zip(g).filter(|(_, g)| **g != 0.0) {
        if cells[i].top == 0.0 {
            touched.set(i / BLOCK);
        }
        cells[i].add(g);
    }
}

fn sum(a: [f64; LANES]) -> f64 {
    (a[0] + a[2]) + (a[1] + a[3])
}

/// The largest power of two up to `norm`, kept where its inverse is a number.
fn power_of_two(norm: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    f64::from_bits(norm.to_bits() & EXPONENT).clamp(2f64.powi(-1000), 2f64.powi(1000))
}

#[cfg(test)]
mod tests;
