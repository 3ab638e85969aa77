//! A single round of a learner, and the loop that plays a learner against a stream.

use std::ops::ControlFlow;

use crate::hindsight::Meter;
use crate::learner::{Example, Learner, Record};
use crate::loss::{Evaluation, Loss, Objective, Scratch};
use crate::rounding::Wide;
use crate::set::{Set, check_len};
use crate::stream::{Round, Stream};
use crate::{Error, Gradient, Point, Result};

/// The result of a round.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Turn<'a> {
    /// The learner's record of the round.
    pub record: Record,
    /// The loss at the decision that the learner played.
    pub evaluation: Evaluation<'a>,
    /// A bound on the rounding error of the loss. It is 0 without a meter.
    pub rounding: f64,
}

/// Plays one round: the learner decides, the loss is evaluated at the decision, and the learner
/// observes the gradient. If a meter is given, it measures the round. If the call fails, neither
/// the learner nor the meter changes.
///
/// `scratch` is memory for dense gradients. Pass the same value in every round.
///
/// ```
/// use extremal::{game, LearnerSpec, loss::{LossSpec, Objective, Scratch}, Row,
///     SetSpec, stream::Round};
/// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
/// let mut learner = "gauge-ftrl".parse::<LearnerSpec>()?.build(&set)?;
/// let objective = Objective::new("squared".parse::<LossSpec>()?.build()?, 0.0)?;
/// let mut scratch = Scratch::default();
/// let example = Round { row: Row::Dense(&[0.6, 0.8]), label: 2.0, weight: 1.0 };
/// let turn = game::round(&mut *learner, &objective, example, None, &mut scratch)?;
/// assert_eq!(turn.evaluation.value, 2.0); // ½(⟨a, 0⟩ − 2)²
/// assert_eq!(learner.rounds(), 1);
/// # Ok::<(), extremal::Error>(())
/// ```
#[inline]
pub fn round<'a, L, F>(
    learner: &mut L,
    objective: &Objective<F>,
    given: Round<'a>,
    meter: Option<&mut Meter>,
    scratch: &'a mut Scratch,
) -> Result<Turn<'a>>
where
    L: Learner + ?Sized,
    F: Loss + ?Sized,
{
    let turn = body(learner, objective, |_| Ok(Some(given)), meter, scratch)?;
    Ok(turn.expect("a round was given"))
}

/// Plays the round that `next` returns. The result is `None` if the stream has ended.
#[inline]
fn body<'a, L, F>(
    learner: &mut L,
    objective: &Objective<F>,
    next: impl FnOnce(&dyn Point) -> Result<Option<Round<'a>>>,
    mut meter: Option<&mut Meter>,
    scratch: &'a mut Scratch,
) -> Result<Option<Turn<'a>>>
where
    L: Learner + ?Sized,
    F: Loss + ?Sized,
{
    let takes_examples = learner.by_example().is_some();
    let decision = learner.decide()?;
    let Some(given) = next(decision)? else {
        return Ok(None);
    };
    if takes_examples {
        if meter.is_some() {
            let what = "this learner certifies its own regret: play it without a meter";
            return Err(Error::Unsupported(what.into()));
        }
        return by_example(learner, objective, given).map(Some);
    }
    let evaluation =
        objective.evaluate_in(given.row, given.label, given.weight, decision, scratch)?;
    let planned = match &mut meter {
        Some(meter) => Some(meter.plan(decision, objective, &given, &evaluation)?),
        None => None,
    };
    let record = learner.observe(&evaluation.gradient)?;
    let mut rounding = 0.0;
    if let (Some(meter), Some(planned)) = (meter, planned) {
        rounding = planned.loss_error;
        meter.commit(planned, &evaluation.gradient);
    }
    Ok(Some(Turn {
        record,
        evaluation,
        rounding,
    }))
}

/// Plays the round of a learner that observes examples instead of gradients.
fn by_example<'a, L, F>(
    learner: &mut L,
    objective: &Objective<F>,
    given: Round<'a>,
) -> Result<Turn<'a>>
where
    L: Learner + ?Sized,
    F: Loss + ?Sized,
{
    let Round { row, label, weight } = given;
    let learnt = learner.learn(&Example::new(row, label, weight, objective)?)?;
    Ok(Turn {
        record: learnt.record,
        evaluation: Evaluation {
            value: learnt.loss,
            data_value: learnt.loss,
            prediction: learnt.prediction,
            gradient: Gradient {
                row,
                scale: learnt.slope,
                ridge: 0.0,
            },
        },
        rounding: 0.0,
    })
}

/// The totals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Summary {
    /// The number of rounds played.
    pub rounds: u64,
    /// The total loss Σ f_t(x_t), with the ridge terms.
    pub total_loss: f64,
    /// A bound on the rounding error of [`Summary::total_loss`]. It is 0 without a meter.
    pub rounding: f64,
    /// The total loss without the ridge terms.
    pub data_loss: f64,
    /// The largest violation of the set by a decision. It is `None` if decisions were not checked.
    pub largest_violation: Option<f64>,
}

