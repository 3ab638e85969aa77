//! The papers: their pseudocode, their lemmas, and their theorems as numbers.

mod bounds;
mod cancelling;
mod certificates;
mod guarantees;
mod lemmas;
mod paper;
mod proofs;
#[path = "../support/mod.rs"]
mod support;
mod theorems;
mod weibel;
