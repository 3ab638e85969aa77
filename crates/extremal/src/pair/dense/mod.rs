//! Dense storage, for any set: two passes over the vectors per round, no allocation.
//!
//! The first pass forms the direction with every inner product that the step needs; on ℓp balls
//! it also forms the atom, so that no oracle call reads the vectors again. The second moves.

mod state;

use super::residual::{CANCELLED, has_cancelled, residual_atom};
use super::{Gradient, Motion, Pair, Point, Probe, Row, Update, nonzeros, place_start};
use crate::kernel::{self, Buffer, Exponent, Form, Formed, Scan};
use crate::range::{self, SMALLEST_DIRECTION};
use crate::room::room;
use crate::set::{Atom, CheckedOracle, Oracle, SharedSet, Structure};
use crate::{Error, Result};

/// Powers up to this exponent are formed in the first pass; beyond, the range of numbers that
/// one scale can serve gets too narrow to guess it.
const LARGEST_FUSED_POWER: f64 = 32.0;

/// ‖∇F‖² below this is that of a direction that counts as 0.
const SMALLEST_SQUARE: f64 = SMALLEST_DIRECTION * SMALLEST_DIRECTION;

/// (x, c), every entry of both.
pub struct DensePair {
    set: SharedSet,
    oracle: CheckedOracle,
    way: Way,
    x: Buffer,
    /// c and, from a probe to its commit, c': which is which changes with every commit.
    sums: [Buffer; 2],
    now: bool,
    /// x₁ where it is not 0.
    origin: Option<Box<[f64]>>,
    /// The power s on ℓp balls, the direction on general sets.
    scratch: Buffer,
    /// A sparse gradient spread out; all zeros between rounds.
    spread: Buffer,
    /// What stands for c in a round that starts over or adds x₁; empty until there is one.
    base: Buffer,
    /// The direction on ℓp balls with a general power; x − v on general sets, and only where
    /// sums cancel.
    away: Buffer,
    atom: Atom,
    found: Found,
    /// ℓp balls: the power of two that the direction is multiplied by before taking powers.
    scale: f64,
    /// β of the last probe, and whether F restarts there.
    beta: f64,
    restarts: bool,
    /// ‖x‖², known from the step that led to x.
    norm_squared: f64,
    /// ‖x‖², ⟨v, x⟩ and ‖v‖² of the last probe.
    squares: [f64; 3],
}

#[derive(Clone, Copy)]
enum Way {
    /// ℓ2: v = α∇F.
    Direction { radius: f64 },
    /// ℓp: v = κs, s a power of ∇F.
    Power {
        p: f64,
        radius: f64,
        exponent: Exponent,
    },
    /// Ask the oracle. Whether the set is known to be a polytope.
    General { flat: bool },
}

/// The last probe's atom.
#[derive(Clone, Copy)]
enum Found {
    Nothing,
    Direction { alpha: f64 },
    Power { kappa: f64, scale: f64 },
    Atom,
}

/// c, x and g as the first pass reads them, and where it puts c'. A macro, as it borrows but a few
/// of the pair's vectors.
macro_rules! form {
    ($pair:expr, $update:expr) => {{
        let leaves_sum = $pair.leaves_sum($update);
        let [first, second] = &mut $pair.sums;
        let (c, next) = if $pair.now {
            (&*second, first)
        } else {
            (&*first, second)
        };
        Form {
            n: $pair.x.len(),
            c: if leaves_sum { &$pair.base } else { c }.padded(),
            x: $pair.x.padded(),
            g: match $update.gradient.row {
                Row::Dense(g) => g,
                _ => $pair.spread.padded(),
            },
            next: next.padded_mut(),
            k: $update.k(),
            m: $update.m(),
            beta: $update.beta,
        }
    }};
}

/// What the first pass has formed.
macro_rules! formed {
    ($pair:expr, $update:expr) => {
        Formed {
            n: $pair.x.len(),
            c: $pair.sums[usize::from(!$pair.now)].padded(),
            x: $pair.x.padded(),
            beta: $update.beta,
        }
    };
}

