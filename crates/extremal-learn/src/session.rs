//! A run over a stream: the learner, what certifies it, and what it has seen.

use std::sync::Arc;

use extremal::game::{self, Turn};
use extremal::hindsight::{ByNorm, Meter};
use extremal::kernel;
use extremal::learner::{Certificate, Learner, Level};
use extremal::loss::{Objective, Scratch};
use extremal::set::{SharedSet, Structure};
use extremal::stream;
use extremal::theory::{Run, is_vacuous, trivial_regret};
use extremal::{Point, Row};
use extremal_data::{Column, Example};
use serde::{Deserialize, Serialize};

use crate::classes::{self, Lane};
use crate::error::{Error, Result};
use crate::norms;
use crate::plan::Plan;

/// How often a better point to certify at is looked for, where the losses are strongly convex.
const CERTIFICATE_STEPS: usize = 20;

/// What a run has added up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Examples consumed, those of earlier passes included.
    pub records: u64,
    /// Σ of the weights.
    pub weight: f64,
    /// Σ weight·loss of the data, before each update.
    pub loss: f64,
    /// Σ of the whole losses, ridge term included.
    pub whole_loss: f64,
    /// The largest violation looked at; 0 where none was found. Not saved: when it was looked at
    /// is the reports' affair.
    #[serde(skip)]
    pub violation: f64,
}

/// One round as a report shows it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Round {
    /// ⟨a, x⟩ before the update; the class for one-against-all.
    pub prediction: f64,
    /// The data's loss times the weight.
    pub loss: f64,
    /// The label.
    pub label: f64,
    /// Non-zeros.
    pub features: usize,
    /// σ_t of the learner's record.
    pub sigma: f64,
    /// Its gap.
    pub gap: f64,
}

/// One model: a learner and the meter that certifies its regret.
pub(crate) struct Track {
    pub learner: Box<dyn Learner>,
    pub meter: Meter,
    set: SharedSet,
    scratch: Scratch,
}

impl Track {
    fn grow(&mut self, dim: usize) -> extremal::Result<()> {
        self.learner.grow(dim)?;
        self.meter.grow(dim)?;
        if let Some(set) = self.set.grown(dim) {
            self.set = set;
        }
        Ok(())
    }

