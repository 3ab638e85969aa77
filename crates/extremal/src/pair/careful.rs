//! Second looks, for [`DensePair`](super::DensePair): where squares cancel, underflow or overflow,
//! or a number is not finite.

use super::Update;
use crate::kernel::{self, Formed};
use crate::set::Atom;
use crate::{Error, Result};

/// On ℓp balls a direction below this counts as 0: its inverse would be no number.
const SMALLEST_DIRECTION: f64 = 1e-300;

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
