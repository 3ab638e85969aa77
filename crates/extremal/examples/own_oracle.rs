//! Your own oracle and loss. The decision is a walk through a grid of streets, and a late arrival has a
//! cost. The set contains all mixtures of paths. The oracle of the set finds a shortest path. The set has
//! no projection.

use std::sync::Arc;

use extremal::hindsight::{Meter, Options, Sum, solve};
use extremal::set::{CustomSet, Geometry};
use extremal::{Cause, LearnerSpec, Loss, Objective, Result, Row, SharedSet};

const LAYERS: usize = 6;
const WIDTH: usize = 3;
const STREETS: usize = LAYERS * WIDTH * WIDTH;

/// The cost ln(1 + exp(z − due)) of arriving at time z instead of at time `due`.
struct Lateness;

impl Loss for Lateness {
    fn name(&self) -> &'static str {
        "lateness"
    }

    fn at(&self, z: f64, due: f64) -> (f64, f64) {
        let late = z - due; // a walk takes minutes, so that exp does not overflow
        (late.exp().ln_1p(), 1.0 / (1.0 + (-late).exp()))
    }
}

/// Writes the path with the smallest cost. Each street of the path has the entry 1, and all other
/// entries are 0. Street (l·3 + i)·3 + j leads from place i of layer l to place j of the next layer.
fn shortest_path(cost: &[f64], path: &mut [f64]) -> Result<(), Cause> {
    let street = |layer: usize, i: usize, j: usize| (layer * WIDTH + i) * WIDTH + j;
    let (mut rest, mut next) = ([0.0; WIDTH], [[0; WIDTH]; LAYERS]);
    for layer in (0..LAYERS).rev() {
        let through = |i: usize, j: usize| cost[street(layer, i, j)] + rest[j];
        let best = |i| (0..WIDTH).min_by(|a, b| through(i, *a).total_cmp(&through(i, *b)));
        next[layer] = std::array::from_fn(|i| best(i).expect("a street"));
        rest = std::array::from_fn(|i| through(i, next[layer][i]));
    }
    path.fill(0.0);
    let mut place = 0;
    for (layer, next) in next.iter().enumerate() {
        path[street(layer, place, next[place])] = 1.0;
        place = next[place];
    }
    Ok(())
}

fn main() -> Result<()> {
    let geometry = Geometry {
        diameter: (2.0 * LAYERS as f64).sqrt(), // the distance between two paths without a common street
        norm_bound: (LAYERS as f64).sqrt(),
        ..Geometry::default()
    };
    let start: [f64; STREETS] = std::array::from_fn(|s| f64::from(s.is_multiple_of(9)));
    let set = CustomSet::new("paths", STREETS, geometry, shortest_path)?;
    let set: SharedSet = Arc::new(set.with_centre(&start)?);

    let objective = Objective::new(Arc::new(Lateness), 0.0)?;
    let mut learner = "ofw-free".parse::<LearnerSpec>()?.build(&set)?;
    let mut meter = Meter::of(&set, &objective);
    let (mut sum, mut total) = (Sum::new(STREETS, &objective)?, 0.0);
    for t in 0..500 {
        let time = |s: usize| 1.0 + 0.25 * (s % 4) as f64 + 0.5 * ((7 * t + 13 * s) as f64).sin();
        let times: [f64; STREETS] = std::array::from_fn(time); // the time for each street in this round
        let (row, due) = (Row::Dense(&times), 7.0);
        let evaluation = objective.evaluate(row, due, 1.0, learner.decide()?)?;
        total += evaluation.value;
        meter.see(learner.decision(), &evaluation.gradient)?;
        learner.observe(&evaluation.gradient)?;
        sum.push(row, due, 1.0)?;
    }
    let best = solve(&sum, &*set, &Options::default())?;
    let (regret, certified) = (total - best.value, meter.certificate(1)?.regret);
    println!("loss {total:.1}, regret {regret:.2}, certified {certified:.2}");
    assert!(regret <= certified && certified < 0.1 * total);
    Ok(())
}
