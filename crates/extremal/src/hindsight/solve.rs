//! The search for the best fixed decision, and the proof of how good it is.

use crate::rounding::{self, UNIT};
use crate::set::Set;
use crate::solver::{Method, Search, Task, Total};
use crate::{Error, Result, kernel};

/// When the search ends, and how it goes. It ends as soon as either gap is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How.
    pub method: Method,
    /// value − floor relative to |value|.
    pub relative_gap: f64,
    /// value − floor.
    pub absolute_gap: f64,
    /// Steps at most.
    pub steps: u64,
    /// Where to begin: a point of the set, its centre by default.
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

/// The best fixed decision that was found, with the proof of how good it is: the smallest total
/// lies between `floor` and `value`, rounding included.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Best {
    /// The decision.
    pub x: Vec<f64>,
    /// Its total loss, or a little more: no less than the smallest one of the set.
    pub value: f64,
    /// No decision of the set has a smaller total.
    pub floor: f64,
    /// How it was found.
    pub method: Method,
    /// Steps made.
    pub steps: u64,
    /// Oracle calls made, those of certificates included.
    pub oracle_calls: u64,
}

impl Best {
    /// value − floor.
    pub fn gap(&self) -> f64 {
        self.value - self.floor
    }

    /// The same relative to |value|.
    pub fn relative_gap(&self) -> f64 {
        self.gap() / self.value.abs().max(f64::MIN_POSITIVE)
    }

    /// The regret of a learner lies between these two, if its total loss on the same rounds is
    /// exactly this.
    pub fn regret(&self, total_loss: f64) -> Interval {
        let rounding = |end: f64| f64::EPSILON * (total_loss.abs() + end.abs());
        Interval {
            lower: total_loss - self.value - rounding(self.value),
            upper: total_loss - self.floor + rounding(self.floor),
        }
    }
}

/// A regret lies between these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// At least this.
    pub lower: f64,
    /// At most this.
    pub upper: f64,
}

/// The best fixed decision of a set for a total of losses.
///
/// Every step costs one pass over the data or two, and one oracle call that certifies: with the
/// gradient g at x, no v of the set has f(v) < f(x) − max_v ⟨g, x − v⟩. Totals with kinks are
/// smoothed, less and less; the floors of smoothed functions hold for the function itself.
///
/// The search computes in ordinary digits. The value and the floor that are returned are computed
/// once more at its end, in twice the digits and with an allowance for every rounding error
/// ([`Total::minorant`]): they are proven, not estimated.
///
/// It returns what it has once a gap is small enough, the steps are used up, or steps change
/// nothing any more but digits that are rounding (a relative gap can't be reached where the
/// smallest total is 0): look at [`Best::gap`].
pub fn solve(total: &dyn Total, set: &dyn Set, options: &Options) -> Result<Best> {
    solve_while(total, set, options, &|| true)
}

/// The same as long as `go_on` says so: it is asked before every step, and what there is by then
/// is returned, with the gap that it has.
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
    if total.dim() != set.dim() {
        return Err(Error::Size {
            what: "set",
            expected: total.dim(),
            found: set.dim(),
        });
    }
    for (name, gap) in [
        ("relative_gap", options.relative_gap),
        ("absolute_gap", options.absolute_gap),
    ] {
        if !(gap >= 0.0) {
            return Err(Error::parameter("hindsight", name, gap, "a number ≥ 0"));
        }
    }
    let mut x = vec![0.0; set.dim()];
    set.centre(&mut x);
    if let Some(start) = &options.start {
        crate::set::check_point(set.dim(), start)?;
        if let Some(v) = set.violation(start).filter(|v| !(*v <= 1e-9)) {
            let (found, expected) = (
                format!("a point with violation {v:e}"),
                "a point of the set",
            );
            return Err(Error::parameter("hindsight", "start", found, expected));
        }
        x.copy_from_slice(start);
        // a point that lies outside by rounding would be better than the best
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
    /// What the oracle was asked last for a proof.
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
        // Less and less smoothing, each from where the last one ended, and only as exactly as
        // the smoothing deserves.
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

    /// Asks the oracle, unless its last answer was to the same question.
    fn ask(&mut self, gradient: Vec<f64>) -> Result<()> {
        if self.asked != gradient {
            self.search.minimise(&gradient)?;
            self.asked = gradient;
        }
        Ok(())
    }

    /// What x proves: a value that its total does not exceed, and a floor that no total of the set
    /// is below.
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
            return Err(Error::Numerical {
                round: self.search.steps,
                what: "the total loss overflowed".into(),
            });
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
            return Err(Error::Numerical {
                round: self.search.steps,
                what: format!(
                    "the lower bound {floor:e} of the total over set {} exceeds the total {value:e} at one of its points; the set's oracle, its constants or the losses are wrong",
                    self.set.name()
                ),
            });
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
