//! Certified regret: upper bounds that hold for the run at hand, against any adversary.
//!
//! One formula covers all levels. For losses that are λ-strongly convex (λ = 0 for convex ones),
//! with c = Σ(g_t − λx_t) and β = λT, every x in the set gives
//!
//! regret ≤ Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖² − (⟨c, x⟩ + (β/2)‖x‖²) + gap(x),
//!
//! where gap(x) = max_v ⟨c + βx, x − v⟩ costs one oracle call. Where ‖c + βx‖²/(2β) is smaller, it
//! replaces the gap. With λ = 0 the bound is Σ⟨g_t, x_t⟩ − min ⟨Σg_t, x⟩ for every x, and it is exact if
//! the losses are linear. A [`Meter`] computes this bound from the gradients alone. The comparators of a
//! convex loss need not lie in the set: the same sums bound the regret against all comparators of norm
//! at most ρ, for every ρ ([`ByNorm`]).
//!
//! If the data of the rounds are stored ([`Sum`], [`QuadraticSum`]), [`solve`] computes the best fixed
//! decision and a lower bound on the total of every decision. The regret then lies in an interval that
//! can be made as narrow as desired ([`Best::regret`]). [`Dynamic`] and [`Intervals`] measure
//! against comparators that move.

mod meter;
mod moving;
mod quadratic;
mod radius;
mod smooth;
mod solve;
mod sum;

pub use crate::solver::{Imaged, Method, Minorant, Total, TotalValue};
pub use meter::Meter;
pub use moving::{Dynamic, Intervals, Worst};
pub use quadratic::QuadraticSum;
pub use radius::ByNorm;
pub use solve::{Best, Interval, Options, solve, solve_while};
pub use sum::Sum;
