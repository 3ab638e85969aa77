//! The battery for sets: every one that is registered, in every example, in several dimensions;
//! and the laws of single kinds of sets.

mod battery;
mod combinatorial;
#[path = "../common/mod.rs"]
mod common;
mod composites;
mod curved;
mod gauges;
mod hull;
mod smooth_sets;
mod solver;
#[path = "../support/mod.rs"]
mod support;
mod tools;
