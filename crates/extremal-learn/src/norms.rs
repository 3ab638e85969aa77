//! Regret bounds for each norm of the comparator, relative to the excess loss. The excess loss is the
//! total loss minus its least possible value, rounded down. It is infinite if there is no such value.

use extremal::hindsight::ByNorm;

/// The largest norm up to which no comparator halves the excess loss `lost`. At this norm the
/// certified regret is at most half of `lost`. `None` if `lost` is not positive and finite.
pub fn halving(by_norm: &ByNorm, lost: f64) -> Option<f64> {
    (lost > 0.0 && lost.is_finite()).then(|| by_norm.largest_radius(0.5 * lost))?
}

/// Rows with a radius, the certified regret against comparators up to this norm, and the regret
/// divided by the excess loss `lost`. The radii are 0 and a geometric grid. The grid ends at twice
/// the radius at which the regret reaches `lost`. If it never does, the grid ends at twice `reach`.
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
