//! The search for the best fixed decision, and proven bounds on its total loss.

use crate::rounding::{self, UNIT};
use crate::set::{Set, centre_of, check_len, check_point};
use crate::solver::{Method, Search, Task, Total};
use crate::{Error, Result, kernel};

/// Options of the search for the best decision. The search ends when one of the two gaps is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// The gap value − floor at which the search ends, relative to |value|.
    pub relative_gap: f64,
    /// The gap value − floor at which the search ends.
    pub absolute_gap: f64,
    /// The largest number of steps.
    pub steps: u64,
    /// The starting point, which must lie in the set. The default is the set's centre.
    pub start: Option<Vec<f64>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            relative_gap: 1e-6,
            absolute_gap: 0.0,
            steps: 10_000,
            start: None,
        }
    }
}

/// The best fixed decision that the search found. It is proven that the smallest total loss over the
/// set lies between `floor` and `value`. The proof includes all rounding errors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Best {
    /// The decision.
    pub x: Vec<f64>,
    /// The total loss of the decision, or a slightly larger number.
    pub value: f64,
    /// A lower bound on the total loss of every decision of the set.
    pub floor: f64,
    /// The method that ran last.
    pub method: Method,
    /// The number of steps.
    pub steps: u64,
    /// The number of oracle calls, including those for the proof.
    pub oracle_calls: u64,
}

impl Best {
    /// value − floor.
    pub fn gap(&self) -> f64 {
        self.value - self.floor
    }

    /// The gap relative to |value|.
    pub fn relative_gap(&self) -> f64 {
        self.gap() / self.value.abs().max(f64::MIN_POSITIVE)
    }

    /// An interval that contains the regret of a learner with this total loss on the same rounds.
    pub fn regret(&self, total_loss: f64) -> Interval {
        let rounding = |end: f64| f64::EPSILON * (total_loss.abs() + end.abs());
        Interval {
            lower: total_loss - self.value - rounding(self.value),
            upper: total_loss - self.floor + rounding(self.floor),
        }
    }
}

/// An interval that contains a regret.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

/// Finds the best fixed decision of a set for a total loss f.
///
/// A step costs one or two passes over the data, and one oracle call. The oracle call gives a lower
/// bound: with the gradient g at x, every u of the set has f(u) ≥ f(x) − max_v ⟨g, x − v⟩. A total
/// with kinks is replaced by smooth functions that approach it. Their lower bounds also hold for the
/// total.
///
/// The search uses ordinary floating-point numbers. At its end, the value and the floor are computed
/// again with twice the digits and an allowance for every rounding error ([`Total::minorant`]). The
/// returned numbers are therefore proven.
///
/// The search ends when a gap is small enough, when the steps are used up, or when further steps
/// change only digits that are rounding errors. If the smallest total is 0, a relative gap can't be
/// reached. Check [`Best::gap`].
pub fn solve(total: &dyn Total, set: &dyn Set, options: &Options) -> Result<Best> {
    solve_while(total, set, options, &|| true)
}

