//! Learners. Each plays in two phases: [`Learner::decide`] shows the decision of the round,
//! [`Learner::observe`] takes the gradient and ends it. A Frank-Wolfe learner's file holds a
//! [`Rule`]: how it absorbs a gradient into the pair, and how far it steps.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::pair::{Accuracy, Gradient, Pair, Point, Probe};
use crate::set::{Set, SharedSet};
use crate::spec::registry;
use crate::theory::Guarantee;
pub use crate::theory::Seen;
use crate::{Error, Result};

mod bettor;
mod choose;
pub mod cip;
pub mod coin_ftrl;
mod coordinate_sums;
pub mod delayed;
pub mod dual_averaging;
pub mod dynamic_ofw;
pub mod eg;
pub mod fast_ogd;
pub mod fpl;
pub mod ftl;
pub mod gauge_ftrl;
pub mod gauge_wrapper;
pub mod hedge;
mod iterate;
mod keys;
mod late;
mod leader;
pub mod lloo;
pub mod local;
pub mod loo_bogd;
mod method;
pub mod ofw;
pub mod ofw_free;
pub mod ofw_ls;
pub mod ofw_weibel;
pub mod ogd;
pub mod ons;
pub mod ospf;
pub mod pairwise;
mod perturbed;
mod plain;
mod player;
pub mod sc_ofw;
pub mod so_ogd;
mod stage;
mod surrogate;
mod weights;

pub use choose::{default_for, default_radius};
pub use keys::Known;
pub use player::Player;
use player::{not_stored, player};

registry! {
    /// The learners, by name.
    "learner" LearnerSpec: MakeLearner {
        "ofw" => Ofw(ofw::Ofw),
        "ofw-weibel" => OfwWeibel(ofw_weibel::OfwWeibel),
        "ofw-ls" => OfwLs(ofw_ls::OfwLs),
        "sc-ofw" => ScOfw(sc_ofw::ScOfw),
        "gauge-ftrl" => GaugeFtrl(gauge_ftrl::GaugeFtrl),
        "ogd" => Ogd(ogd::Ogd),
        "dual-averaging" => DualAveraging(dual_averaging::DualAveraging),
        "ofw-free" => OfwFree(ofw_free::OfwFree),
        "hedge" => Hedge(hedge::Hedge),
        "coin-ftrl" => CoinFtrl(coin_ftrl::CoinFtrl),
        "ftl" => Ftl(ftl::Ftl),
        "lloo" => Lloo(lloo::Lloo),
        "pairwise" => Pairwise(pairwise::Pairwise),
        "fast-ogd" => FastOgd(fast_ogd::FastOgd),
        "ospf" => Ospf(ospf::Ospf),
        "fpl" => Fpl(fpl::Fpl),
        "eg" => Eg(eg::Eg),
        "ons" => Ons(ons::Ons),
        "loo-bogd" => LooBogd(loo_bogd::LooBogd),
        "gauge-wrapper" => GaugeWrapper(gauge_wrapper::GaugeWrapper),
        "so-ogd" => SoOgd(so_ogd::SoOgd),
        "delayed" => Delayed(delayed::Delayed),
        "dynamic-ofw" => DynamicOfw(dynamic_ofw::DynamicOfw),
    }
}

/// What a learner's spec can do.
pub(crate) trait MakeLearner {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>>;
}

impl LearnerSpec {
    /// The learner on a set, stored densely.
    pub fn build(&self, set: &SharedSet) -> Result<Box<dyn Learner>> {
        self.build_stored(set, Storage::Dense)
    }

