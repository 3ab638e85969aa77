//! The battery for learners: every one that is registered, in every example, on every set that
//! it goes with, in every storage.

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod play;
mod resume;
mod rounds;
mod scales;
mod script;
