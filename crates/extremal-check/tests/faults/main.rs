//! The battery can fail: every fault that is planted here breaks the law that names it, and the
//! same component without the fault keeps them all.

mod learners;
mod losses;
mod sets;
