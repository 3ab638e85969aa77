//! Which learner to take when nothing is known but the set and the loss.

use crate::learner::frank_wolfe::gauge_ftrl::GaugeFtrl;
use crate::learner::frank_wolfe::ofw_free::{Growth, OfwFree};
use crate::learner::frank_wolfe::sc_ofw::ScOfw;
use crate::learner::of_learners::hedge::Hedge;
use crate::learner::untuned::coin_ftrl::CoinFtrl;
use crate::learner::untuned::unit_free::UnitFree;
use crate::learner::{LearnerSpec, Storage};
use crate::loss::{Loss, Objective};
use crate::set::{Set, Structure};

/// The factors on the step size that the default has side by side.
const GRID: [f64; 4] = [0.25, 1.0, 4.0, 16.0];

/// The learner to take when nothing is known but the set and the loss: it needs neither T nor G
/// nor a step size, and has a guarantee on every set.
///
/// Losses that bend are played by [`hedge`](crate::learner::of_learners::hedge) over four step sizes of
/// [`ofw-free`](crate::learner::frank_wolfe::ofw_free) that take the losses for strongly convex, beside one learner with
/// a theorem: `gauge-ftrl` on curved sets, else `sc-ofw` where a ridge term gives λ and `ofw-free`
/// where none does. That is five oracle calls per round. Linear losses do not bend:
/// `gauge-ftrl` alone on curved sets, step sizes of `ofw-free` on the others.
///
/// Lazy storage has one learner alone: [`coin-ftrl`](crate::learner::untuned::coin_ftrl) for losses that bend,
/// `sc-ofw` where a ridge term bends them, `gauge-ftrl` for linear ones. [`default_radius`] says
/// which ball to take where none is given.
///
/// On the set [`unit-free`](crate::set::unit_free) it is the learner of that name, which takes examples
/// in place of gradients.
///
/// The choice for losses that bend was measured on ℓ2 and ℓ1.5 balls (`bench/quality.py`): regret
/// 0.6 to 1.3 times that of gradient descent with a tuned step. On an ℓ1 ball with the solution
/// well inside it can be several times that; its vertices are far away.
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
    if is_unit_free && storage != Storage::Sparse && UnitFree::learns(objective) {
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

/// The radius of the ℓ2 ball to play where no set is given, from the ℓ2 norms of a stream's first
/// rows (a hundred are plenty) and their labels: large enough to hold the best decision of nearly
/// any stream, as [`coin-ftrl`](crate::learner::untuned::coin_ftrl) learns every smaller radius at once and pays
/// little for the room.
///
/// It is 1024·max |label| / median ‖a‖, rounded to a power of two: a decision in it can predict a
/// thousand times the largest label from a typical row. Data in other units have the radius in
/// those units, and the same predictions.
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
    // within what a set takes for a radius, however odd the data
    let exponent = (10.0 + largest.log2() - typical.log2()).round();
    exponent.clamp(-300.0, 300.0).exp2()
}
