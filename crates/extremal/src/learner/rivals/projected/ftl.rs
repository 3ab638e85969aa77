//! Follow the leader: play the best fixed decision so far, without a regulariser.
//!
//! **Problem.** Linear losses over a strongly convex set, with one oracle call per round. If λ is
//! given, the losses are λ-strongly convex, and the set has a projection.
//!
//! **Update.** x_{t+1} ∈ argmin ⟨S_t, x⟩ with S_t = Σ_{τ≤t} g_τ. With λ, x_{t+1} = Π(−A_t/(λt))
//! with A_t = Σ_{τ≤t} (g_τ − λx_τ). This decision minimises Σ ⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖². SC-OFW
//! only approaches the minimiser.
//!
//! **Guarantee.** Let α be the set's strong convexity, G the largest gradient norm and L = min
//! ‖S_t‖/t. If L > 0, regret ≤ 8G²(1 + ln T)/(αL). If the sum of gradients returns to 0, there is
//! no bound, and the regret may be linear. With λ, regret ≤ 2(G + λD)²(1 + ln T)/λ.
//!
//! **Reference.** Huang, Lattimore, György & Szepesvári, JMLR 2017; the constants are those of
//! Kerdreux, d'Aspremont & Pokutta, 2021. With λ: Hazan's book.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "ftl".parse::<LearnerSpec>()?.build(&set)?;
//! learner.decide()?;
//! learner.observe(&Gradient::dense(&[0.0, 1e-9]))?;
//! let mut x = [0.0; 2];
//! learner.decide()?.write(&mut x);
//! assert_eq!(x, [0.0, -1.0]);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::learner::skeleton::method::{Method, Round, Step, acting};
use crate::learner::skeleton::parameters;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage, Uses};
use crate::parameter::fields;
use crate::set::{Atom, CheckedOracle, Geometry, Oracle, Projection, SharedSet};
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Result, kernel};

const NAME: &str = "ftl";

fields! {
    /// The spec of `ftl`.
    pub struct Ftl {
        /// the losses' strong convexity λ; default: the losses are linear
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Ftl {
    const ABOUT: About = About {
        summary: "follow the leader: play the best fixed decision so far",
        cost: "1 oracle call (with λ, 1 projection instead) and O(d) per round",
        guarantee: "strongly convex sets, linear losses with ‖S_t‖ ≥ L·t for the sum S_t of the gradients: 8·G²(1 + ln T)/(α·L); λ-strongly convex losses, any set with a projection: 2(G + λD)²(1 + ln T)/λ",
        reference: "Huang et al., JMLR 2017; Kerdreux et al., 2021; with λ: Hazan, Introduction to Online Convex Optimization",
        citations: &["HuangEtAl2017", "KerdreuxEtAl2021", "Hazan2016"],
        examples: &["ftl", "ftl:lambda=0.1"],
    };
}

impl MakeLearner for Ftl {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let leader = match self.lambda {
            None => {
                parameters::need_oracle(NAME, &**set)?;
                Leader::Vertex(CheckedOracle::of(&**set), Atom::new())
            }
            Some(lambda) => {
                let projection = set.projection().ok_or_else(|| {
                    parameters::cannot_play(NAME, &**set, "a projection if lambda is given")
                })?;
                Leader::Projected { lambda, projection }
            }
        };
        let method = Follower {
            leader,
            geometry: set.geometry(),
        };
        acting(self, method, set, self.start.as_deref(), storage)
    }

    fn uses(&self) -> Uses {
        match self.lambda {
            Some(_) => Uses::Projection,
            None => Uses::Oracle,
        }
    }
}

/// How the leader is computed.
enum Leader {
    Vertex(CheckedOracle, Atom),
    Projected {
        lambda: f64,
        projection: Box<dyn Projection>,
    },
}

struct Follower {
    leader: Leader,
    geometry: Geometry,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// S_t, or A_t with λ.
    sum: Vec<f64>,
    /// min ‖S_t‖/t.
    slowest: f64,
}

impl Method for Follower {
    type State = State;

    fn start(&self, x: &[f64]) -> State {
        State {
            sum: vec![0.0; x.len()],
            slowest: f64::INFINITY,
        }
    }

    fn fits(state: &State, x: &[f64]) -> bool {
        state.sum.len() == x.len()
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x, x_next) = (round.now, round.next, round.x, round.x_next);
        let (t, g) = (round.t, round.g);
        next.sum.copy_from_slice(&now.sum);
        kernel::axpy(1.0, g, &mut next.sum);
        match &mut self.leader {
            Leader::Vertex(oracle, atom) => {
                // For S = 0 every point is a minimiser, and the decision does not change.
                if next.sum.iter().any(|s| *s != 0.0) {
                    oracle.minimise(&next.sum, atom)?;
                    x_next.fill(0.0);
                    atom.add_to(1.0, x_next);
                }
            }
            Leader::Projected { lambda, projection } => {
                kernel::axpy(-*lambda, x, &mut next.sum);
                for (x_next, a) in x_next.iter_mut().zip(&next.sum) {
                    *x_next = -a / (*lambda * t);
                }
                projection.project(x_next)?;
            }
        }
        next.slowest = now.slowest.min(kernel::norm(&next.sum) / t);
        Ok(Step::of(1.0))
    }

    fn oracle_calls(&self) -> u64 {
        match &self.leader {
            Leader::Vertex(oracle, _) => oracle.calls(),
            Leader::Projected { .. } => 0,
        }
    }

    fn guarantee(&self, state: &State, seen: &RunStatistics) -> Option<Guarantee> {
        let gradient = seen.largest_gradient;
        match self.leader {
            Leader::Vertex(..) => {
                let alpha = self.geometry.strong_convexity?;
                (state.slowest > 0.0 && seen.rounds > 0)
                    .then(|| theory::ftl(gradient, alpha, state.slowest))
            }
            Leader::Projected { lambda, .. } => {
                let diameter = self.geometry.diameter;
                Some(theory::ftl_strongly_convex(gradient, lambda, diameter))
            }
        }
    }
}
