//! The search for the best fixed decision, and the proof of how good it is.

use serde::{Deserialize, Serialize};

use super::total::{Place, Reading, Total};
use super::{Best, frank_wolfe, projected};
use crate::rounding::{self, UNIT};
use crate::set::{Atom, CheckedOracle, Geometry, Oracle, Set};
use crate::{Error, Result, kernel};

/// How the best decision is searched for. All are certified in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// What suits set and losses: one oracle call for linear losses; with a projection
    /// [`Method::Spectral`], and [`Method::Accelerated`] should that be slow; without one
    /// [`Method::FrankWolfe`] on strongly convex sets and [`Method::Pairwise`] elsewhere.
    #[default]
    Auto,
    /// One oracle call, for linear losses.
    Linear,
    /// Projected gradient with Barzilai-Borwein steps and a non-monotone line search (Birgin,
    /// Martínez & Raydan, 2000): one pass over the data per step.
    Spectral,
    /// Accelerated projected gradient with backtracking (Beck & Teboulle, 2009), restarted where
    /// the momentum points uphill (O'Donoghue & Candès, 2015): one pass over the data per step.
    Accelerated,
    /// Frank-Wolfe, with the step that [`Options::step`] says.
    FrankWolfe,
    /// Frank-Wolfe with away steps (Guélat & Marcotte, 1986): linear on polytopes.
    AwayStep,
    /// Blended pairwise steps (Tsuji, Tanaka & Pokutta, 2022): linear on polytopes, and few atoms.
    Pairwise,
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Linear => "linear",
            Self::Spectral => "spectral",
            Self::Accelerated => "accelerated",
            Self::FrankWolfe => "frank-wolfe",
            Self::AwayStep => "away-step",
            Self::Pairwise => "pairwise",
        })
    }
}

/// How far [`Method::FrankWolfe`] goes towards an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// To the minimum on the way. With images at hand that costs no pass over the data.
    #[default]
    Exact,
    /// gap/(L‖v − x‖²), L an upper bound of the curvature: the textbook's, and often short.
    Short,
    /// The same with the smallest L that the function shows on the way, found by doubling
    /// (Pedregosa et al., 2020).
    Backtracking,
}

/// When the search ends, and how it goes. It ends as soon as either gap is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How.
    pub method: Method,
    /// How far Frank-Wolfe steps go.
    pub step: Step,
    /// value − floor relative to |value|.
    pub relative_gap: f64,
    /// value − floor.
    pub absolute_gap: f64,
    /// Steps at most.
    pub steps: u64,
    /// Where to begin: a point of the set, its centre by default. Methods that keep atoms begin
    /// at the atom in the direction of its gradient.
    pub start: Option<Vec<f64>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            step: Step::Exact,
            relative_gap: 1e-6,
            absolute_gap: 0.0,
            steps: 10_000,
            start: None,
        }
    }
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
/// use extremal::{hindsight::{Options, Sum, solve_while}, loss::Objective, pair::Row, set::SetSpec};
/// let set = "l2:radius=5,dim=2".parse::<SetSpec>()?.build(None)?;
/// let loss = "logistic".parse::<extremal::loss::LossSpec>()?.build()?;
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
    total.check()?;
    let mut x = vec![0.0; set.dim()];
    match &options.start {
        None => set.centre(&mut x),
        Some(start) => {
            crate::set::check_point(set.dim(), start)?;
            if let Some(v) = set.violation(start).filter(|v| !(*v <= 1e-9)) {
                return Err(Error::parameter(
                    "hindsight",
                    "start",
                    format!("a point with violation {v:e}"),
                    "a point of the set",
                ));
            }
            x.copy_from_slice(start);
            // a point that lies outside by rounding would be better than the best
            if let Some(mut projection) = set.projection() {
                projection.project(&mut x)?;
            }
        }
    }
    let mut search = Search::new(total, set, options, go_on, &x);
    search.run(options.method, x)?;
    search.finish()
}

/// Why a method stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The (smoothed) gap is as small as was asked for.
    Good,
    /// The steps are used up, or there was word to stop.
    Spent,
    /// Nothing changes any more.
    Stalled,
}

