//! Learners that make several oracle calls in some rounds, or keep their decision as a mixture of
//! vertices, to have fewer calls or less regret in all.

pub mod lloo;
#[doc(hidden)]
pub mod local_oracle;
pub mod loo_bogd;
#[doc(hidden)]
pub mod near_projection;
pub mod pairwise;
mod vector_surrogate;
