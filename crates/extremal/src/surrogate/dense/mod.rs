//! Dense storage, for any set. A round makes two passes over the vectors and allocates no memory.
//!
//! The first pass forms the direction and every inner product that the step needs. On ℓp balls it
//! also forms the atom, so that no oracle reads the vectors again. The second pass moves x.

use crate::kernel::{self, Apart, Buffer, Exponent, InnerProducts, Pass, PassResult};
use crate::memory::reserve;
use crate::point::nonzeros;
use crate::range::{self, SMALLEST_DIRECTION};
use crate::saved::{check_shape, decode, encode};
use crate::set::{Atom, CheckedOracle, Oracle, SharedSet, Structure};
use crate::surrogate::residual::{CANCELLED, has_cancelled, residual_atom};
use crate::surrogate::{Move, Probe, Surrogate, Update, place_start};
use crate::{Error, Gradient, Point, Result, Row};

/// Powers up to this exponent are computed in the first pass. For larger exponents, the range of
/// safe scales is too small to guess a scale before the pass.
const LARGEST_FUSED_POWER: f64 = 32.0;

/// The square of the smallest norm of a direction that is not treated as 0.
const SMALLEST_SQUARE: f64 = SMALLEST_DIRECTION * SMALLEST_DIRECTION;

/// (x, c), where both vectors are stored with every entry.
pub struct DenseSurrogate {
    set: SharedSet,
    oracle: CheckedOracle,
    way: AtomForm,
    vectors: Vectors,
    /// x₁. It is `None` if x₁ = 0.
    origin: Option<Vec<f64>>,
    /// On ℓp balls these are the powers s. On general sets this is the direction.
    scratch: Buffer,
    /// On ℓp balls with a general power this is the direction. On general sets it is x − v, which
    /// is computed only if sums cancel.
    away: Buffer,
    /// Two atoms, for general sets: that of the last committed round, where an iterative oracle
    /// starts, and that of the last probe. A commit swaps the two, so that a discarded probe has no
    /// effect.
    guess: Atom,
    atom: Atom,
    found: LastAtom,
    /// For ℓp balls: the power of two that scales the direction before powers are computed.
    scale: f64,
    /// β of the last probe, and whether that probe restarts F.
    beta: f64,
    restarts: bool,
    /// ‖x‖², updated with every step.
    norm_squared: f64,
    /// ‖x‖², ⟨v, x⟩ and ‖v‖² of the last probe.
    squares: [Apart; 3],
}

#[derive(Clone, Copy)]
enum AtomForm {
    /// On the ℓ2 ball, v = α∇F.
    Direction { radius: f64 },
    /// On an ℓp ball, v = κs, where the entries of s are powers of the entries of ∇F.
    Power {
        p: f64,
        radius: f64,
        exponent: Exponent,
    },
    /// The oracle computes v. `flat` is true if the set is known to be a polytope.
    General { flat: bool },
}

/// The atom of the last probe.
#[derive(Clone, Copy)]
enum LastAtom {
    Nothing,
    Direction { alpha: f64 },
    Power { kappa: f64, scale: f64 },
    Atom,
}

/// The vectors that the first pass reads and writes.
#[derive(Default)]
struct Vectors {
    x: Buffer,
    c: Buffer,
    /// c' between a probe and its commit.
    next: Buffer,
    /// A sparse gradient in dense form. It is all zeros between rounds, and empty before the first
    /// sparse gradient.
    spread: Buffer,
    /// Replaces c in a round that restarts F or adds x₁. It is empty in other rounds.
    base: Vec<f64>,
}

impl Vectors {
    fn form<'a>(&'a mut self, update: &Update<'a>) -> Pass<'a> {
        Pass {
            c: if self.base.is_empty() {
                &self.c
            } else {
                &self.base
            },
            x: &self.x,
            g: match update.gradient.row {
                Row::Dense(g) => g,
                _ => &self.spread,
            },
            next: &mut self.next,
            k: update.row_factor(),
            m: update.decision_factor(),
            beta: update.beta,
        }
    }

