//! Dual averaging: follow the regularised leader, with a Euclidean projection. It is a baseline.
//! Unlike gradient descent, it uses the sum of all gradients.
//!
//! **Problem.** Convex losses over a set with a projection.
//!
//! **Update.** x_{t+1} = Π(x₁ − η_t Σ_{τ≤t} g_τ). With T and G, η = D/(G√T); with G alone, η_t =
//! D/(G√t); without G, η_t = D/√(Σ‖g‖²).
//!
//! **Guarantee.** Regret ≤ GD√T with T and G, (3/2)GD√T with G alone, and (1 + √5/2)·D·√(Σ‖g‖²)
//! without G.
//!
//! **Reference.** Nesterov, Mathematical Programming 2009; Xiao, JMLR 2010.
//! [`theory::dual_averaging_adaptive`] has the proof of the last constant.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "dual-averaging".parse::<LearnerSpec>()?.build(&set)?;
//! learner.decide()?;
//! learner.observe(&Gradient::dense(&[0.0, 1e-9]))?;
//! let mut x = [0.0; 2];
//! learner.decide()?.write(&mut x);
//! assert_eq!(x, [0.0, -1.0]);
//! # Ok::<(), extremal::Error>(())
//! ```

use crate::Result;
use crate::learner::rivals::projected::{Descent, projected};
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage, Uses};
use crate::parameter::fields;
use crate::set::SharedSet;
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};

fields! {
    /// The spec of `dual-averaging`.
    pub struct DualAveraging {
        /// the number of rounds T; without T or G, the step size decreases
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; without it, √(Σ‖g‖²) replaces G√t
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for DualAveraging {
    const ABOUT: About = About {
        summary: "follow the regularised leader with a projection: a baseline",
        cost: "1 projection and O(d) per round, no oracle call; lazy storage (ℓ2 balls): O(non-zeros)",
        guarantee: "any set with a projection: G·D·√T with T and G; (3/2)·G·D·√T with G alone; (1 + √5/2)·D·√(Σ‖g‖²) without G",
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
        let diameter = set.geometry().diameter;
        let averaging = Descent {
            follows_sum: true,
            schedule: Schedule::of(None, self.horizon, self.gradient_bound),
            factor: diameter,
            offset: 0.0,
            scale: self.eta_scale,
            diameter,
            theorem,
        };
        projected(self, averaging, set, self.start.as_deref(), storage)
    }

    fn uses(&self) -> Uses {
        Uses::Projection
    }
}

fn theorem(averaging: &Descent, squares: f64, _: &RunStatistics) -> Guarantee {
    let diameter = averaging.diameter;
    match averaging.schedule {
        Schedule::Fixed { bound, horizon } => theory::dual_averaging(bound, diameter, horizon),
        Schedule::Rounds { bound } => theory::dual_averaging_anytime(bound, diameter),
        _ => theory::dual_averaging_adaptive(diameter, squares.sqrt()),
    }
}
