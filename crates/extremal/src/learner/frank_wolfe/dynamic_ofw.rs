//! Dynamic OFW: one Frank-Wolfe step on each smooth loss, to track a moving minimiser.
//!
//! **Problem.** β-smooth convex losses that change slowly, over any set. The learner has a small
//! dynamic regret: the comparator of every round is the minimiser of the round's loss. It does not
//! use past losses, and is therefore a bad choice if the losses vary randomly around one mean.
//!
//! **Update.** v_t ∈ argmin_{x∈K} ⟨g_t, x⟩, σ_t = min(1, ⟨g_t, x_t − v_t⟩/(β‖x_t − v_t‖²)),
//! x_{t+1} = x_t + σ_t(v_t − x_t).
//!
//! **Guarantee.** Let V = Σ max|f_t − f_{t−1}| and M = 2·max|f|. Then Σ(f_t(x_t) − min f_t) ≤
//! (M + V)/σ + σβD²T/2 for every 0 < σ ≤ 1 (see [`theory::dynamic_ofw`]). This does not bound the
//! regret against one fixed decision.
//!
//! **Reference.** Wan, Zhang & Song, *Improved Dynamic Regret for Online Frank-Wolfe*, COLT 2023.
//!
//! [`theory::dynamic_ofw`]: crate::theory::dynamic_ofw
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "dynamic-ofw:smoothness=1".parse::<LearnerSpec>()?.build(&set)?;
//! learner.decide()?;
//! learner.observe(&Gradient::dense(&[0.25, 0.0]))?;
//! let mut x = [0.0; 2];
//! learner.decide()?.write(&mut x);
//! assert_eq!(x, [-0.25, 0.0]);
//! # Ok::<(), extremal::Error>(())
//! ```

use crate::Result;
use crate::learner::frank_wolfe::{Facts, Rule, stored};
use crate::learner::skeleton::parameters::need;
use crate::learner::{Learner, MakeLearner, Storage};
use crate::parameter::fields;
use crate::set::SharedSet;
use crate::spec::{About, Described, Kind};
use crate::surrogate::{Move, Probe, Update};

const NAME: &str = "dynamic-ofw";

fields! {
    /// The spec of `dynamic-ofw`.
    pub struct DynamicOfw {
        /// the losses' smoothness β: their gradients are β-Lipschitz
        pub smoothness: Option<f64> = None => Kind::SIZE,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for DynamicOfw {
    const ABOUT: About = About {
        summary: "one Frank-Wolfe step on each smooth loss, to track a moving minimiser",
        cost: "1 oracle call and O(d) per round",
        guarantee: "dynamic regret of β-smooth losses, any set: (M + V)/σ + σβD²T/2 for every 0 < σ ≤ 1, V = Σ max|f_t − f_{t−1}|, M = 2·max|f|; no bound against a fixed decision",
        reference: "Wan, Zhang & Song, COLT 2023",
        citations: &["WanZhangSong2023"],
        examples: &["dynamic-ofw:smoothness=1"],
    };
}

impl MakeLearner for DynamicOfw {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let why = "its step depends on how smooth the losses are";
        let smoothness = need(NAME, "smoothness", self.smoothness, why)?;
        let rule = Tracker { smoothness };
        stored(self, rule, set, self.start.as_deref(), storage)
    }
}

struct Tracker {
    /// β.
    smoothness: f64,
}

impl Rule for Tracker {
    type State = ();

    fn start(&self) -> ((), f64) {
        ((), 0.0)
    }

    /// F_t(x) = ⟨g_t, x⟩ + (β/2)‖x − x_t‖², independent of earlier rounds
    fn absorb<'g>(&self, (): (), facts: &Facts<'_, 'g>) -> Result<((), Update<'g>)> {
        let update = Update::new(1.0, facts.gradient, self.smoothness);
        Ok(((), update.restarted()))
    }

    /// σ_t = min(1, ⟨g_t, x_t − v_t⟩/(β‖x_t − v_t‖²))
    fn step(&self, (): (), _: &Facts<'_, '_>, probe: &Probe) -> ((), Move) {
        ((), Move::Towards(probe.line_search()))
    }
}
