//! Learners that reach the set through its gauge or through a smooth constraint, without projections.

pub mod gauge_wrapper;
pub mod so_ogd;