    /// The learner on a set, its decision stored as asked.
    pub fn build_stored(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
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

/// Who plays.
pub trait Learner: Send {
    /// The dimension of the decisions.
    fn dim(&self) -> usize;

    /// Shows this round's decision; then [`Learner::observe`] must follow.
    fn decide(&mut self) -> Result<&dyn Point>;

    /// Takes the gradient at the decision shown, and ends the round. A bad gradient is an error
    /// that leaves everything as it was.
    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record>;

    /// Takes [`Learner::decide`] back, where no gradient has come: all is as it was before. Without
    /// a decision to take back it does nothing. Not between [`Learner::rehearse`] and
    /// [`Learner::conclude`].
    ///
    /// ```
    /// use extremal::{learner::LearnerSpec, pair::Gradient, set::SetSpec};
    /// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
    /// let mut learner = "ofw-ls".parse::<LearnerSpec>()?.build(&set)?;
    /// let before = learner.save()?;
    /// learner.decide()?;
    /// assert!(learner.observe(&Gradient::dense(&[f64::NAN, 0.0])).is_err());
    /// learner.withdraw();
    /// assert_eq!(learner.save()?, before);
    /// # Ok::<(), extremal::Error>(())
    /// ```
    fn withdraw(&mut self);

    /// The present decision, out of any turn.
    fn decision(&self) -> &dyn Point;

    /// Rounds ended so far.
    fn rounds(&self) -> u64;

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

    /// Goes on in a higher dimension, where the set has one ([`Set::grown`]):
    /// as if it had been known from the start, and the new entries 0 in all decisions and
    /// gradients so far. Between rounds only. To grow to the present dimension changes nothing,
    /// and an error changes nothing either.
    ///
    /// ```
    /// use extremal::{learner::{LearnerSpec, Storage}, pair::Gradient, set::SetSpec};
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
    fn grow(&mut self, dim: usize) -> Result<()> {
        if dim == self.dim() {
            return Ok(());
        }
        Err(Error::Unsupported("this learner can't grow".into()))
    }

    /// Memory for [`Learner::grow`] to that dimension, which no longer fails for want of it:
    /// for whoever has several to grow, all or none. An error changes nothing but memory held.
    fn reserve(&mut self, _dim: usize) -> Result<()> {
        Ok(())
    }

    /// Whether its rounds can be played in two halves, [`Learner::rehearse`] and
    /// [`Learner::conclude`]: what several learners need that move together or not at all.
    fn can_rehearse(&mut self) -> bool {
        false
    }

    /// The half of [`Learner::observe`] that may fail, and then has changed nothing. Where it
    /// succeeds, [`Learner::conclude`] must follow before anything else.
    fn rehearse(&mut self, _gradient: &Gradient<'_>) -> Result<Record> {
        Err(Error::Unsupported("this learner can't rehearse".into()))
    }

    /// The other half, with the same gradient: ends the round, or takes back the rehearsal.
    fn conclude(&mut self, _gradient: &Gradient<'_>, _keep: bool) -> Result<()> {
        Err(Error::Unsupported("this learner can't rehearse".into()))
    }
}

/// What happened in a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// t, from 1.
    pub round: u64,
    /// The step σ_t; for a learner that does not step, what it says.
    pub sigma: f64,
    /// ⟨∇F_t(x_t), x_t − v_t⟩ in the paper's scaling; NaN where there is no surrogate.
    pub gap: f64,
    /// Linear minimisations made in this round to play: oracle calls, counted at the oracle, and
    /// those that a storage makes in closed form. 0 for learners that need none.
    pub oracle_calls: u32,
    /// ‖g_t‖.
    pub gradient_norm: f64,
    /// ⟨g_t, x_t⟩.
    pub gradient_dot: f64,
    /// ‖x_t‖².
    pub norm_squared: f64,
}

impl Seen {
    fn note(&mut self, record: &Record) {
        self.rounds = record.round;
        self.largest_gradient = self.largest_gradient.max(record.gradient_norm);
        self.oracle_calls += u64::from(record.oracle_calls);
    }
}

/// An upper bound on the regret, and how it was computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Which kind.
    pub level: Level,
    /// Regret is at most this, if the losses are convex and as strongly convex as said next.
    pub regret: f64,
    /// The λ that it rests on; 0 where the losses need only be convex. For losses that are less
    /// strongly convex it proves nothing.
    pub strong_convexity: f64,
    /// The part of `regret` that allows for rounding errors. At the level [`Level::Exact`] the
    /// regret is no less than `regret` − 2·`rounding`.
    pub rounding: f64,
}

