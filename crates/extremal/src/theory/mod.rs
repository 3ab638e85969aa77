//! Theorems about regret: the bound and the assumptions of each theorem, and a check whether a run
//! satisfies the assumptions. A bound applies to a run only if its assumptions hold. A
//! [vacuous](is_vacuous) bound says nothing about the learner.
//!
//! A theorem is a value of type [`Guarantee`]. The functions of this module return the theorems of the
//! built-in learners for given constants. Each family of learners has a file. The arguments are:
//! `gradient` (the bound G on the gradients' norms), `diameter` (the set's diameter D), `horizon` (a T
//! that is known before the run), `rounds` (the T of the run), `alpha` (the set's strong convexity α),
//! `lambda` (the losses' strong convexity λ), and `scale` (the factor on the step size).

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

pub use crate::record::RunStatistics;
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
pub use run::{Check, LossFacts, Report, Run, is_vacuous, trivial_regret};
