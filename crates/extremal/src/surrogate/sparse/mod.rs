//! Sparse storage, for sets whose atoms have few entries (ℓ1 balls, simplices, the k-sparse
//! polytope). A round costs O(non-zeros of the gradient + support of x) in any dimension.
//!
//! The support consists of the features that have been part of an atom. Outside the support, all
//! entries of x equal one number `rest`. This number is 0, unless the set is a simplex and the
//! start x₁ is its centre. On the support, x and c are stored side by side, as in dense storage
//! ([`Support`]). Elsewhere ∇F = c + β·rest, so that the best entry of ∇F is also the best entry of
//! c. A [`Ranked`] vector keeps track of this entry, and changes only where gradients are non-zero.
//! Some terms, such as m·rest, add the same number to every entry of c. The number `offset` stores
//! the sum of these terms.
//!
//! Outside the support, a probe overwrites c with c' and records the old entries. If the round
//! fails, the old entries are restored. No factor is applied lazily, and the only running sum has
//! no drift ([`Wide`]). Given equal steps, decisions on balls therefore have the same bits as in
//! dense storage.
//!
//! A feature leaves the support when its entry returns to `rest`: after σ = 1, or when the
//! difference is below [`NEGLIGIBLE`].

mod atom;
mod ranked;
mod support;

use serde::{Deserialize, Serialize};

use crate::point::Accuracy;
use crate::rounding::Wide;
use crate::saved::{check_shape, decode, encode};
use crate::set::{AtomSigns, SharedSet, SparseAtoms, Structure, Top, norm_p};
use crate::surrogate::residual::has_cancelled;
use crate::surrogate::sparse_vector::SparseVector;
use crate::surrogate::{Move, Probe, Surrogate, Update, place_start};
use crate::{Error, Gradient, Point, Result, Row, kernel};
use atom::{Corner, Outside};
use ranked::{Order, Ranked};
use support::{LEAST_ROOM, Support};

/// An entry of x is treated as 0 if it is below this share of the largest entry.
const NEGLIGIBLE: f64 = 1e-30;

/// (x, c), stored entry by entry on the support of x only.
pub struct SparseSurrogate {
    set: SharedSet,
    atoms: SparseAtoms,
    order: Order,
    /// c − offset outside the support, where x is `rest`. The vector has holes on the support.
    outside: Ranked,
    support: Support,
    rest: f64,
    offset: f64,
    /// All entries of x₁ are `first_rest`, except the entries in `first`.
    first_rest: f64,
    first: SparseVector,
    last: Last,
    top: Top,
}

/// The result of the last probe, and the data that undo it.
#[derive(Default)]
struct Last {
    offset: f64,
    /// The changed entries outside the support, with their old values.
    changed: Vec<(u32, f64)>,
    total: Wide,
    /// The old values of all entries outside the support, for a round that restarts F.
    aside: Option<Ranked>,
    is_aside: bool,
    /// Whether F restarts.
    restarts: bool,
    /// Whether there is an atom, and the atom. There is none if ∇F = 0.
    found: bool,
    atom: Vec<Corner>,
}

/// The saved form: the non-zeros only.
#[derive(Serialize, Deserialize)]
struct Saved {
    rest: f64,
    offset: f64,
    total: Wide,
    /// x on the support, in the order of the slots, because later sums depend on this order.
    support: SparseVector,
    /// c on the support.
    sums: Vec<f64>,
    /// The non-zeros of c outside the support.
    outside: SparseVector,
    first_rest: f64,
    first: SparseVector,
}

