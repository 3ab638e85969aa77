//! Lazy storage on the ℓ2 ball, in O(non-zeros) per round.
//!
//! On this ball the atom is a multiple of ∇F = c + βx, so that a step keeps x and c in the span of
//! two vectors w and u. Three pairs of coordinates describe x, c and ∇F with respect to (w, u), and
//! a step changes these coordinates only. For a gradient k·a, multiples of a are added to w and u.
//! They are such that c grows by k·a and x does not change. Every length that the step needs
//! follows from the inner products of w and u.
//!
//! In exact arithmetic nothing more is needed. Rounding requires these safeguards:
//! - ∇F's coordinates have their own recurrence, because c + βx cancels when x nearly minimises F.
//! - w is scaled in O(1) when the coordinate of x along w vanishes ([`Cells`]).
//! - The inner products are recomputed when u has cancelled, or when the number of absorbed
//!   non-zeros is four times the number of touched features.
//! - If ∇F, x or v − x cancels, one round uses all entries, and the basis is replaced by a better
//!   one.
//! - Before a gradient that is very large compared with x, the basis becomes w = x and u = c.
//! - Scales keep w and u near 1 for gradients of every size.
//!
//! Passes over all entries are rare on noisy streams ([`LazySurrogate::passes`]). Two kinds of
//! streams can need such a pass every few rounds, or in every round. In the first kind, all
//! gradients lie along one line, or have sums that cancel repeatedly. In the second kind, the
//! update is c' = c + k·a + m·x with a non-zero m. Then c has a part along w, later steps make x
//! and c nearly parallel, and the basis soon loses its accuracy.
//!
//! Features that no gradient has touched affect neither the numbers, nor the time of a pass, nor
//! the saved state. Features can be added at any time ([`Surrogate::grow`]).

mod basis;
mod cells;

use crate::point::{Accuracy, nonzeros};
use crate::range::SMALLEST_DIRECTION;
use crate::saved::{decode, encode};
use crate::set::{SharedSet, Structure};
use crate::surrogate::lazy::cells::{Cells, SavedCells};
use crate::surrogate::sparse_vector::SparseVector;
use crate::surrogate::{Move, Probe, Surrogate, Update, place_start};
use crate::{Error, Gradient, Point, Result, Row, kernel};
pub use basis::Passes;
use basis::{Numbers, Span, times};

/// (x, c) in the span of two vectors, which change only where gradients are non-zero.
pub struct LazySurrogate {
    set: SharedSet,
    radius: f64,
    span: Span,
    /// −1/‖∇F‖ of the last probe. It is `None` if ∇F = 0.
    alpha: Option<f64>,
    /// The state before a probe that may be discarded: the numbers and, if F restarts, x₁.
    before: Option<(Numbers, Option<Option<SparseVector>>)>,
}

impl LazySurrogate {
    /// The surrogate with c = 0 and x = `start`, or the set's centre without `start`. Returns an
    /// error unless the set is an ℓ2 ball.
    pub fn new(set: SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let Structure::Euclidean { radius } = set.structure() else {
            return Err(Error::Unsupported(format!(
                "lazy storage does not support set {}: it is only for ℓ2 balls, whose atoms are multiples of the direction",
                set.name()
            )));
        };
        let mut first = vec![0.0; set.dim()];
        place_start(&set, start, &mut first)?;
        let origin = first.iter().any(|v| *v != 0.0).then(|| {
            let mut origin = SparseVector::default();
            nonzeros(&first, &mut |i, v| origin.push(i, v));
            origin
        });
        let mut surrogate = Self {
            radius,
            span: Span::new(set.dim(), origin),
            alpha: None,
            before: None,
            set,
        };
        surrogate.start(0.0);
        Ok(surrogate)
    }

    /// The number of passes over all entries so far.
    pub fn passes(&self) -> Passes {
        self.span.at.passes
    }

    /// Writes c into `out`, which must have [`Point::dim`] entries.
    pub fn write_sum(&self, out: &mut [f64]) {
        self.span.cells.write(self.span.at.c, out);
    }
}

impl Point for LazySurrogate {
    fn dim(&self) -> usize {
        self.span.cells.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.dim())?;
        Ok(self.radius * self.span.cells.dot(row, self.span.at.x))
    }

    fn norm_squared(&self) -> f64 {
        let Numbers { gram, x, .. } = &self.span.at;
        self.radius * self.radius * gram.dot(*x, *x).max(0.0)
    }

    fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "out has the decision's dimension");
        self.span
            .cells
            .write(times(self.radius, self.span.at.x), out);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        let entries = self.span.cells.entries(times(self.radius, self.span.at.x));
        entries
            .filter(|(_, v)| *v != 0.0)
            .for_each(|(i, v)| each(i, v));
    }

    /// x is a combination of two vectors. Each of its two parts is at most 100 times as long as x.
    /// Inner products are recomputed before their error exceeds this accuracy.
    fn accuracy(&self) -> Accuracy {
        Accuracy {
            dot: 128.0,
            norm: 4096.0,
        }
    }
}

