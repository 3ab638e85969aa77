//! Regret with certificates: upper bounds that hold on the very run, against any adversary.
//!
//! One formula serves all levels. For losses that are λ-strongly convex (λ = 0 for convex ones),
//! with c = Σ(g_t − λx_t) and β = λT, every x in the set gives
//!
//! regret ≤ Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖² − (⟨c, x⟩ + (β/2)‖x‖²) + gap(x),
//!
//! where gap(x) = max_v ⟨c + βx, x − v⟩ costs one oracle call; ‖c + βx‖²/(2β) serves in its
//! place where it is smaller. With λ = 0 it is
//! Σ⟨g_t, x_t⟩ − min ⟨Σg_t, x⟩ whatever x, and exact when the losses are linear. That is what a
//! [`Meter`] reports, from gradients alone. No set limits the comparators of a convex loss: the same
//! sums bound the regret against all of norm at most ρ, whatever ρ ([`ByNorm`]).
//!
//! Where the rounds' data are kept ([`Sum`], [`QuadraticSum`]), [`solve`] finds the best fixed
//! decision itself, with a floor that no decision's total is below: the regret then lies in an
//! interval as narrow as one likes ([`Best::regret`]). [`Dynamic`] and [`Intervals`] measure
//! against comparators that move.

mod meter;
mod moving;
mod quadratic;
mod radius;
mod smooth;
mod solve;
mod sum;

pub use crate::solver::{Method, Minorant, Place, Reading, Total};
pub use meter::Meter;
pub use moving::{Dynamic, Intervals, Worst};
pub use quadratic::QuadraticSum;
pub use radius::ByNorm;
pub use solve::{Best, Interval, Options, solve, solve_while};
pub use sum::Sum;