impl DensePair {
    /// Starts at `start`, or the set's centre, with c = 0.
    pub fn new(set: SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let dim = set.dim();
        let mut x = Buffer::zeros(dim);
        place_start(&set, start, &mut x)?;
        let way = match set.structure() {
            Structure::Euclidean { radius } => Way::Direction { radius },
            Structure::Power { p, radius } if p / (p - 1.0) <= LARGEST_FUSED_POWER => Way::Power {
                p,
                radius,
                exponent: Exponent::from(1.0 / (p - 1.0)),
            },
            _ => Way::General {
                flat: set.polytope().is_some(),
            },
        };
        let needs_away = match way {
            Way::Direction { .. } => false,
            Way::Power { exponent, .. } => matches!(exponent, Exponent::Other(_)),
            Way::General { .. } => true,
        };
        Ok(Self {
            oracle: CheckedOracle::of(&*set),
            way,
            sums: [Buffer::zeros(dim), Buffer::zeros(dim)],
            now: false,
            origin: x.iter().any(|v| *v != 0.0).then(|| x[..].into()),
            norm_squared: kernel::dot(&x, &x),
            squares: [0.0; 3],
            x,
            scratch: Buffer::zeros(if matches!(way, Way::Direction { .. }) {
                0
            } else {
                dim
            }),
            spread: Buffer::default(),
            base: Buffer::default(),
            away: Buffer::zeros(if needs_away { dim } else { 0 }),
            atom: Atom::new(),
            found: Found::Nothing,
            scale: 1.0,
            beta: 0.0,
            restarts: false,
            set,
        })
    }

    /// c, to look at.
    pub fn gradient_sum(&self) -> &[f64] {
        &self.sums[usize::from(self.now)]
    }

    /// x, to look at.
    pub fn decision(&self) -> &[f64] {
        &self.x
    }

    /// Spreads a gradient with few entries over a dense vector of zeros.
    #[inline(never)]
    fn probe_sparse(&mut self, update: &Update<'_>) -> Result<Probe> {
        let row = &update.gradient.row;
        self.spread.fill_up(self.x.len());
        row.add_to(1.0, &mut self.spread);
        let probe = self.probe_dense(update);
        row.entries().for_each(|(i, _)| self.spread[i] = 0.0);
        probe
    }

    /// Whether the round does not simply go on from c.
    fn leaves_sum(&self, update: &Update<'_>) -> bool {
        update.fresh || (update.origin != 0.0 && self.origin.is_some())
    }

    /// base = 0 or c + origin·x₁: c itself must stay as it is until the commit.
    #[inline(never)]
    fn lay_base(&mut self, update: &Update<'_>) {
        self.base.fill_up(self.x.len());
        match &self.origin {
            Some(origin) if !update.fresh => {
                self.base.copy_from_slice(&self.sums[usize::from(self.now)]);
                kernel::axpy(update.origin, origin, &mut self.base);
            }
            _ => self.base.fill(0.0),
        }
    }

    /// Each way in a function of its own: the shortest, which is all work and no oracle, is the
    /// only one that a round is made of without a call.
    #[inline(always)]
    fn probe_dense(&mut self, update: &Update<'_>) -> Result<Probe> {
        if self.leaves_sum(update) {
            self.lay_base(update);
        }
        match self.way {
            Way::Direction { radius } => self.probe_direction(update, radius),
            Way::Power {
                p,
                radius,
                exponent,
            } => self.probe_power(update, p, radius, exponent),
            Way::General { flat } => self.probe_general(update, flat),
        }
    }

    /// The numeric door, once the first pass has the norms: false where the row counts as 0, and
    /// the round has to be formed without it.
    #[inline(always)]
    fn admits(update: &Update<'_>, scan: &Scan) -> Result<bool> {
        let counts = update.counts(scan.gg.sqrt(), scan.xx)?;
        Ok(counts || update.gradient.scale == 0.0)
    }