    /// One round on one example; on an error nothing has changed.
    pub fn play(
        &mut self,
        objective: &Objective,
        example: &Example<'_>,
        label: f64,
    ) -> extremal::Result<(Round, f64)> {
        let row = Row::Sparse {
            indices: example.indices,
            values: example.values,
        };
        let given = stream::Round {
            row,
            label,
            weight: example.weight,
        };
        let Turn {
            record, evaluation, ..
        } = game::round(
            &mut *self.learner,
            objective,
            given,
            Some(&mut self.meter),
            &mut self.scratch,
        )?;
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

/// A learner, or one per class, against a stream of examples.
pub struct Session {
    plan: Plan,
    objective: Objective,
    pub(crate) tracks: Vec<Track>,
    counters: Counters,
    /// A set that grows with the features, or one whose dimension was given.
    grows: bool,
    point: Vec<f64>,
    lanes: Vec<Lane>,
    /// So many features were found to leave memory to spare.
    roomy: usize,
    /// Those that the plan has.
    columns: Option<Arc<[Column]>>,
}

/// What can be said about the regret.
pub struct Certified {
    /// The certificate; the sum over the classes.
    pub certificate: Certificate,
    /// What is proven for this learner, if anything is.
    pub bound: Option<Proven>,
    /// No regret on these rounds is larger: the smaller one of G·D·T, with G the largest gradient
    /// met, and the total loss beyond the least that the losses allow.
    pub most: f64,
    /// The total loss beyond the least that the losses allow, rounded down.
    pub lost: f64,
    /// The regret against comparators of any norm, where the set is a ball of one; that of every
    /// class's model against a comparator of its own.
    pub by_norm: Option<ByNorm>,
    /// No comparator up to this norm has half the total loss, where the losses are never below 0.
    /// `None` if that can't be said of any norm.
    pub halving: Option<f64>,
    /// How many models the numbers are sums over.
    pub models: usize,
}

impl Certified {
    /// Whether the certificate says nothing.
    pub fn is_vacuous(&self) -> bool {
        is_vacuous(self.certificate.regret, self.most)
    }
}

/// What a theorem says.
#[derive(Debug, Clone, PartialEq)]
pub enum Proven {
    /// Regret is at most this.
    Bound(f64),
    /// The bound, which is no less than what no learner can reach.
    Vacuous(f64),
    /// An assumption did not hold: which.
    Broken(String),
}

impl Session {
    /// Before the first round.
    pub fn new(plan: Plan) -> Result<Self> {
        let objective = plan.objective()?;
        let set = plan.start_set()?;
        let grows = plan.set.build(None).is_err();
        let tracks = (0..plan.tracks())
            .map(|_| {
                Ok(Track {
                    learner: plan.learner.build_stored(&set, plan.storage)?,
                    meter: Meter::of(&set, &objective),
                    set: set.clone(),
                    scratch: Scratch::default(),
                })
            })
            .collect::<extremal::Result<Vec<_>>>()
            .map_err(|why| Error::Usage(why.to_string()))?;
        Ok(Self {
            plan,
            objective,
            tracks,
            counters: Counters::default(),
            grows,
            point: Vec::new(),
            lanes: Vec::new(),
            roomy: 0,
            columns: None,
        })
    }

    /// What is learnt and how.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Takes note of the columns of the table that the next examples are from.
    pub fn set_columns(&mut self, columns: &Arc<[Column]>) {
        if !(self.columns.as_ref()).is_some_and(|known| Arc::ptr_eq(known, columns)) {
            self.plan.data.columns = Some(columns.to_vec());
            self.columns = Some(columns.clone());
        }
    }

    /// What was added up so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn set_counters(&mut self, counters: Counters) {
        self.counters = counters;
    }

    /// The dimension so far.
    pub fn dim(&self) -> usize {
        self.tracks[0].learner.dim()
    }

    /// Rounds played.
    pub fn rounds(&self) -> u64 {
        self.tracks[0].learner.rounds()
    }

    /// Oracle calls made to play.
    pub fn oracle_calls(&self) -> u64 {
        self.tracks
            .iter()
            .map(|t| t.learner.seen().oracle_calls)
            .sum()
    }

    /// max ‖g_t‖ over the rounds.
    pub fn largest_gradient(&self) -> f64 {
        let each = self
            .tracks
            .iter()
            .map(|t| t.learner.seen().largest_gradient);
        each.fold(0.0, f64::max)
    }

    /// Oracle calls made to report.
    pub fn report_calls(&self) -> u64 {
        self.tracks.iter().map(|t| t.meter.calls()).sum()
    }

    /// The set in the dimension so far.
    pub fn set(&self) -> &SharedSet {
        &self.tracks[0].set
    }

    /// The models, one or one per class.
    pub fn decisions(&self) -> impl Iterator<Item = &dyn Point> {
        self.tracks.iter().map(|t| t.learner.decision())
    }

    /// Makes room for so many features; on an error nothing has changed.
    pub(crate) fn grow(&mut self, dim: usize) -> extremal::Result<()> {
        if dim > self.dim() {
            // All or none of them, and with room left for what reports and saves write out.
            for track in &mut self.tracks {
                track.learner.reserve(dim)?;
                track.meter.reserve(dim)?;
            }
            if dim > self.roomy {
                // for a while, as features may come one by one
                let ahead = dim + dim / 8;
                self.roomy = match spare(ahead) {
                    Ok(()) => ahead,
                    Err(_) => spare(dim).map(|()| dim)?,
                };
            }
            for track in &mut self.tracks {
                track.grow(dim)?;
            }
        }
        Ok(())
    }

    /// Makes room for an example's features.
    fn fit(&mut self, example: &Example<'_>) -> extremal::Result<()> {
        let needed = example.indices.last().map_or(0, |i| *i as usize + 1);
        if self.grows && needed > self.dim() {
            self.grow(needed)?;
        }
        Ok(())
    }

    /// One example: predicts, then learns. On an error nothing has changed.
    pub fn play(&mut self, example: &Example<'_>) -> extremal::Result<Round> {
        if self.learns_classes() {
            let mut rounds = Vec::with_capacity(1);
            self.play_classes(&[*example], 1, &mut rounds)?;
            return Ok(rounds.pop().unwrap_or_default());
        }
        let label = example.label.unwrap_or(f64::NAN);
        // Before room is made for the features: a label that is refused must leave no trace.
        self.objective.loss().check_label(label)?;
        let signs = self.plan.data.signs.with(&**self.objective.loss(), label)?;
        self.fit(example)?;
        let (round, whole) = self.tracks[0].play(&self.objective, example, label)?;
        self.plan.data.signs = signs;
        self.counters.whole_loss += whole;
        self.count(example, &round);
        Ok(round)
    }

    /// Whether there is one model per class.
    pub fn learns_classes(&self) -> bool {
        !self.plan.classes().is_empty()
    }

    /// Plays examples in turn, one model per class, on up to `threads` threads: the same as one by
    /// one. `rounds` takes those played, which are all before the one that an error is about.
    pub fn play_classes(
        &mut self,
        examples: &[Example<'_>],
        threads: usize,
        rounds: &mut Vec<Round>,
    ) -> extremal::Result<()> {
        let mut misfit = Ok(());
        let mut fitting = 0;
        for example in examples {
            // A gradient that one class refuses and another does not would part them.
            misfit = self.check(example).and_then(|()| self.fit(example));
            if misfit.is_err() {
                break;
            }
            fitting += 1;
        }
        let examples = &examples[..fitting];
        if examples.is_empty() {
            return misfit;
        }
        let Self {
            tracks,
            lanes,
            objective,
            ..
        } = self;
        let played = classes::play(tracks, lanes, objective, examples, threads);
        for (k, example) in examples[..played.rounds].iter().enumerate() {
            let (round, whole) = classes::together(&self.lanes, k, example);
            for whole in whole {
                self.counters.whole_loss += whole;
            }
            self.count(example, &round);
            rounds.push(round);
        }
        played.failed.map_or(misfit, Err)
    }

    /// Errors if a class could refuse the gradient of an example.
    fn check(&self, example: &Example<'_>) -> extremal::Result<()> {
        let row = Row::Sparse {
            indices: example.indices,
            values: example.values,
        };
        let reach = self.tracks[0].set.geometry().norm_bound;
        self.objective.check_size(&row, 1.0, example.weight, reach)
    }

    fn count(&mut self, example: &Example<'_>, round: &Round) {
        self.counters.loss += round.loss;
        self.counters.records += 1;
        self.counters.weight += example.weight;
    }

    /// Leaves out an example that was refused: it is consumed all the same.
    pub fn pass_over(&mut self) {
        self.counters.records += 1;
    }

    /// The prediction for an example: ⟨a, x⟩, or the class. Features that were never seen count
    /// as 0. It may not be finite where the numbers are huge.
    pub fn predict(&self, example: &Example<'_>) -> extremal::Result<f64> {
        predict(self.decisions(), self.dim(), example)
    }

    /// Looks at the decisions' feasibility.
    pub fn check_feasible(&mut self) {
        for track in &self.tracks {
            let decision = track.learner.decision();
            self.point.clear();
            let found = if let Structure::Euclidean { radius } = track.set.structure() {
                // what is not 0 is enough, and may be little of a large dimension
                decision.for_each_nonzero(&mut |_, v| self.point.push(v));
                let gauge = kernel::norm(&self.point) / radius;
                Some(if gauge <= 1.0 { 0.0 } else { gauge - 1.0 })
            } else {
                self.point.resize(track.learner.dim(), 0.0);
                decision.write(&mut self.point);
                track.set.violation(&self.point)
            };
            if let Some(v) = found {
                let v = if v.is_nan() { f64::INFINITY } else { v };
                self.counters.violation = self.counters.violation.max(v);
            }
        }
    }

    /// The certified regret after the rounds played. One oracle call per model at least.
    pub fn certify(&mut self) -> Result<Certified> {
        let failed = |why| Error::Library {
            context: "certificate".into(),
            why,
        };
        let mut sum: Option<Certificate> = None;
        let mut bound = Some(Proven::Bound(0.0));
        let mut by_norm: Option<ByNorm> = None;
        let above_least = self.objective.above_least(self.counters.whole_loss);
        let mut trivial = 0.0;
        for track in &mut self.tracks {
            let own = track.meter.certificate(CERTIFICATE_STEPS).map_err(failed)?;
            sum = Some(match sum {
                None => own,
                Some(sum) => Certificate {
                    regret: sum.regret + own.regret,
                    rounding: sum.rounding + own.rounding,
                    ..own
                },
            });
            by_norm = match (by_norm, track.meter.by_norm()) {
                (Some(mut sum), Some(own)) => sum.add(&own).then_some(sum),
                (_, own) => own,
            };
            let (seen, diameter) = (track.learner.seen(), track.set.geometry().diameter);
            let (gradient, rounds) = (seen.largest_gradient, seen.rounds as f64);
            trivial += trivial_regret(gradient, diameter, rounds, above_least);
            let own = proven(track, &self.objective, &self.counters);
            bound = match (bound, own) {
                (Some(Proven::Bound(a)), Some(Proven::Bound(b))) => Some(Proven::Bound(a + b)),
                (Some(Proven::Bound(_)), other) => other,
                (other, _) => other,
            };
        }
        let certificate = sum.unwrap_or(Certificate {
            level: Level::Linear,
            regret: 0.0,
            strong_convexity: 0.0,
            rounding: 0.0,
        });
        // what all models have lost is more than each of them can
        let most = above_least.min(trivial);
        let lost = above_least - self.rounding();
        Ok(Certified {
            certificate,
            bound: match bound {
                Some(Proven::Bound(bound)) if is_vacuous(bound, most) => {
                    Some(Proven::Vacuous(bound))
                }
                bound => bound,
            },
            most,
            lost,
            halving: by_norm.as_ref().and_then(|b| norms::halving(b, lost)),
            by_norm,
            models: self.tracks.len(),
        })
    }

    /// How far the total loss may be off: by what each loss is, and half a unit in the last place of
    /// the total for each addition, twice as much to be safe. The losses are taken not to cancel.
    pub fn rounding(&self) -> f64 {
        let additions = self.rounds() as f64 * self.tracks.len() as f64;
        let losses: f64 = self.tracks.iter().map(|track| track.meter.allowed()).sum();
        losses * (1.0 + 1e-6) + (additions + 8.0) * f64::EPSILON * self.counters.whole_loss.abs()
    }
}

/// An error unless there is memory to write a decision of so many entries out a few times.
fn spare(dim: usize) -> extremal::Result<()> {
    const EACH: usize = 8;
    let mut room = Vec::<[f64; EACH]>::new();
    room.try_reserve_exact(dim)
        .map_err(|_| extremal::Error::Memory { features: dim })
}

fn proven(track: &Track, objective: &Objective, counters: &Counters) -> Option<Proven> {
    let guarantee = track.learner.guarantee()?;
    // examples are fixed beforehand, and nobody knows how long the longest will be
    let losses = objective.facts(f64::INFINITY, true);
    let mut run = Run::new(*track.learner.seen(), losses);
    run.diameter = track.set.geometry().diameter;
    run.violation = Some(counters.violation);
    run.above_least = objective.above_least(counters.whole_loss);
    let report = guarantee.report(&run);
    let broken: Vec<String> = report.failed().map(|check| check.detail.clone()).collect();
    Some(if !broken.is_empty() {
        Proven::Broken(broken.join("; "))
    } else {
        Proven::Bound(report.bound)
    })
}

/// ⟨a, x⟩ of one decision, or the class of several; features beyond the dimension count as 0.
/// Not finite where one of them is not.
pub(crate) fn predict<'a>(
    decisions: impl Iterator<Item = &'a dyn Point>,
    dim: usize,
    example: &Example<'_>,
) -> extremal::Result<f64> {
    let known = example.indices.partition_point(|i| (*i as usize) < dim);
    let row = Row::Sparse {
        indices: &example.indices[..known],
        values: &example.values[..known],
    };
    let mut best = (f64::NEG_INFINITY, 0);
    let mut alone = 0.0;
    let mut count = 0;
    for (class, decision) in decisions.enumerate() {
        alone = decision.dot(&row)?;
        count = class + 1;
        if !alone.is_finite() {
            return Ok(alone);
        }
        if alone > best.0 {
            best = (alone, class);
        }
    }
    Ok(if count > 1 { best.1 as f64 } else { alone })
}
