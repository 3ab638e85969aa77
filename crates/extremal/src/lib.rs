//! Projection-free online learning: a decision is made every round inside a constraint set, a
//! loss is revealed, and the learner updates through *one linear minimisation over the set*.
//!
//! The pieces, each using only those before it:
//! [`kernel`] (vector kernels), [`set`] (constraint sets and their oracles), [`pair`] (the stored
//! decision and gradient sum, and the one Frank-Wolfe step), [`loss`], [`theory`] (every theorem's
//! bound), [`solver`] (the minimum of a convex total over a set), [`learner`] (one file per
//! algorithm), [`hindsight`] (regret with certificates), [`stream`] (synthetic opponents) and [`game`] (the loop).
//!
//! The paper's Algorithm 1 on an ℓ2 ball, by hand:
//!
//! ```
//! use extremal::{learner::{Learner, LearnerSpec}, pair::Gradient, set::SetSpec};
//!
//! # fn main() -> extremal::Result<()> {
//! let set = "l2:radius=1,dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "ofw-ls:horizon=100,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! let mut x = [0.0; 2];
//! for _ in 0..100 {
//!     learner.decide()?.write(&mut x);
//!     learner.observe(&Gradient::dense(&[0.6, -0.8]))?; // the same linear loss every round
//! }
//! learner.decide()?.write(&mut x);
//! assert!(x[0] < -0.5 && x[1] > 0.7); // close to the best decision (−0.6, 0.8)
//! # Ok(())
//! # }
//! ```

mod error;
pub mod game;
pub mod hindsight;
pub mod kernel;
pub mod learner;
pub mod loss;
pub mod pair;
mod parameter;
mod range;
pub mod references;
mod room;
mod rounding;
pub mod set;
pub mod solver;
pub mod spec;
pub mod stream;
pub mod theory;

pub use error::{Error, Result};
