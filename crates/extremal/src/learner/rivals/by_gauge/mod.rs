//! Learners that use the gauge of the set, and neither an oracle nor a projection.

pub mod gauge_wrapper;
pub mod so_ogd;
