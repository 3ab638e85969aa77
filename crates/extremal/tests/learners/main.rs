//! The battery for learners: every one that is registered, in every example, on every set that
//! it goes with, in every storage.

mod aftermath;
mod battery;
#[path = "../common/mod.rs"]
mod common;
mod edges;
mod extremes;
mod faults;
mod forged;
mod growth;
mod plans;
mod play;
mod resume;
mod rounds;
mod scales;
mod states;
mod wrong_oracles;
