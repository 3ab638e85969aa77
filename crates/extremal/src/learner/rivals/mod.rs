//! Learners for comparison: the learners of the paper's comparison table, and learners from related
//! work. All of them store every entry of their decision. Only `ogd` and `dual-averaging` also
//! support lazy storage.

pub mod by_gauge;
pub mod few_calls;
pub mod perturbed;
pub mod projected;