impl SparseSurrogate {
    /// The surrogate with c = 0 and x = `start`, or the set's centre without `start`. A start with
    /// many entries is allowed, but the cost of a round includes all of them. Returns an error
    /// unless the set's atoms have few entries.
    pub fn new(set: SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let Structure::Sparse(atoms) = set.structure() else {
            return Err(Error::Unsupported(format!(
                "sparse storage does not support set {}: it is only for sets whose atoms have few entries (l1, simplex, k-sparse)",
                set.name()
            )));
        };
        let dim = set.dim();
        let mut x = vec![0.0; dim];
        place_start(&set, start, &mut x)?;
        let order = match atoms.signs {
            AtomSigns::Any => Order::Magnitude,
            AtomSigns::Positive | AtomSigns::PositiveOrZero => Order::Smallest,
        };
        let alike = order == Order::Smallest && x.iter().all(|v| *v == x[0]);
        let first_rest = if alike { x[0] } else { 0.0 };
        let mut first = SparseVector::with_capacity(LEAST_ROOM);
        for (i, v) in x.iter().enumerate().filter(|(_, v)| **v != first_rest) {
            first.push(i, *v);
        }
        let mut surrogate = Self {
            set,
            atoms,
            order,
            outside: Ranked::new(order, dim),
            support: Support::new(dim),
            rest: 0.0,
            offset: 0.0,
            first_rest,
            first,
            last: Last {
                changed: Vec::with_capacity(LEAST_ROOM),
                atom: Vec::with_capacity(atoms.count),
                ..Last::default()
            },
            top: Top::with_capacity(atoms.count, dim),
        };
        surrogate.start(0.0);
        Ok(surrogate)
    }

    /// The number of entries of x in the support.
    pub fn support(&self) -> usize {
        self.support.len()
    }

