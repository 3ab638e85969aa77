//! The program `extremal`.
fn main() {}
