//! The Moreau envelope of a loss. It is a smooth function below the loss, and is close to the loss if μ
//! is small.

use super::Loss;

/// A loss at a prediction, with and without smoothing.
pub(crate) struct Smoothed {
    /// The value of the smoothed loss.
    pub value: f64,
    /// The slope of the smoothed loss.
    pub slope: f64,
    /// The value of the loss itself.
    pub unsmoothed: f64,
    /// Everywhere, the loss lies above the tangent of the smoothed loss by at least this much.
    pub smoothing_slack: f64,
    /// The line with this slope through (`at`, `height`) exceeds the loss by at most `error`.
    pub at: f64,
    pub height: f64,
    pub error: f64,
}

/// Minimises ℓ(u) + (u − z)²/(2μ) over u. Bisection finds the u at which the slopes of both terms cancel.
/// At this u the slope of ℓ is s = (z − u)/μ, and the tangent of ℓ lies μs²/2 above the envelope's
/// tangent at z.
pub(crate) fn smoothed(loss: &(impl Loss + ?Sized), mu: f64, z: f64, label: f64) -> Smoothed {
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
    // The minimiser lies between z and z − μ·slope.
    let (mut near, mut far) = (z, z - mu * slope);
    if !far.is_finite() {
        far = beyond(loss, mu, z, label, slope);
    }
    // If the loss is linear up to `far`, `far` is the minimiser. Otherwise the bisection continues down
    // to rounding errors.
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
        let is_near = (rest > 0.0) == (slope > 0.0);
        if is_near || rest == 0.0 {
            (near, near_slope) = (middle, here)
        }
        if !is_near || rest == 0.0 {
            (far, far_slope) = (middle, here)
        }
    }
    let (least, _) = loss.at(far, label);
    // If μ is tiny compared with z, the slopes of the loss are more accurate.
    let (low, high) = (near_slope.min(far_slope), near_slope.max(far_slope));
    let slope = ((z - far) / mu).max(low).min(high);
    let smoothing_slack = 0.5 * mu * slope * slope;
    Smoothed {
        value: least + smoothing_slack,
        slope,
        unsmoothed,
        smoothing_slack,
        at: far,
        height: least,
        // `slope` is the slope of the loss at a point between `near` and `far`. The tangent at this point
        // lies below the loss at `far` by at most `error`.
        error: (far - near).abs() * (near_slope - far_slope).abs(),
    }
}

/// A point beyond the minimiser u at which ℓ is defined, for a z at which ℓ is not defined.
fn beyond(loss: &(impl Loss + ?Sized), mu: f64, z: f64, label: f64, slope: f64) -> f64 {
    let mut reach = mu.max(z.abs());
    loop {
        let far = z - slope.signum() * reach;
        let (value, here) = loss.at(far, label);
        let past = (here - (z - far) / mu > 0.0) != (slope > 0.0);
        // stop if no number is a point of this kind
        if (value.is_finite() && past) || !reach.is_finite() {
            return far;
        }
        reach *= 2.0;
    }
}
