//! The entries of x that are stored one by one, with c beside them, for
//! [`SparsePair`](super::SparsePair): a small dense problem that the dense kernels work on.

use super::ranked::Order;
use crate::Result;
use crate::kernel::{self, Buffer, Form, Scan};
use crate::room::room;

/// The slot of a feature that has none.
const NOWHERE: u32 = u32::MAX;

/// Room for this many entries is there from the start.
pub(super) const LEAST_ROOM: usize = 16;

/// Slots in the order in which they were taken; whatever lies beyond them is 0.
pub(super) struct Support {
    /// The slot of every feature.
    slots: Vec<u32>,
    indices: Vec<u32>,
    x: Buffer,
    /// c and, from a probe to its commit, c'.
    sums: [Buffer; 2],
    now: bool,
    /// The part of a gradient's row that falls on slots; all zeros between rounds.
    row: Buffer,
    /// Where it does.
    touched: Vec<u32>,
    direction: Buffer,
    /// What stands for c in a round that starts over or adds x₁; empty until there is one.
    base: Buffer,
}

impl Support {
    pub fn new(dim: usize) -> Self {
        let room = || Buffer::zeros(LEAST_ROOM);
        Self {
            slots: vec![NOWHERE; dim],
            indices: Vec::with_capacity(LEAST_ROOM),
            x: room(),
            sums: [room(), room()],
            now: false,
            row: room(),
            touched: Vec::with_capacity(LEAST_ROOM),
            direction: room(),
            base: Buffer::default(),
        }
    }

    pub fn dim(&self) -> usize {
        self.slots.len()
    }

    pub fn grow(&mut self, dim: usize) {
        self.slots.resize(dim, NOWHERE);
    }

