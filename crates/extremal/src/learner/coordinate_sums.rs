//! The sum of gradients c, and y = −c scaled per coordinate, at O(non-zeros) per gradient.

use serde::{Deserialize, Serialize};

use crate::pair::{Marks, Row};
use crate::room::room;
use crate::{Result, kernel};

/// Cells in a block: passes go over the blocks that were touched.
const BLOCK: usize = 8;

/// Sums side by side.
const LANES: usize = 4;

/// Aligned, as a cell across two cache lines would cost two misses.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[repr(align(32))]
struct Cell {
    /// −c/√(root² + top²)
    y: f64,
    /// Σg
    c: f64,
    /// √Σg²
    root: f64,
    /// max |g|
    top: f64,
}

impl Cell {
    #[inline(always)]
    fn add(&mut self, g: f64) {
        self.c += g;
        self.top = self.top.max(g.abs());
        let square = self.root * self.root + g * g;
        if kernel::is_safe_square(square) {
            // two roots, neither of which waits for the other
            self.root = square.sqrt();
            self.y = -self.c / (square + self.top * self.top).sqrt();
        } else {
            self.root = self.root.hypot(g);
            self.y = -self.c / self.root.hypot(self.top);
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
        let used = self.used().filter(|(_, cell)| cell.top != 0.0);
        SavedSums {
            dim: self.dim() as u64,
            cells: used.map(|(i, cell)| (i as u32, *cell)).collect(),
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
        let per_unit = self.per_unit();
        let Row::Sparse { indices, values } = *row else {
            let sums = row.entries().fold((0.0, 0.0), |(y, c), (i, v)| {
                let cell = &self.cells[i];
                (y + v * cell.y, c + v * (cell.c * per_unit))
            });
            return sums;
        };
        // several sums, as one would wait for itself
        let (mut y, mut c) = ([0.0; LANES], [0.0; LANES]);
        let mut add = |lane: usize, i: u32, v: f64| {
            let cell = &self.cells[i as usize];
            y[lane] += v * cell.y;
            c[lane] += v * (cell.c * per_unit);
        };
        let (i4, i) = indices.as_chunks::<LANES>();
        let (v4, v) = values.as_chunks::<LANES>();
        for (i, v) in i4.iter().zip(v4) {
            for lane in 0..LANES {
                add(lane, i[lane], v[lane]);
            }
        }
        for (lane, (&i, &v)) in i.iter().zip(v).enumerate() {
            add(lane, i, v);
        }
        let sum = |a: [f64; LANES]| (a[0] + a[2]) + (a[1] + a[3]);
        (sum(y), sum(c))
    }

    /// along_y·y + along_c·c/unit.
    pub(super) fn write(&self, along_y: f64, along_c: f64, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "out has the decision's dimension");
        let per_unit = self.per_unit();
        for (out, cell) in out.iter_mut().zip(&self.cells) {
            *out = along_y * cell.y + along_c * (cell.c * per_unit);
        }
    }

    /// c += g, for entries of a gradient of this norm. Products whose error could be seen beside
    /// cc + `floor`² unit² are summed up anew.
    #[inline(always)]
    pub(super) fn absorb(
        &mut self,
        norm: f64,
        floor: f64,
        entries: impl Iterator<Item = (usize, f64)>,
    ) {
        if norm > self.sums.unit * 2f64.powi(100) {
            self.sums.unit = power_of_two(norm);
            self.sum_up();
        }
        let per_unit = self.per_unit();
        let Products {
            mut yy,
            mut yc,
            mut cc,
        } = self.sums.products;
        for (i, g) in entries {
            self.sums.taken += 1;
            if g == 0.0 {
                continue;
            }
            let cell = &mut self.cells[i];
            if cell.top == 0.0 {
                self.touched.set(i / BLOCK);
            }
            let (y, c) = (cell.y, cell.c * per_unit);
            cell.add(g);
            let now = cell.c * per_unit;
            yy += (cell.y - y) * (cell.y + y);
            yc += cell.y * now - y * c;
            cc += (now - c) * (now + c);
        }
        let sums = &mut self.sums;
        sums.products = Products { yy, yc, cc };
        sums.top = sums.top.max(cc);
        let floor = floor * per_unit;
        let error = sums.taken as f64 * f64::EPSILON * sums.top;
        // by what was touched: the dimension may be yet to grow
        let room = (BLOCK * self.touched.count()) as u64;
        if sums.taken >= 4 * room || error > 1e-11 * (cc + floor * floor) {
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
        let mut sum = Products::default();
        for (_, cell) in self.used() {
            let c = cell.c * per_unit;
            sum.yy += cell.y * cell.y;
            sum.yc += cell.y * c;
            sum.cc += c * c;
        }
        sum
    }

    /// Whether what was loaded can be the sums of gradients.
    fn is_sound(&self) -> bool {
        let numbers = |cell: &Cell| {
            cell.y.is_finite()
                && cell.c.is_finite()
                && (0.0..f64::INFINITY).contains(&cell.root)
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

/// The largest power of two up to `norm`, kept where its inverse is a number.
fn power_of_two(norm: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    f64::from_bits(norm.to_bits() & EXPONENT).clamp(2f64.powi(-1000), 2f64.powi(1000))
}