/// Does the same as [`solve`], and calls `go_on` before every step. When `go_on` returns false, the
/// search ends and returns the best decision so far, with its gap.
///
/// ```
/// use std::cell::Cell;
/// use extremal::{hindsight::{Options, Sum, solve_while}, Objective, Row, SetSpec};
/// let set = "l2:radius=5,dim=2".parse::<SetSpec>()?.build(None)?;
/// let loss = "logistic".parse::<extremal::LossSpec>()?.build()?;
/// let mut sum = Sum::new(2, &Objective::new(loss, 0.0)?)?;
/// sum.push(Row::Dense(&[1.0, 2.0]), 1.0, 1.0)?;
/// sum.push(Row::Dense(&[1.0, 1.5]), -1.0, 1.0)?;
/// let steps = Cell::new(0);
/// let three = || steps.replace(steps.get() + 1) < 3;
/// let early = solve_while(&sum, &*set, &Options::default(), &three)?;
/// assert!(early.steps == 3 && early.floor < early.value);
/// # Ok::<(), extremal::Error>(())
/// ```
pub fn solve_while(
    total: &dyn Total,
    set: &dyn Set,
    options: &Options,
    go_on: &dyn Fn() -> bool,
) -> Result<Best> {
    check_len("set", total.dim(), set.dim())?;
    for (name, gap) in [
        ("relative_gap", options.relative_gap),
        ("absolute_gap", options.absolute_gap),
    ] {
        if !(gap >= 0.0) {
            return Err(Error::parameter("hindsight", name, gap, "a number ≥ 0"));
        }
    }
    let mut x = centre_of(set);
    if let Some(start) = &options.start {
        check_point(set.dim(), start)?;
        if let Some(v) = set.violation(start).filter(|v| !(*v <= 1e-9)) {
            let found = format!("a point with violation {v:e}");
            let allowed = "a point of the set";
            return Err(Error::parameter("hindsight", "start", found, allowed));
        }
        x.copy_from_slice(start);
        // a start that rounding moved outside the set could be better than every point of the set
        if let Some(mut projection) = set.projection() {
            projection.project(&mut x)?;
        }
    }
    let task = Task {
        relative_gap: options.relative_gap,
        absolute_gap: options.absolute_gap,
        go_on,
        ..Task::new(total, options.steps)
    };
    let mut comparator = Comparator {
        set,
        search: Search::new(set, total.images()),
        direction: Vec::new(),
    };
    comparator.search.restart(&x);
    comparator.find(options.method, task, &mut x)?;
    comparator.finish(total)
}

/// The search for the best fixed decision.
struct Comparator<'a> {
    set: &'a dyn Set,
    search: Search,
    /// The direction of the last oracle call for a proof.
    direction: Vec<f64>,
}