    /// Writes c into `out`, which must have [`Point::dim`] entries.
    pub fn write_sum(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "out has the decision's dimension");
        for (out, c) in out.iter_mut().zip(self.outside.values()) {
            *out = c + self.offset;
        }
        for (&i, c) in self.support.indices().iter().zip(self.support.c()) {
            out[i as usize] = *c;
        }
    }

    /// Whether x₁ = 0.
    fn starts_at_zero(&self) -> bool {
        self.first_rest == 0.0 && self.first.is_empty()
    }

    fn outside_count(&self) -> f64 {
        (self.dim() - self.support.len()) as f64
    }

    /// Undoes the changes of c' outside the support.
    fn take_back(&mut self) {
        let Last {
            changed,
            aside,
            is_aside,
            total,
            ..
        } = &mut self.last;
        match aside {
            Some(aside) if *is_aside => std::mem::swap(&mut self.outside, aside),
            _ => {
                for (i, c) in changed.iter().rev() {
                    self.outside.set(*i as usize, *c);
                }
                self.outside.set_total(*total);
            }
        }
        changed.clear();
        *is_aside = false;
        self.support.clear_row();
    }

    /// Sets c = 0 outside the support, and stores the old values.
    fn set_aside(&mut self) {
        let (order, dim) = (self.order, self.dim());
        let aside = &mut self.last.aside;
        let aside = aside.get_or_insert_with(|| Ranked::new(order, dim));
        aside.clear();
        for &i in self.support.indices() {
            aside.set(i as usize, f64::NAN);
        }
        std::mem::swap(&mut self.outside, aside);
        self.last.is_aside = true;
    }

    /// Adds the gradient's row to c outside the support, and writes its other entries into the
    /// support's row. Returns the sum of the row's entries outside the support.
    fn absorb(&mut self, update: &Update<'_>) -> f64 {
        let k = update.row_factor();
        let mut sum = 0.0;
        for (i, a) in update.gradient.row.entries() {
            let c = self.outside.get(i);
            if c.is_nan() {
                if let Some(slot) = self.support.slot(i) {
                    self.support.add_to_row(slot, a);
                }
            } else {
                self.change(i, c, k.mul_add(a, c));
                sum += a;
            }
        }
        sum
    }

    #[inline]
    fn change(&mut self, i: usize, from: f64, to: f64) {
        if to != from {
            self.last.changed.push((i as u32, from));
            self.outside.set(i, to);
        }
    }

    /// Adds pull·x₁ to c' outside the support, except for x₁'s rest, which is part of the offset.
    fn pull_outside(&mut self, pull: f64) {
        for n in 0..self.first.len() {
            let (i, v) = self.first.entry(n);
            let c = self.outside.get(i);
            if !c.is_nan() {
                self.change(i, c, c + pull * (v - self.first_rest));
            }
        }
    }

    /// Computes the probe. The changes outside the support can be undone.
    fn form(&mut self, update: &Update<'_>, row_norm: f64) -> Probe {
        let (k, m, beta) = (update.row_factor(), update.decision_factor(), update.beta);
        let gradient = update.gradient;
        self.last.total = self.outside.total();
        self.last.found = false;
        if update.restart {
            self.set_aside();
        }
        let is_pulled = !update.restart && update.origin != 0.0 && !self.starts_at_zero();
        let pull = if is_pulled { update.origin } else { 0.0 };
        let before = if update.restart { 0.0 } else { self.offset };
        let offset = before + m * self.rest + pull * self.first_rest;
        let beyond = self.absorb(update);
        if is_pulled {
            self.pull_outside(pull);
            let first = (self.first_rest, &self.first);
            self.support.write_shifted_sum(Some((pull, first)));
        } else if update.restart {
            self.support.write_shifted_sum(None);
        }
        let scan = self.support.scan([k, m, beta], is_pulled || update.restart);
        let outside_sum = self.outside.total().value();
        let outside = Outside {
            offset,
            rest: self.rest,
            beta,
        };
        let base = outside.direction(0.0);
        self.last.offset = offset;

        let (rest, count) = (self.rest, self.outside_count());
        let spread = |sum: f64, per_entry: f64| match rest {
            0.0 => 0.0,
            rest => rest * (sum + count * per_entry),
        };
        let mut probe = Probe {
            beta,
            slope: scan.dx + spread(outside_sum, base),
            norm_squared: scan.xx + spread(0.0, rest),
            ..Probe::default()
        };
        // only a saved state that was altered can cause this
        if !(scan.dd + base + outside_sum).is_finite() {
            probe.gap = f64::NAN;
            return probe;
        }
        if self.choose(outside) {
            self.last.found = true;
            probe.oracle_calls = 1;
            let (mut value, mut vx, mut vv) = (0.0, 0.0, 0.0);
            for corner in &self.last.atom {
                let slot = self.support.slot(corner.feature);
                let x = slot.map_or(rest, |slot| self.support.x()[slot]);
                value += corner.value * corner.direction;
                vx += corner.value * x;
                vv += corner.value * corner.value;
            }
            probe.gap = probe.slope - value;
            probe.distance_squared = vv - 2.0 * vx + probe.norm_squared;
            let size = probe.slope.abs() + value.abs();
            if has_cancelled(&probe, size, vv + probe.norm_squared, true) {
                (probe.gap, probe.distance_squared) = self.residual(outside_sum, base);
            }
            probe.support = -value;
        }
        if beta == 0.0 {
            probe.support = match update.restart {
                true => probe.gap,
                false => probe.support + self.first_dot_next(outside_sum),
            };
        }
        let row_dot = scan.gx + rest * beyond;
        probe.gradient_norm = gradient.norm_from(row_norm, row_dot, probe.norm_squared);
        probe.gradient_dot = gradient.scale * row_dot + gradient.ridge * probe.norm_squared;
        probe
    }

    /// ⟨c', x₁⟩.
    fn first_dot_next(&self, outside_sum: f64) -> f64 {
        if self.starts_at_zero() {
            return 0.0;
        }
        let next = |i: usize| match self.support.slot(i) {
            Some(slot) => self.support.next()[slot],
            None => self.outside.get(i) + self.last.offset,
        };
        let rest = self.first_rest;
        let entries = self.first.entries().map(|(i, v)| (v - rest) * next(i));
        let mut dot: f64 = entries.sum();
        if rest != 0.0 {
            let inside: f64 = self.support.next().iter().sum();
            dot += rest * (outside_sum + self.outside_count() * self.last.offset + inside);
        }
        dot
    }

    /// Returns (⟨∇F, x − v⟩, ‖v − x‖²). Both are summed over the entries of x − v. Differences of
    /// separate sums, such as ⟨∇F, x⟩ − ⟨∇F, v⟩, would lose digits by cancellation.
    fn residual(&mut self, outside_sum: f64, base: f64) -> (f64, f64) {
        let (rest, mut count) = (self.rest, self.outside_count());
        let mut alike = outside_sum + count * base;
        let (mut gap, mut distance) = (0.0, 0.0);
        let Self { support, last, .. } = self;
        for corner in &last.atom {
            if support.slot(corner.feature).is_none() {
                let away = rest - corner.value;
                gap += corner.direction * away;
                distance += away * away;
                alike -= corner.direction;
                count -= 1.0;
            }
        }
        if rest != 0.0 {
            gap += rest * alike;
            distance += rest * (rest * count);
        }
        let entries = last.atom.iter().map(|c| (c.feature, c.value));
        let (more, further) = support.residual(entries);
        (gap + more, distance + further)
    }

    /// x += σ(v − x).
    fn step(&mut self, sigma: f64) {
        kernel::shrink(sigma, self.support.x_mut());
        // fused like the kernel's operations
        self.rest = (-sigma).mul_add(self.rest, self.rest);
        self.add_atom(sigma);
        self.drop_negligible();
    }

    /// x = x₁ + s(v − x₁).
    fn place(&mut self, s: f64) {
        let keep = 1.0 - s;
        self.rest = keep * self.first_rest;
        let rest = self.rest;
        self.support.x_mut().fill(rest);
        for n in 0..self.first.len() {
            let (i, v) = self.first.entry(n);
            self.enter(i, keep * v);
        }
        self.add_atom(s);
        self.drop_negligible();
    }

    fn add_atom(&mut self, k: f64) {
        for n in 0..self.last.atom.len() {
            let Corner { feature, value, .. } = self.last.atom[n];
            let slot = self.support.slot(feature);
            let x = slot.map_or(self.rest, |slot| self.support.x()[slot]);
            self.enter(feature, x + k * value);
        }
    }

    /// Sets an entry of x. A feature outside the support enters the support unless x equals `rest`.
    fn enter(&mut self, feature: usize, x: f64) {
        match self.support.slot(feature) {
            Some(slot) => self.support.x_mut()[slot] = x,
            None if x == self.rest => {}
            None => {
                // + 0 turns −0 into 0, because a loaded zero has lost its sign
                let c = self.outside.get(feature) + self.offset + 0.0;
                self.outside.set(feature, f64::NAN);
                self.support.push(feature, x, c);
            }
        }
    }

    /// Removes a feature from the support if its entry differs negligibly from `rest`.
    fn drop_negligible(&mut self) {
        let rest = self.rest;
        let least = NEGLIGIBLE * kernel::max_abs(self.support.x()).max(rest);
        let gone = |x: f64| (x - rest).abs() <= least;
        if !self.support.holds_any(gone) {
            return;
        }
        for slot in (0..self.support.len()).rev() {
            if gone(self.support.x()[slot]) {
                let (feature, c) = self.support.remove(slot);
                self.outside.set(feature, c - self.offset);
            }
        }
    }
}

