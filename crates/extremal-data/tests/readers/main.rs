//! The readers of streams: every format, packed or not, from files and pipes.

mod archives;
mod columns;
mod common;
mod detect;
mod fuzz;
mod jsonl;
mod libsvm;
mod pipes;
mod roundtrip;
mod table;
mod vw;