    /// The results of the first pass.
    fn formed(&self, beta: f64) -> PassResult<'_> {
        PassResult {
            c: &self.next,
            x: &self.x,
            beta,
        }
    }
}

impl DenseSurrogate {
    /// The surrogate with c = 0 and x = `start`, or the set's centre without `start`.
    pub fn new(set: SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let dim = set.dim();
        let zeros = |needed: bool| Buffer::zeros(if needed { dim } else { 0 });
        let mut x = zeros(true);
        place_start(&set, start, &mut x)?;
        let way = match set.structure() {
            Structure::Euclidean { radius } => AtomForm::Direction { radius },
            Structure::Power { p, radius } if p / (p - 1.0) <= LARGEST_FUSED_POWER => {
                AtomForm::Power {
                    p,
                    radius,
                    exponent: Exponent::from(1.0 / (p - 1.0)),
                }
            }
            _ => AtomForm::General {
                flat: set.polytope().is_some(),
            },
        };
        let needs_away = match way {
            AtomForm::Direction { .. } => false,
            AtomForm::Power { exponent, .. } => matches!(exponent, Exponent::Other(_)),
            AtomForm::General { .. } => true,
        };
        Ok(Self {
            oracle: CheckedOracle::of(&*set),
            way,
            origin: x.iter().any(|v| *v != 0.0).then(|| x.to_vec()),
            norm_squared: kernel::dot(&x, &x),
            squares: [Apart(0.0); 3],
            vectors: Vectors {
                x,
                c: zeros(true),
                next: zeros(true),
                ..Vectors::default()
            },
            scratch: zeros(!matches!(way, AtomForm::Direction { .. })),
            away: zeros(needs_away),
            guess: Atom::new(),
            atom: Atom::new(),
            found: LastAtom::Nothing,
            scale: 1.0,
            beta: 0.0,
            restarts: false,
            set,
        })
    }

    /// The buffers that this set needs.
    fn used(&mut self) -> impl Iterator<Item = &mut Buffer> {
        let Vectors {
            x, c, next, spread, ..
        } = &mut self.vectors;
        let all = [x, c, next, spread, &mut self.scratch, &mut self.away];
        all.into_iter().filter(|buffer| !buffer.is_empty())
    }

    /// The sum c.
    pub fn gradient_sum(&self) -> &[f64] {
        &self.vectors.c
    }

    /// The decision x.
    pub fn decision(&self) -> &[f64] {
        &self.vectors.x
    }

    /// Writes a sparse gradient into a dense vector of zeros, and probes with this vector.
    fn probe_sparse(&mut self, update: &Update<'_>) -> Result<Probe> {
        let row = &update.gradient.row;
        let Vectors { x, spread, .. } = &mut self.vectors;
        spread.grow(x.len());
        row.add_to(1.0, spread);
        let probe = self.probe_dense(update);
        let spread = &mut self.vectors.spread;
        row.entries().for_each(|(i, _)| spread[i] = 0.0);
        probe
    }

    /// Writes the vector that replaces c in this round: 0 if F restarts, or c + origin·x₁ if x₁ is
    /// added. The stored c must not change before the commit.
    #[cold]
    fn write_shifted_sum(&mut self, update: &Update<'_>) {
        let Vectors { c, base, .. } = &mut self.vectors;
        base.clear();
        if update.restart {
            base.resize(c.len(), 0.0);
        } else if let (Some(origin), true) = (&self.origin, update.origin != 0.0) {
            base.extend_from_slice(c);
            kernel::axpy(update.origin, origin, base);
        }
    }

    /// Makes the decision the new x₁.
    #[cold]
    fn move_origin(&mut self) {
        let x = &self.vectors.x;
        match &mut self.origin {
            Some(origin) => origin.copy_from_slice(x),
            None => self.origin = Some(x.to_vec()),
        }
    }

