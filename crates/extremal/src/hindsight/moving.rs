//! Regret against comparators that move: dynamic regret, and the worst interval.

use super::Meter;
use super::meter::Sums;
use crate::rounding::Wide;
use crate::set::SharedSet;
use crate::{Error, Gradient, Point, Result, kernel};

/// Dynamic regret: against the minimiser of every round's own linearised loss, at one oracle call and
/// O(d) per round. The regret against *any* sequence of decisions is at most this for convex losses,
/// and it is attained for linear ones.
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
    /// Measures the last round alone.
    meter: Meter,
    regret: Wide,
    path: f64,
    rounds: u64,
    last: Vec<f64>,
    here: Vec<f64>,
}

impl Dynamic {
    /// A measure of no rounds yet.
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

    /// Notes a round: the decision played and the gradient there.
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

    /// Σ f_t(x_t) − f_t(u_t), or its linearised upper bound, raised by a bound of the rounding
    /// errors.
    pub fn regret(&self) -> f64 {
        self.regret.value()
    }

    /// Σ ‖u_t − u_{t−1}‖, the comparator's path.
    pub fn path(&self) -> f64 {
        self.path
    }

    /// Rounds seen.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }
}

/// Interval (adaptive) regret: the largest regret over intervals of rounds, each against its own
/// best fixed decision. Sums of gradients are stored at checkpoints, every `spacing` rounds.
///
/// Each checkpoint takes 2d numbers, and [`Intervals::worst`] makes one oracle call per pair of
/// checkpoints. Only intervals between checkpoints count. Others can have up to 2·spacing·G·D more
/// regret.
pub struct Intervals {
    meter: Meter,
    spacing: u64,
    /// The sums up to each checkpoint, the first before any round.
    checkpoints: Vec<Sums>,
}

/// An interval of rounds with the regret on it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Worst {
    /// Its first round, from 1.
    pub first: u64,
    /// Its last round.
    pub last: u64,
    /// An upper bound of the regret for convex losses; the regret for linear ones.
    pub regret: f64,
}

impl Intervals {
    /// With a checkpoint every `spacing` rounds.
    pub fn new(set: &SharedSet, spacing: u64) -> Result<Self> {
        if spacing == 0 {
            let expected = "a number ≥ 1";
            return Err(Error::parameter("intervals", "spacing", spacing, expected));
        }
        let meter = Meter::new(set, 0.0, true);
        Ok(Self {
            checkpoints: vec![meter.sums.clone()],
            meter,
            spacing,
        })
    }

    /// Notes a round: the decision played and the gradient there.
    pub fn see(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<()> {
        self.meter.see(x, gradient)?;
        if self.meter.sums.rounds.is_multiple_of(self.spacing) {
            self.checkpoints.push(self.meter.sums.clone());
        }
        Ok(())
    }

    /// The interval between checkpoints with the largest regret; `None` before the first.
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
