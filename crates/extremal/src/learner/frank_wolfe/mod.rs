//! Frank-Wolfe learners. Each one is a [`Rule`]: three pure functions that run on any surrogate.

pub mod dynamic_ofw;
mod eta;
pub mod gauge_ftrl;
pub mod ofw;
pub mod ofw_free;
pub mod ofw_line_search;
pub mod ofw_weibel;
pub mod sc_ofw;

use serde::{Serialize, de::DeserializeOwned};

use crate::learner::skeleton::parameters::need_oracle;
use crate::learner::skeleton::{Acting, Body, Planned, decode, encode, settings};
use crate::learner::{Certificate, Learner, Record, RunStatistics, Storage, not_stored};
use crate::set::{Geometry, Set, SharedSet, Structure};
use crate::spec::Registered;
use crate::surrogate::{
    DenseSurrogate, LazySurrogate, Move, Probe, SparseSurrogate, Surrogate, Update,
};
use crate::theory::Guarantee;
use crate::{Gradient, Point, Result};

/// A Frank-Wolfe learner. It defines how a gradient enters the surrogate F, and how far the learner
/// steps.
///
/// The functions are pure: they receive the learner's state and return the next state. The
/// surrounding code calls the oracle, moves the decision, and saves and loads the state.
///
/// ```
/// use extremal::learner::{Learner, Rule, frank_wolfe::sc_ofw::ScOfw, on_surrogate};
/// use extremal::{Gradient, surrogate::DenseSurrogate};
/// use extremal::set::{Set, l2::L2Ball};
///
/// let set = L2Ball::new(3, 1.0)?;
/// let spec = ScOfw { lambda: Some(0.5), ..ScOfw::default() };
/// let rule = spec.rule()?;
/// let geometry = set.geometry();
/// let surrogate = DenseSurrogate::new(std::sync::Arc::new(set), None)?; // or your own
/// let mut learner = on_surrogate("sc-ofw:lambda=0.5", rule, surrogate, geometry);
/// learner.observe(&Gradient::dense(&[0.1, 0.0, 0.0]))?;
/// assert_eq!(learner.body().surrogate().decision(), [-0.2, 0.0, 0.0]);
/// # Ok::<(), extremal::Error>(())
/// ```
pub trait Rule: Send + Sync {
    /// The learner's state, which consists of numbers.
    type State: Copy + Serialize + DeserializeOwned + Send + Sync;

    /// The state before the first round, and the weight w of F_0(x) = (w/2)‖x − x₁‖².
    fn start(&self) -> (Self::State, f64);

    /// Computes F_t from F_{t−1}. Returns the next state and the update of the surrogate.
    fn absorb<'g>(
        &self,
        state: Self::State,
        facts: &Facts<'_, 'g>,
    ) -> Result<(Self::State, Update<'g>)>;

    /// Chooses the step after the oracle's answer. Returns the next state and the move of the
    /// decision.
    fn step(&self, state: Self::State, facts: &Facts<'_, '_>, probe: &Probe)
    -> (Self::State, Move);

    /// Checks that the rule can continue in this larger set.
    fn check_grown(&self, _set: &dyn Set) -> Result<()> {
        Ok(())
    }

    /// The guarantee, given the statistics of the run. The default is no guarantee.
    fn guarantee(
        &self,
        _state: &Self::State,
        _seen: &RunStatistics,
        _geometry: &Geometry,
    ) -> Option<Guarantee> {
        None
    }

    /// A certificate of the regret from the learner's own sums, with an allowance for rounding.
    /// `x` is the decision.
    fn certificate(
        &self,
        _state: &Self::State,
        _geometry: &Geometry,
        _x: &dyn Point,
    ) -> Option<Certificate> {
        None
    }
}

/// The facts about a round that a rule can use. Each fact is computed only when a rule requests it.
pub struct Facts<'a, 'g> {
    /// The gradient g_t.
    pub gradient: &'g Gradient<'g>,
    /// The set's constants.
    pub geometry: &'a Geometry,
    surrogate: &'a dyn Surrogate,
}

impl Facts<'_, '_> {
    /// ‖g_t‖.
    pub fn norm(&self) -> Result<f64> {
        self.surrogate.size_of(self.gradient)
    }

    /// An upper bound on ‖g_t‖_q.
    pub fn norm_in(&self, q: f64) -> f64 {
        self.surrogate.gradient_norm(self.gradient, q)
    }
}