    /// Each form of the atom has its own function. Only the first function is inlined into the
    /// round. It is the shortest, and calls no oracle. The results are unwrapped and wrapped again
    /// here, because this keeps the fields of the probe in registers.
    #[inline(always)]
    fn probe_dense(&mut self, update: &Update<'_>) -> Result<Probe> {
        if update.restart || update.origin != 0.0 || !self.vectors.base.is_empty() {
            self.write_shifted_sum(update);
        }
        let probe = match self.way {
            AtomForm::Direction { radius } => self.probe_direction(update, radius)?,
            AtomForm::Power {
                p,
                radius,
                exponent,
            } => self.probe_power(update, p, radius, exponent)?,
            AtomForm::General { flat } => self.probe_general(update, flat)?,
        };
        Ok(probe)
    }

    /// Whether the row is treated as 0 because of its size. The first pass must then run again
    /// without it. A gradient that is too large is an error.
    #[cold]
    fn is_tiny(update: &Update<'_>, gg: f64, xx: f64) -> Result<bool> {
        Ok(!update.counts(gg.sqrt(), xx)? && update.gradient.scale != 0.0)
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
        let mut probe = Probe::default();
        let scan = kernel::scan(self.vectors.form(update));
        if !update.is_moderate(scan.gg, scan.xx) && Self::is_tiny(update, scan.gg, scan.xx)? {
            return self.probe_without_row(update);
        }
        let (mut vx, mut vv) = (0.0, 0.0);
        if scan.dd < SMALLEST_SQUARE {
            self.found = LastAtom::Nothing;
        } else {
            // v = α∇F with α = −r/‖∇F‖. In a short round the square root is the bottleneck.
            // −r/‖∇F‖² is computed at the same time, so that only one product follows.
            let (norm, ratio) = (scan.dd.sqrt(), -radius / scan.dd);
            let alpha = norm * ratio;
            self.found = LastAtom::Direction { alpha };
            probe.steepness = norm;
            (vx, vv) = (norm * (ratio * scan.dx), radius * radius);
            probe.oracle_calls = 1;
            probe.gap = scan.dx + radius * norm;
            probe.distance_squared = (vv + scan.xx) - 2.0 * vx;
            // The gap is at least ‖∇F‖·‖v − x‖²/(2r), so it cancels only if the distance cancels.
            if probe.distance_squared < CANCELLED * (vv + scan.xx) {
                (probe.gap, probe.distance_squared) =
                    kernel::residual_direction(self.vectors.formed(update.beta), alpha);
            }
            probe.support = radius * norm;
        }
        self.end_probe(update, probe, scan, vx, vv)
    }

    fn probe_power(
        &mut self,
        update: &Update<'_>,
        p: f64,
        radius: f64,
        exponent: Exponent,
    ) -> Result<Probe> {
        let mut probe = Probe::default();
        let (mut vx, mut vv) = (0.0, 0.0);
        let mut scale = self.scale;
        macro_rules! scan_power {
            () => {{
                let form = self.vectors.form(update);
                let (out, direction) = (&mut self.scratch, &mut self.away);
                kernel::scan_power(form, scale, exponent, out, direction)
            }};
        }
        let (scan, mut power) = scan_power!();
        if !update.is_moderate(scan.gg, scan.xx) && Self::is_tiny(update, scan.gg, scan.xx)? {
            return self.probe_without_row(update);
        }
        // Within this range no power overflowed or underflowed. The scale of the last round is
        // nearly always safe in this round, too.
        if scan.dd >= SMALLEST_SQUARE && !(1e-100..=1e100).contains(&power.st) {
            scale = fitting_scale(self.vectors.formed(update.beta));
            (_, power) = scan_power!();
        }
        // A direction that consists of rounding errors may become 0 here.
        if scan.dd < SMALLEST_SQUARE || !(power.st > 0.0) {
            self.found = LastAtom::Nothing;
        } else {
            probe.steepness = scan.dd.sqrt();
            let kappa = -radius / power.st.powf(1.0 / p);
            self.found = LastAtom::Power { kappa, scale };
            probe.oracle_calls = 1;
            let support = kappa * (power.st / scale);
            (vx, vv) = (kappa * power.sx, kappa * kappa * power.ss);
            probe.gap = scan.dx - support;
            probe.distance_squared = vv - 2.0 * vx + scan.xx;
            let size = scan.dx.abs() - support;
            if has_cancelled(&probe, size, vv + scan.xx, false) {
                (probe.gap, probe.distance_squared) =
                    kernel::residual_dense(self.vectors.formed(update.beta), kappa, &self.scratch);
            }
            probe.support = -support;
        }
        self.end_probe(update, probe, scan, vx, vv)
    }

