//! Projection-free online learning. In every round a learner plays a point of a convex set and then
//! observes a loss. The learner's update uses *one linear minimisation over the set* instead of a
//! projection.
//!
//! # The loop
//!
//! A round has two halves. [`Learner::decide`] returns the decision, and [`Learner::observe`]
//! receives the gradient of the loss at this decision. The example runs Algorithm 1 of Wan & Zhang
//! (AAAI 2021), online Frank-Wolfe with line search, on an ℓ2 ball:
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
//! [`game::Game`] runs this loop with a [`Stream`] of examples and a [`Loss`]. The game can also certify
//! the regret ([`hindsight::Meter`]) and check that every decision is feasible:
//!
//! ```
//! use extremal::{game::Game, hindsight::Meter, learner::{Storage, default_for}};
//! use extremal::{LossSpec, Objective, SetSpec, StreamSpec};
//!
//! # fn main() -> extremal::Result<()> {
//! let set = "lp:p=1.5,dim=5".parse::<SetSpec>()?.build(None)?;
//! let objective = Objective::new("squared".parse::<LossSpec>()?.build()?, 0.0)?;
//! let mut learner = default_for(&*set, &objective, Storage::Dense).build(&set)?;
//! let mut stream = "regression".parse::<StreamSpec>()?.build(5, 0)?; // dimension, seed
//! let mut meter = Meter::of(&set, &objective);
//! let game = Game::default().with_meter(&mut meter).with_watch(&*set);
//! let summary = game.play(&mut *learner, &mut *stream, &objective, 1000)?;
//! assert!(summary.largest_violation.unwrap() <= 1e-9);
//! assert!(meter.certificate(100)?.regret < summary.total_loss);
//! # Ok(())
//! # }
//! ```
//!
//! # Choosing a set and a learner
//!
//! A [`SetSpec`] is the constraint, written as `name:key=value`. Use `l2` if the decision should
//! have a bounded norm, `l1` or `k-sparse` if it should be sparse, `simplex` for shares or
//! probabilities, and `box` for bounds on each entry. [`set`] lists all sets. [`set::CustomSet`]
//! makes a set from your own linear minimisation oracle.
//!
//! [`learner::default_for`] chooses a learner if you know only the set and the loss. The table helps you
//! to choose a learner yourself. T is the number of rounds, G is a bound on the norms of the gradients, λ
//! is the strong convexity of the losses, and N is the number of base learners. Unless the table says
//! otherwise, the losses are convex and all keys are optional. A learner that is not given T or G adapts
//! to the gradients that it observes.
//!
//! | learner | sets | losses and keys | regret |
//! |---|---|---|---|
//! | [`ofw`](learner::frank_wolfe::ofw) | any | the bound needs T and G | T^(3/4) |
//! | [`ofw-weibel`](learner::frank_wolfe::ofw_weibel) | any | the bound needs G | T^(3/4), smaller constants |
//! | [`ofw-ls`](learner::frank_wolfe::ofw_line_search) | any; the bound needs a strongly convex set | the bound needs T and G | T^(2/3) |
//! | [`sc-ofw`](learner::frank_wolfe::sc_ofw) | any | λ-strongly convex; needs λ | T^(2/3), √T on strongly convex sets |
//! | [`ofw-free`](learner::frank_wolfe::ofw_free) | any | needs neither T nor G | T^(3/4), T^(2/3) on strongly convex sets |
//! | [`gauge-ftrl`](learner::frank_wolfe::gauge_ftrl) | curved (ℓp balls, strongly convex sets) | needs neither T nor G | √T; T^(1−1/p) on ℓp balls with p > 2 |
//! | [`dynamic-ofw`](learner::frank_wolfe::dynamic_ofw) | any | β-smooth; needs β | a bound against a moving comparator |
//! | [`coin-ftrl`](learner::untuned::coin_ftrl) | ℓ2 balls around 0 | tuning-free, for sparse streams | √(T ln T) |
//! | [`unit-free`](learner::untuned::unit_free) | [`unit-free`](set::unit_free), which depends on the data | observes whole examples; tuning-free for all units of features and labels | √(T ln T) |
//! | [`hedge`](learner::of_learners::hedge) | the sets of its base learners | combines several learners | the bound of any base learner + √(T ln N) |
//! | [`delayed`](learner::of_learners::delayed) | the sets of its base learner | gradients arrive late | the bound of its base learner if no gradient is delayed |
//! | [`lloo`](learner::rivals::few_calls::lloo) | polytopes whose constant ρ is known or given | optional: T and G, or λ | √T, log T with λ |
//! | [`pairwise`](learner::rivals::few_calls::pairwise) | polytopes whose vertices have only entries at their bounds | optional: T and G, or λ | no bound is known |
//! | [`loo-bogd`](learner::rivals::few_calls::loo_bogd) | any | far fewer oracle calls than rounds | T^(3/4) |
//! | [`ospf`](learner::rivals::perturbed::ospf) | any | β-smooth, fixed before the run | T^(2/3) in expectation, √T for linear losses |
//! | [`fpl`](learner::rivals::perturbed::fpl) | any | β-smooth, fixed before the run; several oracle calls per round | √T in expectation |
//! | [`gauge-wrapper`](learner::rivals::by_gauge::gauge_wrapper) | sets with 0 inside and a cheap [gauge](set::Set::gauge) | makes no oracle call | √T |
//! | [`so-ogd`](learner::rivals::by_gauge::so_ogd) | sets with a ball around 0 inside and a cheap gauge | uses separation instead of the oracle | √T |
//! | [`ogd`](learner::rivals::projected::ogd) | sets with a projection | optional: G or λ | √T, log T with λ |
//! | [`dual-averaging`](learner::rivals::projected::dual_averaging) | sets with a projection | optional: T and G | √T |
//! | [`ftl`](learner::rivals::projected::ftl) | strongly convex sets; with λ, any set with a projection | linear, or λ-strongly convex | log T with λ, or if the sum of the gradients grows linearly |
//! | [`fast-ogd`](learner::rivals::projected::fast_ogd) | {x : h(x) ≤ 0} with a smooth h | projects only approximately | √T, log T with λ |
//! | [`eg`](learner::rivals::projected::eg) | simplices and ℓ1 balls | optional: T and G | √T |
//! | [`ons`](learner::rivals::projected::ons) | any | α-exp-concave; needs α and G; O(d²) per round | d·log T |
//!
//! [`Learner::guarantee`] returns the bound with its constants and assumptions. [`theory`] checks whether
//! a run satisfies the assumptions.
//!
//! # Saving and resuming
//!
//! [`Learner::save`] returns the whole state as bytes. A learner that is built from the same spec on the
//! same set can load these bytes. The loaded learner continues with exactly the same numbers as an
//! uninterrupted run:
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//!
//! # fn main() -> extremal::Result<()> {
//! let set = "simplex:dim=3".parse::<SetSpec>()?.build(None)?;
//! let spec: LearnerSpec = "ofw-free".parse()?;
//! let mut learner = spec.build(&set)?;
//! learner.observe(&Gradient::dense(&[1.0, 0.0, -1.0]))?;
//! let saved = learner.save()?; // write these bytes to a file
//!
//! let mut resumed = spec.build(&set)?;
//! resumed.load(&saved)?;
//! assert_eq!(resumed.rounds(), 1);
//! for learner in [&mut learner, &mut resumed] {
//!     learner.observe(&Gradient::dense(&[0.0, 1.0, 0.0]))?;
//! }
//! assert_eq!(resumed.save()?, learner.save()?);
//! # Ok(())
//! # }
//! ```
//!
//! # The modules, in the order of a round
//!
//! 1. [`stream`] produces the example of the round: a row a, a label and a weight.
//! 2. [`loss`] computes the loss at the prediction ⟨a, x⟩, and the gradient of the loss.
//! 3. [`learner`] has one file per algorithm. The algorithms of Wan & Zhang are in
//!    [`learner::frank_wolfe`]: Algorithm 1 is
//!    [`ofw_line_search`](learner::frank_wolfe::ofw_line_search), and Algorithm 2, for strongly convex
//!    losses, is [`sc_ofw`](learner::frank_wolfe::sc_ofw). Each algorithm implements [`learner::Rule`]:
//!    `start` sets the surrogate F_0, `absorb` turns F_{t−1} into F_t, and `step` chooses the step size
//!    σ_t. The loop that calls these methods is in `learner/frank_wolfe/mod.rs`.
//! 4. [`surrogate`] stores x_t and F_t, calls the oracle with ∇F_t(x_t), and moves to x_{t+1}. For ℓ2 and
//!    ℓp balls the surrogate uses the closed form of the oracle. The decision x_t and the surrogate F_t
//!    together are called a pair.
//! 5. [`set`] has one file per constraint set, with its oracle, constants and projection.
//! 6. [`Record`] stores the step size, the gap and the number of oracle calls of the round.
//! 7. [`hindsight`] certifies the regret of a run, and [`theory`] computes the bound of every theorem.
//!
//! [`game`] plays rounds in this order. [`solver`] minimises a convex function over a set. [`spec`]
//! parses texts such as `lp:p=1.5,radius=2` into sets, losses, learners and streams. The crate's
//! `examples/` show how to save and resume a sparse stream, and how to write your own oracle, loss and
//! learner.

mod error;
pub mod game;
pub mod hindsight;
#[doc(hidden)]
pub mod kernel;
pub mod learner;
pub mod loss;
mod memory;
mod parameter;
mod point;
mod range;
mod record;
pub mod references;
mod rounding;
mod saved;
pub mod set;
pub mod solver;
pub mod spec;
pub mod stream;
pub mod surrogate;
pub mod theory;

pub use error::{Cause, Error, Result};
pub use learner::{Example, Learner, LearnerSpec};
pub use loss::{Loss, LossSpec, Objective};
pub use point::{Gradient, Point, Row};
pub use record::{Certificate, Level, Record};
pub use set::{Set, SetSpec, SharedSet};
pub use stream::{Stream, StreamSpec};
