//! Learners that make several oracle calls in some rounds, or that store their decision as a
//! mixture of vertices. Both ideas reduce the total number of calls or the regret.

pub mod lloo;
pub mod loo_bogd;
pub mod pairwise;
mod vector_surrogate;
