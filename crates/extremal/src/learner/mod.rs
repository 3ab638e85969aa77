//! Learners. A round has two phases: [`Learner::decide`] returns the decision, and
//! [`Learner::observe`] receives the gradient at this decision and ends the round. The file of a
//! Frank-Wolfe learner implements a [`Rule`], which defines how a gradient enters the surrogate and
//! how far the learner steps.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hindsight::ByNorm;
use crate::loss::{Labels, Loss, Objective};
pub use crate::record::{Certificate, Level, Record};
use crate::set::{SharedSet, Structure};
use crate::spec::{Kind, registry};
use crate::theory::Guarantee;
pub use crate::theory::RunStatistics;
use crate::{Error, Gradient, Point, Result, Row};

pub mod frank_wolfe;
pub mod of_learners;
pub mod rivals;
pub mod skeleton;
pub mod untuned;

pub use frank_wolfe::{Facts, OnSurrogate, Rule, on_surrogate};
pub use skeleton::{Acting, Body, parameters::Known};
pub use untuned::default::{default_for, default_radius};

registry! {
    /// The learners and their names.
    "learner" LearnerSpec: MakeLearner {
        "ofw" => Ofw(frank_wolfe::ofw::Ofw),
        "ofw-weibel" => OfwWeibel(frank_wolfe::ofw_weibel::OfwWeibel),
        "ofw-ls" => OfwLs(frank_wolfe::ofw_line_search::OfwLs),
        "sc-ofw" => ScOfw(frank_wolfe::sc_ofw::ScOfw),
        "gauge-ftrl" => GaugeFtrl(frank_wolfe::gauge_ftrl::GaugeFtrl),
        "ogd" => Ogd(rivals::projected::ogd::Ogd),
        "dual-averaging" => DualAveraging(rivals::projected::dual_averaging::DualAveraging),
        "ofw-free" => OfwFree(frank_wolfe::ofw_free::OfwFree),
        "hedge" => Hedge(of_learners::hedge::Hedge),
        "coin-ftrl" => CoinFtrl(untuned::coin_ftrl::CoinFtrl),
        "ftl" => Ftl(rivals::projected::ftl::Ftl),
        "lloo" => Lloo(rivals::few_calls::lloo::Lloo),
        "pairwise" => Pairwise(rivals::few_calls::pairwise::Pairwise),
        "fast-ogd" => FastOgd(rivals::projected::fast_ogd::FastOgd),
        "ospf" => Ospf(rivals::perturbed::ospf::Ospf),
        "fpl" => Fpl(rivals::perturbed::fpl::Fpl),
        "eg" => Eg(rivals::projected::eg::Eg),
        "ons" => Ons(rivals::projected::ons::Ons),
        "loo-bogd" => LooBogd(rivals::few_calls::loo_bogd::LooBogd),
        "gauge-wrapper" => GaugeWrapper(rivals::by_gauge::gauge_wrapper::GaugeWrapper),
        "so-ogd" => SoOgd(rivals::by_gauge::so_ogd::SoOgd),
        "delayed" => Delayed(of_learners::delayed::Delayed),
        "dynamic-ofw" => DynamicOfw(frank_wolfe::dynamic_ofw::DynamicOfw),
        "unit-free" => UnitFree(untuned::unit_free::UnitFree),
    }
}

/// Builds a learner from its spec.
pub(crate) trait MakeLearner {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>>;

    fn uses(&self) -> Uses {
        Uses::Oracle
    }

    fn needs_ridge(&self) -> Option<f64> {
        None
    }
}

impl fmt::Debug for dyn Learner + '_ {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Learner");
        shown.field("dim", &self.dim());
        shown.field("rounds", &self.rounds());
        shown.finish_non_exhaustive()
    }
}

/// The operation on the set that a learner uses in its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uses {
    /// The linear oracle.
    Oracle,
    /// The projection onto the set.
    Projection,
    /// The gauge and its subgradients.
    Gauge,
    /// The function h of a set {x : h(x) ≤ 0}.
    Constraint,
    /// No operation, because the decisions have a closed form.
    Nothing,
}

impl LearnerSpec {
    /// The operation on the set that the learner uses.
    ///
    /// ```
    /// use extremal::learner::{LearnerSpec, Uses};
    /// assert_eq!("ofw-ls".parse::<LearnerSpec>()?.uses(), Uses::Oracle);
    /// assert_eq!("ogd".parse::<LearnerSpec>()?.uses(), Uses::Projection);
    /// # Ok::<(), extremal::Error>(())
    /// ```
    pub fn uses(&self) -> Uses {
        self.inner().uses()
    }

