//! The nearest point of a set in the norm of M, up to a gap that is known.
//!
//! Everything is measured in D: with p = (x − x_t)/D and y = x_t − D·M⁻¹h the square to minimise
//! is ½‖p + M⁻¹h‖²_M, its gradient h + Mp, and the gap ⟨h + Mp, x − v⟩/D with v the oracle's atom.

use super::factor::Factor;
use super::mixture::Mixture;
use crate::Result;
use crate::kernel::{axpy, dot, norm};
use crate::set::{
    Atom, CheckedOracle, Inspector, Oracle, Projection, Set, SharedSet, inspector_of,
};

/// What a projection asks for.
pub(super) struct Wanted<'a> {
    pub metric: &'a Factor,
    pub h: &'a [f64],
    /// M⁻¹h.
    pub way: &'a [f64],
    /// The gap that may be left.
    pub gap: f64,
    /// The most steps.
    pub steps: u64,
}

pub(super) struct Nearest {
    inspect: Inspector,
    diameter: f64,
    oracle: CheckedOracle,
    atom: Atom,
    steps: Steps,
    gradient: Vec<f64>,
    /// The oracle's atom.
    v: Vec<f64>,
    /// Where a step leads, in D.
    way: Vec<f64>,
    half: Vec<f64>,
    start: Vec<f64>,
    best: Vec<f64>,
    before: Vec<f64>,
}

/// How steps are made.
enum Steps {
    /// Gradient steps of the lengths of Barzilai and Borwein, projected, then the best point on
    /// the way there.
    Projected {
        projection: Box<dyn Projection>,
        /// The root of a step's length.
        root: f64,
    },
    /// Frank-Wolfe, its weights corrected after every atom.
    Mixed(Mixture),
}

impl Nearest {
    pub(super) fn new(set: &SharedSet) -> Self {
        let dim = set.dim();
        let room = || vec![0.0; dim];
        let mut steps = match set.projection() {
            Some(projection) => Steps::Projected {
                projection,
                root: 1.0,
            },
            None => Steps::Mixed(Mixture::new(dim)),
        };
        // The first atom and the first projection may be needed late: asked for now, they bring
        // their memory along. Should one fail, it will say so again when it matters.
        let (mut oracle, mut atom) = (CheckedOracle::of(&**set), Atom::new());
        let _ = oracle.minimise(&vec![1.0; dim], &mut atom);
        if let Steps::Projected { projection, .. } = &mut steps {
            let _ = projection.project(&mut vec![2.0 * set.geometry().norm_bound; dim]);
        }
        Self {
            inspect: inspector_of(set),
            diameter: set.geometry().diameter,
            oracle,
            atom,
            steps,
            gradient: room(),
            v: room(),
            way: room(),
            half: room(),
            start: room(),
            best: room(),
            before: room(),
        }
    }

    /// How many numbers one keeps beyond a few vectors.
    pub(super) fn room(set: &dyn Set) -> usize {
        match set.projection() {
            Some(_) => 0,
            None => Mixture::room(set.dim()),
        }
    }

    pub(super) fn oracle_calls(&self) -> u64 {
        self.oracle.calls()
    }

    /// x, the decision played, becomes a point of the set near y; returns the gap that is left.
    pub(super) fn find(&mut self, wanted: &Wanted<'_>, x: &mut [f64]) -> Result<f64> {
        self.start.copy_from_slice(x);
        axpy(-self.diameter, wanted.way, x);
        if (self.inspect)(x).is_some_and(|v| v <= 0.0) {
            return Ok(0.0);
        }
        x.copy_from_slice(&self.start);
        self.gradient.copy_from_slice(wanted.h);
        match &mut self.steps {
            Steps::Projected { root, .. } => *root = 1.0,
            Steps::Mixed(mixture) => {
                wanted.metric.half(wanted.way, &mut self.half);
                mixture.restart(x, &self.half);
            }
        }
        let mut least = f64::INFINITY;
        let mut target = wanted.gap;
        for k in 0..=wanted.steps {
            let gap = if self.gradient.iter().all(|g| *g == 0.0) {
                0.0
            } else {
                self.gap(x)?.max(0.0)
            };
            if gap < least {
                least = gap;
                self.best.copy_from_slice(x);
            }
            if k == 0 {
                // however small the gradient, most of what it asks for is done
                target = target.min(0.1 * gap);
            }
            if !(gap > target) || k == wanted.steps || !self.step(wanted, target, x)? {
                break;
            }
        }
        x.copy_from_slice(&self.best);
        Ok(least)
    }

