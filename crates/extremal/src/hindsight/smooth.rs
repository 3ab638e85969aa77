//! The Moreau envelope of a loss: smooth, below the loss, and close to it where μ is small.

use crate::loss::Loss;

/// A loss at a prediction, smoothed or not.
pub(super) struct Touch {
    /// Of the smoothed loss.
    pub value: f64,
    /// Of the smoothed loss.
    pub slope: f64,
    /// Of the loss.
    pub truth: f64,
    /// The loss is nowhere less than this much above the tangent of the smoothed one.
    pub lift: f64,
    /// The line with this slope through (`at`, `height`) is nowhere above the loss by more than
    /// `error`.
    pub at: f64,
    pub height: f64,
    pub error: f64,
}

/// min over u of ℓ(u) + (u − z)²/(2μ), by bisection for the u where the slopes cancel. With
/// s = (z − u)/μ the tangent of ℓ at u has slope s too, and lies μs²/2 above that of the envelope
/// at z.
pub(super) fn touch(loss: &(impl Loss + ?Sized), mu: f64, z: f64, label: f64) -> Touch {
    let (truth, slope) = loss.at(z, label);
    if mu == 0.0 || slope == 0.0 {
        return Touch {
            value: truth,
            slope,
            truth,
            lift: 0.0,
            at: z,
            height: truth,
            error: 0.0,
        };
    }
    // Between z, where ℓ'(u) − (z − u)/μ has the sign of the slope, and where ℓ' would lead.
    let (mut near, mut far) = (z, z - mu * slope);
    if !far.is_finite() {
        far = beyond(loss, mu, z, label, slope);
    }
    // One straight piece leads there and no farther; otherwise as close as z has digits.
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
    // The loss's own slopes there keep it right where μ is next to nothing beside z.
    let slope = ((z - far) / mu)
        .max(near_slope.min(far_slope))
        .min(near_slope.max(far_slope));
    let lift = 0.5 * mu * slope * slope;
    Touch {
        value: least + lift,
        slope,
        truth,
        lift,
        at: far,
        height: least,
        // The slope is one of the loss at a point between the two, and its tangent there passes
        // `far` at most this much below the loss.
        error: (far - near).abs() * (near_slope - far_slope).abs(),
    }
}

/// A point where ℓ is defined and past the u that is looked for, from a z where it is not.
fn beyond(loss: &(impl Loss + ?Sized), mu: f64, z: f64, label: f64, slope: f64) -> f64 {
    let sign = if slope > 0.0 { -1.0 } else { 1.0 };
    let mut reach = mu.max(z.abs());
    loop {
        let far = z + sign * reach;
        let (value, here) = loss.at(far, label);
        let past = (here - (z - far) / mu > 0.0) != (slope > 0.0);
        // with all of the line tried, there is no such point
        if (value.is_finite() && past) || !reach.is_finite() {
            return far;
        }
        reach *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Absolute;

    impl Loss for Absolute {
        fn name(&self) -> &'static str {
            "absolute"
        }
        fn at(&self, z: f64, label: f64) -> (f64, f64) {
            ((z - label).abs(), if z < label { -1.0 } else { 1.0 })
        }
        fn slope_bound(&self, _: f64, _: f64) -> f64 {
            1.0
        }
        fn smoothness(&self) -> f64 {
            f64::INFINITY
        }
    }

    #[test]
    fn the_envelope_of_the_absolute_loss_is_hubers() {
        for mu in [1e-6, 0.1, 3.0] {
            for k in -50..=50 {
                let (z, label) = (0.1 * f64::from(k), 0.3);
                let r: f64 = z - label;
                let huber = if r.abs() <= mu {
                    (0.5 * r * r / mu, r / mu)
                } else {
                    (r.abs() - 0.5 * mu, r.signum())
                };
                let here = touch(&Absolute, mu, z, label);
                assert!((here.value - huber.0).abs() < 1e-9, "{mu} {z}");
                assert!((here.slope - huber.1).abs() < 1e-9, "{mu} {z}");
                // the tangent, lifted, is nowhere above the loss
                for w in [-9.0, -1.0, 0.2, 0.3, 0.4, 2.0, 9.0] {
                    let line = here.value + here.lift + here.slope * (w - z);
                    assert!(line <= (w - label).abs() + 1e-9, "{mu} {z} {w}");
                }
            }
        }
    }

    #[test]
    fn smoothing_narrower_than_the_last_digit_of_z_leaves_the_slope_as_it_is() {
        for z in [1.0, 1e3, -1e8, 1e15] {
            for label in [0.0, z - 1.0, z + 1.0] {
                for mu in [1e-300, 1e-30, 1e-17, 1e-12, 1e-9] {
                    let here = touch(&Absolute, mu, z, label);
                    let sign = if z < label { -1.0 } else { 1.0 };
                    assert_eq!(here.slope, sign, "{mu:e} {z:e} {label:e}");
                    let off = (here.value - here.truth).abs();
                    let most = mu + 2.0 * f64::EPSILON * z.abs();
                    assert!(off <= most, "{mu:e} {z:e} {label:e}: {off:e}");
                }
            }
            // at the kink any subgradient will do
            let here = touch(&Absolute, 1e-30, z, z);
            assert!((-1.0..=1.0).contains(&here.slope), "{z:e}");
        }
    }
}