    #[cold]
    fn probe_without_row(&mut self, update: &Update<'_>) -> Result<Probe> {
        let gradient = Gradient {
            scale: 0.0,
            ..*update.gradient
        };
        self.probe_dense(&Update {
            gradient: &gradient,
            ..*update
        })
    }

    #[inline(always)]
    fn probe_direction(&mut self, update: &Update<'_>, radius: f64) -> Result<Probe> {
        let mut probe = Probe::new(update.beta);
        let scan = kernel::scan(form!(self, update));
        if !Self::admits(update, &scan)? {
            return self.probe_without_row(update);
        }
        let (mut vx, mut vv) = (0.0, 0.0);
        if scan.dd < SMALLEST_SQUARE {
            self.found = Found::Nothing;
        } else {
            let norm = scan.dd.sqrt();
            let alpha = -radius / norm;
            self.found = Found::Direction { alpha };
            probe.steepness = norm;
            (vx, vv) = (alpha * scan.dx, radius * radius);
            probe.oracle_calls = 1;
            probe.gap = scan.dx + radius * norm;
            probe.distance_squared = (vv + scan.xx) - 2.0 * vx;
            // The gap is at least ‖∇F‖·‖v − x‖²/(2r): it cancels only where the distance does.
            if probe.distance_squared < CANCELLED * (vv + scan.xx) {
                (probe.gap, probe.distance_squared) =
                    kernel::residual_direction(formed!(self, update), alpha);
            }
            probe.support = radius * norm;
        }
        self.end_probe(update, probe, scan, vx, vv)
    }

    #[inline(never)]
    fn probe_power(
        &mut self,
        update: &Update<'_>,
        p: f64,
        radius: f64,
        exponent: Exponent,
    ) -> Result<Probe> {
        let mut probe = Probe::new(update.beta);
        let (mut vx, mut vv) = (0.0, 0.0);
        let mut scale = self.scale;
        macro_rules! scan_power {
            () => {{
                let form = form!(self, update);
                let (out, direction) = (self.scratch.padded_mut(), self.away.padded_mut());
                kernel::scan_power(form, scale, exponent, out, direction)
            }};
        }
        let (scan, mut power) = scan_power!();
        if !Self::admits(update, &scan)? {
            return self.probe_without_row(update);
        }
        // Within this range no power over- or underflowed; the scale that fits is nearly always
        // that of the round before.
        if scan.dd >= SMALLEST_SQUARE && !(1e-100..=1e100).contains(&power.st) {
            scale = fitting_scale(formed!(self, update));
            (_, power) = scan_power!();
        }
        // A direction that is all rounding may vanish on a second look.
        if scan.dd < SMALLEST_SQUARE || !(power.st > 0.0) {
            self.found = Found::Nothing;
        } else {
            probe.steepness = scan.dd.sqrt();
            let kappa = -radius / power.st.powf(1.0 / p);
            self.found = Found::Power { kappa, scale };
            probe.oracle_calls = 1;
            let support = kappa * (power.st / scale);
            (vx, vv) = (kappa * power.sx, kappa * kappa * power.ss);
            probe.gap = scan.dx - support;
            probe.distance_squared = vv - 2.0 * vx + scan.xx;
            let size = scan.dx.abs() - support;
            if has_cancelled(&probe, size, vv + scan.xx, false) {
                (probe.gap, probe.distance_squared) =
                    kernel::residual_dense(formed!(self, update), kappa, self.scratch.padded());
            }
            probe.support = -support;
        }
        self.end_probe(update, probe, scan, vx, vv)
    }