    /// Memory for so many; they come with [`Support::grow`].
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        room(&mut self.slots, dim, dim)
    }

    pub fn len(&self) -> usize {
        self.indices.len()
    }

    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    pub fn x(&self) -> &[f64] {
        &self.x[..self.len()]
    }

    pub fn x_mut(&mut self) -> &mut [f64] {
        let len = self.len();
        &mut self.x[..len]
    }

    pub fn c(&self) -> &[f64] {
        &self.sums[usize::from(self.now)][..self.len()]
    }

    /// c' of the last scan.
    pub fn next(&self) -> &[f64] {
        &self.sums[usize::from(!self.now)][..self.len()]
    }

    pub fn direction(&self) -> &[f64] {
        &self.direction[..self.len()]
    }

    pub fn slot(&self, feature: usize) -> Option<usize> {
        match self.slots[feature] {
            NOWHERE => None,
            slot => Some(slot as usize),
        }
    }

    /// Gives a feature a slot.
    pub fn push(&mut self, feature: usize, x: f64, c: f64) {
        let len = self.len();
        if len == self.x.len() {
            let [first, second] = &mut self.sums;
            for buffer in [&mut self.x, first, second, &mut self.row] {
                let mut wider = Buffer::zeros(2 * len);
                wider[..len].copy_from_slice(buffer);
                *buffer = wider;
            }
            self.direction = Buffer::zeros(2 * len);
            self.base = Buffer::default();
        }
        self.slots[feature] = len as u32;
        self.indices.push(feature as u32);
        self.x[len] = x;
        self.sums[usize::from(self.now)][len] = c;
    }

    /// Takes a slot away, for the last one to move in; gives its feature and c.
    pub fn remove(&mut self, slot: usize) -> (usize, f64) {
        let last = self.len() - 1;
        let feature = self.indices.swap_remove(slot) as usize;
        self.slots[feature] = NOWHERE;
        if slot != last {
            self.slots[self.indices[slot] as usize] = slot as u32;
        }
        let c = &mut self.sums[usize::from(self.now)];
        let found = c[slot];
        for buffer in [&mut self.x, c] {
            buffer[slot] = buffer[last];
            buffer[last] = 0.0;
        }
        // the passes over whole registers rely on the zeros
        self.sums[usize::from(!self.now)][last] = 0.0;
        self.direction[last] = 0.0;
        (feature, found)
    }

    /// No slots.
    pub fn clear(&mut self) {
        for &feature in &self.indices {
            self.slots[feature as usize] = NOWHERE;
        }
        self.indices.clear();
        let [first, second] = &mut self.sums;
        for buffer in [&mut self.x, first, second, &mut self.direction] {
            buffer.fill(0.0);
        }
    }

    /// Adds to the row of the round at hand.
    pub fn add_to_row(&mut self, slot: usize, a: f64) {
        self.row[slot] += a;
        self.touched.push(slot as u32);
    }

    /// The row is 0 again.
    pub fn clear_row(&mut self) {
        for slot in self.touched.drain(..) {
            self.row[slot as usize] = 0.0;
        }
    }

    /// Lets something else than c stand for it in the next scan: 0, or c + pull·x₁, where x₁ is
    /// `rest` but for the given entries.
    pub fn lay_base(&mut self, pull: Option<(f64, f64, &[u32], &[f64])>) {
        self.base.fill_up(self.x.len());
        self.base.fill(0.0);
        let Some((pull, rest, indices, values)) = pull else {
            return;
        };
        let (len, c) = (self.indices.len(), &self.sums[usize::from(self.now)]);
        for (base, c) in self.base[..len].iter_mut().zip(&c[..]) {
            *base = c + pull * rest;
        }
        for (&i, v) in indices.iter().zip(values) {
            let slot = self.slots[i as usize];
            if slot != NOWHERE {
                self.base[slot as usize] = c[slot as usize] + pull * v;
            }
        }
    }

    /// c' = c + k·row + m·x and the direction c' + βx, with their sums, from c itself or from the
    /// base that was laid. The row is absorbed.
    pub fn scan(&mut self, [k, m, beta]: [f64; 3], on_base: bool) -> Scan {
        let len = self.len();
        let [first, second] = &mut self.sums;
        let (c, next) = if self.now {
            (second, first)
        } else {
            (first, second)
        };
        let c = if on_base { &mut self.base } else { c };
        let form = Form {
            n: len,
            c: c.padded(),
            x: self.x.padded(),
            g: self.row.padded(),
            next: next.padded_mut(),
            k,
            m,
            beta,
        };
        let scan = kernel::scan_direction(form, self.direction.padded_mut());
        self.clear_row();
        scan
    }

    /// c = c'.
    pub fn take_next(&mut self) {
        self.now = !self.now;
    }

    /// x −= σx.
    pub fn shrink(&mut self, sigma: f64) {
        kernel::shrink(self.len(), self.x.padded_mut(), sigma);
    }

    /// The best key of the direction with the smallest feature that has it.
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

    /// The smallest feature whose entry of the direction is like this. Few are.
    #[inline(always)]
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

    /// Whether an entry of x is like this.
    #[inline(always)]
    pub fn holds_any(&self, is_like: impl Fn(f64) -> bool) -> bool {
        self.x()
            .chunks(CHUNK)
            .any(|chunk| holds_any(chunk, &is_like))
    }

    /// (⟨direction, x − v⟩, ‖x − v‖²) over the slots, for a v with entries at a few features.
    pub fn residual(&mut self, v: impl Iterator<Item = (usize, f64)>) -> (f64, f64) {
        let len = self.len();
        let away = &mut self.row; // free once it has been absorbed
        away[..len].copy_from_slice(&self.x[..len]);
        for (feature, v) in v {
            let slot = self.slots[feature];
            if slot != NOWHERE {
                away[slot as usize] -= v;
            }
        }
        let gap = kernel::dot(&self.direction[..len], &away[..len]);
        let distance = kernel::dot(&away[..len], &away[..len]);
        away[..len].fill(0.0);
        (gap, distance)
    }
}

/// Entries that are looked at together.
const CHUNK: usize = 16;

/// Comparisons without an early exit, which vectorise.
#[inline(always)]
fn holds_any(chunk: &[f64], is_like: impl Fn(f64) -> bool) -> bool {
    match <&[f64; CHUNK]>::try_from(chunk) {
        Ok(whole) => whole.iter().fold(false, |any, v| any | is_like(*v)),
        Err(_) => chunk.iter().any(|v| is_like(*v)),
    }
}
