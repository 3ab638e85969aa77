//! The gap and the distance entry by entry, where their sums cancel: for
//! [`DenseSurrogate`](crate::surrogate::DenseSurrogate) and [`SparseSurrogate`](crate::surrogate::SparseSurrogate).

use crate::kernel;
use crate::set::Atom;
use crate::surrogate::Probe;

/// Below this share of ‖v‖² + ‖x‖², ‖v − x‖² has cancelled too far and is summed entry by entry.
pub(crate) const CANCELLED: f64 = 1e-9;

/// Below this share of |⟨∇F, x⟩| + |⟨∇F, v⟩| so may the gap have, their difference: the ten or so
/// roundings that either is off by would reach its ninth digit.
const CANCELLED_GAP: f64 = 1e-6;

/// A gap's share is no less than about this much of ‖v − x‖²'s where the set is round between x
/// and v. There both shrink together, round after round, and this case is left alone.
const ROUND: f64 = 0.1;

/// Whether the gap or the distance has to be summed entry by entry, given |⟨∇F, x⟩| + |⟨∇F, v⟩|,
/// ‖v‖² + ‖x‖² and whether the set is flat: a polytope.
#[inline]
pub(crate) fn has_cancelled(probe: &Probe, size: f64, squares: f64, flat: bool) -> bool {
    let (gap, distance) = (probe.gap, probe.distance_squared);
    distance < CANCELLED * squares
        || (gap < CANCELLED_GAP * size && (flat || gap / size < ROUND * (distance / squares)))
}

/// (⟨∇F, x − v⟩, ‖v − x‖²) from x − v.
pub(crate) fn residual_atom(
    direction: &[f64],
    x: &[f64],
    atom: &Atom,
    away: &mut [f64],
) -> (f64, f64) {
    away.copy_from_slice(x);
    atom.add_to(-1.0, away);
    (kernel::dot(direction, away), kernel::dot(away, away))
}
