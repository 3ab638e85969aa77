//! SC-OFW: online Frank-Wolfe for strongly convex losses, Algorithm 2 of Wan & Zhang.
//!
//! **Problem.** λ-strongly convex losses over any set; neither T nor G is needed.
//!
//! **Update.** With F_t(x) = Σ_{τ≤t} (⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖²):
//! v_t ∈ argmin_{x∈K} ⟨∇F_t(x_t), x⟩, σ_t = argmin_{σ∈\[0,1\]} ⟨σ(v_t − x_t), ∇F_t(x_t)⟩ +
//! (σ²λt/2)‖v_t − x_t‖², and x_{t+1} = x_t + σ_t(v_t − x_t). With `warm` = T₀, F_t has
//! T₀(λ/2)‖x − x₁‖² added (Kretzu & Garber).
//!
//! **Guarantee.** On α-strongly convex sets, regret ≤ C√(2T) + (C/2)ln T + GD with
//! C = max(4(G+λD)²/λ, 288λ/α²); on any set ≤ (3√2/8)CT^(2/3) + (C/8)ln T + GD with
//! C = 16(G+λD)²/λ. And as it plays it knows a certificate of its own regret, often far tighter.
//!
//! **Reference.** Wan & Zhang, *Projection-free Online Learning over Strongly Convex Sets*,
//! AAAI 2021, Algorithm 2, Theorems 2 and 3; Kretzu & Garber, AISTATS 2021 (T₀).
//!
//! ```
//! use extremal::{learner::LearnerSpec, set::SetSpec};
//! let set = "l2:dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "sc-ofw:lambda=0.1".parse::<LearnerSpec>()?.build(&set)?;
//! assert_eq!(learner.guarantee().unwrap().exponent(), 0.5);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{Certificate, Learner, Level, MakeLearner, Played, Rule, Seen, Storage, keys, player};
use crate::pair::{Accuracy, Gradient, Motion, Pair, Update};
use crate::rounding::{self, UNIT, Wide};
use crate::set::{Geometry, Set, SharedSet};
use crate::spec::{Described, Entry, Parameter};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

/// Spec of `sc-ofw`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScOfw {
    /// λ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// T₀.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm: Option<f64>,
    /// G, for the bound alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_bound: Option<f64>,
    /// x₁.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<f64>>,
}

impl Described for ScOfw {
    const ENTRY: Entry = Entry {
        name: "sc-ofw",
        summary: "online Frank-Wolfe for strongly convex losses, the paper's Algorithm 2",
        parameters: &[
            keys::LAMBDA,
            Parameter {
                name: "warm",
                about: "weight T₀ of a first regulariser",
                default: Some("0"),
                allowed: "a number ≥ 0",
            },
            Parameter {
                name: "gradient-bound",
                about: "a bound G, for the theorem's curve alone",
                default: None,
                allowed: "a number > 0; the largest gradient seen if left out",
            },
            keys::START,
        ],
        cost: "1 oracle call and O(d) per round; O(non-zeros) on ℓ2 balls in lazy storage, λ from a ridge term, and the support more on l1, simplex and k-sparse in sparse storage",
        guarantee: "strongly convex losses: C√(2T) + (C/2)ln T + GD on strongly convex sets, (3√2/8)CT^(2/3) + (C/8)ln T + GD on any",
        reference: "Wan & Zhang, AAAI 2021, Theorems 2 and 3; Kretzu & Garber, AISTATS 2021",
        citations: &["WanZhang2021", "KretzuGarber2021"],
        examples: &["sc-ofw:lambda=0.1", "sc-ofw:lambda=0.1,warm=5"],
    };
}

impl ScOfw {
    /// The rule alone, for a [`Pair`] of your own: see [`Player`](super::Player).
    pub fn rule(&self, geometry: &Geometry) -> Result<impl Rule + use<>> {
        let lambda = self.lambda.ok_or(Error::Missing {
            owner: "sc-ofw",
            name: "lambda",
            why: "its surrogate is built from the losses' strong convexity",
        })?;
        let lambda = keys::lambda("sc-ofw", lambda)?;
        let warm = self.warm.unwrap_or(0.0);
        if !(warm >= 0.0 && warm.is_finite()) {
            return Err(Error::parameter(
                "sc-ofw",
                "warm",
                warm,
                "a finite number ≥ 0",
            ));
        }
        let gradient = self
            .gradient_bound
            .map(|g| keys::bound("sc-ofw", Some(g)))
            .transpose()?;
        // G is filled in when the guarantee is asked for
        let theorem = (warm == 0.0).then_some(theory::ScOfw {
            gradient: 0.0,
            lambda,
            diameter: geometry.diameter,
            alpha: geometry.strong_convexity,
        });
        Ok(ScOfwRule {
            lambda,
            warm,
            gradient,
            t: 0,
            theorem,
            diameter: geometry.diameter,
            norm_bound: geometry.norm_bound,
            played: Wide::default(),
            regret: 0.0,
            gradients: 0.0,
            slopes: 0.0,
            slope: 0.0,
        })
    }
}