    #[inline(never)]
    fn probe_general(&mut self, update: &Update<'_>, flat: bool) -> Result<Probe> {
        let mut probe = Probe::new(update.beta);
        let (mut vx, mut vv) = (0.0, 0.0);
        let scan = kernel::scan_direction(form!(self, update), self.scratch.padded_mut());
        if !Self::admits(update, &scan)? {
            return self.probe_without_row(update);
        }
        let Self {
            x, scratch, atom, ..
        } = self;
        if range::is_zero(scratch) {
            self.found = Found::Nothing;
        } else {
            probe.steepness = scan.dd.sqrt();
            let before = self.oracle.calls();
            let found = self.oracle.minimise(scratch, atom)?;
            probe.oracle_calls = (self.oracle.calls() - before) as u32;
            let value = found.value;
            self.found = Found::Atom;
            (vx, vv) = (atom.dot(x), atom.norm_squared());
            probe.gap = scan.dx - value;
            probe.distance_squared = vv - 2.0 * vx + scan.xx;
            let size = scan.dx.abs() + value.abs();
            if has_cancelled(&probe, size, vv + scan.xx, flat) {
                (probe.gap, probe.distance_squared) =
                    residual_atom(scratch, x, atom, &mut self.away);
            }
            probe.slack = found.slack();
            self.oracle.check_gap(probe.gap + probe.slack, scratch)?;
            probe.support = -value;
        }
        self.end_probe(update, probe, scan, vx, vv)
    }

    /// What all ways have in common once the atom is known.
    #[inline(always)]
    fn end_probe(
        &mut self,
        update: &Update<'_>,
        mut probe: Probe,
        scan: Scan,
        vx: f64,
        vv: f64,
    ) -> Result<Probe> {
        if update.beta == 0.0 {
            match &self.origin {
                _ if update.fresh => probe.support = probe.gap,
                Some(origin) => {
                    let next = &self.sums[usize::from(!self.now)];
                    probe.support += kernel::dot(next, origin);
                }
                None => {}
            }
        }
        let Gradient { scale, ridge, .. } = *update.gradient;
        self.squares = [scan.xx, vx, vv];
        probe.slope = scan.dx;
        probe.norm_squared = scan.xx;
        probe.gradient_norm = update.gradient.norm_from(scan.gg.sqrt(), scan.gx, scan.xx);
        probe.gradient_dot = scale * scan.gx + ridge * scan.xx;
        // Only a set that lies farther from 0 than its size has digits gets here.
        if !(probe.gap + probe.distance_squared).is_finite() {
            return Err(Error::Numerical {
                round: 0,
                what: "the sum of gradients overflowed".into(),
            });
        }
        Ok(probe)
    }
}

/// The power of two that brings the largest entry of ∇F next to 1.
#[cold]
fn fitting_scale(formed: Formed<'_>) -> f64 {
    let sizes = (0..formed.n).map(|i| formed.direction(i).abs());
    (-sizes.fold(0.0, f64::max).log2().round()).exp2()
}

impl Point for DensePair {
    fn dim(&self) -> usize {
        self.x.len()
    }

    #[inline(always)]
    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.x.len())?;
        Ok(match row {
            Row::Dense(a) => kernel::dot_buffer(a, &self.x),
            _ => row.dot(&self.x),
        })
    }

    fn norm_squared(&self) -> f64 {
        self.norm_squared
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.x);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        nonzeros(&self.x, each);
    }
}

impl Pair for DensePair {
    #[inline(always)]
    fn probe(&mut self, update: &Update<'_>, _sure: bool) -> Result<Probe> {
        update.gradient.row.check_shape(self.x.len())?;
        (self.beta, self.restarts) = (update.beta, update.fresh);
        match update.gradient.row {
            Row::Dense(_) => self.probe_dense(update),
            _ => self.probe_sparse(update),
        }
    }