    fn probe_general(&mut self, update: &Update<'_>, flat: bool) -> Result<Probe> {
        let mut probe = Probe::default();
        let (mut vx, mut vv) = (0.0, 0.0);
        let scan = kernel::scan_direction(self.vectors.form(update), &mut self.scratch);
        if !update.is_moderate(scan.gg, scan.xx) && Self::is_tiny(update, scan.gg, scan.xx)? {
            return self.probe_without_row(update);
        }
        let Self { scratch, atom, .. } = self;
        let x = &self.vectors.x;
        if range::is_zero(scratch) {
            self.found = LastAtom::Nothing;
        } else {
            probe.steepness = scan.dd.sqrt();
            let before = self.oracle.calls();
            atom.clone_from(&self.guess);
            let found = self.oracle.minimise(scratch, atom)?;
            probe.oracle_calls = (self.oracle.calls() - before) as u32;
            let value = found.value;
            self.found = LastAtom::Atom;
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

    /// Completes the probe with the quantities that do not depend on the form of the atom.
    #[inline(always)]
    fn end_probe(
        &mut self,
        update: &Update<'_>,
        mut probe: Probe,
        scan: InnerProducts,
        vx: f64,
        vv: f64,
    ) -> Result<Probe> {
        if update.beta == 0.0 {
            match &self.origin {
                _ if update.restart => probe.support = probe.gap,
                Some(origin) => {
                    probe.support += kernel::dot(&self.vectors.next, origin);
                }
                None => {}
            }
        }
        let Gradient { scale, ridge, .. } = *update.gradient;
        self.squares = [scan.xx, vx, vv].map(Apart);
        probe.beta = update.beta;
        probe.slope = scan.dx;
        probe.norm_squared = scan.xx;
        probe.gradient_norm = update.gradient.norm_from(scan.gg.sqrt(), scan.gx, scan.xx);
        probe.gradient_dot = scale * scan.gx + ridge * scan.xx;
        // Only a set that lies very far from 0, relative to its size, can cause this.
        if !(probe.gap + probe.distance_squared).is_finite() {
            return Err(Error::numerical(0, "the sum of gradients overflowed"));
        }
        Ok(probe)
    }
}

/// The power of two that scales the largest entry of ∇F to about 1.
#[cold]
fn fitting_scale(formed: PassResult<'_>) -> f64 {
    let sizes = (0..formed.x.len()).map(|i| formed.direction(i).abs());
    (-sizes.fold(0.0, f64::max).log2().round()).exp2()
}

impl Point for DenseSurrogate {
    fn dim(&self) -> usize {
        self.vectors.x.len()
    }

    #[inline]
    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.vectors.x.len())?;
        Ok(row.dot(&self.vectors.x))
    }

    fn norm_squared(&self) -> f64 {
        self.norm_squared
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.vectors.x);
    }

    fn as_slice(&self) -> Option<&[f64]> {
        Some(&self.vectors.x)
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        nonzeros(&self.vectors.x, each);
    }
}

impl Surrogate for DenseSurrogate {
    #[inline(always)]
    fn probe(&mut self, update: &Update<'_>, _sure: bool) -> Result<Probe> {
        update.gradient.row.check_shape(self.vectors.x.len())?;
        (self.beta, self.restarts) = (update.beta, update.restart);
        Ok(match update.gradient.row {
            Row::Dense(_) => self.probe_dense(update)?,
            _ => self.probe_sparse(update)?,
        })
    }

