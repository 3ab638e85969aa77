//! OFW without constants: online Frank-Wolfe with line search that needs neither T nor G.
//!
//! **Problem.** Convex losses over any set; λ of strongly convex ones is made use of.
//!
//! **Update.** As SC-OFW, with a curvature of the round's own:
//! F_t(x) = Σ_{τ≤t} (⟨g_τ, x⟩ + (λ_τ/2)‖x − x_τ‖²), one Frank-Wolfe step with line search on
//! F_t from x_t, and λ_t = λ + μ_t. With p_t = F_t(x_t) − F_t(x_{t+1}), what the step gained:
//! `own` takes μ_{t+1} = 2p_t/(sD²); `steady` takes μ_{t+1} = ‖g_t‖/(sD), as if the losses were
//! strongly convex in proportion to their slope. μ_1 = 0, and s is the factor `eta-scale`. Any
//! μ ≥ 0 keeps the guarantee.
//!
//! **Guarantee.** Write m_t = min F_t. Because the round's quadratic is 0 at x_t,
//! Σ⟨g_t, x_t⟩ − m_T = Σ_t (F_t(x_t) − F_{t−1}(x_t)) + Σ_t (m_{t−1} − m_t), which telescopes to
//! Σ_t p_t + (F_T(x_{T+1}) − m_T). A fixed decision u pays at most D² in each μ_t-part, so
//! regret ≤ (D²/2)Σμ_t + Σp_t + (F_T(x_{T+1}) − m_T): a number known in every round. With `own`
//! the first sum is 1/s times the second but for its last term, which balances the two.
//! In units of G and D, with B = Σλ_τ: F_t(x_t) − m_t stays below 6·max(1, B)^(1/3), and on
//! strongly convex sets below a constant, so that regret is O(GDT^(3/4)) and O(T^(2/3)). The guide
//! has the proof, with constants. `steady` can be held to nothing by itself: it is a
//! base for [`hedge`](super::hedge), and often by far the best of them.
//!
//! **Reference.** This project; the step is Wan & Zhang's, AAAI 2021, the balance in the manner
//! of AdaHedge (de Rooij et al., JMLR 2014).
//!
//! ```
//! use extremal::{learner::LearnerSpec, pair::Gradient, set::SetSpec};
//! let set = "simplex:dim=3".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "ofw-free".parse::<LearnerSpec>()?.build(&set)?;
//! for t in 0..1000 {
//!     learner.decide()?;
//!     learner.observe(&Gradient::dense(&[0.0, 1.0, if t % 2 == 0 { 1.0 } else { -1.0 }]))?;
//! }
//! assert!(learner.guarantee().unwrap().bound(1000.0) < 100.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{Learner, MakeLearner, Played, Rule, Seen, Storage, keys, not_stored, player};
use crate::pair::{Gradient, Motion, Pair, Update};
use crate::range::SETS;
use crate::set::{Geometry, Set, SharedSet};
use crate::spec::{Described, Entry, Parameter};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

const NAME: &str = "ofw-free";

/// Where the curvature of a round comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// From what the steps gain.
    #[default]
    Own,
    /// From the gradients' norms.
    Steady,
}

/// Spec of `ofw-free`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OfwFree {
    /// Where the curvature comes from.
    #[serde(default)]
    pub growth: Growth,
    /// λ, 0 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_scale: Option<f64>,
    /// x₁.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<f64>>,
}

impl Described for OfwFree {
    const ENTRY: Entry = Entry {
        name: NAME,
        summary: "online Frank-Wolfe with line search that needs neither T nor G",
        parameters: &[
            Parameter {
                name: "growth",
                about: "where the surrogate's curvature comes from",
                default: Some("own"),
                allowed: "own (what the steps gain), steady (the gradients' norms; no guarantee, a base for hedge)",
            },
            Parameter {
                name: "lambda",
                about: "the losses' strong convexity λ",
                default: Some("0"),
                allowed: "a number from 0 to 1e50",
            },
            keys::ETA_SCALE,
            keys::START,
        ],
        cost: "1 oracle call and O(d) per round; O(non-zeros + support) on l1, simplex and k-sparse in sparse storage",
        guarantee: "any set, convex losses: a bound known in every round, O(GDT^(3/4)), O(T^(2/3)) on strongly convex sets",
        reference: "this project; the step: Wan & Zhang, AAAI 2021",
        citations: &["Extremal", "WanZhang2021", "DeRooijEtAl2014"],
        examples: &["ofw-free", "ofw-free:eta-scale=4", "ofw-free:growth=steady"],
    };
}