impl Point for SparseSurrogate {
    fn dim(&self) -> usize {
        self.support.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.dim())?;
        let x = self.support.x();
        let entry = |i: usize| self.support.slot(i).map_or(self.rest, |slot| x[slot]);
        Ok(row.entries().map(|(i, a)| a * entry(i)).sum())
    }

    fn norm_squared(&self) -> f64 {
        let x = self.support.x();
        kernel::dot(x, x) + self.rest * (self.rest * self.outside_count())
    }

    fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "out has the decision's dimension");
        out.fill(self.rest);
        for (&i, x) in self.support.indices().iter().zip(self.support.x()) {
            out[i as usize] = *x;
        }
    }

    /// Every sum adds its entries one by one.
    fn accuracy(&self) -> Accuracy {
        Accuracy {
            dot: 4.0,
            norm: 4.0,
        }
    }
}

impl Surrogate for SparseSurrogate {
    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        self.outside.reserve(set.dim())?;
        self.support.reserve(set.dim())
    }

    fn grow(&mut self, set: SharedSet) {
        self.outside.grow(set.dim());
        self.support.grow(set.dim());
        self.last.aside = None;
        self.set = set;
    }

    fn probe(&mut self, update: &Update<'_>, _sure: bool) -> Result<Probe> {
        self.last.restarts = update.restart;
        let gradient = update.gradient;
        gradient.row.check_shape(self.dim())?;
        let row_norm = kernel::norm(gradient.row.values());
        let xx = match gradient.ridge {
            0.0 => 0.0,
            _ => self.norm_squared(),
        };
        let update = Update {
            gradient: &update.admit(row_norm, xx)?,
            ..*update
        };
        let probe = self.form(&update, row_norm);
        if (probe.gap + probe.distance_squared).is_finite() {
            return Ok(probe);
        }
        self.take_back();
        Err(Error::numerical(0, "the sum of gradients overflowed"))
    }

    fn commit(&mut self, motion: Move) {
        self.support.take_next();
        self.offset = self.last.offset;
        self.last.changed.clear();
        self.last.is_aside = false;
        if self.last.restarts {
            self.first_rest = self.rest;
            self.first.set(self.support.len(), self.support.entries());
        }
        match (self.last.found, motion) {
            (true, Move::Towards(sigma)) => self.step(sigma),
            (false, Move::Towards(_)) => {}
            (true, Move::ToAtom(s)) => self.place(s),
            (false, Move::ToAtom(_)) => {
                self.last.atom.clear();
                self.place(0.0);
            }
        }
    }

    fn start(&mut self, weight: f64) {
        self.support.clear();
        self.outside.clear();
        self.rest = self.first_rest;
        self.offset = -weight * self.first_rest;
        for n in 0..self.first.len() {
            let (i, x) = self.first.entry(n);
            self.outside.set(i, f64::NAN);
            self.support.push(i, x, -weight * x);
        }
    }

    fn gradient_norm(&self, gradient: &Gradient<'_>, q: f64) -> f64 {
        let row = norm_p(gradient.row.values(), q) * gradient.scale.abs();
        if gradient.ridge == 0.0 {
            return row;
        }
        let x = norm_p(self.support.x(), q) + self.rest * self.outside_count().powf(1.0 / q);
        row + gradient.ridge.abs() * x
    }

    fn save(&self) -> Result<Vec<u8>> {
        let mut outside = SparseVector::default();
        let entries = self.outside.values().iter().enumerate();
        let nonzeros = entries.filter(|(_, c)| **c != 0.0 && !c.is_nan());
        nonzeros.for_each(|(i, c)| outside.push(i, *c));
        encode(&Saved {
            rest: self.rest,
            offset: self.offset,
            total: self.outside.total(),
            support: SparseVector {
                indices: self.support.indices().to_vec(),
                values: self.support.x().to_vec(),
            },
            sums: self.support.c().to_vec(),
            outside,
            first_rest: self.first_rest,
            first: self.first.clone(),
        })
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let saved: Saved = decode(saved)?;
        for vector in [&saved.support, &saved.outside, &saved.first] {
            vector.check(self.dim())?;
        }
        check_shape(saved.sums.len() == saved.support.len())?;
        self.support.clear();
        self.outside.clear();
        for ((i, x), c) in saved.support.entries().zip(saved.sums) {
            check_shape(self.support.slot(i).is_none())?;
            self.outside.set(i, f64::NAN);
            self.support.push(i, x, c);
        }
        for (i, c) in saved.outside.entries() {
            self.outside.set(i, c);
        }
        self.outside.set_total(saved.total);
        self.rest = saved.rest;
        self.offset = saved.offset;
        self.first_rest = saved.first_rest;
        self.first = saved.first;
        self.last.changed.clear();
        self.last.is_aside = false;
        self.last.found = false;
        Ok(())
    }

    fn discard(&mut self) {
        self.take_back();
    }
}
