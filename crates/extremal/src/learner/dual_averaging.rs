//! Dual averaging: follow the regularised leader, with a Euclidean projection. A baseline that,
//! unlike gradient descent, keeps the whole sum of gradients.
//!
//! **Problem.** Convex losses over a set with a projection.
//!
//! **Update.** x_{t+1} = Π(x₁ − η_t Σ_{τ≤t} g_τ), with η = D/(G√T) where T and G are given,
//! η_t = D/(G√t) where only G is, and η_t = D/√(Σ‖g‖²) without G.
//!
//! **Guarantee.** Regret ≤ GD√T, (3/2)GD√T, (1 + √5/2)·D·√(Σ‖g‖²).
//!
//! **Reference.** Nesterov, Mathematical Programming 2009; Xiao, JMLR 2010; the last constant
//! is proven at [`theory::dual_averaging_adaptive`].
//!
//! ```
//! use extremal::{learner::LearnerSpec, pair::Gradient, set::SetSpec};
//! let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "dual-averaging".parse::<LearnerSpec>()?.build(&set)?;
//! learner.decide()?;
//! learner.observe(&Gradient::dense(&[0.0, 1e-9]))?;
//! let mut x = [0.0; 2];
//! learner.decide()?.write(&mut x);
//! assert_eq!(x, [0.0, -1.0]);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::leader::{DenseLeader, LazyLeader, Leader};
use super::{
    Certificate, Learner, MakeLearner, Record, Seen, Storage, at_round, check_between, check_name,
    check_turn, decode, encode, keys, not_stored, take_turn,
};
use crate::Result;
use crate::kernel;
use crate::pair::{Gradient, Point};
use crate::set::SharedSet;
use crate::spec::{Described, Entry, Parameter};
use crate::theory::{self, Guarantee};

const NAME: &str = "dual-averaging";

/// Spec of `dual-averaging`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DualAveraging {
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u64>,
    /// G.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_bound: Option<f64>,
    /// Factor on η.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_scale: Option<f64>,
    /// x₁.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<f64>>,
}

impl Described for DualAveraging {
    const ENTRY: Entry = Entry {
        name: NAME,
        summary: "the regularised leader, projected: a baseline",
        parameters: &[
            Parameter {
                name: "horizon",
                about: "the number of rounds T; left out, or without G, the step size falls",
                ..keys::HORIZON
            },
            Parameter {
                name: "gradient-bound",
                about: "a bound G of the gradients' ℓ2 norm; left out, √(Σ‖g‖²) stands for G√t",
                ..keys::GRADIENT_BOUND
            },
            keys::ETA_SCALE,
            keys::START,
        ],
        cost: "1 projection and O(d) per round, no oracle call; O(non-zeros) on ℓ2 balls in lazy storage",
        guarantee: "any set with a projection: G·D·√T with T and G, (3/2)·G·D·√T with G, (1 + √5/2)·D·√(Σ‖g‖²) with nothing",
        reference: "Nesterov, 2009; Xiao, JMLR 2010",
        citations: &["Nesterov2009", "Xiao2010"],
        examples: &[
            "dual-averaging",
            "dual-averaging:horizon=1000,gradient-bound=1",
        ],
    };
}

impl MakeLearner for DualAveraging {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        keys::check_unneeded(NAME, self.horizon, self.gradient_bound)?;
        let falls = match (self.gradient_bound, self.horizon) {
            (Some(bound), Some(t)) => Falls::Not {
                bound,
                horizon: t as f64,
            },
            (Some(bound), None) => Falls::WithRounds { bound },
            (None, _) => Falls::WithGradients,
        };
        let state = State {
            falls,
            diameter: set.geometry().diameter,
            scale: keys::eta_scale(NAME, self.eta_scale)?,
            root: 0.0,
            seen: Seen::default(),
            decided: false,
        };
        let start = self.start.as_deref();
        Ok(match storage {
            Storage::Sparse => return Err(not_stored(NAME, set, storage)),
            Storage::Dense => Box::new(DualAverager {
                state,
                leader: DenseLeader::new(NAME, set, start)?,
            }),
            Storage::Lazy => Box::new(DualAverager {
                state,
                leader: LazyLeader::new(NAME, set, start)?,
            }),
        })
    }
}