impl OfwFree {
    /// The rule alone, for a [`Pair`] of your own: see [`Player`](super::Player).
    pub fn rule(&self, geometry: &Geometry) -> Result<impl Rule + use<>> {
        let lambda = self.lambda.unwrap_or(0.0);
        if !(0.0..=*SETS.end()).contains(&lambda) {
            let allowed = "a number between 0 and 1e50";
            return Err(Error::parameter(NAME, "lambda", lambda, allowed));
        }
        let scale = keys::eta_scale(NAME, self.eta_scale)?;
        Ok(FreeRule {
            growth: self.growth,
            lambda,
            scale,
            diameter: geometry.diameter,
            curved: geometry.strong_convexity.is_some(),
            beta: 0.0,
            next: 0.0,
            guessed: 0.0,
            gained: 0.0,
            left: 0.0,
        })
    }
}

impl MakeLearner for OfwFree {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        // Where its curvature is no ridge term's, lazy storage would cost O(d) every few rounds.
        if storage == Storage::Lazy {
            return Err(not_stored(NAME, set, storage));
        }
        let rule = self.rule(&set.geometry())?;
        player(NAME, rule, set, self.start.as_deref(), storage)
    }
}

#[derive(Serialize, Deserialize)]
struct FreeRule {
    growth: Growth,
    lambda: f64,
    scale: f64,
    diameter: f64,
    curved: bool,
    /// Σλ_τ
    beta: f64,
    /// μ_{t+1}
    next: f64,
    /// (D²/2)Σμ_τ
    guessed: f64,
    /// Σp_τ
    gained: f64,
    /// At least F_t(x_{t+1}) − min F_t.
    left: f64,
}

impl FreeRule {
    /// (amount/D)/s, 0 on a set that is one point.
    fn share(&self, amount: f64) -> f64 {
        if amount == 0.0 || self.diameter == 0.0 {
            0.0
        } else {
            amount / self.diameter / self.scale
        }
    }
}

impl Rule for FreeRule {
    fn start_weight(&self) -> f64 {
        0.0
    }

    #[inline(always)]
    fn round<P: Pair>(&mut self, pair: &mut P, gradient: &Gradient<'_>) -> Result<Played> {
        // F_t(x) = Σ (⟨g_τ, x⟩ + (λ_τ/2)‖x − x_τ‖²): c += g_t − λ_t x_t, curvature Σλ_τ
        let lambda = self.lambda + self.next;
        let update = Update::new(1.0, gradient, self.beta + lambda).with_decision(-lambda);
        let probe = pair.probe(&update)?;
        let sigma = probe.line_search();
        pair.commit(&update, Motion::Step(sigma));

        // p_t = σ·gap − (σ²β/2)‖v_t − x_t‖², and σβ‖v_t − x_t‖² is the gap where σ < 1
        let gain = if sigma < 1.0 {
            0.5 * sigma * probe.gap
        } else {
            probe.gap - 0.5 * probe.beta * probe.distance_squared
        };
        self.beta += lambda;
        self.guessed += 0.5 * self.diameter * (self.diameter * self.next);
        self.gained += gain;
        self.left = (probe.excess() - gain).max(0.0);
        self.next = self.share(match self.growth {
            Growth::Own => 2.0 * gain / self.diameter,
            Growth::Steady => probe.gradient_norm,
        });
        Ok(Played::new(sigma, &probe))
    }

    fn grow(&mut self, set: &dyn Set) -> Result<()> {
        self.curved = set.geometry().strong_convexity.is_some();
        Ok(())
    }

    fn guarantee(&self, _seen: &Seen) -> Option<Guarantee> {
        (self.growth == Growth::Own).then_some(Guarantee::OfwFree(theory::OfwFree {
            bound: self.guessed + self.gained + self.left,
            lambda: self.lambda,
            curved: self.curved,
        }))
    }
}
