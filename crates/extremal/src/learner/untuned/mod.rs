//! Learners that need no constants, and the choice of a default.

pub mod coin_ftrl;
pub(crate) mod default;
pub mod unit_free;