    /// The λ that lazy storage needs. A round costs O(non-zeros) only if the losses have the ridge
    /// term (λ/2)‖x‖². Otherwise, every few rounds the learner updates all features observed so
    /// far. The result is `None` for a learner that needs no ridge term.
    pub fn needs_ridge(&self) -> Option<f64> {
        self.inner().needs_ridge()
    }

    /// Builds the learner on a set, in dense storage.
    pub fn build(&self, set: &SharedSet) -> Result<Box<dyn Learner>> {
        self.build_stored(set, Storage::Dense)
    }

    /// Builds the learner on a set, with its decision in the given storage.
    pub fn build_stored(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        self.check()?;
        self.inner().make(set, storage)
    }

    /// Builds the learner in the given storage. A learner that observes examples is an error.
    pub(crate) fn build_for_gradients(
        &self,
        set: &SharedSet,
        storage: Storage,
    ) -> Result<Box<dyn Learner>> {
        let learner = self.build_stored(set, storage)?;
        match learner.by_example() {
            None => Ok(learner),
            Some(_) => Err(Error::Unsupported(format!(
                "{self} observes examples, not gradients: it can't be the base of another learner"
            ))),
        }
    }
}

/// The storage of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// Stores all entries. Every set allows it.
    #[default]
    Dense,
    /// Stores a combination of two sparse sums. It is for ℓ2 balls with sparse gradients, and a
    /// round costs O(non-zeros).
    Lazy,
    /// Stores only the entries that differ from a common value. It is for ℓ1 balls, simplices and
    /// the k-sparse polytope with sparse gradients, and a round costs O(non-zeros + support).
    Sparse,
}

/// An online learner. It returns a decision, and then receives the loss's gradient at the decision.
///
/// Learners are `Send` and `Sync`: one thread plays the rounds while others read the decision.
///
/// ```
/// use std::sync::RwLock;
/// use extremal::{Gradient, LearnerSpec, SetSpec};
/// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
/// let learner = RwLock::new("ofw-ls".parse::<LearnerSpec>()?.build(&set)?);
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         let decision = learner.read().unwrap();
///         assert!(decision.decision().norm_squared() <= 1.0);
///     });
///     let mut player = learner.write().unwrap();
///     player.decide()?;
///     player.observe(&Gradient::dense(&[1.0, 0.0]))
/// })?;
/// # Ok::<(), extremal::Error>(())
/// ```
pub trait Learner: Send + Sync {
    /// The dimension of the decisions.
    fn dim(&self) -> usize {
        self.decision().dim()
    }

    /// The decision of this round. Until [`Learner::observe`] ends the round, every call returns
    /// the same decision. A learner with random decisions draws a decision in the first call of a
    /// round. For other learners the call changes nothing.
    ///
    /// ```
    /// use extremal::{Gradient, LearnerSpec, SetSpec};
    /// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
    /// let mut learner = "ofw-ls".parse::<LearnerSpec>()?.build(&set)?;
    /// let before = learner.save()?;
    /// learner.decide()?;
    /// learner.decide()?;
    /// assert!(learner.observe(&Gradient::dense(&[f64::NAN, 0.0])).is_err());
    /// assert_eq!(learner.save()?, before);
    /// # Ok::<(), extremal::Error>(())
    /// ```
    fn decide(&mut self) -> Result<&dyn Point> {
        Ok(self.decision())
    }

    /// Receives the gradient at the decision and ends the round. It calls [`Learner::decide`] first
    /// if the caller did not. An invalid gradient is an error, and the learner does not change.
    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record>;

    /// The current decision, read-only.
    fn decision(&self) -> &dyn Point;

    /// The number of completed rounds.
    fn rounds(&self) -> u64 {
        self.seen().rounds
    }

    /// The regret bound proven for this learner on this set, with its assumptions. It is `None` if
    /// there is no theorem.
    fn guarantee(&self) -> Option<Guarantee>;

    /// The statistics of the run. The theorem's assumptions are checked against them.
    fn seen(&self) -> &RunStatistics;

    /// An upper bound on the regret, which the learner computes from its own sums. It holds for
    /// losses with the strong convexity that the certificate states.
    fn certificate(&self) -> Option<Certificate>;

    /// The whole state as bytes. A learner with the same spec on the same set resumes from these
    /// bytes with [`Learner::load`].
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores the state that [`Learner::save`] returned. If the call fails, the learner does not
    /// change.
    fn load(&mut self, saved: &[u8]) -> Result<()>;