/// How η falls.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Falls {
    /// D/(G√T).
    Not { bound: f64, horizon: f64 },
    /// D/(G√t).
    WithRounds { bound: f64 },
    /// D/√(Σ‖g‖²).
    WithGradients,
}

#[derive(Serialize, Deserialize)]
struct State {
    falls: Falls,
    diameter: f64,
    scale: f64,
    /// √(Σ‖g‖²).
    root: f64,
    seen: Seen,
    decided: bool,
}

struct DualAverager<X> {
    state: State,
    leader: X,
}

impl<X: Leader> Learner for DualAverager<X> {
    fn dim(&self) -> usize {
        self.leader.dim()
    }

    fn decide(&mut self) -> Result<&dyn Point> {
        take_turn(&mut self.state.decided)?;
        Ok(&self.leader)
    }

    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        let Self { state, leader } = self;
        check_turn(state.decided)?;
        let round = state.seen.rounds + 1;
        let ax = leader.dot(&gradient.row)?;
        let row_norm = kernel::norm(gradient.row.values());
        let xx = leader.norm_squared();
        let gradient = &gradient.admit(row_norm, xx)?;
        let norm = gradient.norm_from(row_norm, ax, xx);
        let root = (state.root * state.root + norm * norm).sqrt();
        let eta = state.diameter
            / match state.falls {
                Falls::Not { bound, horizon } => bound * horizon.sqrt(),
                Falls::WithRounds { bound } => bound * (round as f64).sqrt(),
                Falls::WithGradients => root,
            };
        // no gradient so far, or none that numbers can tell
        let eta = if eta.is_finite() {
            state.scale * eta
        } else {
            0.0
        };
        // S_t = S_{t−1} + g_t and x_{t+1} = Π(x₁ − η_t S_t)
        leader
            .follow(gradient, row_norm, eta)
            .map_err(|e| at_round(e, round))?;

        state.root = root;
        let record = Record {
            round,
            sigma: eta,
            gap: f64::NAN,
            oracle_calls: 0,
            gradient_norm: norm,
            gradient_dot: gradient.scale * ax + gradient.ridge * xx,
            norm_squared: xx,
        };
        state.seen.note(&record);
        state.decided = false;
        Ok(record)
    }

    fn withdraw(&mut self) {
        self.state.decided = false;
    }

    fn decision(&self) -> &dyn Point {
        &self.leader
    }

    fn rounds(&self) -> u64 {
        self.state.seen.rounds
    }

    fn guarantee(&self) -> Option<Guarantee> {
        let State {
            falls,
            diameter,
            scale,
            root,
            ..
        } = self.state;
        let (gradient, horizon) = match falls {
            Falls::Not { bound, horizon } => (bound, Some(horizon)),
            Falls::WithRounds { bound } => (bound, None),
            Falls::WithGradients => {
                let bound = theory::dual_averaging_adaptive(diameter, root);
                return (scale == 1.0).then(|| theory::DualAveragingAdaptive { bound }.into());
            }
        };
        let theorem = theory::DualAveraging {
            gradient,
            diameter,
            horizon,
        };
        (scale == 1.0).then(|| theorem.into())
    }

    fn seen(&self) -> &Seen {
        &self.state.seen
    }

    fn certificate(&self) -> Option<Certificate> {
        None
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(NAME, X::STORAGE, &self.state, self.leader.save()))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (name, storage, state, leader): (String, String, State, X::Saved) = decode(saved)?;
        check_name(NAME, &name)?;
        check_name(X::STORAGE, &storage)?;
        self.leader.load(leader)?;
        self.state = state;
        Ok(())
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        if dim == self.dim() {
            return Ok(());
        }
        check_between(self.state.decided)?;
        self.leader.grow(dim)
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        self.leader.reserve(dim)
    }
}
