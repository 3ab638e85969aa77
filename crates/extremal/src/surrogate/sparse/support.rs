//! The entries of x and c on the support, for
//! [`SparseSurrogate`](crate::surrogate::sparse::SparseSurrogate). These entries form a small dense
//! problem for the dense kernels.

use crate::Result;
use crate::kernel::{self, InnerProducts, Pass};
use crate::memory::reserve;
use crate::surrogate::sparse::ranked::Order;
use crate::surrogate::sparse_vector::SparseVector;

/// Marks a feature without a slot.
const NOWHERE: u32 = u32::MAX;

/// The number of entries for which memory is reserved from the start.
pub(crate) const LEAST_ROOM: usize = 16;

/// The slots, in the order in which they were assigned.
pub(crate) struct Support {
    /// The slot of each feature.
    slots: Vec<u32>,
    indices: Vec<u32>,
    x: Vec<f64>,
    c: Vec<f64>,
    /// c' between a probe and its commit.
    next: Vec<f64>,
    /// The entries of the gradient's row that have slots. All are 0 between rounds.
    row: Vec<f64>,
    /// The slots at which `row` may be non-zero.
    touched: Vec<u32>,
    direction: Vec<f64>,
    /// Replaces c in a round that restarts F or adds x₁.
    base: Vec<f64>,
}

impl Support {
    pub fn new(dim: usize) -> Self {
        let entries = || Vec::with_capacity(LEAST_ROOM);
        Self {
            slots: vec![NOWHERE; dim],
            indices: Vec::with_capacity(LEAST_ROOM),
            x: entries(),
            c: entries(),
            next: entries(),
            row: entries(),
            touched: Vec::with_capacity(LEAST_ROOM),
            direction: entries(),
            base: Vec::new(),
        }
    }

    pub fn dim(&self) -> usize {
        self.slots.len()
    }

    pub fn grow(&mut self, dim: usize) {
        self.slots.resize(dim, NOWHERE);
    }

