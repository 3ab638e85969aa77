//! Projection-free online learning. In every round the learner plays a point of a constraint set, sees
//! a loss, and updates with *one linear minimisation over the set*.
//!
//! The paper's Algorithm 1, online Frank-Wolfe with line search, on an ℓ2 ball:
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//!
//! # fn main() -> extremal::Result<()> {
//! let set = "l2:radius=1,dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "ofw-ls:horizon=100,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! let mut x = [0.0; 2];
//! for _ in 0..100 {
//!     learner.decide()?.write(&mut x); // play x
//!     learner.observe(&Gradient::dense(&[0.6, -0.8]))?; // the same linear loss every round
//! }
//! assert!(x[0] < -0.5 && x[1] > 0.7); // close to the best decision (−0.6, 0.8)
//! # Ok(())
//! # }
//! ```
//!
//! # The modules, in the order of a round
//!
//! 1. [`stream`] gives the round's example: a row a, a label and a weight.
//! 2. [`loss`] computes the loss at the prediction ⟨a, x⟩, and its gradient.
//! 3. [`learner`] has one file per algorithm. The paper's are in [`learner::frank_wolfe`]: Algorithm 1
//!    is [`ofw_line_search`](learner::frank_wolfe::ofw_line_search), and Algorithm 2, for strongly convex
//!    losses, is [`sc_ofw`](learner::frank_wolfe::sc_ofw). Each implements [`learner::Rule`]: `start` sets
//!    the surrogate F_0, `absorb` turns F_{t−1} into F_t, and `step` chooses σ_t. The loop around them is
//!    in `learner/frank_wolfe/mod.rs`.
//! 4. [`surrogate`] stores x_t and F_t, calls the oracle with ∇F_t(x_t), and moves to x_{t+1}. On ℓ2 and
//!    ℓp balls it has the oracle's closed form built in. A decision with its F_t is called a pair.
//! 5. [`set`] has one file per constraint set: its oracle, its constants, its projection.
//! 6. [`Record`] is what happened in the round: step, gap, oracle calls.
//! 7. [`hindsight`] certifies the regret of a run, and [`theory`] has every theorem's bound.
//!
//! [`game`] plays rounds in this order. [`solver`] minimises a convex total over a set. [`spec`] turns
//! texts such as `lp:p=1.5,radius=2` into sets, losses, learners and streams. The crate's `examples/`
//! show how to save and resume a sparse stream, and how to write your own oracle, loss and learner.

mod error;
pub mod game;
pub mod hindsight;
#[doc(hidden)]
pub mod kernel;
pub mod learner;
pub mod loss;
mod parameter;
mod point;
mod range;
mod record;
pub mod references;
mod room;
mod rounding;
mod saved;
pub mod set;
pub mod solver;
pub mod spec;
pub mod stream;
pub mod surrogate;
pub mod theory;

pub use error::{Cause, Error, Result};
pub use learner::{Learner, LearnerSpec};
pub use loss::{Loss, LossSpec, Objective};
pub use point::{Gradient, Point, Row};
pub use record::{Certificate, Level, Record};
pub use set::{Set, SetSpec, SharedSet};
pub use stream::{Stream, StreamSpec};
