//! A session: one learner, or one per class, with the meters that certify their regret.

use std::sync::Arc;

use extremal::game::{self, Turn};
use extremal::hindsight::{ByNorm, Meter};
use extremal::kernel;
use extremal::learner::{Certificate, Learner};
use extremal::loss::{Objective, Scratch};
use extremal::set::{SharedSet, Structure};
use extremal::stream;
use extremal::{Point, Row};
use extremal_data::{Batch, Column, Example};
use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::error::{Error, Result};
use crate::plan::{Plan, start_set};
use crate::tally::Tally;

/// The smallest number of rounds for which another thread is worth its start.
const ROUNDS_PER_THREAD: usize = 64;

/// Totals over all rounds of a session.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Examples consumed, in all passes.
    pub records: u64,
    /// The sum of the weights.
    pub weight: f64,
    /// The sum of the data's losses before each update, times their weights.
    pub loss: f64,
    /// The sum of the whole losses, with weights and ridge term.
    pub whole_loss: f64,
    /// The largest violation of the set at any report of this run. It is not saved.
    #[serde(skip)]
    pub violation: f64,
}

/// What a run had written when its model was saved, so that `--continue` can append to it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Written {
    /// The number of rows that the reader skipped.
    pub skipped: u64,
    /// The length of the file of predictions.
    pub predictions: Option<u64>,
    /// The length of the trace, and the round and the totals of its last row.
    pub trace: Option<(u64, u64, Counters)>,
}

/// The numbers of one round, for reports.
#[derive(Debug, Clone, Copy, Default)]
pub struct Round {
    /// The prediction before the update: ⟨a, x⟩ for features a and decision x, or the index of the
    /// class.
    pub prediction: f64,
    /// The weight times the loss of the data. With classes, the weight if the class is wrong, or 0.
    pub loss: f64,
    /// The label.
    pub label: f64,
    /// The number of non-zeros.
    pub features: usize,
    /// The step σ_t towards the oracle's answer.
    pub sigma: f64,
    /// The learner's Frank-Wolfe gap.
    pub gap: f64,
}

/// A learner and the meter that certifies its regret.
pub(crate) struct Model {
    pub learner: Box<dyn Learner>,
    /// The meter. A learner that takes examples certifies its own regret.
    pub meter: Option<Meter>,
    pub set: SharedSet,
    /// Whether the set grows with the features. Otherwise its dimension is given.
    grows: bool,
    scratch: Scratch,
    /// The latest rounds, each with its loss, ridge term included.
    rounds: Vec<(Round, f64)>,
    failure: Option<extremal::Error>,
}

impl Model {
    /// Increases the dimension. This can't fail if memory was reserved for it.
    fn grow(&mut self, dim: usize) -> extremal::Result<()> {
        if !self.grows || dim <= self.learner.dim() {
            return Ok(());
        }
        self.learner.grow(dim)?;
        self.meter
            .as_mut()
            .map_or(Ok(()), |meter| meter.grow(dim))?;
        if let Some(set) = self.set.grown(dim) {
            self.set = set;
        }
        Ok(())
    }

