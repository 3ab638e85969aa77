//! Algorithms that several sets use.

pub(crate) mod hull_distance;
pub(crate) mod level;
pub(crate) mod top_k;
