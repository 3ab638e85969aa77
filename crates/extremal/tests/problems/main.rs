//! The batteries for losses and streams, whole games with both, specs, and the papers they cite.

#[path = "../common/mod.rs"]
mod common;
mod forms;
mod kernel;
mod linalg;
mod losses;
mod objectives;
mod references;
mod specs;
mod streams;
mod text;
