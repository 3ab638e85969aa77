//! The parts that all methods share: the memory, the best point and lower bound so far, and the
//! stopping rules.

use serde::{Deserialize, Serialize};

use super::frank_wolfe::frank_wolfe;
use super::{ActiveSet, Imaged, Total, TotalValue, projected};
use crate::set::{Atom, CheckedOracle, Geometry, Minimum, Oracle, Projection, Set};
use crate::{Error, Result, kernel};

/// Methods that search for the minimum. All of them prove their result in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The method that suits the set and the losses. Linear losses need one oracle call. For a set
    /// with a projection it is [`Method::Spectral`], followed by [`Method::Accelerated`] if the first
    /// is slow. For other strongly convex sets it is [`Method::FrankWolfe`], and for all other sets
    /// [`Method::Pairwise`].
    #[default]
    Auto,
    /// One oracle call. The losses must be linear.
    Linear,
    /// Projected gradient with Barzilai-Borwein steps and a non-monotone line search (Birgin, Martínez
    /// & Raydan, 2000). A step makes one pass over the data.
    Spectral,
    /// Accelerated projected gradient with backtracking (Beck & Teboulle, 2009). It restarts when the
    /// momentum points uphill (O'Donoghue & Candès, 2015). A step makes one pass over the data.
    Accelerated,
    /// Frank-Wolfe with exact line search.
    FrankWolfe,
    /// Blended pairwise Frank-Wolfe steps (Tsuji, Tanaka & Pokutta, 2022). They converge linearly on
    /// polytopes, and use few atoms.
    Pairwise,
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// The total to minimise, and the stopping rules.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub total: &'a dyn Total,
    /// The width μ of the smoothing.
    pub mu: f64,
    /// The search stops when value − floor is at most `absolute_gap`, or at most `relative_gap` times
    /// |value|.
    pub absolute_gap: f64,
    pub relative_gap: f64,
    /// A method stops when the gap of the smoothed function is at most `gap`, and at most `first_gap`
    /// times the method's first gap.
    pub gap: f64,
    pub first_gap: f64,
    /// A Frank-Wolfe method stops after a step that leads to this value or below.
    pub value: f64,
    /// The largest number of steps, counted from [`Search::restart`].
    pub steps: u64,
    /// The search calls this function before every step, and stops when the result is false.
    pub go_on: &'a dyn Fn() -> bool,
}

impl<'a> Task<'a> {
    /// Minimises this total in at most `steps` steps, as accurately as rounding allows.
    pub fn new(total: &'a dyn Total, steps: u64) -> Self {
        Self {
            total,
            mu: 0.0,
            absolute_gap: 0.0,
            relative_gap: 0.0,
            gap: 0.0,
            first_gap: f64::INFINITY,
            value: f64::NEG_INFINITY,
            steps,
            go_on: &|| true,
        }
    }

    /// Writes the image of x and the gradient at x.
    pub fn evaluate(&self, x: &[f64], image: &mut [f64], gradient: &mut [f64]) -> TotalValue {
        self.total.evaluate(self.mu, x, image, gradient)
    }

    /// The s in [0, most] that minimises the total at from + s·by. `slope` is the derivative at s = 0.
    pub fn line_search(&self, slope: f64, most: f64, from: Imaged<'_>, by: Imaged<'_>) -> f64 {
        if !(slope < 0.0) {
            return 0.0;
        }
        let at = |s: f64| self.total.along(self.mu, s, from, by).1;
        let (mut low, mut low_slope) = (0.0, slope);
        let (mut high, mut high_slope) = (most, at(most));
        if high_slope <= 0.0 {
            return most;
        }
        let mut s = 0.0;
        for k in 0..60 {
            // Makes secant steps, and a bisection every third time. At a kink, secant steps alone
            // would stall.
            let secant = low - low_slope * ((high - low) / (high_slope - low_slope));
            s = if k % 3 < 2 && secant > low && secant < high {
                secant
            } else {
                0.5 * (low + high)
            };
            let here = at(s);
            if here.abs() <= 1e-7 * -slope || !(s > low && s < high) {
                break;
            }
            if here < 0.0 {
                (low, low_slope) = (s, here)
            } else {
                (high, high_slope) = (s, here)
            }
        }
        s
    }
}

/// The vectors of a method, reused in every search.
#[derive(Default)]
pub(super) struct Memory {
    pub active: ActiveSet,
    pub points: [Vec<f64>; 6],
    pub images: [Vec<f64>; 5],
    /// The images of the atoms, their inner products, and their inner products with the image of x.
    pub products: [Vec<f64>; 3],
}

