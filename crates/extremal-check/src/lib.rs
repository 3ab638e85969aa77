//! A conformance battery. It checks the laws that every set, loss and learner must satisfy, including
//! your own. Each function checks all laws of its kind. It returns the broken laws, each with a
//! direction, point or round as a counterexample.
//!
//! ```
//! use extremal::set::{CustomSet, Geometry};
//! // the disc of radius 1, whose diameter is 2
//! let geometry = Geometry { diameter: 1.0, norm_bound: 1.0, inner_radius: Some(1.0), strong_convexity: None };
//! let disc = |sign: f64| CustomSet::new("disc", 2, geometry, move |direction, v| {
//!     let norm = direction[0].hypot(direction[1]);
//!     for (v, d) in v.iter_mut().zip(direction) {
//!         *v = if norm > 0.0 { sign * d / norm } else { 0.0 };
//!     }
//!     Ok(())
//! });
//! let failures = extremal_check::set(&disc(-1.0)?).unwrap_err();
//! assert_eq!(failures.list().len(), 1);
//! let example = failures.of("no distance of two points exceeds the diameter").unwrap();
//! assert!(example.ends_with("apart; the diameter is 1"), "{example}");
//!
//! // with the wrong sign, the oracle maximises
//! let failures = extremal_check::set(&disc(1.0)?).unwrap_err();
//! assert!(failures.to_string().contains("The oracle must minimise"), "{failures}");
//! # Ok::<(), extremal::Error>(())
//! ```
//!
//! A test of your own set is one line: `extremal_check::set(&my_set()).unwrap()`. The battery needs
//! only the oracle of the set. If the set also has a violation, a gauge or a projection, the battery
//! checks these too. Most faults appear in low dimensions: use the dimensions 1, 2, 3 and 10.

mod learner;
mod loss;
mod report;
mod set;

pub mod kit;
pub mod script;

pub use learner::LearnerCheck;
pub use loss::LossCheck;
pub use report::{Failure, Failures};
pub use set::SetCheck;

use extremal::learner::Learner;
use extremal::loss::Loss;
use extremal::set::{Set, SharedSet};

/// Checks all laws of sets on this set. [`SetCheck`] sets the tolerances, and adds laws for sets whose
/// constants are exact.
///
/// ```
/// let set = extremal_check::kit::set("lp:p=1.5", 3);
/// extremal_check::set(&*set)?;
/// # Ok::<(), extremal_check::Failures>(())
/// ```
pub fn set(set: &dyn Set) -> Result<(), Failures> {
    SetCheck::default().run(set)
}

/// Checks all laws of losses on this loss.
///
/// ```
/// use extremal::loss::Loss;
///
/// /// z⁴/4, whose slope is z³.
/// struct Fourth;
///
/// impl Loss for Fourth {
///     fn name(&self) -> &'static str {
///         "fourth"
///     }
///     fn at(&self, z: f64, label: f64) -> (f64, f64) {
///         let z = z - label;
///         (0.25 * z.powi(4), z.powi(2))
///     }
/// }
///
/// let failures = extremal_check::loss(&Fourth).unwrap_err();
/// assert!(failures.of("the slope agrees with finite differences").is_some());
/// ```
pub fn loss(loss: &dyn Loss) -> Result<(), Failures> {
    LossCheck::default().run(loss)
}

/// Checks all laws of learners on the learners that `build` makes. `build` must use the set in its
/// argument, because one law calls `build` with a set whose oracle fails.
///
/// ```
/// use extremal::learner::LearnerSpec;
/// let spec: LearnerSpec = "ofw-ls".parse()?;
/// extremal_check::learner(&extremal_check::kit::set("box", 3), |set| spec.build(set))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learner(
    set: &SharedSet,
    build: impl Fn(&SharedSet) -> extremal::Result<Box<dyn Learner>>,
) -> Result<(), Failures> {
    LearnerCheck::default().run(set, build)
}