impl Surrogate for LazySurrogate {
    #[inline(always)]
    fn probe(&mut self, update: &Update<'_>, sure: bool) -> Result<Probe> {
        let gradient = update.gradient;
        gradient.row.check_shape(self.dim())?;
        let row_norm = kernel::norm(gradient.row.values());
        // all checks precede the first change
        let gradient = &update.admit(row_norm, self.norm_squared())?;
        let Self {
            radius,
            span,
            before,
            ..
        } = self;
        let r = *radius;
        let (m, beta) = (r * update.decision_factor(), r * update.beta);
        let k = update.weight * gradient.scale;
        let size = k.abs() * row_norm;
        let pull = match &span.origin {
            Some(origin) if update.origin != 0.0 => {
                update.origin.abs() * kernel::norm(&origin.values)
            }
            _ => 0.0,
        };

        if !sure {
            span.cells.note(true);
            let origin = update.restart.then(|| span.origin.clone());
            *before = Some((span.at, origin));
        }
        if update.restart {
            span.start_over(beta, r);
            // the remainder of m, because the restart has already set c to −βx
            span.bend(m + beta, beta);
        } else {
            span.bend(m, beta);
        }
        let row_dot = r * if size >= SMALLEST_DIRECTION {
            span.absorb(&gradient.row, k, size)
        } else {
            span.cells.dot(&gradient.row, span.at.x)
        };
        if let Some(origin) = span.origin.take_if(|_| pull >= SMALLEST_DIRECTION) {
            span.absorb(&origin.row(), update.origin, pull);
            span.origin = Some(origin);
        }
        let found = match span.measure() {
            Some(found) => found,
            None => span.measure_entries(),
        };
        self.alpha = (found.norm > 0.0).then(|| -1.0 / found.norm);
        let norm_squared = r * r * found.xx;
        let mut support = r * found.norm;
        if let (Some(origin), true, true) = (&span.origin, update.beta == 0.0, support > 0.0) {
            support += span.cells.dot(&origin.row(), span.at.c);
        }
        Ok(Probe {
            gap: r * found.gap,
            slack: 0.0,
            distance_squared: r * r * found.distance,
            slope: r * found.slope,
            norm_squared,
            beta: update.beta,
            support,
            gradient_norm: gradient.norm_from(row_norm, row_dot, norm_squared),
            gradient_dot: gradient.scale * row_dot + gradient.ridge * norm_squared,
            steepness: found.norm,
            oracle_calls: u32::from(self.alpha.is_some()),
        })
    }

    fn commit(&mut self, motion: Move) {
        if self.before.is_some() {
            self.before = None;
            self.span.cells.note(false);
        }
        let Self { radius, span, .. } = self;
        match (self.alpha.take(), motion) {
            (None, Move::Towards(_)) => {}
            (Some(alpha), Move::Towards(sigma)) => span.step(sigma, alpha),
            (alpha, Move::ToAtom(s)) => {
                let s = if alpha.is_some() { s } else { 0.0 };
                span.place(s, alpha.unwrap_or(0.0));
                if let Some(origin) = span.origin.take() {
                    // The basis can't represent three vectors, so x is written out.
                    span.write_out(0.0);
                    let k = (1.0 - s) / (*radius * span.at.x[0]);
                    span.cells.add([k, 0.0], &origin.indices, &origin.values);
                    span.origin = Some(origin);
                    span.measure_basis();
                }
            }
        }
    }

    fn start(&mut self, weight: f64) {
        let (r, span) = (self.radius, &mut self.span);
        self.alpha = None;
        span.cells.clear();
        if let Some(SparseVector { indices, values }) = &span.origin {
            let place = if weight == 0.0 {
                [1.0 / r, 0.0]
            } else {
                [0.0, 1.0 / r]
            };
            span.cells.add(place, indices, values);
        }
        span.rest_on_origin(weight * r);
    }

    fn gradient_norm(&self, gradient: &Gradient<'_>, q: f64) -> f64 {
        let row = crate::set::norm_p(gradient.row.values(), q) * gradient.scale.abs();
        let stretch = (self.dim() as f64).powf((1.0 / q - 0.5).max(0.0));
        row + gradient.ridge.abs() * stretch * self.norm_squared().sqrt()
    }

    fn save(&self) -> Result<Vec<u8>> {
        let Span { cells, at, origin } = &self.span;
        encode(&(at, origin, cells.save()))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (at, origin, cells): (Numbers, Option<SparseVector>, SavedCells) = decode(saved)?;
        let dim = self.dim();
        if let Some(origin) = &origin {
            origin.check(dim)?;
        }
        let cells = Cells::restore(&cells, dim)?;
        self.span = Span { cells, at, origin };
        self.alpha = None;
        Ok(())
    }

    fn discard(&mut self) {
        self.alpha = None;
        if let Some((numbers, origin)) = self.before.take() {
            self.span.cells.undo();
            self.span.at = numbers;
            if let Some(origin) = origin {
                self.span.origin = origin;
            }
        }
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        self.span.cells.reserve(set.dim())
    }

    fn grow(&mut self, set: SharedSet) {
        self.span.cells.grow(set.dim());
        self.set = set;
    }
}
