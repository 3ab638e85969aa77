//! The battery for sets: every one that is registered, in every example, in several dimensions.

#[path = "../common/mod.rs"]
mod common;
mod curvature;
mod geometry;
mod oracle;
mod projection;
mod solver;
