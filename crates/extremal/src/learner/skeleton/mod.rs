//! The one learner around every algorithm, which no algorithm's author has to read, and its saved
//! states.

mod acting;
pub(crate) mod method;
pub mod parameters;
pub(crate) mod schedule;

pub use crate::saved::STATE_VERSION;
pub(crate) use crate::saved::{check_shape, decode, encode};
pub(crate) use acting::settings;
pub use acting::{Acting, Body};
