//! After a warm-up no round asks for memory: for every learner on every set that it goes with,
//! in every storage, with dense and with sparse rows.

#![allow(unsafe_code)] // counting allocations takes an allocator

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use common::{Team, losses, rng, teams};
use extremal::game::Game;
use extremal::learner::Storage;
use extremal::loss::{Loss, LossSpec, Objective};
use extremal::set::SetSpec;
use extremal::stream::{Round, Stream};
use extremal::{
    Gradient, Point, Row,
    surrogate::{Move, SparseSurrogate, Surrogate, Update},
};
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
const ROUNDS: u64 = 300; // memory that doubles is asked for in rounds 128 and 256

/// Rows that are made without asking for memory. Small ones first, so that what only large ones
/// need (a projection, for example) is needed late.
struct Rows {
    rng: rand_chacha::ChaCha8Rng,
    sparse: bool,
    /// The least entry of a row.
    least: f64,
    round: u64,
    indices: [u32; 4],
    values: [f64; DIM],
}

impl Stream for Rows {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        let size = if self.round < WARM + 50 { 1e-3 } else { 1.0 };
        self.round += 1;
        for v in &mut self.values {
            *v = size * (self.rng.random::<f64>() + self.least);
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

/// How often the rounds after the warm-up ask for memory.
fn asked(team: &Team, loss: &Arc<dyn Loss>, ridge: f64, sparse: bool, least: f64) -> u64 {
    let objective = Objective::new(loss.clone(), ridge).unwrap();
    let mut learner = team.build();
    let mut rows = Rows {
        rng: rng(1),
        sparse,
        least,
        round: 0,
        indices: [0; 4],
        values: [0.0; DIM],
    };
    let mut start = 0;
    Game::default()
        .with_watch(&*team.set)
        .play_while(&mut *learner, &mut rows, &objective, ROUNDS, |turn| {
            if turn.record.round == WARM {
                start = calls();
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    calls() - start
}

/// Without random delays: a round in which several late gradients arrive is several rounds of the
/// base, and keeps the base's saved state in case that a later one of them fails.
fn steady(mut teams: Vec<Team>) -> Vec<Team> {
    teams.retain(|team| !team.name.contains("random=true"));
    teams
}

#[test]
fn no_round_after_the_warm_up_asks_for_memory() {
    let mut faults = Vec::new();
    for team in steady(teams(DIM, |_, _| {})) {
        for sparse in [false, true] {
            for (loss_name, loss) in losses() {
                for ridge in [0.0, 0.1] {
                    let made = asked(&team, &loss, ridge, sparse, -0.3);
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

#[test]
fn losses_that_write_their_gradient_out_or_want_positive_rows_ask_for_none_either() {
    let build = |text: &str| text.parse::<LossSpec>().unwrap().build().unwrap();
    let line = |i: usize| (0..DIM).map(|j| if i == j { 2.0 } else { 0.1 }).collect();
    let rows: Vec<Vec<f64>> = (0..DIM).map(line).collect();
    let losses = [
        build("log-wealth"),
        build(&format!("quadratic:diagonal={:?}", rows[0])),
        build(&format!("quadratic:matrix={rows:?}")),
    ];
    let mut teams = steady(teams(DIM, |_, _| {}));
    teams.retain(|team| team.set.name().starts_with("simplex"));
    teams.retain(|team| team.set.violation(&[0.0; DIM]) > Some(0.0));
    assert!(teams.len() >= 5);
    for team in teams {
        for loss in &losses {
            for sparse in [false, true] {
                // sparse rows meet decisions that hold none of their assets
                if !(sparse && loss.form().is_none()) {
                    let made = asked(&team, loss, 0.1, sparse, 0.1);
                    assert_eq!(made, 0, "{}, {}, {sparse}", team.name, loss.name());
                }
            }
        }
    }
}

/// In sparse storage what grows is the support, and memory for it is taken twofold at a time.
#[test]
fn a_support_that_grows_asks_for_memory_as_rarely_as_it_doubles() {
    const WIDE: u32 = 20_000;
    let set = "l1".parse::<SetSpec>().unwrap();
    let set = set.build(Some(WIDE as usize)).unwrap();
    let mut pair = SparseSurrogate::new(set, None).unwrap();
    let play = |pair: &mut SparseSurrogate, rounds: std::ops::Range<u32>| {
        let before = calls();
        for t in rounds {
            let mut entries = [(t % WIDE, 1.0 + f64::from(t)), ((3 * t + 1) % WIDE, 0.5)];
            entries.sort_unstable_by_key(|entry| entry.0);
            let (indices, values) = (entries.map(|e| e.0), entries.map(|e| e.1));
            let gradient = Gradient::sparse(&indices, &values);
            let update = Update::new(1.0, &gradient, 1.0);
            pair.probe(&update, true).unwrap();
            pair.commit(Move::Towards(0.01));
        }
        calls() - before
    };
    play(&mut pair, 0..10);
    let asked = play(&mut pair, 10..2_500);
    assert!(pair.support() > 2_000, "{}", pair.support());
    // from 16 to 4096 entries, in seven vectors
    assert!(asked <= 8 * 7, "{asked} times");
    // the same features once more
    assert_eq!(play(&mut pair, 2_500 - 1_000..2_500), 0);
}

#[test]
fn restarts_around_a_start_of_ones_own_ask_for_none_either() {
    let loss = "linear".parse::<LossSpec>().unwrap().build().unwrap();
    let mut start = ["0"; DIM];
    start[3] = "0.1";
    for set in ["l2", "l2:radius=10"] {
        for name in ["ofw", "ofw-ls"] {
            for storage in [Storage::Dense, Storage::Lazy] {
                let text = format!("{name}:doubling=true,start=[{}]", start.join(","));
                let set: extremal::set::SetSpec = set.parse().unwrap();
                let team = Team {
                    name: format!("{text}, {storage:?}"),
                    learner: text.parse().unwrap(),
                    set: set.build(Some(DIM)).unwrap(),
                    storage,
                };
                for sparse in [false, true] {
                    let made = asked(&team, &loss, 0.0, sparse, -0.3);
                    assert_eq!(made, 0, "{}, sparse: {sparse}", team.name);
                }
            }
        }
    }
}

#[test]
fn inspectors_of_sets_made_of_others_ask_for_none() {
    let text = format!(
        "sum:sets=[(l2:radius=0.1),(product:sets=[(lp:p=1.5,dim={0}),(lp:p=3,dim={0})])]",
        DIM / 2
    );
    let spec: extremal::set::SetSpec = text.parse().unwrap();
    let set = spec.build(Some(DIM)).unwrap();
    let far = [3.0; DIM];
    let first = set.violation(&far);
    assert!(first > Some(0.1));
    let mut inspect = set.inspector().unwrap();
    inspect(&far);
    let before = calls();
    inspect(&[0.01; DIM]);
    let again = inspect(&far);
    assert_eq!(calls() - before, 0);
    assert_eq!(again, first, "what was asked before is remembered");
}