    /// Plays examples until one fails. With a class, the label is +1 for examples of this class and
    /// −1 for all others.
    fn play(&mut self, class: Option<usize>, objective: &Objective, examples: &[Example<'_>]) {
        self.rounds.clear();
        self.failure = None;
        for (k, example) in examples.iter().enumerate() {
            if let (Some(learner), Some(next)) = (self.learner.by_example(), examples.get(k + 1)) {
                learner.prefetch(&row(next));
            }
            let label = match class {
                None => example.label.unwrap_or(f64::NAN),
                Some(class) if example.label == Some(class as f64) => 1.0,
                Some(_) => -1.0,
            };
            match self.round(objective, example, label) {
                Ok(round) => self.rounds.push(round),
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            }
        }
    }

    /// Reserves memory for a dimension.
    fn reserve(&mut self, dim: usize) -> extremal::Result<()> {
        self.learner.reserve(dim)?;
        let meter = self.meter.as_mut();
        meter.map_or(Ok(()), |meter| meter.reserve(dim))
    }

    /// The certificate of the regret.
    pub fn certificate(&mut self, steps: usize) -> extremal::Result<Certificate> {
        match &mut self.meter {
            Some(meter) => meter.certificate(steps),
            None => self.learner.certificate().ok_or_else(|| {
                extremal::Error::Unsupported(
                    "there is no certificate before the first round".into(),
                )
            }),
        }
    }

    /// The regret against comparators of any norm.
    pub fn by_norm(&self) -> Option<ByNorm> {
        match &self.meter {
            Some(meter) => meter.by_norm(),
            None => self.learner.by_example().map(|learner| learner.by_norm()),
        }
    }

    /// A bound of the rounding errors of the losses.
    pub fn loss_rounding(&self) -> f64 {
        match (&self.meter, self.learner.by_example()) {
            (Some(meter), _) => meter.allowed(),
            (None, own) => own.map_or(0.0, |learner| learner.loss_rounding()),
        }
    }

    /// The prediction for an example: what the learner would play next. For learners that observe
    /// gradients, features beyond the dimension count as 0.
    fn predict(&self, example: &Example<'_>) -> extremal::Result<f64> {
        if let Some(learner) = self.learner.by_example() {
            return learner.predict(&row(example));
        }
        let (
            decision,
            Example {
                indices, values, ..
            },
        ) = (self.learner.decision(), example);
        let known = indices.partition_point(|i| (*i as usize) < decision.dim());
        decision.dot(&Row::sparse(&indices[..known], &values[..known]))
    }

    /// Plays one round. An error changes nothing but the dimension.
    fn round(
        &mut self,
        objective: &Objective,
        example: &Example<'_>,
        label: f64,
    ) -> extremal::Result<(Round, f64)> {
        // Not earlier, since the rounding depends on the dimension.
        self.grow(needed_dim(example))?;
        let given = stream::Round {
            row: row(example),
            label,
            weight: example.weight,
        };
        let (learner, meter) = (&mut *self.learner, self.meter.as_mut());
        let Turn {
            record, evaluation, ..
        } = game::round(learner, objective, given, meter, &mut self.scratch)?;
        let round = Round {
            prediction: evaluation.prediction,
            loss: evaluation.data_value,
            label,
            features: example.indices.len(),
            sigma: record.sigma,
            gap: record.gap,
        };
        Ok((round, evaluation.value))
    }
}

/// One model, or one per class, and the totals over their rounds.
pub struct Session {
    /// The components and settings.
    pub plan: Plan,
    pub(crate) objective: Objective,
    pub(crate) models: Vec<Model>,
    /// The totals so far.
    pub counters: Counters,
    /// Whether some classes have played a round that others could not play. It can't be saved.
    pub(crate) is_torn: bool,
    /// Error rate and AUC, or RMSE and R².
    pub(crate) tally: Tally,
    pub(crate) written: Written,
    /// The loss without features.
    pub baseline: Baseline,
    /// The dimension for which memory is reserved.
    reserved: usize,
    point: Vec<f64>,
    /// The columns of the plan.
    columns: Option<Arc<[Column]>>,
}

impl Session {
    /// Creates a session without any rounds.
    pub fn new(plan: Plan) -> Result<Self> {
        let objective = plan.objective()?;
        let set = start_set(&plan.set)?;
        let grows = plan.set.build(None).is_err();
        let models = (0..plan.models()).map(|_| {
            let learner = plan.learner.build_stored(&set, plan.storage)?;
            let measures_itself = learner.by_example().is_some();
            Ok(Model {
                learner,
                meter: (!measures_itself).then(|| Meter::of(&set, &objective)),
                set: set.clone(),
                grows,
                scratch: Scratch::default(),
                rounds: Vec::new(),
                failure: None,
            })
        });
        let models = models.collect::<extremal::Result<Vec<_>>>();
        let tally = Tally::new(&plan, objective.loss().labels());
        Ok(Self {
            models: models.map_err(Error::options)?,
            reserved: 0,
            plan,
            objective,
            counters: Counters::default(),
            is_torn: false,
            tally,
            written: Written::default(),
            baseline: Baseline::default(),
            point: Vec::new(),
            columns: None,
        })
    }

    /// Stores the columns and the names of the features of the next examples.
    pub fn set_names(&mut self, batch: &Batch) {
        if let Some(columns) = batch.columns()
            && !(self.columns.as_ref()).is_some_and(|known| Arc::ptr_eq(known, columns))
        {
            self.plan.data.columns = Some(columns.to_vec());
            self.columns = Some(columns.clone());
        }
        // A second pass starts with no names, and finds them in the same order.
        let known = self
            .plan
            .data
            .features
            .as_ref()
            .map_or(0, |known| known.len());
        if let Some(features) = batch.features().filter(|found| found.len() >= known) {
            self.plan.data.features = Some(features.clone());
        }
    }

