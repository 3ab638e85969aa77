//! Learners to compare with: those of the paper's comparison table and of its related work. All keep
//! every entry of their decision, but for `ogd` and `dual-averaging`, which have a lazy form.

pub mod by_gauge;
pub mod few_calls;
pub mod perturbed;
pub mod projected;
