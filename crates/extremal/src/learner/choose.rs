//! Which learner to take when nothing is known but the set and the loss.

use super::gauge_ftrl::GaugeFtrl;
use super::hedge::Hedge;
use super::ofw_free::{Growth, OfwFree};
use super::sc_ofw::ScOfw;
use super::{LearnerSpec, Storage};
use crate::loss::{Loss, Objective};
use crate::set::Set;

/// The factors on the step size that the default has side by side.
const GRID: [f64; 4] = [0.25, 1.0, 4.0, 16.0];

/// The learner to take when nothing is known but the set and the loss: it needs neither T nor G
/// nor a step size, and has a guarantee on every set.
///
/// Losses that bend are played by [`hedge`](super::hedge) over four step sizes of
/// [`ofw-free`](super::ofw_free) that take the losses for strongly convex, beside one learner with
/// a theorem: `gauge-ftrl` on curved sets, else `sc-ofw` where a ridge term gives λ and `ofw-free`
/// where none does. That is five oracle calls per round. Lazy storage has one learner alone:
/// `sc-ofw` with a ridge term, `gauge-ftrl` without. Linear losses do not bend: `gauge-ftrl` alone
/// on curved sets, step sizes of `ofw-free` on the others.
///
/// The choice for losses that bend was measured on ℓ2 and ℓ1.5 balls (`bench/quality.py`): regret
/// 0.6 to 1.3 times that of gradient descent with a tuned step. On an ℓ1 ball with the solution
/// well inside it can be several times that; its vertices are far away.
///
/// ```
/// use extremal::learner::{Storage, default_for};
/// use extremal::loss::{LossSpec, Objective};
/// use extremal::set::SetSpec;
///
/// let set = "lp:p=1.5,dim=10".parse::<SetSpec>()?.build(None)?;
/// let objective = Objective::new("linear".parse::<LossSpec>()?.build()?, 0.0)?;
/// let spec = default_for(&*set, &objective, Storage::Dense);
/// assert_eq!(spec.to_string(), "gauge-ftrl:balance=own");
/// let learner = spec.build(&set)?;
/// assert!(learner.guarantee().is_some());
/// # Ok::<(), extremal::Error>(())
/// ```
pub fn default_for<L: Loss + ?Sized>(
    set: &dyn Set,
    objective: &Objective<L>,
    storage: Storage,
) -> LearnerSpec {
    let lambda = Some(objective.pull()).filter(|ridge| *ridge > 0.0);
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
        return alone;
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