    /// The dimension so far.
    pub fn dim(&self) -> usize {
        self.models[0].learner.dim()
    }

    /// The number of features: those that were seen, for a learner that stores no others.
    pub fn features(&self) -> usize {
        let learner = &self.models[0].learner;
        let seen = learner.by_example().map(|learner| learner.features());
        seen.unwrap_or(learner.dim())
    }

    /// Rounds played.
    pub fn rounds(&self) -> u64 {
        self.models[0].learner.rounds()
    }

    /// The set in the dimension so far.
    pub fn set(&self) -> &SharedSet {
        &self.models[0].set
    }

    /// Oracle calls of the learners.
    pub fn oracle_calls(&self) -> u64 {
        let each = self.models.iter().map(|m| m.learner.seen().oracle_calls);
        each.sum()
    }

    /// Oracle calls of the meters.
    pub fn report_calls(&self) -> u64 {
        let meters = self.models.iter().filter_map(|m| m.meter.as_ref());
        meters.map(Meter::calls).sum()
    }

    /// The radius of the set.
    pub fn radius(&self) -> f64 {
        match self.models[0].learner.by_example() {
            Some(learner) => learner.radius(),
            None => self.set().geometry().norm_bound,
        }
    }

    /// The decisions: one, or one per class.
    pub fn decisions(&self) -> impl Iterator<Item = &dyn Point> {
        self.models.iter().map(|m| m.learner.decision())
    }

    /// Whether there is one model per class.
    pub fn learns_classes(&self) -> bool {
        !self.plan.classes().is_empty()
    }

    /// Increases the dimension. An error changes nothing.
    pub(crate) fn grow(&mut self, dim: usize) -> extremal::Result<()> {
        self.reserve(dim)?;
        self.models.iter_mut().try_for_each(|model| model.grow(dim))
    }

    /// Reserves memory for a dimension, so that all models can grow to it.
    fn reserve(&mut self, dim: usize) -> extremal::Result<()> {
        if self.models[0].grows && dim > self.reserved.max(self.dim()) {
            let mut models = self.models.iter_mut();
            models.try_for_each(|model| model.reserve(dim))?;
            self.reserved = dim;
        }
        Ok(())
    }

    /// Plays examples in order: the session predicts each example, then learns from it. Up to
    /// `threads` threads share the models, and the result does not depend on their number. The rounds
    /// played are added to `rounds`. An error belongs to the first example that was not played. This
    /// example changes nothing.
    pub fn play(
        &mut self,
        examples: &[Example<'_>],
        threads: usize,
        rounds: &mut Vec<Round>,
    ) -> extremal::Result<()> {
        let mut signs = self.plan.data.signs;
        let mut refused = Ok(());
        let admitted = examples.iter().take_while(|example| {
            refused = self.admit(example, &mut signs);
            refused.is_ok()
        });
        let examples = &examples[..admitted.count()];
        self.play_models(examples, threads);
        let played = self.models.iter().map(|model| model.rounds.len()).min();
        let played = played.unwrap_or(0);
        self.is_torn |= self.models.iter().any(|model| model.rounds.len() > played);
        for (k, example) in examples[..played].iter().enumerate() {
            rounds.push(self.count(k, example)?);
        }
        let mut last = self.models.iter_mut().filter(|m| m.rounds.len() == played);
        last.find_map(|m| m.failure.take()).map_or(refused, Err)
    }

    /// Checks an example and reserves memory for its features.
    fn admit(&mut self, example: &Example<'_>, signs: &mut crate::Signs) -> extremal::Result<()> {
        if self.learns_classes() {
            // All models must accept the gradient, or none.
            let reach = self.set().geometry().norm_bound;
            let row = row(example);
            self.objective
                .check_size(&row, 1.0, example.weight, reach)?;
        } else {
            *signs = signs.with(&**self.objective.loss(), example.label)?;
        }
        self.reserve(needed_dim(example))
    }

    /// Lets every model play the examples, on up to `threads` threads.
    fn play_models(&mut self, examples: &[Example<'_>], threads: usize) {
        let by_class = self.learns_classes();
        let (models, objective) = (&mut self.models, &self.objective);
        let useful = models.len() * examples.len() / ROUNDS_PER_THREAD;
        let share = models
            .len()
            .div_ceil(threads.min(useful).clamp(1, models.len()));
        std::thread::scope(|scope| {
            let mut first = 0;
            let mut parts = models.chunks_mut(share).peekable();
            while let Some(part) = parts.next() {
                let classes = first..;
                first += part.len();
                let play = move || {
                    for (class, model) in classes.zip(part) {
                        model.play(by_class.then_some(class), objective, examples);
                    }
                };
                match parts.peek() {
                    Some(_) => drop(scope.spawn(play)),
                    None => play(),
                }
            }
        });
    }

    /// Adds the models' round `k` to the totals, and returns it as one round.
    fn count(&mut self, k: usize, example: &Example<'_>) -> extremal::Result<Round> {
        let counters = &mut self.counters;
        let mut best = (0, self.models[0].rounds[k].0);
        for (class, model) in self.models.iter().enumerate() {
            let (round, whole_loss) = model.rounds[k];
            counters.whole_loss += whole_loss;
            if round.prediction > best.1.prediction {
                best = (class, round);
            }
        }
        let (class, mut round) = best;
        let loss = &**self.objective.loss();
        if self.plan.classes().is_empty() {
            self.plan.data.signs = self.plan.data.signs.with(loss, example.label)?;
            let label = example.label.unwrap_or(0.0);
            self.baseline.add(loss, label, example.weight);
        } else {
            round.prediction = class as f64;
            round.label = example.label.unwrap_or(f64::NAN);
            self.baseline
                .add_class(round.label as usize, example.weight);
            round.loss = example.weight * f64::from(round.prediction != round.label);
        }
        self.tally
            .add(example.weight, round.prediction, round.label);
        counters.loss += round.loss;
        counters.records += 1;
        counters.weight += example.weight;
        Ok(round)
    }

    /// Counts a rejected example as consumed.
    pub fn skip(&mut self) {
        self.counters.records += 1;
    }

    /// The score of an example in each model: the prediction that this model would play next. It may
    /// be NaN or infinite.
    pub fn scores<'a>(
        &'a self,
        example: &'a Example<'_>,
    ) -> impl Iterator<Item = extremal::Result<f64>> + 'a {
        self.models.iter().map(|model| model.predict(example))
    }

