//! The battery for sets: every one that is registered, in every example, in several dimensions;
//! and the laws of single kinds of sets.

mod combinatorial;
#[path = "../common/mod.rs"]
mod common;
mod composites;
mod curvature;
mod curved;
mod far;
mod gauges;
mod geometry;
mod hull;
mod oracle;
mod projection;
mod smooth_sets;
mod solver;
#[path = "../support/mod.rs"]
mod support;
mod tools;