    #[inline(always)]
    fn commit(&mut self, motion: Move) {
        if self.restarts {
            self.move_origin();
        }
        let Vectors { x, c, next, .. } = &mut self.vectors;
        std::mem::swap(c, next);
        // x −= share·x and x += s·v, and also x += (1 − s)x₁ for a move from x₁
        let (share, s) = match (self.found, motion) {
            (LastAtom::Nothing, Move::Towards(_)) => (0.0, 0.0),
            (LastAtom::Nothing, Move::ToAtom(_)) => (1.0, 0.0),
            (_, Move::Towards(sigma)) => (sigma, sigma),
            (_, Move::ToAtom(s)) => (1.0, s),
        };
        let keep = 1.0 - share;
        let [xx, vx, vv] = self.squares.map(|square| square.0);
        self.norm_squared = (keep * (keep * xx + 2.0 * s * vx) + s * s * vv).max(0.0);
        match (self.found, motion) {
            (LastAtom::Direction { alpha }, Move::Towards(sigma)) => {
                kernel::step_to_direction(c, x, sigma, alpha, self.beta);
            }
            (LastAtom::Direction { alpha }, Move::ToAtom(s)) => {
                kernel::move_to_direction(c, x, 0.0, s * alpha, self.beta);
            }
            (LastAtom::Power { kappa, scale }, _) => {
                self.scale = scale;
                kernel::move_to_dense(&self.scratch, x, keep, s * kappa);
            }
            (LastAtom::Atom, _) => {
                kernel::shrink(share, x);
                self.atom.add_to(s, x);
                std::mem::swap(&mut self.guess, &mut self.atom);
            }
            (LastAtom::Nothing, _) => kernel::shrink(share, x),
        }
        if let (Some(origin), Move::ToAtom(_)) = (&self.origin, motion) {
            kernel::axpy(1.0 - s, origin, x);
            self.norm_squared = kernel::dot(x, x);
        }
    }

    fn start(&mut self, weight: f64) {
        let Vectors { x, c, .. } = &mut self.vectors;
        match &self.origin {
            None => {
                x.fill(0.0);
                c.fill(0.0);
            }
            Some(origin) => {
                x.copy_from_slice(origin);
                for (c, x) in c.iter_mut().zip(origin) {
                    *c = -weight * x;
                }
            }
        }
        self.norm_squared = kernel::dot(x, x);
    }

    fn gradient_norm(&self, gradient: &Gradient<'_>, q: f64) -> f64 {
        let row = crate::set::norm_p(gradient.row.values(), q) * gradient.scale.abs();
        if gradient.ridge == 0.0 {
            row
        } else {
            row + gradient.ridge.abs() * crate::set::norm_p(&self.vectors.x, q)
        }
    }

    fn save(&self) -> Result<Vec<u8>> {
        let Vectors { x, c, .. } = &self.vectors;
        let numbers = (self.scale, self.norm_squared);
        encode(&(&x[..], &c[..], &self.origin, numbers, &self.guess))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        type Saved = (Vec<f64>, Vec<f64>, Option<Vec<f64>>, (f64, f64), Atom);
        let (x, c, origin, numbers, guess): Saved = decode(saved)?;
        let dim = self.vectors.x.len();
        let all_fit = [&x, &c].into_iter().chain(&origin).all(|v| v.len() == dim);
        check_shape(all_fit && guess.fits(dim))?;
        self.vectors.x.copy_from_slice(&x);
        self.vectors.c.copy_from_slice(&c);
        (self.scale, self.norm_squared) = numbers;
        (self.origin, self.guess) = (origin, guess);
        self.found = LastAtom::Nothing;
        Ok(())
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        let dim = set.dim();
        reserve(&mut self.vectors.base, dim, dim)?;
        if let Some(origin) = &mut self.origin {
            reserve(origin, dim, dim)?;
        }
        self.used().try_for_each(|buffer| buffer.reserve(dim))
    }

    fn grow(&mut self, set: SharedSet) {
        self.oracle = CheckedOracle::of(&*set);
        let dim = set.dim();
        if let Some(origin) = &mut self.origin {
            origin.resize(dim, 0.0);
        }
        self.used().for_each(|buffer| buffer.grow(dim));
        self.set = set;
    }

    fn discard(&mut self) {
        // c' is in the buffer `next`, which the next probe overwrites
        self.found = LastAtom::Nothing;
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }
}
