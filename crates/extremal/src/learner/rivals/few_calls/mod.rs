//! Learners that make several oracle calls in some rounds, or keep their decision as a mixture of
//! vertices, to have fewer calls or less regret in all.

pub mod lloo;
pub mod loo_bogd;
pub mod pairwise;
mod vector_surrogate;
