//! OGD: projected online gradient descent, the baseline for projection-free learners. It needs a
//! set with a Euclidean projection.
//!
//! **Problem.** Convex or λ-strongly convex losses.
//!
//! **Update.** x_{t+1} = Π(x_t − η_t g_t). With λ, η_t = 1/(λ(t + b)); with G, η_t = D/(G√t); with
//! neither, η_t = D/√(2Σ‖g‖²).
//!
//! **Guarantee.** Regret ≤ (3/2)GD√T with G, G²(1 + ln T)/(2λ) with λ and b = 0, and √2·D·√(Σ‖g‖²)
//! with neither. No bound is proven for another b (`offset`) or with a factor on the step size
//! (`eta-scale`).
//!
//! **Reference.** Zinkevich, ICML 2003; Hazan, Agarwal & Kale, Machine Learning 2007;
//! Streeter & McMahan, 2010 (AdaGrad-norm).
//!
//! ```
//! use extremal::{LearnerSpec, SetSpec};
//! let set = "simplex:dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "ogd:gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! assert_eq!(learner.guarantee().unwrap().exponent(), 0.5);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::f64::consts::SQRT_2;

use crate::learner::rivals::projected::{Descent, projected};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule as Falling;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage, Uses};
use crate::parameter::{choices, fields};
use crate::set::SharedSet;
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

const NAME: &str = "ogd";

choices! {
    /// The step-size schedule.
    pub enum Schedule {
        /// D/(G√t), which needs G
        Convex = "convex",
        /// 1/(λ(t + b)), which needs λ
        StronglyConvex = "strongly-convex",
        /// D/√(2Σ‖g‖²)
        Adagrad = "adagrad",
    }
}

fields! {
    /// The spec of `ogd`.
    pub struct Ogd {
        /// the step-size schedule; default: the best one that the other keys allow
        pub schedule: Option<Schedule> = None => Schedule::KIND,
        /// the losses' strong convexity λ
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// the offset b in the step size 1/(λ(t+b)); a larger b makes the first steps smaller;
        /// allowed only with schedule=strongly-convex
        pub offset: f64 = 0.0 => Kind::NOT_NEGATIVE,
        /// a bound G on the gradients' ℓ2 norm
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Ogd {
    const ABOUT: About = About {
        summary: "projected online gradient descent: the baseline",
        cost: "1 projection and O(d) per round, no oracle call; lazy storage (ℓ2 balls): O(non-zeros)",
        guarantee: "any set with a projection: (3/2)·G·D·√T with G; G²(1+ln T)/(2λ) for λ-strongly convex losses; √2·D·√(Σ‖g‖²) with neither",
        reference: "Zinkevich, ICML 2003; Hazan, Agarwal & Kale, 2007; Streeter & McMahan, 2010",
        citations: &[
            "Zinkevich2003",
            "HazanAgarwalKale2007",
            "StreeterMcMahan2010",
        ],
        examples: &[
            "ogd",
            "ogd:gradient-bound=1",
            "ogd:lambda=0.1",
            "ogd:lambda=0.1,eta-scale=2,offset=100",
        ],
    };
}

impl MakeLearner for Ogd {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let descent = self.descent(set.geometry().diameter)?;
        projected(self, descent, set, self.start.as_deref(), storage)
    }

    fn uses(&self) -> Uses {
        Uses::Projection
    }
}

impl Ogd {
    fn descent(&self, diameter: f64) -> Result<Descent> {
        let schedule = self
            .schedule
            .unwrap_or(match (self.lambda, self.gradient_bound) {
                (Some(_), _) => Schedule::StronglyConvex,
                (None, Some(_)) => Schedule::Convex,
                (None, None) => Schedule::Adagrad,
            });
        if self.offset != 0.0 && schedule != Schedule::StronglyConvex {
            let allowed = "absent, unless schedule=strongly-convex, whose step size is 1/(λ(t+b))";
            return Err(Error::parameter(NAME, "offset", self.offset, allowed));
        }
        let (schedule, factor) = match schedule {
            Schedule::Convex => {
                let bound = parameters::bound(NAME, self.gradient_bound)?;
                (Falling::Rounds { bound }, diameter)
            }
            Schedule::StronglyConvex => {
                let why = "with schedule=strongly-convex the step size is 1/(λ(t+b))";
                let lambda = parameters::need(NAME, "lambda", self.lambda, why)?;
                (Falling::Strong { lambda }, 1.0)
            }
            Schedule::Adagrad => (Falling::Gradients, diameter / SQRT_2),
        };
        Ok(Descent {
            follows_sum: false,
            schedule,
            factor,
            offset: self.offset,
            scale: self.eta_scale,
            diameter,
            theorem,
        })
    }
}

fn theorem(descent: &Descent, squares: f64, seen: &RunStatistics) -> Guarantee {
    match descent.schedule {
        Falling::Rounds { bound } => theory::ogd_convex(bound, descent.diameter),
        Falling::Strong { lambda } => theory::ogd_strongly_convex(seen.largest_gradient, lambda),
        _ => theory::ogd_adagrad(descent.diameter, squares.sqrt()),
    }
}
