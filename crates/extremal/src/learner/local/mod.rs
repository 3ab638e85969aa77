//! Local oracles. Given a point x, a direction c and a share of x's mass, they find the point p
//! that is best for c among those to be had from x by moving that share to one vertex.
//!
//! In a polytope with facial distance δ ([`Polytope::facial_distance`]), a share of r/δ reaches
//! every point y at distance r or less. For write y = x − Σ Δ_i v_i + (ΣΔ_i) z with z in the set,
//! 0 ≤ Δ_i ≤ λ_i, where x = Σ λ_i v_i, and ΣΔ_i as small as can be. No v_i with Δ_i > 0 is in the
//! smallest face that holds z, or some of it could be taken out of z. So y − x is ΣΔ_i times the
//! difference of a point of a face and a mixture of vertices outside it, no shorter than δ. Hence
//! (i) ⟨c, p⟩ ≤ ⟨c, y⟩ for all such y, and (ii) ‖p − x‖ ≤ Dr/δ = ρr.
//!
//! [`Polytope::facial_distance`]: crate::set::Polytope::facial_distance

mod active_set;
mod caratheodory;
mod simplex;

pub use active_set::ActiveSet;
pub(super) use active_set::SavedSet;
pub use simplex::SimplexMass;