    /// Reserves memory for this many features. [`Support::grow`] adds them.
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        reserve(&mut self.slots, dim, dim)
    }

    pub fn len(&self) -> usize {
        self.indices.len()
    }

    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    pub fn x(&self) -> &[f64] {
        &self.x
    }

    pub fn x_mut(&mut self) -> &mut [f64] {
        &mut self.x
    }

    /// The features with slots, and their entries of x.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let features = self.indices.iter().map(|&i| i as usize);
        features.zip(self.x.iter().copied())
    }

    pub fn c(&self) -> &[f64] {
        &self.c
    }

    /// The c' of the last scan.
    pub fn next(&self) -> &[f64] {
        &self.next
    }

    pub fn direction(&self) -> &[f64] {
        &self.direction
    }

    pub fn slot(&self, feature: usize) -> Option<usize> {
        match self.slots[feature] {
            NOWHERE => None,
            slot => Some(slot as usize),
        }
    }

    /// Assigns a slot to a feature.
    pub fn push(&mut self, feature: usize, x: f64, c: f64) {
        self.slots[feature] = self.len() as u32;
        self.indices.push(feature as u32);
        self.x.push(x);
        self.c.push(c);
        for entries in [&mut self.next, &mut self.row, &mut self.direction] {
            entries.push(0.0);
        }
    }

    /// Removes a slot, and moves the last slot to the free position. Returns the feature and the c
    /// of the removed slot.
    pub fn remove(&mut self, slot: usize) -> (usize, f64) {
        let feature = self.indices.swap_remove(slot) as usize;
        self.slots[feature] = NOWHERE;
        if let Some(moved) = self.indices.get(slot) {
            self.slots[*moved as usize] = slot as u32;
        }
        for entries in [&mut self.x, &mut self.next, &mut self.row] {
            entries.swap_remove(slot);
        }
        self.direction.swap_remove(slot);
        (feature, self.c.swap_remove(slot))
    }

    /// Removes all slots.
    pub fn clear(&mut self) {
        for &feature in &self.indices {
            self.slots[feature as usize] = NOWHERE;
        }
        self.indices.clear();
        let Self {
            x,
            c,
            next,
            row,
            direction,
            ..
        } = self;
        for entries in [x, c, next, row, direction] {
            entries.clear();
        }
    }

    /// Adds to the row of the current round.
    pub fn add_to_row(&mut self, slot: usize, a: f64) {
        self.row[slot] += a;
        self.touched.push(slot as u32);
    }

    /// Sets the row to 0.
    pub fn clear_row(&mut self) {
        for slot in self.touched.drain(..) {
            self.row[slot as usize] = 0.0;
        }
    }

    /// Writes the vector that replaces c in the next scan: 0, or c + pull·x₁. All entries of x₁ are
    /// `rest`, except those in `first`.
    pub fn write_shifted_sum(&mut self, pull: Option<(f64, (f64, &SparseVector))>) {
        self.base.clear();
        self.base.reserve(self.x.capacity());
        let Some((pull, (rest, first))) = pull else {
            self.base.resize(self.x.len(), 0.0);
            return;
        };
        self.base.extend(self.c.iter().map(|c| c + pull * rest));
        for (i, v) in first.entries() {
            let slot = self.slots[i];
            if slot != NOWHERE {
                self.base[slot as usize] = self.c[slot as usize] + pull * v;
            }
        }
    }

    /// Forms c' = c + k·row + m·x and the direction c' + βx, with their inner products. If
    /// `on_base` is true, the shifted sum replaces c. Afterwards the row is 0.
    pub fn scan(&mut self, [k, m, beta]: [f64; 3], on_base: bool) -> InnerProducts {
        let form = Pass {
            c: if on_base { &self.base } else { &self.c },
            x: &self.x,
            g: &self.row,
            next: &mut self.next[..],
            k,
            m,
            beta,
        };
        let scan = kernel::scan_direction(form, &mut self.direction[..]);
        self.clear_row();
        scan
    }

    /// Stores c' as c.
    pub fn take_next(&mut self) {
        std::mem::swap(&mut self.c, &mut self.next);
    }

    /// The best key of the direction, and the smallest feature that has this key.
    pub fn best(&self, order: Order) -> Option<(f64, usize)> {
        let direction = self.direction();
        let top = match order {
            Order::Magnitude => kernel::max_abs(direction),
            Order::Smallest => -direction[kernel::argmin(direction)?],
        };
        let feature = match order {
            Order::Magnitude => self.first_with(|d| d.abs() == top),
            Order::Smallest => self.first_with(|d| -d == top),
        };
        Some((top, feature? as usize))
    }

    /// The smallest feature whose entry of the direction satisfies `is_like`. The search is fast if
    /// few entries do.
    #[inline]
    fn first_with(&self, is_like: impl Fn(f64) -> bool) -> Option<u32> {
        let direction = self.direction();
        let mut feature: Option<u32> = None;
        for (n, chunk) in direction.chunks(CHUNK).enumerate() {
            if holds_any(chunk, &is_like) {
                let entries = chunk.iter().zip(&self.indices[n * CHUNK..]);
                let like = entries.filter(|(d, _)| is_like(**d));
                feature = like.map(|(_, i)| *i).chain(feature).min();
            }
        }
        feature
    }

    /// Whether `is_like` holds for an entry of x.
    #[inline]
    pub fn holds_any(&self, is_like: impl Fn(f64) -> bool) -> bool {
        self.x()
            .chunks(CHUNK)
            .any(|chunk| holds_any(chunk, &is_like))
    }

    /// (⟨direction, x − v⟩, ‖x − v‖²) over the slots, for a v with few non-zeros.
    pub fn residual(&mut self, v: impl Iterator<Item = (usize, f64)>) -> (f64, f64) {
        let away = &mut self.row; // this memory is unused after the scan
        away.copy_from_slice(&self.x);
        for (feature, v) in v {
            let slot = self.slots[feature];
            if slot != NOWHERE {
                away[slot as usize] -= v;
            }
        }
        let gap = kernel::dot(&self.direction, away);
        let distance = kernel::dot(away, away);
        away.fill(0.0);
        (gap, distance)
    }
}

/// The number of entries in a block.
const CHUNK: usize = 16;

/// Whether `is_like` holds for an entry. The loop has no early exit, so that the compiler can
/// vectorise it.
#[inline]
fn holds_any(chunk: &[f64], is_like: impl Fn(f64) -> bool) -> bool {
    match <&[f64; CHUNK]>::try_from(chunk) {
        Ok(whole) => whole.iter().fold(false, |any, v| any | is_like(*v)),
        Err(_) => chunk.iter().any(|v| is_like(*v)),
    }
}
