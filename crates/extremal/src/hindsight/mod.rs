//! Certified regret: upper bounds on the regret of a given run, against any adversary.
//!
//! One formula covers all kinds of certificate. Let the losses be λ-strongly convex, with λ = 0 for
//! losses that are only convex, and let c = Σ(g_t − λx_t) and β = λT. Then every x in the set gives
//! the bound
//!
//! regret ≤ Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖² − (⟨c, x⟩ + (β/2)‖x‖²) + gap(x),
//!
//! where gap(x) = max_v ⟨c + βx, x − v⟩ costs one oracle call. If ‖c + βx‖²/(2β) is smaller than
//! the gap, this number replaces the gap. For λ = 0 the bound is Σ⟨g_t, x_t⟩ − min ⟨Σg_t, v⟩ for
//! every x, and it is exact if the losses are linear. A [`Meter`] computes this bound from the
//! gradients alone. The same sums also bound the regret against all comparators of norm at most ρ,
//! for every ρ, even outside the set ([`ByNorm`]).
//!
//! If the data of the rounds are stored ([`Sum`], [`QuadraticSum`]), [`solve`] computes the best
//! fixed decision and a lower bound on the total loss of every decision. The two losses give an
//! interval that contains the regret ([`Best::regret`]). [`Dynamic`] and [`Intervals`] measure the
//! regret against comparators that change over time.

mod meter;
mod moving;
mod quadratic;
mod radius;
mod solve;
mod sum;

pub use crate::solver::{Imaged, Method, Minorant, Total, TotalValue};
pub use meter::Meter;
pub use moving::{Dynamic, Intervals, Worst};
pub use quadratic::QuadraticSum;
pub use radius::ByNorm;
pub use solve::{Best, Interval, Options, solve, solve_while};
pub use sum::Sum;
