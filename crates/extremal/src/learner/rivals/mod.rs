//! Learners for comparison: those of the paper's comparison table, and others from related work.
//! All of them store every entry of their decision, except `ogd` and `dual-averaging`, which also
//! have a lazy form.

pub mod by_gauge;
pub mod few_calls;
pub mod perturbed;
pub mod projected;