impl Comparator<'_> {
    fn find(&mut self, method: Method, mut task: Task<'_>, x: &mut [f64]) -> Result<()> {
        let total = task.total;
        if total.is_linear() && matches!(method, Method::Linear | Method::Auto) {
            return self.one_call(total, x);
        }
        if method == Method::Linear {
            let why = "hindsight: the method linear needs linear losses; use the method auto";
            return Err(Error::Unsupported(why.into()));
        }
        if total.smoothness(0.0) < f64::INFINITY {
            self.search.descend(method, &task, x)?;
            return Ok(());
        }
        // Reduce the smoothing step by step. Each search starts from the last result, and its accuracy
        // matches the smoothing.
        const FINER: f64 = 0.25;
        let (mut image, mut gradient) = (vec![0.0; total.images()], vec![0.0; total.dim()]);
        let reading = total.evaluate(0.0, x, &mut image, &mut gradient);
        if reading.value.is_finite() {
            self.search.certify(&task, x, &gradient, reading)?;
        }
        // the slack is μ·(Σws²)/2 if s are the slopes of the loss
        task.mu = 1.0;
        let smoothed = total.at_image(1.0, x, &image, &mut gradient);
        let (slack, scale) = (smoothed.smoothing_slack, reading.unsmoothed.abs());
        if slack > 0.0 && scale > 0.0 && scale.is_finite() {
            task.mu = 0.1 * scale / slack;
        }
        let finest = 1e-14 * task.mu;
        while !self.search.is_done(&task)
            && !self.search.halted
            && self.search.steps < task.steps
            && task.mu > finest
        {
            let here = total.at_image(task.mu, x, &image, &mut gradient);
            task.gap = 0.2 * here.smoothing_slack.max(f64::MIN_POSITIVE);
            self.search.descend(method, &task, x)?;
            task.evaluate(x, &mut image, &mut gradient);
            task.mu *= FINER;
        }
        Ok(())
    }

    fn one_call(&mut self, total: &dyn Total, x: &[f64]) -> Result<()> {
        let mut gradient = vec![0.0; x.len()];
        self.search.method = Method::Linear;
        total.minorant(0.0, x, 0.0, &mut gradient);
        self.minimise(gradient)?;
        self.search.steps += 1;
        self.search.atom.write(&mut self.search.best);
        self.search.lifted.0.copy_from_slice(&self.search.best);
        Ok(())
    }

    /// Calls the oracle, unless its last call had the same direction.
    fn minimise(&mut self, direction: Vec<f64>) -> Result<()> {
        if self.direction != direction {
            self.search.minimise(&direction)?;
            self.direction = direction;
        }
        Ok(())
    }

    /// An upper bound on the total at x, and a lower bound on the total at every point of the set,
    /// both computed from the gradient g at x.
    ///
    /// Every u of the set has f(u) ≥ constant + ⟨g, u⟩, and the oracle's atom v minimises ⟨g, ·⟩ up to
    /// the oracle's accuracy. Since f is σ-strongly convex, f(u) ≥ constant + ⟨g, x⟩ − ‖g‖²/(2σ) also
    /// holds.
    fn prove(&mut self, total: &dyn Total, x: &[f64], mu: f64) -> Result<(f64, f64)> {
        let geometry = self.set.geometry();
        let (diameter, norm_bound) = (geometry.diameter, geometry.norm_bound);
        let mut gradient = vec![0.0; x.len()];
        // Points of the search lie in the set, or outside it by at most the length of a step.
        let proof = total.minorant(mu, x, 2.0 * diameter, &mut gradient);
        if !(proof.value.is_finite() && kernel::find_not_finite(&gradient).is_none()) {
            let steps = self.search.steps;
            return Err(Error::numerical(steps, "the total loss overflowed"));
        }
        self.minimise(gradient)?;
        let gradient = &self.direction[..];
        let mut atom = vec![0.0; x.len()];
        self.search.atom.write(&mut atom);
        let steep = kernel::norm(gradient) * (1.0 + rounding::of_dot(x.len()));
        let allowance = rounding::of_oracle(x.len(), steep, diameter, norm_bound);
        let mut floor =
            proof.constant + rounding::dot(gradient, &atom).value() - self.search.slack - allowance;
        let sigma = total.strong_convexity() * (1.0 - 1e-9);
        if sigma > 0.0 {
            let here = proof.constant + rounding::dot(gradient, x).value();
            let rest = 8.0 * UNIT * (proof.constant.abs() + steep * kernel::norm(x));
            floor = floor.max(here - (0.5 + 1e-12) * steep * (steep / sigma) - rest);
        }
        // x may lie slightly outside the set: the oracle's error moves an atom, rounding moves a
        // point of the search, and a starting point may have a violation.
        let stray = self.set.violation(x).unwrap_or(0.0) * 4.0 * (x.len() as f64).sqrt();
        let outside = if self.search.method == Method::Linear {
            allowance
        } else {
            (UNIT * (16.0 + 0.5 * x.len() as f64) + stray) * steep * norm_bound
        };
        Ok((proof.value + outside, floor))
    }

    fn finish(mut self, total: &dyn Total) -> Result<Best> {
        let best = std::mem::take(&mut self.search.best);
        let (lifted, mu) = std::mem::take(&mut self.search.lifted);
        let (value, mut floor) = self.prove(total, &best, 0.0)?;
        if mu > 0.0 || lifted != best {
            floor = floor.max(self.prove(total, &lifted, mu)?.1);
        }
        if !(floor <= value) {
            let what = format!(
                "the lower bound {floor:e} on the total loss over set {} exceeds the total loss {value:e} of one of its points; check the set's oracle and constants, and the losses",
                self.set.name()
            );
            return Err(Error::numerical(self.search.steps, what));
        }
        Ok(Best {
            floor,
            value,
            x: best,
            method: self.search.method,
            steps: self.search.steps,
            oracle_calls: self.search.oracle_calls(),
        })
    }
}
