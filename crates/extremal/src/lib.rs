//! Projection-free online learning: a decision is made every round inside a constraint set, a
//! loss is revealed, and the learner updates through *one linear minimisation over the set*.
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
//!     learner.decide()?.write(&mut x); // play x, and see what it costs:
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
//! 2. [`loss`] evaluates the decision x at the prediction ⟨a, x⟩ and gives the gradient.
//! 3. [`learner`] has one file per algorithm. The paper's are in [`learner::frank_wolfe`]: Algorithm 1
//!    is [`ofw_line_search`](learner::frank_wolfe::ofw_line_search), and Algorithm 2, for strongly convex
//!    losses, is [`sc_ofw`](learner::frank_wolfe::sc_ofw). Each is a [`learner::Rule`] of two functions:
//!    `absorb` forms the surrogate F_t, `step` is the line search.
//! 4. [`surrogate`] stores the decision and the surrogate F_t, asks the oracle at ∇F_t(x_t), and moves.
//! 5. [`set`] has one file per constraint set: its oracle, its constants, its projection.
//! 6. [`Record`] is what happened in the round: step, gap, oracle calls.
//! 7. [`hindsight`] certifies the regret of a run, and [`theory`] has every theorem's bound.
//!
//! [`game`] plays rounds in this order. [`solver`] minimises a convex total over a set. [`spec`] turns
//! texts such as `lp:p=1.5,radius=2` into sets, losses, learners and streams. Programs to start from
//! are in the crate's `examples/`: a sparse stream that is saved and resumed, an oracle and a loss of
//! one's own, a learner of one's own.

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

pub use error::{Error, Result};
pub use learner::{Learner, LearnerSpec};
pub use loss::{Loss, LossSpec, Objective};
pub use point::{Gradient, Point, Row};
pub use record::{Certificate, Level, Record};
pub use set::{Set, SetSpec, SharedSet};
pub use stream::{Stream, StreamSpec};
