//! The stored pair (x, c): lazy and sparse storage against dense, a user's own, and saved states.

#[path = "../common/mod.rs"]
mod common;
mod factored;
mod games;
mod lazy;
mod lazy_ogd;
mod sparse;
#[path = "../support/mod.rs"]
mod support;
