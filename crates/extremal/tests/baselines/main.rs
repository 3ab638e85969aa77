//! The laws of the baselines: exponentiated gradient, the online Newton step, follow the leader.

mod eg;
mod ftl;
mod ons;
#[path = "../support/mod.rs"]
mod support;