/// Plays a learner against a stream. A game can also certify the regret and check the decisions.
///
/// ```
/// use extremal::{game::Game, hindsight::Meter, LearnerSpec, LossSpec, Objective,
///     SetSpec, StreamSpec};
/// let set = "l2:dim=5".parse::<SetSpec>()?.build(None)?;
/// let mut learner = "ofw-ls:horizon=1000,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
/// let mut stream = "drift".parse::<StreamSpec>()?.build(5, 0)?;
/// let objective = Objective::new("linear".parse::<LossSpec>()?.build()?, 0.0)?;
/// let mut meter = Meter::of(&set, &objective);
/// let game = Game::default().with_meter(&mut meter).with_watch(&*set);
/// let summary = game.play(&mut *learner, &mut *stream, &objective, 1000)?;
/// assert_eq!(summary.rounds, 1000);
/// assert!(summary.largest_violation.unwrap() <= 1e-9);
/// assert!(meter.certificate(1)?.regret <= learner.guarantee().unwrap().bound(1000.0));
/// # Ok::<(), extremal::Error>(())
/// ```
#[derive(Debug, Default)]
#[must_use = "a game does nothing until `play` is called"]
pub struct Game<'a> {
    meter: Option<&'a mut Meter>,
    watch: Option<&'a dyn Set>,
}

impl<'a> Game<'a> {
    /// Adds a meter that certifies the regret.
    pub fn with_meter(self, meter: &'a mut Meter) -> Self {
        let meter = Some(meter);
        Self { meter, ..self }
    }

    /// Checks that every decision lies in this set, at a cost of O(d) per round.
    pub fn with_watch(self, set: &'a dyn Set) -> Self {
        let watch = Some(set);
        Self { watch, ..self }
    }

    /// Plays `rounds` rounds, or fewer if the stream ends.
    pub fn play<L, S, F>(
        self,
        learner: &mut L,
        stream: &mut S,
        objective: &Objective<F>,
        rounds: u64,
    ) -> Result<Summary>
    where
        L: Learner + ?Sized,
        S: Stream + ?Sized,
        F: Loss + ?Sized,
    {
        let go_on = |_: &Turn<'_>| ControlFlow::Continue(());
        self.play_while(learner, stream, objective, rounds, go_on)
    }

    /// Does the same as [`Game::play`], and calls `onlooker` after every round. If `onlooker` returns
    /// `Break(Ok(()))`, the run ends. If it returns `Break(Err(…))`, the run fails with this error.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use extremal::{game::Game, LearnerSpec, LossSpec, Objective, SetSpec,
    ///     StreamSpec};
    /// let set = "l2:dim=5".parse::<SetSpec>()?.build(None)?;
    /// let mut learner = "gauge-ftrl".parse::<LearnerSpec>()?.build(&set)?;
    /// let mut stream = "drift".parse::<StreamSpec>()?.build(5, 0)?;
    /// let objective = Objective::new("linear".parse::<LossSpec>()?.build()?, 0.0)?;
    /// let mut loss = 0.0;
    /// let summary = Game::default().play_while(
    ///     &mut *learner, &mut *stream, &objective, 1_000_000,
    ///     |turn| {
    ///         loss += turn.evaluation.value;
    ///         if loss < -20.0 { ControlFlow::Break(Ok(())) } else { ControlFlow::Continue(()) }
    ///     },
    /// )?;
    /// assert!(summary.rounds < 1000 && summary.total_loss < -19.9);
    /// # Ok::<(), extremal::Error>(())
    /// ```
    pub fn play_while<L, S, F>(
        self,
        learner: &mut L,
        stream: &mut S,
        objective: &Objective<F>,
        rounds: u64,
        mut onlooker: impl FnMut(&Turn<'_>) -> ControlFlow<Result<()>>,
    ) -> Result<Summary>
    where
        L: Learner + ?Sized,
        S: Stream + ?Sized,
        F: Loss + ?Sized,
    {
        let Self { mut meter, watch } = self;
        if let Some(set) = watch {
            check_len("decision", set.dim(), learner.dim())?;
        }
        let mut summary = Summary::default();
        let mut total = Wide::default();
        let mut x = vec![0.0; watch.map_or(0, |set| set.dim())];
        let mut inspector = watch.and_then(|set| set.inspector());
        let mut scratch = Scratch::default();
        for _ in 0..rounds {
            let mut violation = None;
            let turn = body(
                learner,
                objective,
                |decision| {
                    violation = watch.and_then(|set| {
                        decision.write(&mut x);
                        match &mut inspector {
                            Some(inspect) => inspect(&x),
                            None => set.violation(&x),
                        }
                    });
                    stream.next(decision)
                },
                meter.as_deref_mut(),
                &mut scratch,
            )?;
            let Some(turn) = turn else {
                break;
            };
            summary.rounds += 1;
            total.add(turn.evaluation.value);
            summary.rounding += turn.rounding;
            summary.data_loss += turn.evaluation.data_value;
            if let Some(v) = violation {
                // a decision with NaN is infeasible
                let v = if v.is_nan() { f64::INFINITY } else { v };
                summary.largest_violation = Some(summary.largest_violation.unwrap_or(0.0).max(v));
            }
            if let ControlFlow::Break(outcome) = onlooker(&turn) {
                outcome?;
                break;
            }
        }
        summary.total_loss = total.value();
        Ok(summary)
    }
}
