//! Runs our side of a benchmark.
fn main() {}
