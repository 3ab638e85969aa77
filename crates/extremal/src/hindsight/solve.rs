//! The search for the best fixed decision, and the proof of how good it is.

use crate::rounding::{self, UNIT};
use crate::set::{Set, centre_of, check_len, check_point};
use crate::solver::{Method, Search, Task, Total};
use crate::{Error, Result, kernel};

/// Options of the search for the best decision. It ends as soon as either gap is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// The gap, value − floor, relative to |value|.
    pub relative_gap: f64,
    /// The gap, value − floor.
    pub absolute_gap: f64,
    /// The largest number of steps.
    pub steps: u64,
    /// The starting point, in the set; its centre by default.
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

/// The best fixed decision that the search found, with proven bounds: the smallest total lies
/// between `floor` and `value`, rounding included.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Best {
    /// The decision.
    pub x: Vec<f64>,
    /// Its total loss, or a little more: no less than the smallest one of the set.
    pub value: f64,
    /// No decision of the set has a smaller total.
    pub floor: f64,
    /// The method that found it.
    pub method: Method,
    /// The number of steps.
    pub steps: u64,
    /// The number of oracle calls, certificates included.
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

    /// The interval that contains the regret of a learner with this total loss on the same rounds.
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

/// The best fixed decision of a set for a total of losses.
///
/// Every step costs one pass over the data or two, and one oracle call that certifies: with the
/// gradient g at x, no v of the set has f(v) < f(x) − max_v ⟨g, x − v⟩. Totals with kinks are
/// smoothed, less and less. The floors of the smoothed functions hold for the total itself.
///
/// The search computes in ordinary digits. The value and the floor that are returned are computed
/// once more at its end, in twice the digits and with an allowance for every rounding error
/// ([`Total::minorant`]): they are proven, not estimated.
///
/// The search ends once a gap is small enough, the steps are used up, or further steps change only
/// digits that are rounding (a relative gap can't be reached where the smallest total is 0). Check
/// [`Best::gap`].
pub fn solve(total: &dyn Total, set: &dyn Set, options: &Options) -> Result<Best> {
    solve_while(total, set, options, &|| true)
}

/// Like [`solve`], and calls `go_on` before every step. Once it returns false, the search ends and
/// returns the best decision so far, with its gap.
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
            let (found, expected) = (
                format!("a point with violation {v:e}"),
                "a point of the set",
            );
            return Err(Error::parameter("hindsight", "start", found, expected));
        }
        x.copy_from_slice(start);
        // a point that lies outside by rounding could be better than any in the set
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
        asked: Vec::new(),
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
    asked: Vec<f64>,
}

impl Comparator<'_> {
    fn find(&mut self, method: Method, mut task: Task<'_>, x: &mut [f64]) -> Result<()> {
        let total = task.total;
        if total.is_linear() && matches!(method, Method::Linear | Method::Auto) {
            return self.one_call(total, x);
        }
        if method == Method::Linear {
            let why = "hindsight: the method linear is for linear losses";
            return Err(Error::Unsupported(why.into()));
        }
        if total.smoothness(0.0) < f64::INFINITY {
            self.search.descend(method, &task, x)?;
            return Ok(());
        }
        // Reduce the smoothing step by step. Each search starts from the last one's result, and its
        // accuracy matches the smoothing.
        const FINER: f64 = 0.25;
        let (mut image, mut gradient) = (vec![0.0; total.images()], vec![0.0; total.dim()]);
        let reading = total.evaluate(0.0, x, &mut image, &mut gradient);
        if reading.value.is_finite() {
            self.search.certify(&task, x, &gradient, reading)?;
        }
        // smoothing_slack = μ·(Σws²)/2 where the slopes are those of the loss
        task.mu = 1.0;
        let smoothing_slack = total
            .at_image(1.0, x, &image, &mut gradient)
            .smoothing_slack;
        let scale = reading.unsmoothed.abs();
        if smoothing_slack > 0.0 && scale > 0.0 && scale.is_finite() {
            task.mu = 0.1 * scale / smoothing_slack;
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
        self.ask(gradient)?;
        self.search.steps += 1;
        self.search.atom.write(&mut self.search.best);
        self.search.lifted.0.copy_from_slice(&self.search.best);
        Ok(())
    }

    /// Calls the oracle, unless its last call had the same direction.
    fn ask(&mut self, gradient: Vec<f64>) -> Result<()> {
        if self.asked != gradient {
            self.search.minimise(&gradient)?;
            self.asked = gradient;
        }
        Ok(())
    }

    /// Bounds from x: a value that its total does not exceed, and a floor for the totals of all
    /// points of the set.
    ///
    /// Every u of the set has f(u) ≥ constant + ⟨g, u⟩, and the oracle's atom v is a minimiser of
    /// ⟨g, ·⟩ to its accuracy. As f bends with σ, f(u) ≥ constant + ⟨g, x⟩ − ‖g‖²/(2σ) as well.
    fn prove(&mut self, total: &dyn Total, x: &[f64], mu: f64) -> Result<(f64, f64)> {
        let geometry = self.set.geometry();
        let (diameter, norm_bound) = (geometry.diameter, geometry.norm_bound);
        let mut gradient = vec![0.0; x.len()];
        // Points of the search lie in the set, or beyond its last step by as much again.
        let proof = total.minorant(mu, x, 2.0 * diameter, &mut gradient);
        if !(proof.value.is_finite() && kernel::find_not_finite(&gradient).is_none()) {
            let steps = self.search.steps;
            return Err(Error::numerical(steps, "the total loss overflowed"));
        }
        self.ask(gradient)?;
        let gradient = &self.asked[..];
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
        // x may lie outside the set: an atom by what its oracle is off, a point of the search by its
        // last digits, and a start by the violation that it has.
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
                "the lower bound {floor:e} of the total over set {} exceeds the total {value:e} at one of its points; the set's oracle, its constants or the losses are wrong",
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
