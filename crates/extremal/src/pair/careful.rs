//! Second looks, for [`DensePair`](super::DensePair) and partly for
//! [`SparsePair`](super::SparsePair): where sums cancel, squares under- or overflow, or a number is
//! not finite.

use super::{Probe, Update};
use crate::kernel::{self, Formed};
use crate::set::Atom;
use crate::{Error, Result};

/// Below this share of ‖v‖² + ‖x‖², ‖v − x‖² has cancelled too far and is summed entry by entry.
pub(super) const CANCELLED: f64 = 1e-9;

/// Below this share of |⟨∇F, x⟩| + |⟨∇F, v⟩| so may the gap have, their difference: the ten or so
/// roundings that either is off by would reach its ninth digit.
const CANCELLED_GAP: f64 = 1e-6;

/// A gap's share is no less than about this much of ‖v − x‖²'s where the set is round between x
/// and v. There both get small together, round after round, and that is not looked into.
const ROUND: f64 = 0.1;

/// On ℓp balls a direction below this counts as 0: its inverse would be no number.
const SMALLEST_DIRECTION: f64 = 1e-300;

/// Whether the gap or the distance has to be summed entry by entry, given |⟨∇F, x⟩| + |⟨∇F, v⟩|,
/// ‖v‖² + ‖x‖² and whether the set is flat: a polytope.
#[inline(always)]
pub(super) fn has_cancelled(probe: &Probe, size: f64, squares: f64, flat: bool) -> bool {
    let (gap, distance) = (probe.gap, probe.distance_squared);
    distance < CANCELLED * squares
        || (gap < CANCELLED_GAP * size && (flat || gap / size < ROUND * (distance / squares)))
}

/// Errors if a number of the gradient or of a probe is not finite, or the gradient takes more
/// than the room there is. (By value: in memory they would be fetched again as vectors, and that
/// would have to wait for the writes.)
#[cold]
pub(super) fn look_closer(
    update: &Update<'_>,
    gap: f64,
    distance_squared: f64,
    share: f64,
) -> Result<()> {
    update.gradient.check_finite()?;
    if gap.is_finite() && distance_squared.is_finite() && share <= 1.0 {
        return Ok(());
    }
    Err(overflowed())
}

pub(super) fn overflowed() -> Error {
    Error::Numerical {
        round: 0,
        what: "a gradient or the sum of gradients overflowed".into(),
    }
}

/// The largest |∇F_i|, after a look at why the fast way gave up.
#[cold]
fn careful_top(formed: Formed<'_>, update: &Update<'_>, gg: f64) -> Result<f64> {
    check_finite(update, gg)?;
    let mut top = 0.0_f64;
    for i in 0..formed.n {
        // NaN must not be passed over, as `max` would
        let size = formed.direction(i).abs();
        if !top.is_nan() && !(size <= top) {
            top = size;
        }
    }
    if top.is_finite() {
        Ok(top)
    } else {
        Err(overflowed())
    }
}

/// ‖∇F‖ where its square under- or overflows.
#[cold]
pub(super) fn careful_norm(formed: Formed<'_>, update: &Update<'_>, gg: f64) -> Result<f64> {
    let top = careful_top(formed, update, gg)?;
    if top == 0.0 {
        return Ok(0.0);
    }
    let sum: f64 = (0..formed.n)
        .map(|i| (formed.direction(i) / top).powi(2))
        .sum();
    Ok(top * sum.sqrt())
}

/// The power of two that brings the largest entry of ∇F next to 1; `None` where ∇F is 0.
pub(super) fn careful_scale(
    formed: Formed<'_>,
    update: &Update<'_>,
    gg: f64,
) -> Result<Option<f64>> {
    let top = careful_top(formed, update, gg)?;
    Ok((top >= SMALLEST_DIRECTION).then(|| (-top.log2().round()).exp2()))
}

/// A number that is not finite shows in the sums, so that entries are looked at only then.
#[inline(always)]
pub(super) fn check_finite(update: &Update<'_>, gg: f64) -> Result<()> {
    if (gg + update.k() + update.m()).is_finite() {
        Ok(())
    } else {
        update.gradient.check_finite()
    }
}

/// (⟨∇F, x − v⟩, ‖v − x‖²) from x − v.
pub(super) fn residual_atom(
    direction: &[f64],
    x: &[f64],
    atom: &Atom,
    away: &mut [f64],
) -> (f64, f64) {
    away.copy_from_slice(x);
    atom.add_to(-1.0, away);
    (kernel::dot(direction, away), kernel::dot(away, away))
}