/// What all methods share: the best value and floor so far, and the counters.
pub(super) struct Search<'a> {
    pub total: &'a dyn Total,
    pub set: &'a dyn Set,
    options: &'a Options,
    go_on: &'a dyn Fn() -> bool,
    /// Whether that has said no.
    halted: bool,
    oracle: CheckedOracle,
    /// The last answer of the oracle.
    pub atom: Atom,
    /// The width of smoothing.
    pub mu: f64,
    /// The gap of the smoothed function at which a method may stop.
    enough: f64,
    /// Steps after which a method must stop.
    limit: u64,
    steps: u64,
    /// The best point, and the one whose gradient gave the highest floor, with its smoothing.
    best: Vec<f64>,
    lifted: (Vec<f64>, f64),
    /// The smallest gap of the method that runs, and how many steps did not halve it.
    least_gap: f64,
    idle: u32,
    /// What the oracle was asked last, for linear losses: the answer is still there.
    asked: Vec<f64>,
    /// How far from the minimum the oracle's last answer may be.
    slack: f64,
    /// Value and floor so far, to the accuracy of the search.
    value: f64,
    floor: f64,
    method: Method,
    /// The curvature that backtracking reckons with.
    curvature: f64,
}

impl<'a> Search<'a> {
    fn new(
        total: &'a dyn Total,
        set: &'a dyn Set,
        options: &'a Options,
        go_on: &'a dyn Fn() -> bool,
        x: &[f64],
    ) -> Self {
        Self {
            total,
            set,
            options,
            go_on,
            halted: false,
            oracle: CheckedOracle::of(set),
            atom: Atom::new(),
            mu: 0.0,
            enough: 0.0,
            limit: options.steps,
            steps: 0,
            best: x.to_vec(),
            lifted: (x.to_vec(), 0.0),
            least_gap: f64::INFINITY,
            idle: 0,
            asked: Vec::new(),
            slack: 0.0,
            value: f64::INFINITY,
            floor: f64::NEG_INFINITY,
            method: options.method,
            curvature: 0.0,
        }
    }

    fn run(&mut self, method: Method, mut x: Vec<f64>) -> Result<()> {
        if method == Method::Linear && !self.total.is_linear() {
            return Err(Error::Unsupported(
                "hindsight: the method linear is for linear losses".into(),
            ));
        }
        if method == Method::Linear || (method == Method::Auto && self.total.is_linear()) {
            return self.one_call(&x);
        }
        if self.total.smoothness() < f64::INFINITY {
            return self.descend(method, &mut x).map(|_| ());
        }
        // Less and less smoothing, each from where the last one ended, and only as exactly as
        // the smoothing deserves.
        const FINER: f64 = 0.25;
        let (mut image, mut gradient) = self.room();
        let reading = self.total.evaluate(0.0, &x, &mut image, &mut gradient);
        if reading.value.is_finite() {
            self.certify(&x, &gradient, reading)?;
        }
        // lift = μ·(Σws²)/2 where the slopes are those of the loss
        self.mu = 1.0;
        let lift = self.total.at_image(1.0, &x, &image, &mut gradient).lift;
        let scale = reading.truth.abs();
        if lift > 0.0 && scale > 0.0 && scale.is_finite() {
            self.mu = 0.1 * scale / lift;
        }
        let first = self.mu;
        let finest = 1e-14 * first;
        while !self.is_done() && !self.halted && self.steps < self.options.steps && self.mu > finest
        {
            let here = self.total.at_image(self.mu, &x, &image, &mut gradient);
            self.enough = 0.2 * here.lift.max(f64::MIN_POSITIVE);
            self.descend(method, &mut x)?;
            self.total.evaluate(self.mu, &x, &mut image, &mut gradient);
            self.mu *= FINER;
        }
        Ok(())
    }

    /// A method, or the ones that `Auto` stands for, from x on, which is where it ends.
    fn descend(&mut self, method: Method, x: &mut Vec<f64>) -> Result<Stop> {
        let projects = self.set.projection().is_some();
        let chosen = match method {
            Method::Auto if projects => Method::Spectral,
            Method::Auto if self.set.geometry().strong_convexity.is_some() => Method::FrankWolfe,
            Method::Auto => Method::Pairwise,
            given => given,
        };
        self.limit = self.options.steps;
        if method == Method::Auto && projects {
            // Long enough for well-conditioned sums; others gain from momentum.
            const TRIAL: u64 = 300;
            self.limit = self.limit.min(self.steps + TRIAL);
        }
        self.method = chosen;
        (self.least_gap, self.idle) = (f64::INFINITY, 0);
        let stop = match chosen {
            Method::Spectral => projected::spectral(self, x)?,
            Method::Accelerated => projected::accelerated(self, x)?,
            Method::FrankWolfe => frank_wolfe::plain(self, x)?,
            Method::AwayStep => frank_wolfe::active(self, x, false)?,
            _ => frank_wolfe::active(self, x, true)?,
        };
        if stop == Stop::Good || self.halted || method != Method::Auto || !projects {
            return Ok(stop);
        }
        self.limit = self.options.steps;
        self.method = Method::Accelerated;
        (self.least_gap, self.idle) = (f64::INFINITY, 0);
        projected::accelerated(self, x)
    }