/// A search over one set: its memory, and its results since [`Search::restart`].
pub(crate) struct Search {
    geometry: Geometry,
    oracle: CheckedOracle,
    projection: Option<Box<dyn Projection>>,
    memory: Memory,
    /// The oracle's last atom, and a bound on how far its value lies above the minimum.
    pub atom: Atom,
    pub slack: f64,
    /// The method that is running or that ran last.
    pub method: Method,
    pub steps: u64,
    /// Whether [`Task::go_on`] has returned false.
    pub halted: bool,
    /// The point with the smallest value.
    pub best: Vec<f64>,
    /// The point whose gradient proved the highest floor, and the smoothing μ at this point.
    pub lifted: (Vec<f64>, f64),
    /// The point with the smallest gap of the current method, and this gap.
    pub nearest: Vec<f64>,
    pub least_gap: f64,
    /// The first gap of the current method.
    first_gap: f64,
    /// The number of steps that did not halve the smallest gap.
    idle: u32,
    /// The smallest value and the highest floor so far, to the accuracy of the search.
    value: f64,
    floor: f64,
}

impl Search {
    /// A search over this set, for totals whose images have length `images`.
    pub fn new(set: &dyn Set, images: usize) -> Self {
        let zeros = || vec![0.0; set.dim()];
        Self {
            geometry: set.geometry(),
            oracle: CheckedOracle::of(set),
            projection: set.projection(),
            memory: Memory {
                active: ActiveSet::new(set.dim()),
                points: std::array::from_fn(|_| zeros()),
                images: std::array::from_fn(|_| vec![0.0; images]),
                products: Default::default(),
            },
            atom: Atom::new(),
            slack: 0.0,
            method: Method::Auto,
            steps: 0,
            halted: false,
            best: zeros(),
            lifted: (zeros(), 0.0),
            nearest: zeros(),
            least_gap: f64::INFINITY,
            first_gap: f64::INFINITY,
            idle: 0,
            value: f64::INFINITY,
            floor: f64::NEG_INFINITY,
        }
    }

    /// Makes the oracle and the projection allocate their memory now instead of in a later round, and
    /// reserves memory for mixtures of `atoms` atoms. Errors are ignored here, because the same call
    /// will fail again in a round.
    pub fn warm_up(&mut self, atoms: usize) {
        let dim = self.best.len();
        let _ = self.oracle.minimise(&vec![1.0; dim], &mut self.atom);
        if let Some(projection) = &mut self.projection {
            let far = 2.0 * self.geometry.norm_bound;
            let _ = projection.project(&mut vec![far; dim]);
            // the image of a step's end point is computed from a dense atom
            self.atom.dense_mut(dim);
        } else {
            // an atom of the oracle, and a dense atom
            let active = &mut self.memory.active;
            active.add(&self.atom, 0.5);
            self.atom.dense_mut(dim);
            active.add(&self.atom, 0.5);
            active.reserve(atoms);
            active.clear();
            let width = self.memory.images[0].len();
            let lengths = [atoms * width, atoms * atoms, atoms];
            for (numbers, length) in self.memory.products.iter_mut().zip(lengths) {
                numbers.reserve(length);
            }
        }
    }

    /// Discards all results. The next search starts at `x`.
    pub fn restart(&mut self, x: &[f64]) {
        (self.steps, self.halted) = (0, false);
        (self.value, self.floor) = (f64::INFINITY, f64::NEG_INFINITY);
        self.best.copy_from_slice(x);
        self.lifted.0.copy_from_slice(x);
        self.lifted.1 = 0.0;
    }

    /// The final mixture of [`Method::Pairwise`].
    pub fn into_active_set(self) -> ActiveSet {
        self.memory.active
    }

    /// The number of oracle calls.
    pub fn oracle_calls(&self) -> u64 {
        self.oracle.calls()
    }

    /// Calls the oracle, and stores its answer in `atom`.
    pub fn minimise(&mut self, direction: &[f64]) -> Result<Minimum> {
        let found = self.oracle.minimise(direction, &mut self.atom)?;
        self.slack = found.slack();
        Ok(found)
    }

    /// Runs a method from x, and writes its last point to x. `Auto` may run two methods. Returns
    /// whether the gap of the (smoothed) function is small enough.
    pub fn descend(&mut self, method: Method, task: &Task<'_>, x: &mut [f64]) -> Result<bool> {
        let curved = self.geometry.strong_convexity.is_some();
        match method {
            Method::Auto if self.projection.is_some() => {}
            Method::Auto if curved => return self.run(Method::FrankWolfe, task, x),
            Method::Auto => return self.run(Method::Pairwise, task, x),
            given => return self.run(given, task, x),
        }
        // This many steps are enough for well-conditioned sums. Other sums gain from momentum.
        const TRIAL: u64 = 300;
        let trial = Task {
            steps: task.steps.min(self.steps + TRIAL),
            ..*task
        };
        let good = self.run(Method::Spectral, &trial, x)?;
        if good || self.halted {
            return Ok(good);
        }
        self.run(Method::Accelerated, task, x)
    }