impl MakeLearner for ScOfw {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let rule = self.rule(&set.geometry())?;
        player("sc-ofw", rule, set, self.start.as_deref(), storage)
    }
}

#[derive(Serialize, Deserialize)]
struct ScOfwRule {
    lambda: f64,
    warm: f64,
    /// G where given.
    gradient: Option<f64>,
    t: u64,
    theorem: Option<theory::ScOfw>,
    /// The set's.
    diameter: f64,
    norm_bound: f64,
    /// Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖²
    played: Wide,
    /// The regret is at most this, but for rounding.
    regret: f64,
    /// Σ‖g_t‖, a bound of Σ‖∇F_t(x_t)‖, and its last term.
    gradients: f64,
    slopes: f64,
    slope: f64,
}

impl Rule for ScOfwRule {
    fn start_weight(&self) -> f64 {
        self.warm * self.lambda
    }

    #[inline(always)]
    fn round<P: Pair>(&mut self, pair: &mut P, gradient: &Gradient<'_>) -> Result<Played> {
        let lambda = self.lambda;
        // F_t(x) = Σ (⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖²): c += g_t − λx_t, curvature λt
        let t = (self.t + 1) as f64 + self.warm;
        let update = Update::new(1.0, gradient, lambda * t).with_decision(-lambda);
        // v_t ∈ argmin ⟨∇F_t(x_t), x⟩
        let probe = pair.probe(&update)?;
        // σ_t = argmin over [0, 1] of ⟨σ(v_t − x_t), ∇F_t(x_t)⟩ + (σ²λt/2)‖v_t − x_t‖²
        let sigma = probe.line_search();
        // x_{t+1} = x_t + σ_t(v_t − x_t)
        pair.commit(&update, Motion::Step(sigma));

        self.t += 1;
        self.played.add(probe.gradient_dot);
        self.played.add(-0.5 * lambda * probe.norm_squared);
        // min F_t ≥ F_t(x_t) − excess
        self.regret = (self.played.value() - probe.surrogate()) + probe.excess();
        // the two parts of a gradient may cancel, their roundings do not
        self.gradients += probe.gradient_norm + 2.0 * gradient.ridge.abs() * self.norm_bound;
        // ∇F_t(x_t) = Σ(g_τ + λ(x_t − x_τ)), where the storage does not know its norm
        let most = self.gradients + lambda * t * self.diameter;
        self.slope = probe.steepness.min(most);
        self.slopes += self.slope;
        Ok(Played::new(sigma, &probe))
    }

    fn grow(&mut self, set: &dyn Set) -> Result<()> {
        if let Some(theorem) = &mut self.theorem {
            theorem.alpha = set.geometry().strong_convexity;
        }
        let geometry = set.geometry();
        (self.diameter, self.norm_bound) = (geometry.diameter, geometry.norm_bound);
        Ok(())
    }

    fn guarantee(&self, seen: &Seen) -> Option<Guarantee> {
        let gradient = self.gradient.unwrap_or(seen.largest_gradient);
        self.theorem.map(|theorem| {
            theory::ScOfw {
                gradient,
                ..theorem
            }
            .into()
        })
    }

    fn certificate(&self, dim: usize, accuracy: Accuracy) -> Option<Certificate> {
        // with T₀ the surrogate is not the sum of the losses' minorants
        if self.t == 0 || self.warm != 0.0 {
            return None;
        }
        let (t, reach) = (self.t as f64, self.norm_bound);
        let beta = self.lambda * t;
        // What rounding may have done. c is off by three roundings of ‖c_τ‖, ‖g_τ‖ and λ‖x_τ‖ in
        // every round, with ‖c_τ‖ ≤ ‖∇F_τ‖ + λτ‖x_τ‖, and that counts times a comparator. The inner
        // products have terms of at most ‖g_τ‖·‖x_τ‖, λ‖x_τ‖², ‖c‖·‖x‖ and ‖∇F‖·‖x‖.
        let sizes = self.slopes + 0.5 * beta * (t + 1.0) * reach + self.gradients + beta * reach;
        // storages that combine c of longer parts round those
        let sizes = accuracy.dot * sizes;
        let products = rounding::of_dot(dim) * accuracy.dot.max(accuracy.norm);
        let terms = self.gradients + 4.0 * beta * reach + 4.0 * self.slope;
        // ‖∇F‖²/(2β) counts where it is below the gap, which is at most ‖∇F‖·D
        let bent = (self.slope / beta).min(2.0 * self.diameter);
        let rounding = (1.0 + 4.0 * t * UNIT)
            * (3.0 * UNIT * sizes * reach
                + products * (terms * reach + 4.0 * self.slope * bent)
                + rounding::of_oracle(dim, self.slope, self.diameter, reach));
        Some(Certificate {
            level: Level::Quadratic,
            strong_convexity: self.lambda,
            regret: self.regret + rounding,
            rounding,
        })
    }
}
