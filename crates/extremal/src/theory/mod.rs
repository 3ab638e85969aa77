//! Regret bounds: every theorem's bound as a function, its assumptions, and a check of a run against
//! them. A bound applies to a run only if its assumptions hold, and it carries no information if it
//! is [vacuous](is_vacuous).
//!
//! A theorem is a [`Guarantee`], a value. The functions here return the theorems of the built-in
//! learners for given constants, one file for each family of learners. Names: `gradient` is G, `diameter` D,
//! `horizon` a T that was known beforehand, `rounds` the T that was played, `alpha` the set's strong
//! convexity α, `lambda` the losses' λ, `scale` the factor on the step size.

mod descent;
mod doubling;
mod experts;
mod fast_ogd;
mod frank_wolfe;
mod gauge;
mod guarantee;
mod leader;
mod list;
mod local;
mod run;

pub use descent::*;
pub use doubling::*;
pub use experts::*;
pub use fast_ogd::*;
pub use frank_wolfe::*;
pub use gauge::*;
pub use guarantee::{Assumption, Guarantee};
pub use leader::*;
pub use list::{BOUNDS, Bound};
pub use local::*;
pub use run::{Check, LossFacts, Report, Run, RunStatistics, is_vacuous, trivial_regret};