/// Kinds of certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Σ⟨g_t, x_t⟩ − min ⟨Σg_t, x⟩, for convex losses.
    Linear,
    /// The same with the curvature of strongly convex losses.
    Quadratic,
    /// From the best fixed decision, found offline up to a gap.
    Interval,
    /// The regret itself.
    Exact,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Linear => "linear",
            Self::Quadratic => "quadratic",
            Self::Interval => "interval",
            Self::Exact => "exact",
        })
    }
}

/// What a Frank-Wolfe learner is: its own numbers, and one round on any pair.
pub trait Rule: Serialize + DeserializeOwned + Send {
    /// F starts as (weight/2)‖x − x₁‖².
    fn start_weight(&self) -> f64;

    /// One round: absorb the gradient, ask the oracle once, move. Must not change anything
    /// before the probe has succeeded.
    fn round<P: Pair>(&mut self, pair: &mut P, gradient: &Gradient<'_>) -> Result<Played>;

    /// Takes note that the set has grown to this one. An error where the rule can't go on there,
    /// and then nothing has changed.
    fn grow(&mut self, _set: &dyn Set) -> Result<()> {
        Ok(())
    }

    /// What is proven, given what was seen.
    fn guarantee(&self, seen: &Seen) -> Option<Guarantee>;

    /// What the learner knows about its own regret, with an allowance for rounding: `dim` and
    /// `accuracy` are the pair's.
    fn certificate(&self, _dim: usize, _accuracy: Accuracy) -> Option<Certificate> {
        None
    }
}

/// A round as a rule played it.
#[derive(Debug, Clone, Copy)]
pub struct Played {
    /// σ_t.
    pub sigma: f64,
    /// ⟨∇F_t(x_t), x_t − v_t⟩ in the paper's scaling.
    pub gap: f64,
    /// ‖g_t‖.
    pub gradient_norm: f64,
    /// ⟨g_t, x_t⟩.
    pub gradient_dot: f64,
    /// ‖x_t‖².
    pub norm_squared: f64,
    /// Oracle calls.
    pub oracle_calls: u32,
}

impl Played {
    /// The step σ, and what the probe of the round said.
    pub fn new(sigma: f64, probe: &Probe) -> Self {
        Self {
            sigma,
            gap: probe.gap,
            gradient_norm: probe.gradient_norm,
            gradient_dot: probe.gradient_dot,
            norm_squared: probe.norm_squared,
            oracle_calls: probe.oracle_calls,
        }
    }

    fn record(&self, round: u64) -> Record {
        Record {
            round,
            sigma: self.sigma,
            gap: self.gap,
            oracle_calls: self.oracle_calls,
            gradient_norm: self.gradient_norm,
            gradient_dot: self.gradient_dot,
            norm_squared: self.norm_squared,
        }
    }
}

fn take_turn(decided: &mut bool) -> Result<()> {
    if *decided {
        return Err(Error::OutOfTurn(
            "decide was called twice; observe must come first",
        ));
    }
    *decided = true;
    Ok(())
}

fn check_turn(decided: bool) -> Result<()> {
    if decided {
        Ok(())
    } else {
        Err(Error::OutOfTurn("observe was called before decide"))
    }
}

fn check_between(decided: bool) -> Result<()> {
    if decided {
        Err(Error::OutOfTurn(
            "grow was called between decide and observe",
        ))
    } else {
        Ok(())
    }
}

fn at_round(error: Error, round: u64) -> Error {
    match error {
        Error::Numerical { what, .. } => Error::Numerical { round, what },
        other => other,
    }
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    // with room for a small state, as batches of rows take one each to go back to
    let room = Vec::with_capacity(4096);
    postcard::to_extend(value, room).map_err(|e| Error::State(e.to_string()))
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(Error::State(format!("{} bytes too many", rest.len()))),
        Err(e) => Err(Error::State(e.to_string())),
    }
}

fn check_name(expected: &str, found: &str) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::State(format!("it is of {found}, not of {expected}")))
    }
}
