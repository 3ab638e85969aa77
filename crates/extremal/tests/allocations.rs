//! After a warm-up no round asks for memory: for every learner on every set that it goes with,
//! in every storage, with dense and with sparse rows.

#![allow(unsafe_code)] // counting allocations takes an allocator

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{losses, rng, teams};
use extremal::game;
use extremal::loss::Objective;
use extremal::pair::{Point, Row};
use extremal::stream::{Round, Stream};
use rand::RngExt;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.with(|c| c.set(c.get() + 1));
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn calls() -> u64 {
    CALLS.with(Cell::get)
}

const DIM: usize = 12;
const WARM: u64 = 100;
const ROUNDS: u64 = 400;

/// Rows that are made without asking for memory. Small ones first, so that what only large ones
/// need (a projection, for example) is needed late.
struct Rows {
    rng: rand_chacha::ChaCha8Rng,
    sparse: bool,
    round: u64,
    indices: [u32; 4],
    values: [f64; DIM],
}

impl Stream for Rows {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        let size = if self.round < WARM + 50 { 1e-3 } else { 1.0 };
        self.round += 1;
        for v in &mut self.values {
            *v = size * (self.rng.random::<f64>() - 0.3);
        }
        let first = self.rng.random_range(0..3);
        self.indices = std::array::from_fn(|k| first + 3 * k as u32);
        let row = if self.sparse {
            Row::Sparse {
                indices: &self.indices,
                values: &self.values[..4],
            }
        } else {
            Row::Dense(&self.values)
        };
        Ok(Some(Round {
            row,
            label: 1.0,
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        4.0
    }
}

#[test]
fn the_allocator_counts() {
    let before = calls();
    let memory = std::hint::black_box(vec![1.0; 100]);
    assert_eq!(calls() - before, 1);
    drop(memory);
}

#[test]
fn no_round_after_the_warm_up_asks_for_memory() {
    let mut faults = Vec::new();
    for team in teams(DIM, |_, _| {}) {
        for sparse in [false, true] {
            for (loss_name, loss) in losses() {
                for ridge in [0.0, 0.1] {
                    let objective = Objective::new(loss.clone(), ridge).unwrap();
                    let mut learner = team.build();
                    let mut rows = Rows {
                        rng: rng(1),
                        sparse,
                        round: 0,
                        indices: [0; 4],
                        values: [0.0; DIM],
                    };
                    let mut start = 0;
                    game::play(
                        &mut *learner,
                        &mut rows,
                        &objective,
                        ROUNDS,
                        &mut || 0.0,
                        None,
                        Some(&*team.set),
                        |turn| {
                            if turn.record.round == WARM {
                                start = calls();
                            }
                            Ok(())
                        },
                    )
                    .unwrap();
                    let made = calls() - start;
                    if made > 0 {
                        faults.push(format!(
                            "{}, sparse: {sparse}, {loss_name}, ridge {ridge}: {made}",
                            team.name
                        ));
                    }
                }
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} runs ask for memory:\n{}",
        faults.len(),
        faults[..faults.len().min(10)].join("\n")
    );
}