    fn one_call(&mut self, x: &[f64]) -> Result<()> {
        let mut gradient = vec![0.0; x.len()];
        self.method = Method::Linear;
        self.total.minorant(0.0, x, 0.0, &mut gradient);
        self.slack = self.oracle.minimise(&gradient, &mut self.atom)?.slack();
        self.asked = gradient;
        self.steps += 1;
        self.atom.write(&mut self.best);
        self.lifted.0.copy_from_slice(&self.best);
        Ok(())
    }

    /// An image and a gradient to fill in.
    pub fn room(&self) -> (Vec<f64>, Vec<f64>) {
        (vec![0.0; self.total.images()], vec![0.0; self.total.dim()])
    }

    pub fn projection(&self) -> Result<Box<dyn crate::set::Projection>> {
        self.set.projection().ok_or_else(|| {
            Error::Unsupported(format!(
                "hindsight: the method {} needs a projection, which the set {} does not have",
                self.method,
                self.set.name()
            ))
        })
    }

    /// A feasible point and its total.
    pub fn offer(&mut self, x: &[f64], truth: f64) {
        if truth < self.value {
            self.value = truth;
            self.best.copy_from_slice(x);
        }
    }

    /// Asks the oracle what the gradient at x proves, whether x is feasible or not; its answer is
    /// kept in `atom`. Returns the gap of the smoothed function.
    pub fn bound(&mut self, x: &[f64], gradient: &[f64], reading: Reading) -> Result<f64> {
        // the function itself may be ∞ here, where a loss is not defined
        if !reading.value.is_finite() {
            return Err(Error::Numerical {
                round: self.steps,
                what: "the total loss overflowed".into(),
            });
        }
        let found = self.oracle.minimise(gradient, &mut self.atom)?;
        self.slack = found.slack();
        let slope = kernel::dot(gradient, x);
        let gap = slope - found.value;
        let rounding = reading.rounding + 4.0 * f64::EPSILON * (slope.abs() + found.value.abs());
        let mut floor = reading.value - gap - self.slack + reading.lift - rounding;
        let sigma = self.total.strong_convexity();
        if sigma > 0.0 {
            // The curvature alone keeps f from falling lower than this.
            let steep = kernel::norm(gradient);
            floor = floor.max(reading.value - 0.5 * steep * (steep / sigma) - rounding);
        }
        if floor > self.floor {
            self.floor = floor;
            self.lifted.0.copy_from_slice(x);
            self.lifted.1 = self.mu;
        }
        Ok(gap)
    }

    /// Both, for a feasible point.
    pub fn certify(&mut self, x: &[f64], gradient: &[f64], reading: Reading) -> Result<f64> {
        self.offer(x, reading.truth + reading.rounding);
        let gap = self.bound(x, gradient, reading)?;
        self.oracle.check_gap(gap + self.slack, gradient)?;
        Ok(gap)
    }

    pub fn is_done(&self) -> bool {
        let allowed = self
            .options
            .absolute_gap
            .max(self.options.relative_gap * self.value.abs());
        self.value - self.floor <= allowed
    }

    /// The gap that rounding makes by itself: the gradient is as uncertain as the curvature makes
    /// it when x is off by its last digit. No part of x counts as smaller than the last digit of
    /// the set's size.
    fn grain(&self) -> f64 {
        let Geometry {
            diameter,
            norm_bound,
            ..
        } = self.set.geometry();
        let length = kernel::norm(&self.best).max(f64::EPSILON * norm_bound);
        let bound = self.total.smoothness_bound(self.mu);
        let curvature = if bound.is_finite() {
            bound
        } else {
            self.total.smoothness_at(self.mu)
        };
        let grain = f64::EPSILON * length * (curvature * diameter);
        if grain.is_finite() { grain } else { 0.0 }
    }

    /// Whether a method should stop at a point with this gap; otherwise it makes a step.
    pub fn stop(&mut self, gap: f64) -> Option<Stop> {
        if self.is_done() || gap <= self.enough {
            return Some(Stop::Good);
        }
        if gap <= self.grain() {
            // The grain is a worst case: a gap that halves within a few steps is no rounding.
            const TRIES: u32 = 3;
            self.idle = if gap <= 0.5 * self.least_gap {
                0
            } else {
                self.idle + 1
            };
            if self.idle > TRIES {
                return Some(Stop::Good);
            }
        }
        self.least_gap = self.least_gap.min(gap);
        self.halted = self.halted || !(self.go_on)();
        if self.halted || self.steps >= self.limit {
            return Some(Stop::Spent);
        }
        self.steps += 1;
        None
    }

