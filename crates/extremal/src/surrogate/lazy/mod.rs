//! Lazy storage on the ℓ2 ball: O(non-zeros) per round.
//!
//! There the atom is a multiple of ∇F = c + βx, so that x and c never leave the span of two
//! vectors w and u as long as no gradient comes. Three pairs of coordinates over (w, u) say where
//! x, c and ∇F are; a move changes coordinates only. A gradient k·a changes the vectors where a is
//! non-zero, by multiples of a that leave x in place and add k·a to c. The inner products of w and
//! u give every length that the step needs.
//!
//! In exact arithmetic nothing more is needed. With rounding, it takes:
//! - ∇F's coordinates by their own recurrence, as c + βx cancels where x nearly minimises F;
//! - w scaled in O(1) when x's coordinate along it vanishes ([`Cells`]);
//! - the inner products computed anew when u has cancelled, or as many non-zeros were absorbed as
//!   four passes over all touched features would go through;
//! - where ∇F, x or v − x cancels over (w, u): a round on all entries, and a better basis;
//! - w = x, u = c before a gradient that dwarfs what x was made of;
//! - scales that keep w and u near 1 whatever the gradients' size.
//!
//! Passes over all entries are rare on noisy streams ([`LazySurrogate::passes`]). Gradients along one
//! line, or sums that cancel over and over, may need one in every round. So may c' = c + k·a + m·x
//! with m ≠ 0, every few rounds: it gives c a part along w, and the moves since make x and c
//! nearly parallel, which a basis chosen before them can't tell apart for long.
//!
//! Nothing depends on features that no gradient has touched: not the numbers, not the time that a
//! pass takes, not the saved span. Features can be added at any time ([`Surrogate::grow`]).

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

/// (x, c) over two vectors that change only where gradients are non-zero.
pub struct LazySurrogate {
    set: SharedSet,
    radius: f64,
    span: Span,
    /// −1/‖∇F‖ of the last probe, unless ∇F = 0.
    alpha: Option<f64>,
    /// The changes of a probe that is not committed: the numbers, and x₁ if F restarts.
    before: Option<(Numbers, Option<Option<SparseVector>>)>,
}

impl LazySurrogate {
    /// Starts at `start`, or the set's centre, with c = 0. Errors unless the set is an ℓ2 ball.
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

    /// The passes over all entries so far.
    pub fn passes(&self) -> Passes {
        self.span.at.passes
    }

    /// out = c; `out` must have [`Point::dim`] entries.
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
        assert_eq!(out.len(), self.dim(), "a decision is written whole");
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

    /// The combination of two vectors is kept where its parts are no more than 100 times as long;
    /// their products are summed up anew before they are off by more.
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
        // before anything changes
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
            // what is left of m once −β has become c
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
                    // Three vectors are too many for the basis: x is written out.
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
