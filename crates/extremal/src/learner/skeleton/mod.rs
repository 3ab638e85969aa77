//! The one implementation of [`Learner`](crate::learner::Learner), and the saved states. The author
//! of a new algorithm need not read this module.

mod acting;
pub(crate) mod method;
pub mod parameters;
pub(crate) mod schedule;

pub use crate::saved::STATE_VERSION;
pub(crate) use crate::saved::{check_shape, decode, encode};
pub use acting::{Acting, Body};
pub(crate) use acting::{Planned, settings};
