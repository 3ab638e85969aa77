//! What no algorithm's author has to read: the one learner around every algorithm, and its saved
//! states.

mod acting;
pub(crate) mod method;
pub mod parameters;
pub(crate) mod schedule;

pub(crate) use crate::saved::{damaged, decode, encode};
pub(crate) use acting::settings;
pub use acting::{Acting, Body, STATE_VERSION};
