//! The loop: a learner against a stream. The caller passes a clock and looks on.

use crate::hindsight::Meter;
use crate::learner::{Learner, Record};
use crate::loss::{Evaluation, Loss, Objective, Scratch};
use crate::rounding::Wide;
use crate::set::Set;
use crate::stream::Stream;
use crate::{Error, Result};

/// One round as an onlooker sees it.
pub struct Turn<'a> {
    /// The learner's record.
    pub record: &'a Record,
    /// The loss at the decision played.
    pub evaluation: &'a Evaluation<'a>,
    /// The label.
    pub label: f64,
    /// Losses so far, this round's included.
    pub total_loss: f64,
    /// The decision's violation, where it was looked at.
    pub violation: Option<f64>,
}

/// A run's sums.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// Rounds played.
    pub rounds: u64,
    /// Σ f_t(x_t), the ridge term included.
    pub total_loss: f64,
    /// A bound of how far [`Summary::total_loss`] is off by rounding; 0 where no meter was given.
    pub rounding: f64,
    /// The same without the ridge term.
    pub data_loss: f64,
    /// The largest violation seen, where looked at.
    pub largest_violation: Option<f64>,
    /// Seconds by the caller's clock.
    pub seconds: f64,
}

/// Plays up to `rounds` rounds, fewer if the stream ends.
///
/// `meter` certifies the regret and `watch` checks every decision against a set, at O(d) per round;
/// both may be left out. `onlooker` sees every round; an error from it ends the run.
///
/// ```
/// use extremal::{game, hindsight::Meter, learner::LearnerSpec, loss::{LossSpec, Objective},
///     set::SetSpec, stream::StreamSpec};
/// let set = "l2:dim=5".parse::<SetSpec>()?.build(None)?;
/// let mut learner = "ofw-ls:horizon=1000,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
/// let mut stream = "drift".parse::<StreamSpec>()?.build(5, 0)?;
/// let objective = Objective::new("linear".parse::<LossSpec>()?.build()?, 0.0)?;
/// let mut meter = Meter::of(&set, &objective);
/// let summary = game::play(&mut *learner, &mut *stream, &objective, 1000, &mut || 0.0,
///     Some(&mut meter), Some(&*set), |_| Ok(()))?;
/// assert_eq!(summary.rounds, 1000);
/// assert!(summary.largest_violation.unwrap() <= 1e-9);
/// assert!(meter.certificate(1)?.regret <= learner.guarantee().unwrap().bound(1000.0));
/// # Ok::<(), extremal::Error>(())
/// ```
#[allow(clippy::too_many_arguments)] // each is a part of the game, and none has a default
pub fn play<L, S, F>(
    learner: &mut L,
    stream: &mut S,
    objective: &Objective<F>,
    rounds: u64,
    clock: &mut dyn FnMut() -> f64,
    mut meter: Option<&mut Meter>,
    watch: Option<&dyn Set>,
    mut onlooker: impl FnMut(Turn<'_>) -> Result<()>,
) -> Result<Summary>
where
    L: Learner + ?Sized,
    S: Stream + ?Sized,
    F: Loss + ?Sized,
{
    let start = clock();
    let mut summary = Summary::default();
    let mut total = Wide::default();
    let mut x = watch.map(|set| vec![0.0; set.dim()]);
    let mut scratch = Scratch::default();
    if let Some(set) = watch.filter(|set| set.dim() != learner.dim()) {
        return Err(Error::Size {
            what: "decision",
            expected: set.dim(),
            found: learner.dim(),
        });
    }
    for _ in 0..rounds {
        // The turn is taken once there is a round to play: a stream that ends, or fails, or an
        // example that can't be read leaves the learner between rounds.
        let decision = learner.decision();
        let violation = match (watch, &mut x) {
            (Some(set), Some(x)) => {
                decision.write(x);
                set.violation(x)
            }
            _ => None,
        };
        let Some(round) = stream.next(decision)? else {
            break;
        };
        let evaluation =
            objective.evaluate_in(round.row, round.label, round.weight, decision, &mut scratch)?;
        // A turn that an earlier error left open goes on: its decision is still the same.
        match learner.decide() {
            Ok(_) | Err(Error::OutOfTurn(_)) => {}
            Err(e) => return Err(e),
        }
        let sight = match &mut meter {
            Some(meter) => {
                let decision = learner.decision();
                let example = (&round.row, round.label, round.weight);
                let length = meter.length_of(decision);
                let error = objective.rounding(example, &evaluation, decision, length);
                // The loss is off by this much, and so is the line through it.
                summary.rounding += error;
                Some((meter.look(decision, &evaluation.gradient)?, error))
            }
            None => None,
        };
        let record = learner.observe(&evaluation.gradient)?;
        if let (Some(meter), Some((sight, error))) = (&mut meter, sight) {
            meter.note(sight, &evaluation.gradient);
            meter.allow(error);
        }
        summary.rounds += 1;
        total.add(evaluation.value);
        summary.total_loss = total.value();
        summary.data_loss += evaluation.data_value;
        if let Some(v) = violation {
            // NaN is no feasible point either
            let v = if v.is_nan() { f64::INFINITY } else { v };
            summary.largest_violation = Some(summary.largest_violation.unwrap_or(0.0).max(v));
        }
        onlooker(Turn {
            record: &record,
            evaluation: &evaluation,
            label: round.label,
            total_loss: summary.total_loss,
            violation,
        })?;
    }
    summary.seconds = clock() - start;
    Ok(summary)
}