    /// Asks the oracle how far from optimal x is at most; `v` is then its atom.
    fn gap(&mut self, x: &[f64]) -> Result<f64> {
        let found = self.oracle.minimise(&self.gradient, &mut self.atom)?;
        self.atom.write(&mut self.v);
        difference(x, &self.v, self.diameter, &mut self.way);
        let gap = dot(&self.gradient, &self.way) + found.slack() / self.diameter;
        self.oracle.check_gap(gap * self.diameter, &self.gradient)?;
        Ok(gap)
    }

    /// One step from x. False where none leads on.
    fn step(&mut self, wanted: &Wanted<'_>, target: f64, x: &mut [f64]) -> Result<bool> {
        let Self {
            diameter,
            steps,
            gradient,
            v,
            way,
            half,
            ..
        } = self;
        // the step's share of its way, and x with it
        let moved = match steps {
            Steps::Projected { projection, root } => {
                for ((v, x), g) in v.iter_mut().zip(&*x).zip(&*gradient) {
                    *v = x - *root * (*root * g) * *diameter;
                }
                projection.project(v)?;
                difference(v, x, *diameter, way);
                let share = share(wanted.metric, gradient, way, half);
                if !(share > 0.0) {
                    return Ok(false);
                }
                let share = share.min(1.0);
                for (x, v) in x.iter_mut().zip(&*v) {
                    *x = if share == 1.0 {
                        *v
                    } else {
                        (1.0 - share) * *x + share * v
                    };
                }
                share
            }
            Steps::Mixed(mixture) => {
                // R(v − y)/D
                for (((way, v), x), w) in way.iter_mut().zip(&*v).zip(&self.start).zip(wanted.way) {
                    *way = (v - x) / *diameter + w;
                }
                wanted.metric.half(way, half);
                if !mixture.take(v, half, 0.5 * target) {
                    return Ok(false);
                }
                mixture.write(x);
                1.0
            }
        };
        // h + Mp, from x itself: rounding does not add up
        self.before.copy_from_slice(&self.gradient);
        let (length, curved) = (norm(&self.way), norm(&self.half));
        difference(x, &self.start, self.diameter, &mut self.way);
        wanted.metric.half(&self.way, &mut self.half);
        self.gradient.copy_from_slice(wanted.h);
        wanted.metric.add_other_half(&self.half, &mut self.gradient);
        if let Steps::Projected { root, .. } = &mut self.steps {
            axpy(-1.0, &self.gradient, &mut self.before);
            let turned = norm(&self.before) / moved;
            // the long and the short of both lengths in turn, M ≥ I
            let next = if *root <= length / curved {
                curved / turned
            } else {
                length / curved
            };
            *root = if next > 0.0 && next <= 1.0 { next } else { 1.0 };
        }
        Ok(true)
    }
}

/// out = (a − b)/by.
fn difference(a: &[f64], b: &[f64], by: f64, out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = (a - b) / by;
    }
}

/// Where along the way the square is smallest; `half` is then R times it.
fn share(metric: &Factor, gradient: &[f64], way: &[f64], half: &mut [f64]) -> f64 {
    metric.half(way, half);
    let length = norm(half);
    (-dot(gradient, way) / length) / length
}
