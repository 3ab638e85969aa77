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
/// a theorem: `sc-ofw` where a ridge term gives λ, else `gauge-ftrl` on curved sets and `ofw-free`
/// on the others. Five oracle calls per round: where that is too many, or storage is lazy, take
/// the one with the theorem. For linear losses nothing bends, and that one it is from the outset,
/// with a few step sizes where the set is not curved. Chosen by measurement: `bench/quality.py`.
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
    let lambda = Some(objective.ridge).filter(|ridge| *ridge > 0.0);
    let proven = match lambda {
        Some(_) => LearnerSpec::ScOfw(ScOfw {
            lambda,
            ..ScOfw::default()
        }),
        None if set.curvature().is_some() => LearnerSpec::GaugeFtrl(GaugeFtrl::default()),
        None => LearnerSpec::OfwFree(OfwFree::default()),
    };
    if storage != Storage::Dense {
        return proven;
    }
    let bends = lambda.is_some() || !objective.loss.is_linear();
    match (bends, &proven) {
        (false, LearnerSpec::OfwFree(_)) => LearnerSpec::Hedge(Hedge {
            base: Some(Box::new(proven)),
            grid: Some(GRID.map(|scale| 4.0 * scale).to_vec()),
            ..Hedge::default()
        }),
        (false, _) => proven,
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