    #[inline(always)]
    fn commit(&mut self, motion: Motion) {
        self.now = !self.now;
        if self.restarts {
            match &mut self.origin {
                Some(origin) => origin.copy_from_slice(&self.x),
                None => self.origin = Some(self.x[..].into()),
            }
        }
        let [xx, vx, vv] = self.squares;
        self.norm_squared = match (self.found, motion) {
            (Found::Nothing, Motion::Step(_)) => xx,
            (Found::Nothing, Motion::Place(_)) => 0.0,
            (_, Motion::Place(s)) => s * s * vv,
            (_, Motion::Step(sigma)) => {
                let keep = 1.0 - sigma;
                (keep * (keep * xx + 2.0 * sigma * vx) + sigma * sigma * vv).max(0.0)
            }
        };
        let Self { x, sums, .. } = self;
        let (n, beta, x) = (x.len(), self.beta, x.padded_mut());
        let (c, power) = (sums[usize::from(self.now)].padded(), self.scratch.padded());
        match (self.found, motion) {
            (Found::Direction { alpha }, Motion::Step(sigma)) => {
                kernel::step_to_direction(n, c, x, sigma, alpha, beta)
            }
            (Found::Direction { alpha }, Motion::Place(s)) => {
                kernel::place_at_direction(n, c, x, s * alpha, beta)
            }
            (Found::Power { kappa, scale }, Motion::Step(sigma)) => {
                self.scale = scale;
                kernel::step_to_dense(n, power, x, sigma, kappa)
            }
            (Found::Power { kappa, scale }, Motion::Place(s)) => {
                self.scale = scale;
                kernel::place_at_dense(n, power, x, s * kappa)
            }
            (Found::Atom, Motion::Step(sigma)) => {
                kernel::shrink(n, x, sigma);
                self.atom.add_to(sigma, &mut x[..n]);
            }
            (Found::Atom, Motion::Place(s)) => {
                x.fill(0.0);
                self.atom.add_to(s, &mut x[..n]);
            }
            (Found::Nothing, Motion::Step(_)) => {}
            (Found::Nothing, Motion::Place(_)) => x.fill(0.0),
        }
        if let (Some(origin), Motion::Place(s)) = (&self.origin, motion) {
            let s = if matches!(self.found, Found::Nothing) {
                0.0
            } else {
                s
            };
            kernel::axpy(1.0 - s, origin, &mut x[..n]);
            self.norm_squared = kernel::dot(&x[..n], &x[..n]);
        }
    }

    fn start(&mut self, weight: f64) {
        let c = &mut self.sums[usize::from(self.now)];
        match &self.origin {
            None => {
                self.x.fill(0.0);
                c.fill(0.0);
            }
            Some(origin) => {
                self.x.copy_from_slice(origin);
                for (c, x) in c.iter_mut().zip(origin) {
                    *c = -weight * x;
                }
            }
        }
        self.norm_squared = kernel::dot(&self.x, &self.x);
    }

    fn gradient_norm(&self, gradient: &Gradient<'_>, q: f64) -> f64 {
        let row = crate::set::norm_p(gradient.row.values(), q) * gradient.scale.abs();
        if gradient.ridge == 0.0 {
            row
        } else {
            row + gradient.ridge.abs() * crate::set::norm_p(&self.x, q)
        }
    }

    fn save(&self) -> Result<Vec<u8>> {
        self.to_bytes()
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        self.take_bytes(saved)
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        let dim = set.dim();
        let Self {
            x,
            sums: [first, second],
            scratch,
            away,
            ..
        } = self;
        for buffer in [x, first, second] {
            buffer.reserve(dim)?;
        }
        for buffer in [scratch, away, &mut self.spread, &mut self.base] {
            if !buffer.is_empty() {
                buffer.reserve(dim)?;
            }
        }
        if self.origin.is_some() {
            room(&mut Vec::<f64>::new(), dim, dim)?;
        }
        Ok(())
    }

    fn grow(&mut self, set: SharedSet) {
        let dim = set.dim();
        self.oracle = CheckedOracle::of(&*set);
        let Self {
            x,
            sums: [first, second],
            scratch,
            away,
            ..
        } = self;
        for buffer in [x, first, second] {
            buffer.grow(dim);
        }
        // the others only where they are in use
        for buffer in [scratch, away, &mut self.spread, &mut self.base] {
            if !buffer.is_empty() {
                buffer.grow(dim);
            }
        }
        if let Some(origin) = &mut self.origin {
            let mut longer = std::mem::take(origin).into_vec();
            longer.resize(dim, 0.0);
            *origin = longer.into();
        }
        self.set = set;
    }

    fn discard(&mut self) {
        // c' lies in the other buffer, and the next probe writes over it
        self.found = Found::Nothing;
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }
}