    fn run(&mut self, method: Method, task: &Task<'_>, x: &mut [f64]) -> Result<bool> {
        self.method = method;
        (self.least_gap, self.idle) = (f64::INFINITY, 0);
        let mut memory = std::mem::take(&mut self.memory);
        let mut projection = self.projection.take();
        let good = match (method, projection.as_deref_mut()) {
            (Method::Spectral, Some(p)) => projected::spectral(self, task, &mut memory, p, x),
            (Method::Accelerated, Some(p)) => projected::accelerated(self, task, &mut memory, p, x),
            (Method::Spectral | Method::Accelerated, None) => Err(Error::Unsupported(format!(
                "hindsight: the method {method} needs a projection, which the set does not have; use the method auto"
            ))),
            _ => frank_wolfe(self, task, &mut memory, x, method != Method::FrankWolfe),
        };
        (self.memory, self.projection) = (memory, projection);
        good
    }

    /// Records a feasible point and its total, if the total is the smallest so far.
    pub fn offer(&mut self, x: &[f64], unsmoothed: f64) {
        if unsmoothed < self.value {
            self.value = unsmoothed;
            self.best.copy_from_slice(x);
        }
    }

    /// Increases the floor with the gradient at a point x, which may be infeasible. Stores the
    /// oracle's answer in `atom`. Returns the gap of the smoothed function.
    pub fn bound(
        &mut self,
        task: &Task<'_>,
        x: &[f64],
        gradient: &[f64],
        reading: TotalValue,
    ) -> Result<f64> {
        // the unsmoothed function may be ∞ where a loss is not defined
        if !reading.value.is_finite() {
            return Err(Error::numerical(self.steps, "the total loss overflowed"));
        }
        let found = self.minimise(gradient)?;
        let slope = kernel::dot(gradient, x);
        let gap = slope - found.value;
        let rounding = reading.rounding + 4.0 * f64::EPSILON * (slope.abs() + found.value.abs());
        let mut floor = reading.value - gap - self.slack + reading.smoothing_slack - rounding;
        let sigma = task.total.strong_convexity();
        if sigma > 0.0 {
            // The curvature of f implies this lower bound.
            let steep = kernel::norm(gradient);
            floor = floor.max(reading.value - 0.5 * steep * (steep / sigma) - rounding);
        }
        if floor > self.floor {
            self.floor = floor;
            self.lifted.0.copy_from_slice(x);
            self.lifted.1 = task.mu;
        }
        Ok(gap)
    }

    /// Calls [`Search::offer`] and [`Search::bound`] for a feasible point.
    pub fn certify(
        &mut self,
        task: &Task<'_>,
        x: &[f64],
        gradient: &[f64],
        reading: TotalValue,
    ) -> Result<f64> {
        self.offer(x, reading.unsmoothed + reading.rounding);
        let gap = self.bound(task, x, gradient, reading)?;
        self.oracle.check_gap(gap + self.slack, gradient)?;
        Ok(gap)
    }

    /// The gap of the smoothed function at which the current method ends.
    pub fn target(&self, task: &Task<'_>) -> f64 {
        task.gap.min(task.first_gap * self.first_gap)
    }

    /// Whether the gap between value and floor is small enough.
    pub fn is_done(&self, task: &Task<'_>) -> bool {
        let allowed = task.absolute_gap.max(task.relative_gap * self.value.abs());
        self.value - self.floor <= allowed
    }

    /// The gap that rounding alone can cause. It follows from the change of the gradient when x
    /// changes in its last digit. For a tiny x, the last digit of the set's size replaces ‖x‖.
    fn grain(&self, task: &Task<'_>) -> f64 {
        let least = f64::EPSILON * self.geometry.norm_bound;
        let curvature = task.total.smoothness_bound(task.mu);
        let length = kernel::norm(&self.best).max(least);
        let grain = f64::EPSILON * length * (curvature * self.geometry.diameter);
        if grain.is_finite() { grain } else { 0.0 }
    }

    /// Decides whether a method ends at x, where its gap is `gap`. Returns `None` if the method makes
    /// another step. If it ends, returns whether the gap is small enough.
    pub fn stop(&mut self, task: &Task<'_>, x: &[f64], gap: f64) -> Option<bool> {
        let gap = gap + self.slack;
        if self.least_gap == f64::INFINITY {
            self.first_gap = gap;
        }
        let halved = gap <= 0.5 * self.least_gap;
        if gap < self.least_gap {
            self.least_gap = gap;
            self.nearest.copy_from_slice(x);
        }
        if self.is_done(task) || gap <= self.target(task) {
            return Some(true);
        }
        if gap <= self.grain(task) {
            // The grain is a worst case. A gap that halves within a few steps is not a rounding error.
            const TRIES: u32 = 3;
            self.idle = if halved { 0 } else { self.idle + 1 };
            if self.idle > TRIES {
                return Some(true);
            }
        }
        self.halted = self.halted || !(task.go_on)();
        if self.halted || self.steps >= task.steps {
            return Some(false);
        }
        self.steps += 1;
        None
    }
}
