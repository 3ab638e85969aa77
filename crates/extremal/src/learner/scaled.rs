//! The sum of gradients c, and y = −c scaled per coordinate, at O(non-zeros) per gradient.

use serde::{Deserialize, Serialize};

use crate::kernel;
use crate::pair::Row;

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

/// √(a² + b²), without a square that over- or underflows.
fn join(a: f64, b: f64) -> f64 {
    let square = a * a + b * b;
    if kernel::is_safe_square(square) {
        square.sqrt()
    } else {
        a.hypot(b)
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
#[derive(Serialize, Deserialize)]
pub(super) struct Scaled {
    cells: Vec<Cell>,
    /// A power of two, 0 before the first gradient.
    unit: f64,
    products: Products,
    /// The largest cc since the products were last summed up from the cells.
    top: f64,
    /// Entries taken since then.
    taken: u64,
}

impl Scaled {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            cells: vec![Cell::default(); dim],
            unit: 0.0,
            products: Products::default(),
            top: 0.0,
            taken: 0,
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn unit(&self) -> f64 {
        self.unit
    }

    pub(super) fn products(&self) -> Products {
        self.products
    }

    /// ‖c‖.
    pub(super) fn sum_norm(&self) -> f64 {
        self.unit * self.products.cc.max(0.0).sqrt()
    }

    /// 1/unit; nothing has been summed up where there is none.
    fn per_unit(&self) -> f64 {
        if self.unit > 0.0 {
            self.unit.recip()
        } else {
            0.0
        }
    }

    /// ⟨a, y⟩ and ⟨a, c⟩/unit.
    pub(super) fn dot(&self, row: &Row<'_>) -> (f64, f64) {
        let per_unit = self.per_unit();
        row.entries().fold((0.0, 0.0), |(y, c), (i, v)| {
            let cell = &self.cells[i];
            (y + v * cell.y, c + v * (cell.c * per_unit))
        })
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
    pub(super) fn absorb(
        &mut self,
        norm: f64,
        floor: f64,
        entries: impl Iterator<Item = (usize, f64)>,
    ) {
        if norm > self.unit * 2f64.powi(100) {
            self.unit = power_of_two(norm);
            self.sum_up();
        }
        let per_unit = self.per_unit();
        let Products {
            mut yy,
            mut yc,
            mut cc,
        } = self.products;
        for (i, g) in entries {
            self.taken += 1;
            if g == 0.0 {
                continue;
            }
            let cell = &mut self.cells[i];
            let (y, c) = (cell.y, cell.c * per_unit);
            cell.c += g;
            cell.root = join(cell.root, g);
            cell.top = cell.top.max(g.abs());
            cell.y = -cell.c / join(cell.root, cell.top);
            let now = cell.c * per_unit;
            yy += (cell.y - y) * (cell.y + y);
            yc += cell.y * now - y * c;
            cc += (now - c) * (now + c);
        }
        self.products = Products { yy, yc, cc };
        self.top = self.top.max(cc);
        let floor = floor * per_unit;
        let error = self.taken as f64 * f64::EPSILON * self.top;
        if self.taken >= 4 * self.dim() as u64 || error > 1e-11 * (cc + floor * floor) {
            self.sum_up();
        }
    }

    fn sum_up(&mut self) {
        self.products = self.summed_up();
        self.top = self.products.cc;
        self.taken = 0;
    }

    fn summed_up(&self) -> Products {
        let per_unit = self.per_unit();
        let mut sum = Products::default();
        for cell in &self.cells {
            let c = cell.c * per_unit;
            sum.yy += cell.y * cell.y;
            sum.yc += cell.y * c;
            sum.cc += c * c;
        }
        sum
    }

    /// Whether what was loaded can be the sums of gradients in this dimension.
    pub(super) fn is_sound(&self, dim: usize) -> bool {
        let numbers = |cell: &Cell| {
            cell.y.is_finite()
                && cell.c.is_finite()
                && (0.0..f64::INFINITY).contains(&cell.root)
                && (0.0..f64::INFINITY).contains(&cell.top)
        };
        let power = self.unit == 0.0 || self.unit == power_of_two(self.unit);
        if self.dim() != dim || !power || !self.cells.iter().all(numbers) {
            return false;
        }
        let (here, there) = (self.products, self.summed_up());
        let near = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-6 * size;
        near(here.cc, there.cc, self.top.max(there.cc))
            && near(here.yy, there.yy, 1.0 + there.yy)
            && here.yc.is_finite()
            && self.top.is_finite()
    }
}

/// The largest power of two up to `norm`, kept where its inverse is a number.
fn power_of_two(norm: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    f64::from_bits(norm.to_bits() & EXPONENT).clamp(2f64.powi(-1000), 2f64.powi(1000))
}
