//! Regret against time-varying comparators: dynamic regret, and regret on the worst interval.

use super::Meter;
use super::meter::Sums;
use crate::rounding::Wide;
use crate::set::SharedSet;
use crate::spec::Kind;
use crate::{Gradient, Point, Result, kernel};

/// Dynamic regret: the comparator u_t minimises the linearised loss ⟨g_t, ·⟩ of round t. A round costs
/// one oracle call and O(d). For convex losses this is an upper bound on the regret against *any*
/// sequence of decisions. For linear losses the bound is attained.
///
/// ```
/// use extremal::{hindsight::Dynamic, Gradient, LearnerSpec, SetSpec};
/// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
/// let mut learner = "gauge-ftrl".parse::<LearnerSpec>()?.build(&set)?;
/// let mut dynamic = Dynamic::new(&set);
/// for t in 0..10 {
///     let g = if t % 2 == 0 { [1.0, 0.0] } else { [-1.0, 0.0] };
///     dynamic.see(learner.decide()?, &Gradient::dense(&g))?;
///     learner.observe(&Gradient::dense(&g))?;
/// }
/// assert!(dynamic.path() == 18.0); // the best decision jumped across the ball nine times
/// assert!(dynamic.regret() > 0.0);
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct Dynamic {
    /// The meter of the last round only.
    meter: Meter,
    regret: Wide,
    path: f64,
    rounds: u64,
    last: Vec<f64>,
    here: Vec<f64>,
}

impl Dynamic {
    /// The dynamic regret of a run without rounds.
    pub fn new(set: &SharedSet) -> Self {
        Self {
            meter: Meter::new(set, 0.0, true),
            regret: Wide::default(),
            path: 0.0,
            rounds: 0,
            last: vec![0.0; set.dim()],
            here: vec![0.0; set.dim()],
        }
    }

    /// Adds a round, given the decision that the learner played and the gradient at this decision.
    pub fn see(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<()> {
        self.meter.sums.clear();
        self.meter.see(x, gradient)?;
        self.regret.add(self.meter.certificate(1)?.regret);
        std::mem::swap(&mut self.last, &mut self.here);
        self.meter.candidate(&mut self.here);
        if self.rounds > 0 {
            kernel::axpy(-1.0, &self.here, &mut self.last);
            self.path += kernel::norm(&self.last);
        }
        self.rounds += 1;
        Ok(())
    }

    /// Σ⟨g_t, x_t − u_t⟩, raised by a bound on the rounding errors. It is at least
    /// Σ(f_t(x_t) − f_t(u_t)), with equality for linear losses.
    pub fn regret(&self) -> f64 {
        self.regret.value()
    }

    /// Σ ‖u_t − u_{t−1}‖, the length of the path of the comparators.
    pub fn path(&self) -> f64 {
        self.path
    }

    /// The number of rounds.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }
}

/// Interval (adaptive) regret: the largest regret on an interval of rounds. Every interval has its
/// own best fixed decision as comparator. A checkpoint every `spacing` rounds stores the sums of the
/// gradients.
///
/// A checkpoint stores 2d numbers, and [`Intervals::worst`] makes one oracle call per pair of
/// checkpoints. Only intervals between checkpoints are compared. The regret on any other interval
/// exceeds the largest of these by at most 2·spacing·G·D, where G bounds the gradients and D is the
/// set's diameter.
pub struct Intervals {
    meter: Meter,
    spacing: u64,
    /// The sums up to each checkpoint. The first checkpoint is before the first round.
    checkpoints: Vec<Sums>,
}

/// An interval of rounds and the regret on this interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Worst {
    /// The first round of the interval, counted from 1.
    pub first: u64,
    /// The last round of the interval.
    pub last: u64,
    /// An upper bound on the regret for convex losses, and the exact regret for linear losses.
    pub regret: f64,
}

impl Intervals {
    /// The interval regret of a run without rounds, with a checkpoint every `spacing` rounds.
    pub fn new(set: &SharedSet, spacing: u64) -> Result<Self> {
        Kind::COUNT.check("intervals", "spacing", &spacing)?;
        let meter = Meter::new(set, 0.0, true);
        Ok(Self {
            checkpoints: vec![meter.sums.clone()],
            meter,
            spacing,
        })
    }

    /// Adds a round, given the decision that the learner played and the gradient at this decision.
    pub fn see(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<()> {
        self.meter.see(x, gradient)?;
        if self.meter.sums.rounds.is_multiple_of(self.spacing) {
            self.checkpoints.push(self.meter.sums.clone());
        }
        Ok(())
    }

    /// The interval between two checkpoints on which the regret is largest. It is `None` if no
    /// checkpoint was reached yet.
    pub fn worst(&mut self) -> Result<Option<Worst>> {
        let mut worst: Option<Worst> = None;
        for (end, until) in self.checkpoints.iter().enumerate() {
            for (start, before) in self.checkpoints[..end].iter().enumerate() {
                let mut between = until.clone();
                between.subtract(before);
                let present = std::mem::replace(&mut self.meter.sums, between);
                let certificate = self.meter.certificate(1);
                self.meter.sums = present;
                let regret = certificate?.regret;
                if worst.is_none_or(|w| regret > w.regret) {
                    worst = Some(Worst {
                        first: start as u64 * self.spacing + 1,
                        last: end as u64 * self.spacing,
                        regret,
                    });
                }
            }
        }
        Ok(worst)
    }
}
