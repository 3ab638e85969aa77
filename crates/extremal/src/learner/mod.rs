//! Learners. A round has two phases: [`Learner::decide`] shows the decision,
//! [`Learner::observe`] takes the gradient at it and ends the round. A Frank-Wolfe learner's file
//! holds a [`Rule`]: how it absorbs a gradient into the pair, and how far it steps.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::record::{Certificate, Level, Record};
use crate::set::{SharedSet, Structure};
use crate::spec::registry;
use crate::theory::Guarantee;
pub use crate::theory::Seen;
use crate::{Error, Gradient, Point, Result};

pub mod frank_wolfe;
pub mod of_learners;
pub mod rivals;
pub mod skeleton;
pub mod untuned;

pub use frank_wolfe::{Facts, OnPair, Rule, on_pair};
pub use skeleton::{Acting, Body, parameters::Known};
pub use untuned::default::{default_for, default_radius};

registry! {
    /// The learners, by name.
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
    }
}

/// What a learner's spec can do.
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

/// What a learner asks of its set in its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uses {
    /// The linear oracle.
    Oracle,
    /// The projection: what all others avoid.
    Projection,
    /// The gauge and its subgradients.
    Gauge,
    /// h, where the set is {x : h(x) ≤ 0}.
    Constraint,
    /// Nothing: its decisions have a closed form.
    Nothing,
}

impl LearnerSpec {
    /// What the learner asks of its set.
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

    /// λ where rounds in lazy storage cost O(non-zeros) only if the losses have the ridge term
    /// (λ/2)‖x‖². With any other, every few rounds go through all features touched so far.
    pub fn needs_ridge(&self) -> Option<f64> {
        self.inner().needs_ridge()
    }

    /// The learner on a set, stored densely.
    pub fn build(&self, set: &SharedSet) -> Result<Box<dyn Learner>> {
        self.build_stored(set, Storage::Dense)
    }

    /// The learner on a set, its decision stored as asked.
    pub fn build_stored(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        self.check()?;
        self.inner().make(set, storage)
    }
}

/// How a decision is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// Every entry; any set.
    #[default]
    Dense,
    /// As a combination of two sparse sums; ℓ2 balls with sparse gradients, O(non-zeros).
    Lazy,
    /// Where it is not 0, or not like everywhere else; ℓ1 balls, simplices and the k-sparse
    /// polytope with sparse gradients, O(non-zeros + support).
    Sparse,
}

/// An online learner: it shows a decision, then receives the gradient there.
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

    /// The decision of this round. Until [`Learner::observe`] ends the round, every call returns the
    /// same decision and changes nothing more. A learner that draws its decision at random draws it
    /// in the first call; the others do nothing here.
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

    /// Takes the gradient at the decision, and ends the round. If nobody called
    /// [`Learner::decide`], this decides first. A bad gradient is an error that leaves everything as
    /// it was.
    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record>;

    /// The decision as it stands, to read.
    fn decision(&self) -> &dyn Point;

    /// Rounds ended so far.
    fn rounds(&self) -> u64 {
        self.seen().rounds
    }

    /// What is proven about the regret, with its assumptions, if anything is.
    fn guarantee(&self) -> Option<Guarantee>;

    /// What was seen, to hold against the assumptions.
    fn seen(&self) -> &Seen;

    /// An upper bound on the regret that the learner knows by itself, for losses as strongly
    /// convex as the certificate says.
    fn certificate(&self) -> Option<Certificate>;

    /// The whole state, as bytes; [`Learner::load`] on a learner built alike goes on from it.
    fn save(&self) -> Result<Vec<u8>>;

    /// Takes back what [`Learner::save`] gave. On an error nothing has changed.
    fn load(&mut self, saved: &[u8]) -> Result<()>;

    /// Goes on in a higher dimension, where the set has one ([`Set::grown`](crate::set::Set::grown)):
    /// as if it had been known from the start, and the new entries 0 in all decisions and
    /// gradients so far. To grow to the present dimension changes nothing, and an error changes
    /// nothing either.
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

    /// Checks that [`Learner::grow`] to this dimension will succeed, and reserves memory for it.
    /// Call it on several learners to grow all of them or none.
    fn reserve(&mut self, dim: usize) -> Result<()>;

    /// The half of [`Learner::observe`] that may fail. The decision stays as it is.
    /// [`Learner::commit`] or [`Learner::discard`] must follow before anything else. Learners that
    /// move together or not at all are planned first, and then all are committed or discarded.
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

    /// Ends the round that was planned. Without one it does nothing.
    fn commit(&mut self);

    /// Takes back what was planned: all is as before, bit for bit. Without a plan it does nothing.
    fn discard(&mut self);
}

/// The learner can't play the set in this storage. If the set allows the storage, with learners
/// that can.
fn not_stored(learner: &'static str, set: &SharedSet, storage: Storage) -> Error {
    let (needs, mut instead) = match (storage, set.structure()) {
        (Storage::Lazy, Structure::Euclidean { .. }) => (
            "dense storage, as it has no lazy form",
            vec!["gauge-ftrl", "coin-ftrl", "ofw-ls", "ogd"],
        ),
        (Storage::Lazy, _) => (
            "dense storage: only on ℓ2 balls, where the atom is a multiple of the direction, is a decision stored lazily",
            Vec::new(),
        ),
        (_, Structure::Sparse(_)) => (
            "dense storage, as it has no sparse form",
            vec!["ofw-ls", "ofw-weibel", "ofw-free"],
        ),
        _ => (
            "dense storage: only on sets whose atoms have few entries (l1, simplex, k-sparse) is a decision stored sparsely",
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
