//! Reads a file and says how fast: `cargo run --release -p extremal-data --example count -- FILE`

use std::path::Path;
use std::time::Instant;

use extremal_data::{ReadOptions, Reader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected a file")?;
    let start = Instant::now();
    let mut reader = Reader::open(Some(Path::new(&path)), &ReadOptions::default())?;
    let (mut examples, mut stored) = (0, 0);
    while let Some(batch) = reader.next()? {
        examples += batch.len();
        stored += batch.stored();
    }
    let seconds = start.elapsed().as_secs_f64();
    let bytes = reader.progress().0 as f64;
    println!(
        "{}: {examples} examples, {stored} non-zeros, {seconds:.3} s: {:.0} examples/s, {:.0} MB/s",
        reader.format(),
        examples as f64 / seconds,
        bytes / seconds / 1e6
    );
    Ok(())
}
