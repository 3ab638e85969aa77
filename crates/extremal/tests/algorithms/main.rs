//! The laws of single algorithms: exponentiated gradient, the online Newton step, follow the
//! leader, local oracles, hedging, coin betting, delays and the others that have some of their own.

mod anytime;
mod coin;
#[path = "../common/mod.rs"]
mod common;
mod eg;
mod few_calls;
mod ftl;
mod gauge;
mod hedge;
mod late;
mod local;
mod ons;
mod perturbed;
#[path = "../support/mod.rs"]
mod support;
mod unit_free;
mod untuned;
