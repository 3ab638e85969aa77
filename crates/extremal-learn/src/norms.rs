//! The certificate by the comparators' norm, held against the total loss: what `learn` and
//! `compare` say of it.

use extremal::hindsight::ByNorm;

/// The largest norm up to which no comparator has half the total loss: the regret against it is at
/// most half of what was lost. `lost` is the total loss above the least that the losses allow,
/// rounded down; infinite, and the answer `None`, where there is no such least.
pub fn halving(by_norm: &ByNorm, lost: f64) -> Option<f64> {
    if !(lost > 0.0 && lost.is_finite()) {
        return None;
    }
    by_norm.largest_radius(0.5 * lost)
}

/// Radius, regret and the regret's share of what was lost: at 0, and at rising radii up to twice
/// the one at which the certificate has become as large as the loss, or `reach` if there is none.
/// A share below 1/2 is one at a radius below [`halving`].
pub fn curve(by_norm: &ByNorm, lost: f64, reach: f64) -> Vec<[f64; 3]> {
    let end = match by_norm.largest_radius(lost) {
        Some(end) if end > 0.0 && end < f64::MAX => end,
        _ => reach,
    };
    let steps = (-40..=4).map(|k| end * 2f64.powf(f64::from(k) / 4.0));
    std::iter::once(0.0)
        .chain(steps)
        .map(|radius| {
            let regret = by_norm.at(radius);
            [radius, regret, regret / lost]
        })
        .filter(|[radius, regret, _]| radius.is_finite() && regret.is_finite())
        .collect()
}