    /// The prediction for an example: its score, or the index of the class with the largest score. It
    /// may be NaN or infinite.
    pub fn predict(&self, example: &Example<'_>) -> extremal::Result<f64> {
        predicted(self.scores(example))
    }

    /// Whether the loss needs the label that an example does not have.
    pub(crate) fn lacks_label(&self, example: &Example<'_>) -> bool {
        example.label.is_none() && self.objective.loss().labels() != extremal::loss::Labels::None
    }

    /// Measures how far the decisions are outside their set, and stores the maximum.
    pub fn check_feasible(&mut self) {
        for model in &self.models {
            let decision = model.learner.decision();
            self.point.clear();
            let violation = if let Some(learner) = model.learner.by_example() {
                Some(learner.violation())
            } else if let Structure::Euclidean { radius } = model.set.structure() {
                // The non-zeros suffice, and may be few.
                decision.for_each_nonzero(&mut |_, v| self.point.push(v));
                Some(kernel::norm(&self.point) / radius - 1.0)
            } else {
                self.point.resize(model.learner.dim(), 0.0);
                decision.write(&mut self.point);
                model.set.violation(&self.point)
            };
            if let Some(v) = violation {
                let v = if v.is_nan() { f64::INFINITY } else { v };
                self.counters.violation = self.counters.violation.max(v);
            }
        }
    }
}

/// The features of an example.
pub(crate) fn row<'a>(example: &Example<'a>) -> Row<'a> {
    Row::sparse(example.indices, example.values)
}

/// The smallest dimension that contains the features of an example.
fn needed_dim(example: &Example<'_>) -> usize {
    example.indices.last().map_or(0, |i| *i as usize + 1)
}

/// Turns the scores of all models into a prediction: the score of a single model, or the index of the
/// largest score. If a score is not finite, the prediction is this score.
pub(crate) fn predicted(
    scores: impl Iterator<Item = extremal::Result<f64>>,
) -> extremal::Result<f64> {
    let (mut best, mut count) = ((f64::NEG_INFINITY, 0), 0);
    for score in scores {
        let score = score?;
        if !score.is_finite() {
            return Ok(score);
        }
        if score > best.0 {
            best = (score, count);
        }
        count += 1;
    }
    Ok(if count > 1 { f64::from(best.1) } else { best.0 })
}
