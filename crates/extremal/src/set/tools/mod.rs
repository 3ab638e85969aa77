//! What several sets are made with.

pub(crate) mod hull_distance;
pub(crate) mod level;
pub(crate) mod top_k;
