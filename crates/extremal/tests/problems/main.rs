//! The batteries for losses and streams, whole games with both, and specs that are out of range.

#[path = "../common/mod.rs"]
mod common;
mod forms;
mod losses;
mod objectives;
mod specs;
mod streams;