/// A rule and the surrogate on which it runs.
pub struct OnSurrogate<R: Rule, P> {
    rule: R,
    state: R::State,
    surrogate: P,
    geometry: Geometry,
}

impl<R: Rule, P: Surrogate> OnSurrogate<R, P> {
    /// The surrogate.
    pub fn surrogate(&self) -> &P {
        &self.surrogate
    }
}

/// Creates a learner from a rule and a surrogate of your own, for example a factored matrix.
/// `settings` names the rule and its parameters. A saved state is loaded only if it has the same
/// settings.
pub fn on_surrogate<R: Rule, P: Surrogate>(
    settings: impl Into<String>,
    rule: R,
    mut surrogate: P,
    geometry: Geometry,
) -> Acting<OnSurrogate<R, P>> {
    let (state, weight) = rule.start();
    surrogate.start(weight);
    let body = OnSurrogate {
        rule,
        state,
        surrogate,
        geometry,
    };
    Acting::new(settings, body)
}

/// Creates a learner from a rule, on the surrogate for this storage.
pub(crate) fn stored<S: Registered + Serialize, R: Rule + 'static>(
    spec: &S,
    rule: R,
    set: &SharedSet,
    start: Option<&[f64]>,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    need_oracle(S::ENTRY.name, &**set)?;
    let (geometry, settings) = (set.geometry(), settings(spec, storage));
    Ok(match (storage, set.structure()) {
        (Storage::Dense, _) => {
            let surrogate = DenseSurrogate::new(set.clone(), start)?;
            Box::new(on_surrogate(settings, rule, surrogate, geometry))
        }
        (Storage::Lazy, Structure::Euclidean { .. }) => {
            let surrogate = LazySurrogate::new(set.clone(), start)?;
            Box::new(on_surrogate(settings, rule, surrogate, geometry))
        }
        (Storage::Sparse, Structure::Sparse(_)) => {
            let surrogate = SparseSurrogate::new(set.clone(), start)?;
            Box::new(on_surrogate(settings, rule, surrogate, geometry))
        }
        _ => return Err(not_stored(S::ENTRY.name, set, storage)),
    })
}

impl<R: Rule, P: Surrogate> Body for OnSurrogate<R, P> {
    type Plan = (R::State, Move);

    fn point(&self) -> &dyn Point {
        &self.surrogate
    }

    #[inline(always)]
    fn plan(&mut self, round: u64, gradient: &Gradient<'_>, sure: bool) -> Planned<Self> {
        let Self {
            rule,
            state,
            surrogate,
            geometry,
        } = self;
        let facts = Facts {
            gradient,
            geometry,
            surrogate,
        };
        let (state, update) = rule.absorb(*state, &facts)?;
        let probe = surrogate.probe(&update, sure)?;
        let facts = Facts {
            gradient,
            geometry,
            surrogate,
        };
        let (state, motion) = rule.step(state, &facts, &probe);
        let record = Record {
            round,
            sigma: motion.size(),
            gap: probe.gap,
            oracle_calls: probe.oracle_calls,
            gradient_norm: probe.gradient_norm,
            gradient_dot: probe.gradient_dot,
            norm_squared: probe.norm_squared,
        };
        Ok((record, (state, motion)))
    }

    #[inline]
    fn commit(&mut self, (state, motion): Self::Plan) {
        self.surrogate.commit(motion);
        self.state = state;
    }

    fn discard(&mut self) {
        self.surrogate.discard();
    }

    fn guarantee(&self, seen: &RunStatistics) -> Option<Guarantee> {
        self.rule.guarantee(&self.state, seen, &self.geometry)
    }

    fn certificate(&self) -> Option<Certificate> {
        self.rule
            .certificate(&self.state, &self.geometry, &self.surrogate)
    }

    fn set(&self) -> Option<&SharedSet> {
        self.surrogate.set()
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(self.state, self.surrogate.save()?))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (state, surrogate): (R::State, Vec<u8>) = decode(saved)?;
        self.surrogate.load(&surrogate)?;
        self.state = state;
        Ok(())
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        self.rule.check_grown(&**set)?;
        self.surrogate.reserve(set)
    }

    fn grow(&mut self, set: SharedSet) {
        self.geometry = set.geometry();
        self.surrogate.grow(set);
    }
}