    /// Continues in a higher dimension, if the set can grow
    /// ([`Set::grown`](crate::set::Set::grown)). The result is the same as if the dimension had
    /// been known from the start, with 0 in the new entries of all earlier decisions and gradients.
    /// A call with the current dimension does nothing. If the call fails, the learner does not
    /// change.
    ///
    /// ```
    /// use extremal::{learner::{LearnerSpec, Storage}, Gradient, SetSpec};
    /// let set = "l2:dim=1".parse::<SetSpec>()?.build(None)?;
    /// let spec: LearnerSpec = "gauge-ftrl".parse()?;
    /// let mut learner = spec.build_stored(&set, Storage::Lazy)?;
    /// for i in [3, 7, 5] {
    ///     learner.grow(learner.dim().max(i + 1))?;
    ///     learner.decide()?;
    ///     learner.observe(&Gradient::sparse(&[i as u32], &[1.0]))?;
    /// }
    /// assert_eq!(learner.dim(), 8);
    /// # Ok::<(), extremal::Error>(())
    /// ```
    fn grow(&mut self, dim: usize) -> Result<()>;

    /// Checks that [`Learner::grow`] to this dimension will succeed, and reserves memory for it. To
    /// grow several learners together or not at all, reserve for all of them first.
    fn reserve(&mut self, dim: usize) -> Result<()>;

    /// The first half of [`Learner::observe`], which may fail. The decision does not change.
    /// [`Learner::commit`] or [`Learner::discard`] must be the next call. To move several learners
    /// together or not at all, plan all of them first, then commit or discard all of them.
    ///
    /// ```
    /// use extremal::{Gradient, LearnerSpec, SetSpec};
    /// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
    /// let mut learner = "ofw-ls".parse::<LearnerSpec>()?.build(&set)?;
    /// let before = learner.save()?;
    /// learner.plan(&Gradient::dense(&[1.0, 0.0]))?;
    /// learner.discard();
    /// assert_eq!(learner.save()?, before);
    /// # Ok::<(), extremal::Error>(())
    /// ```
    fn plan(&mut self, gradient: &Gradient<'_>) -> Result<Record>;

    /// Ends the planned round. Without a plan the call does nothing.
    fn commit(&mut self);

    /// Undoes the plan, bit for bit. Without a plan the call does nothing.
    fn discard(&mut self);

    /// Plays a round of a learner that observes examples instead of gradients: it predicts, then
    /// observes the label. If the call fails, the learner does not change. For a learner without
    /// [`Learner::by_example`], this call is an error.
    fn learn(&mut self, example: &Example<'_>) -> Result<Learnt>;

    /// The additional methods of a learner that observes examples. The result is `None` for a
    /// learner that observes gradients.
    fn by_example(&self) -> Option<&dyn ByExample>;
}

/// An example with its loss, for learners that evaluate the loss at several predictions.
///
/// ```
/// use extremal::{Example, LearnerSpec, LossSpec, Objective, Row, SetSpec, learner::Storage};
/// let set = "unit-free:dim=2".parse::<SetSpec>()?.build(None)?;
/// let mut learner = "unit-free".parse::<LearnerSpec>()?.build_stored(&set, Storage::Lazy)?;
/// let objective = Objective::new("squared".parse::<LossSpec>()?.build()?, 0.0)?;
/// for t in 0..1000 {
///     let row = [1.0e6, f64::from(t % 3)];
///     let example = Example::new(Row::Dense(&row), 5.0 * row[1], 1.0, &objective)?;
///     learner.learn(&example)?;
/// }
/// let by_example = learner.by_example().unwrap();
/// let prediction = by_example.predict(&Row::Dense(&[1.0e6, 2.0]))?;
/// assert!((prediction - 10.0).abs() < 0.1);
/// # Ok::<(), extremal::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Example<'a> {
    /// The features a.
    pub row: Row<'a>,
    /// The label.
    pub label: f64,
    /// The factor that multiplies the loss.
    pub weight: f64,
    labels: Labels,
    /// Whether the loss models a probability.
    probability: bool,
    loss: &'a dyn Losses,
}

/// An objective with any type of loss.
trait Losses {
    fn at(&self, prediction: f64, label: f64) -> (f64, f64);
}

impl<L: Loss + ?Sized> Losses for Objective<L> {
    fn at(&self, prediction: f64, label: f64) -> (f64, f64) {
        self.loss().at(prediction, label)
    }
}

impl<'a> Example<'a> {
    /// Creates an example with this loss. The loss must depend on the prediction alone, so a ridge
    /// term is an error.
    pub fn new<L: Loss + ?Sized>(
        row: Row<'a>,
        label: f64,
        weight: f64,
        objective: &'a Objective<L>,
    ) -> Result<Self> {
        let loss = Self::check(objective)?;
        loss.check_label(label)?;
        Kind::NOT_NEGATIVE.admit("example", "weight", weight)?;
        Ok(Self {
            row,
            label,
            weight,
            labels: loss.labels(),
            probability: loss.probability(0.0).is_some(),
            loss: objective,
        })
    }

