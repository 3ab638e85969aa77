//! `learn`, `predict` and `inspect` as a user runs them.

mod certified;
mod classes;
mod columns;
mod interrupted;
mod laws;
mod lines;
mod memory;
mod piped;
mod refused;
mod reported;
mod resumed;
mod scored;
mod support;
mod tables;