    /// The s in [0, 1] of a Frank-Wolfe step, given the gap and the total's value at `from`.
    pub fn step(&mut self, gap: f64, value: f64, from: Place<'_>, by: Place<'_>) -> f64 {
        let square = kernel::dot(by.x, by.x);
        let short = |curvature: f64| {
            let s = gap / (curvature * square);
            if gap > 0.0 { s.min(1.0) } else { 0.0 }
        };
        match self.options.step {
            Step::Exact => self.line_search(-gap, 1.0, from, by),
            Step::Short => short(self.total.smoothness_bound(self.mu)),
            Step::Backtracking => {
                if self.curvature == 0.0 {
                    self.curvature = self.total.smoothness_at(self.mu);
                }
                self.curvature *= 0.5;
                // Sixty doublings are more than any function asks for, rounding aside.
                for _ in 0..60 {
                    let s = short(self.curvature);
                    let promised = value - s * (gap - 0.5 * s * self.curvature * square);
                    let there = self.total.along(self.mu, s, from, by).0;
                    if there <= promised + 1e-15 * (value.abs() + gap) {
                        return s;
                    }
                    // from what a full step reckons with, where there seemed to be no curvature
                    self.curvature = (2.0 * self.curvature).max(f64::EPSILON * gap / square);
                }
                0.0
            }
        }
    }

    /// The s in [0, most] that minimises the total over from + s·by, given the derivative at 0.
    pub fn line_search(&self, slope: f64, most: f64, from: Place<'_>, by: Place<'_>) -> f64 {
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
            // Secants from both ends, and the middle every third time: kinks make ends stick.
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

    /// What x proves: a value that its total does not exceed, and a floor that no total of the set
    /// is below.
    ///
    /// Every u of the set has f(u) ≥ constant + ⟨g, u⟩, and the oracle's atom v is a minimiser of
    /// ⟨g, ·⟩ to its accuracy. As f bends with σ, f(u) ≥ constant + ⟨g, x⟩ − ‖g‖²/(2σ) as well.
    fn prove(&mut self, x: &[f64], mu: f64) -> Result<(f64, f64)> {
        let Geometry {
            diameter,
            norm_bound,
            ..
        } = self.set.geometry();
        let mut gradient = vec![0.0; x.len()];
        // Points of the search lie in the set, or beyond its last step by as much again.
        let proof = self.total.minorant(mu, x, 2.0 * diameter, &mut gradient);
        if !(proof.value.is_finite() && kernel::find_not_finite(&gradient).is_none()) {
            return Err(Error::Numerical {
                round: self.steps,
                what: "the total loss overflowed".into(),
            });
        }
        if self.asked != gradient {
            self.slack = self.oracle.minimise(&gradient, &mut self.atom)?.slack();
        }
        let mut atom = vec![0.0; x.len()];
        self.atom.write(&mut atom);
        let steep = kernel::norm(&gradient) * (1.0 + rounding::of_dot(x.len()));
        let allowance = rounding::of_oracle(x.len(), steep, diameter, norm_bound);
        let mut floor =
            proof.constant + rounding::dot(&gradient, &atom).value() - self.slack - allowance;
        let sigma = self.total.strong_convexity() * (1.0 - 1e-9);
        if sigma > 0.0 {
            let here = proof.constant + rounding::dot(&gradient, x).value();
            let rest = 8.0 * UNIT * (proof.constant.abs() + steep * kernel::norm(x));
            floor = floor.max(here - (0.5 + 1e-12) * steep * (steep / sigma) - rest);
        }
        // x may lie outside the set: an atom by what its oracle is off, a point of the search by its
        // last digits, and a start by the violation that it has.
        let stray = self.set.violation(x).unwrap_or(0.0) * 4.0 * (x.len() as f64).sqrt();
        let outside = if self.method == Method::Linear {
            allowance
        } else {
            (UNIT * (16.0 + 0.5 * x.len() as f64) + stray) * steep * norm_bound
        };
        Ok((proof.value + outside, floor))
    }

    fn finish(mut self) -> Result<Best> {
        let best = std::mem::take(&mut self.best);
        let (lifted, mu) = std::mem::take(&mut self.lifted);
        let (value, mut floor) = self.prove(&best, 0.0)?;
        if mu > 0.0 || lifted != best {
            floor = floor.max(self.prove(&lifted, mu)?.1);
        }
        if !(floor <= value) {
            return Err(Error::Numerical {
                round: self.steps,
                what: format!(
                    "the floor {floor:e} of the totals over set {} lies above the total {value:e} of one of its points; the set's oracle, its constants or the losses are not what they claim to be",
                    self.set.name()
                ),
            });
        }
        Ok(Best {
            floor,
            value,
            x: best,
            method: self.method,
            steps: self.steps,
            oracle_calls: self.oracle.calls(),
        })
    }
}