    /// Returns the loss. A loss that has a ridge term, ignores the label or can be negative is an
    /// error.
    fn check<L: Loss + ?Sized>(objective: &Objective<L>) -> Result<&L> {
        let loss = &**objective.loss();
        if objective.strong_convexity() > 0.0 || loss.form().is_some() {
            let what = "this learner needs a loss that depends on the prediction alone: leave out the ridge term";
            return Err(Error::Unsupported(what.into()));
        }
        if loss.labels() == Labels::None || !loss.is_nonnegative() {
            return Err(Error::Unsupported(format!(
                "this learner needs a loss that depends on a prediction and a label and is never negative, not {}",
                loss.name()
            )));
        }
        Ok(loss)
    }

    /// The value and the slope of the loss at a prediction and a label. Both are multiplied by the
    /// weight.
    fn loss_at(&self, prediction: f64, label: f64) -> (f64, f64) {
        let (value, slope) = self.loss.at(prediction, label);
        (self.weight * value, self.weight * slope)
    }
}

/// The result of a round with an [`Example`].
#[derive(Debug, Clone, Copy)]
pub struct Learnt {
    /// The prediction that the learner played.
    pub prediction: f64,
    /// The loss of this prediction, multiplied by the weight.
    pub loss: f64,
    /// The slope of this loss at the prediction.
    pub slope: f64,
    /// The learner's record.
    pub record: Record,
}

/// A learner that observes examples. It predicts with the points of a set that depends on the data,
/// {x : Σ(M_i·x_i)² ≤ r²}.
pub trait ByExample {
    /// The prediction that the learner would play next for this row, with weight 1. The learner does
    /// not change. The row may be longer or shorter than the dimension: features beyond the
    /// dimension were never seen, and missing entries are 0.
    fn predict(&self, row: &Row<'_>) -> Result<f64>;

    /// Loads what a round with this row needs into the caches. A loop over many rows is faster if it
    /// calls this for the next row before each round. The call changes nothing.
    fn prefetch(&self, row: &Row<'_>);

    /// The range to which predictions are clipped. It is `None` without clipping.
    fn range(&self) -> Option<(f64, f64)>;

    /// The radius r.
    fn radius(&self) -> f64;

    /// The number of features that were observed.
    fn features(&self) -> usize;

    /// The scale M_i of a feature. It is 0 for a feature that was never observed.
    fn scale(&self, index: usize) -> f64;

    /// The violation of the set by the current decision, relative to r.
    fn violation(&self) -> f64;

    /// The regret against comparators of any norm √(Σ(M_i·x_i)²).
    fn by_norm(&self) -> ByNorm;

    /// A bound on the rounding error of the sum of the losses.
    fn loss_rounding(&self) -> f64;
}

/// The error for a learner that does not support the set in this storage. If the set supports the
/// storage, the message names learners that support both.
fn not_stored(learner: &'static str, set: &SharedSet, storage: Storage) -> Error {
    let (needs, mut instead) = match (storage, set.structure()) {
        (Storage::Lazy, Structure::Euclidean { .. }) => (
            "dense storage, because it has no lazy form",
            vec!["gauge-ftrl", "coin-ftrl", "ofw-ls", "ogd"],
        ),
        (Storage::Lazy, _) => (
            "dense storage: lazy storage is only for ℓ2 balls, whose atoms are multiples of the direction",
            Vec::new(),
        ),
        (_, Structure::Sparse(_)) => (
            "dense storage, because it has no sparse form",
            vec!["ofw-ls", "ofw-weibel", "ofw-free"],
        ),
        _ => (
            "dense storage: sparse storage is only for sets whose atoms have few entries (l1, simplex, k-sparse)",
            Vec::new(),
        ),
    };
    instead.retain(|other| *other != learner);
    Error::CannotPlay {
        learner,
        set: set.name().into(),
        needs,
        instead,
    }
}

fn at_round(error: Error, round: u64) -> Error {
    match error {
        Error::Numerical { what, .. } => Error::Numerical { round, what },
        other => other,
    }
}
