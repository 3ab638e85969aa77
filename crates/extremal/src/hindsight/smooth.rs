//! The Moreau envelope of a loss: smooth, below the loss, and close to it where μ is small.

use crate::loss::Loss;

/// A loss at a prediction, smoothed or not.
pub(super) struct Smoothed {
    /// Of the smoothed loss.
    pub value: f64,
    /// Of the smoothed loss.
    pub slope: f64,
    /// Of the loss.
    pub unsmoothed: f64,
    /// The loss is nowhere less than this much above the tangent of the smoothed one.
    pub smoothing_slack: f64,
    /// The line with this slope through (`at`, `height`) is nowhere above the loss by more than
    /// `error`.
    pub at: f64,
    pub height: f64,
    pub error: f64,
}

/// min over u of ℓ(u) + (u − z)²/(2μ), by bisection for the u where the slopes cancel. With
/// s = (z − u)/μ the tangent of ℓ at u has slope s too, and lies μs²/2 above that of the envelope
/// at z.
pub(super) fn touch(loss: &(impl Loss + ?Sized), mu: f64, z: f64, label: f64) -> Smoothed {
    let (unsmoothed, slope) = loss.at(z, label);
    if mu == 0.0 || slope == 0.0 {
        return Smoothed {
            value: unsmoothed,
            slope,
            unsmoothed,
            smoothing_slack: 0.0,
            at: z,
            height: unsmoothed,
            error: 0.0,
        };
    }
    // Between z, where ℓ'(u) − (z − u)/μ has the sign of the slope, and where ℓ' would lead.
    let (mut near, mut far) = (z, z - mu * slope);
    if !far.is_finite() {
        far = beyond(loss, mu, z, label, slope);
    }
    // A loss that is straight up to `far` has its minimiser there. Otherwise, bisect to z's last
    // digit.
    let (mut near_slope, mut far_slope) = (slope, loss.at(far, label).1);
    if far_slope == slope {
        near = far;
    }
    let close = 0.5 * f64::EPSILON * z.abs().max(far.abs());
    loop {
        let middle = near + 0.5 * (far - near);
        if middle == near || middle == far || (far - near).abs() <= close {
            break;
        }
        let (_, here) = loss.at(middle, label);
        let rest = here - (z - middle) / mu;
        if rest == 0.0 {
            (near, near_slope) = (middle, here);
            (far, far_slope) = (middle, here);
            break;
        }
        if (rest > 0.0) == (slope > 0.0) {
            (near, near_slope) = (middle, here)
        } else {
            (far, far_slope) = (middle, here)
        }
    }
    let (least, _) = loss.at(far, label);
    // The loss's own slopes keep this accurate where μ is tiny beside z.
    let slope = ((z - far) / mu)
        .max(near_slope.min(far_slope))
        .min(near_slope.max(far_slope));
    let smoothing_slack = 0.5 * mu * slope * slope;
    Smoothed {
        value: least + smoothing_slack,
        slope,
        unsmoothed,
        smoothing_slack,
        at: far,
        height: least,
        // The slope is one of the loss at a point between the two, and its tangent there passes
        // `far` at most this much below the loss.
        error: (far - near).abs() * (near_slope - far_slope).abs(),
    }
}

/// A point beyond the minimiser u where ℓ is defined, for a z where it is not.
fn beyond(loss: &(impl Loss + ?Sized), mu: f64, z: f64, label: f64, slope: f64) -> f64 {
    let sign = if slope > 0.0 { -1.0 } else { 1.0 };
    let mut reach = mu.max(z.abs());
    loop {
        let far = z + sign * reach;
        let (value, here) = loss.at(far, label);
        let past = (here - (z - far) / mu > 0.0) != (slope > 0.0);
        // the whole line has no such point
        if (value.is_finite() && past) || !reach.is_finite() {
            return far;
        }
        reach *= 2.0;
    }
}
