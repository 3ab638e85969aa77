//! The default learner for a set and a loss.

use crate::learner::frank_wolfe::gauge_ftrl::GaugeFtrl;
use crate::learner::frank_wolfe::ofw_free::{Growth, OfwFree};
use crate::learner::frank_wolfe::sc_ofw::ScOfw;
use crate::learner::of_learners::hedge::Hedge;
use crate::learner::untuned::coin_ftrl::CoinFtrl;
use crate::learner::untuned::unit_free::UnitFree;
use crate::learner::{LearnerSpec, Storage};
use crate::loss::{Loss, Objective};
use crate::set::{Set, Structure};

/// The relative step sizes that the default learner tries at the same time.
const GRID: [f64; 4] = [0.25, 1.0, 4.0, 16.0];

/// The default learner for a set and a loss. It needs neither T nor G nor a step size, and has a
/// guarantee on every set.
///
/// For nonlinear losses, and for losses with a ridge term, the default is
/// [`hedge`](crate::learner::of_learners::hedge). Four of its bases are
/// [`ofw-free`](crate::learner::frank_wolfe::ofw_free) learners with different step sizes that
/// treat the losses as strongly convex. The fifth base has a theorem: `gauge-ftrl` on curved sets,
/// on other sets `sc-ofw` if a ridge term gives λ, and `ofw-free` without a ridge term. A round
/// costs five oracle calls. For linear losses without a ridge term, the default is `gauge-ftrl` on
/// curved sets, and several step sizes of `ofw-free` on other sets.
///
/// In lazy and sparse storage the default is a single learner. On ℓ2 balls it is
/// [`coin-ftrl`](crate::learner::untuned::coin_ftrl) for nonlinear losses, `sc-ofw` if there is a
/// ridge term, and `gauge-ftrl` for linear losses. [`default_radius`] chooses a ball if none is
/// given.
///
/// On the set [`unit-free`](crate::set::unit_free), the default is the learner of the same name. It
/// observes examples instead of gradients.
///
/// The choice for nonlinear losses was measured on ℓ2 and ℓ1.5 balls (`bench/quality.py`). The
/// regret was 1.1 to 1.7 times that of gradient descent with the best of 120 step sizes a/(t + b).
/// On an ℓ1 ball with the solution far from the boundary, the ratio was 2.5 to 4.5, because the
/// vertices are far away.
///
/// ```
/// use extremal::learner::{Storage, default_for};
/// use extremal::{LossSpec, Objective};
/// use extremal::SetSpec;
///
/// let set = "lp:p=1.5,dim=10".parse::<SetSpec>()?.build(None)?;
/// let objective = Objective::new("linear".parse::<LossSpec>()?.build()?, 0.0)?;
/// let spec = default_for(&*set, &objective, Storage::Dense);
/// assert_eq!(spec.to_string(), "gauge-ftrl");
/// let learner = spec.build(&set)?;
/// assert!(learner.guarantee().is_some());
/// # Ok::<(), extremal::Error>(())
/// ```
pub fn default_for<L: Loss + ?Sized>(
    set: &dyn Set,
    objective: &Objective<L>,
    storage: Storage,
) -> LearnerSpec {
    let is_unit_free = matches!(set.structure(), Structure::UnitFree { .. });
    if is_unit_free && UnitFree::learns(objective) {
        return LearnerSpec::UnitFree(UnitFree::default());
    }
    let lambda = Some(objective.total_ridge()).filter(|ridge| *ridge > 0.0);
    let curved = set.curvature().is_some();
    let gauge = LearnerSpec::GaugeFtrl(GaugeFtrl::default());
    let alone = match lambda {
        Some(_) => LearnerSpec::ScOfw(ScOfw {
            lambda,
            ..ScOfw::default()
        }),
        None if curved => gauge.clone(),
        None => LearnerSpec::OfwFree(OfwFree::default()),
    };
    if storage != Storage::Dense {
        let ball = matches!(set.structure(), Structure::Euclidean { .. });
        return if ball && lambda.is_none() && !objective.loss().is_linear() {
            LearnerSpec::CoinFtrl(CoinFtrl::default())
        } else {
            alone
        };
    }
    let proven = if curved { gauge } else { alone };
    let bends = lambda.is_some() || !objective.loss().is_linear();
    match (bends, curved) {
        (false, false) => LearnerSpec::Hedge(Hedge {
            base: Some(Box::new(proven)),
            grid: Some(GRID.map(|scale| 4.0 * scale).to_vec()),
            ..Hedge::default()
        }),
        (false, true) => proven,
        (true, _) => LearnerSpec::Hedge(Hedge {
            base: Some(Box::new(LearnerSpec::OfwFree(OfwFree {
                growth: Growth::Steady,
                lambda,
                ..OfwFree::default()
            }))),
            grid: Some(GRID.to_vec()),
            bases: Some(vec![proven]),
            ..Hedge::default()
        }),
    }
}

/// The default radius of the ℓ2 ball if no set is given. The arguments are the ℓ2 norms of the
/// first rows of a stream (a hundred are enough) and the labels of these rows. The ball is large
/// enough to contain the best decision of nearly every stream.
/// [`coin-ftrl`](crate::learner::untuned::coin_ftrl) learns every smaller radius at the same time,
/// so that a large ball hardly increases its regret.
///
/// The radius is 1024·max |label| / median ‖a‖, rounded to a power of two. A decision in this ball
/// can predict a thousand times the largest label from a typical row. If the data change their
/// units, the radius changes with them, and the predictions stay the same.
///
/// ```
/// use extremal::learner::default_radius;
/// assert_eq!(default_radius(&[1.0, 1.0, 1.0], &[1.0, -1.0, 1.0]), 1024.0);
/// assert_eq!(default_radius(&[4.0, 0.0, 4.1, 700.0], &[0.0, 1.0, 0.0, 1.0]), 256.0);
/// assert_eq!(default_radius(&[], &[]), 1024.0);
/// ```
pub fn default_radius(norms: &[f64], labels: &[f64]) -> f64 {
    let usable = |v: &f64| *v > 0.0 && v.is_finite();
    let mut norms: Vec<f64> = norms.iter().copied().filter(usable).collect();
    norms.sort_unstable_by(f64::total_cmp);
    let typical = norms.get(norms.len() / 2).copied().unwrap_or(1.0);
    let labels = labels.iter().map(|y| y.abs()).filter(usable);
    let largest = labels.fold(0.0, f64::max);
    let largest = if largest > 0.0 { largest } else { 1.0 };
    // for any data, the radius stays below the largest radius that a set accepts
    let exponent = (10.0 + largest.log2() - typical.log2()).round();
    exponent.clamp(-300.0, 300.0).exp2()
}
