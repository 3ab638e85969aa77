//! Computes the gap and the distance from the entries of x − v. This is necessary if their sums
//! cancel. [`DenseSurrogate`](crate::surrogate::DenseSurrogate) and
//! [`SparseSurrogate`](crate::surrogate::SparseSurrogate) use this.

use crate::kernel;
use crate::set::Atom;
use crate::surrogate::Probe;

/// ‖v − x‖² is summed entry by entry if it is below this share of ‖v‖² + ‖x‖², because the
/// difference of the sums has then lost too many digits.
pub(crate) const CANCELLED: f64 = 1e-9;

/// The gap is summed entry by entry if it is below this share of |⟨∇F, x⟩| + |⟨∇F, v⟩|. Each of the
/// two terms has an error of about ten rounding units. Such an error would reach the ninth digit of
/// the gap.
const CANCELLED_GAP: f64 = 1e-6;

/// If the set is curved between x and v, the quotient gap/size is at least about this multiple of
/// ‖v − x‖²/squares (see [`has_cancelled`]). Both quotients then decrease together from round to
/// round, and nothing is recomputed.
const ROUND: f64 = 0.1;

/// Whether the gap or the distance must be summed entry by entry. `size` is |⟨∇F, x⟩| + |⟨∇F, v⟩|,
/// `squares` is ‖v‖² + ‖x‖², and `flat` is true for a polytope.
#[inline]
pub(crate) fn has_cancelled(probe: &Probe, size: f64, squares: f64, flat: bool) -> bool {
    let (gap, distance) = (probe.gap, probe.distance_squared);
    distance < CANCELLED * squares
        || (gap < CANCELLED_GAP * size && (flat || gap / size < ROUND * (distance / squares)))
}

/// (⟨∇F, x − v⟩, ‖v − x‖²), computed from the entries of x − v.
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
