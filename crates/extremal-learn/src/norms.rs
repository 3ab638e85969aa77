//! The certificate by the norm of the comparator, relative to the excess loss: the total loss minus
//! its least possible value, rounded down. It is infinite if the losses have no least value.

use extremal::hindsight::ByNorm;

/// The largest norm up to which no comparator halves the excess loss `lost`: the certified regret
/// is at most half of it. `None` if `lost` is not positive and finite.
pub fn halving(by_norm: &ByNorm, lost: f64) -> Option<f64> {
    (lost > 0.0 && lost.is_finite()).then(|| by_norm.largest_radius(0.5 * lost))?
}

/// Rows of radius, regret and the regret's share of the excess loss. The radii are 0 and a
/// geometric grid up to twice the radius at which the regret reaches `lost`, or `reach` if it never
/// does. The share is below 1/2 for radii below [`halving`].
pub fn curve(by_norm: &ByNorm, lost: f64, reach: f64) -> Vec<[f64; 3]> {
    let end = match by_norm.largest_radius(lost) {
        Some(end) if end > 0.0 && end < f64::MAX => end,
        _ => reach,
    };
    let grid = (-40..=4).map(|k| end * 2f64.powf(f64::from(k) / 4.0));
    let rows = std::iter::once(0.0).chain(grid).map(|radius| {
        let regret = by_norm.at(radius);
        [radius, regret, regret / lost]
    });
    rows.filter(|[radius, regret, _]| radius.is_finite() && regret.is_finite())
        .collect()
}
