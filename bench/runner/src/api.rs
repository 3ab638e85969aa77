//! What the public API costs: a sparse stream played by the library, as `examples/sparse_stream.rs`
//! plays it, beside the same algorithm written as a plain loop.

use std::time::Instant;

use extremal::Row;
use extremal::game;
use extremal::hindsight::Meter;
use extremal::learner::{LearnerSpec, Storage};
use extremal::loss::{LossSpec, Objective, Scratch};
use extremal::set::SetSpec;
use extremal::stream::Round;

use crate::{Failure, SparseRows};

/// Turns that each program gets, and the radius of the ball.
const TURNS: usize = 15;
const RADIUS: f64 = 10.0;

/// Plays the rows and returns the total loss.
type Loop = fn(&SparseRows) -> f64;

/// The learners, and the same algorithms by hand.
const LEARNERS: [(&str, Loop); 3] = [
    ("coin-ftrl", coin_ftrl),
    ("gauge-ftrl", gauge_ftrl),
    ("ogd", gradient_descent),
];

const PROGRAMS: [&str; 3] = ["hand", "library", "meter"];

/// Prints nanoseconds per round and their ratios, medians over turns that the programs take one after
/// the other.
pub fn report(rows: &SparseRows) -> Result<(), Failure> {
    let (dim, nonzeros) = (rows.dim, rows.nonzeros);
    println!("ns per round, d = {dim}, {nonzeros} non-zeros, logistic loss, ℓ2 ball");
    println!("learner      by hand  library  ratio  with meter  ratio");
    for (learner, _) in LEARNERS {
        let mut times = [const { Vec::new() }; 3];
        for turn in 0..TURNS {
            let mut losses = [0.0; 3];
            for k in 0..3 {
                let k = (k + turn) % 3;
                let (loss, seconds) = play(learner, PROGRAMS[k], rows)?;
                losses[k] = loss;
                times[k].push(seconds * 1e9 / rows.labels.len() as f64);
            }
            if losses
                .iter()
                .any(|l| (l - losses[0]).abs() > 1e-9 * losses[0])
            {
                return Err(format!("{learner}: the losses {losses:?} differ").into());
            }
        }
        let ratio = |k: usize| {
            let pairs = times[k].iter().zip(&times[0]);
            median(pairs.map(|(ours, theirs)| ours / theirs))
        };
        let [hand, plain, metered] = [0, 1, 2].map(|k| median(times[k].iter().copied()));
        println!(
            "{learner:<10} {hand:>9.0} {plain:>8.0} {:>6.2} {metered:>11.0} {:>6.2}",
            ratio(1),
            ratio(2)
        );
    }
    Ok(())
}

/// Plays the rows once: the total loss, and the seconds that the rounds took.
pub fn play(learner: &str, program: &str, rows: &SparseRows) -> Result<(f64, f64), Failure> {
    let known = LEARNERS.iter().find(|(name, _)| *name == learner);
    let (_, by_hand) = known.ok_or("LEARNER is coin-ftrl, gauge-ftrl or ogd")?;
    match program {
        "hand" => {
            let start = Instant::now();
            let loss = by_hand(rows);
            Ok((loss, start.elapsed().as_secs_f64()))
        }
        "library" => library(learner, rows, false),
        "meter" => library(learner, rows, true),
        _ => Err("PROGRAM is hand, library or meter".into()),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn library(learner: &str, rows: &SparseRows, metered: bool) -> Result<(f64, f64), Failure> {
    let set = format!("l2:radius={RADIUS},dim={}", rows.dim);
    let set = set.parse::<SetSpec>()?.build(None)?;
    let objective = Objective::new("logistic".parse::<LossSpec>()?.build()?, 0.0)?;
    let spec: LearnerSpec = learner.parse()?;
    let mut learner = spec.build_stored(&set, Storage::Lazy)?;
    let mut meter = metered.then(|| Meter::of(&set, &objective));
    let mut scratch = Scratch::default();
    let mut total = 0.0;
    let start = Instant::now();
    for (indices, values, label) in rows.iter() {
        let row = Row::Sparse { indices, values };
        let round = Round {
            row,
            label,
            weight: 1.0,
        };
        let turn = game::round(
            &mut *learner,
            &objective,
            round,
            meter.as_mut(),
            &mut scratch,
        )?;
        total += turn.evaluation.value;
    }
    Ok((total, start.elapsed().as_secs_f64()))
}

/// Projected gradient descent with the step D/√(2Σ‖g‖²); the decision is scale·w.
fn gradient_descent(rows: &SparseRows) -> f64 {
    let (mut w, mut scale, mut norm_squared) = (vec![0.0; rows.dim], 1.0, 0.0);
    let (mut squares, mut total) = (0.0, 0.0);
    for (indices, values, label) in rows.iter() {
        let (ax, aa) = products(indices, values, &w);
        let prediction = scale * ax;
        let (loss, slope) = logistic(prediction, label);
        total += loss;
        squares += slope * slope * aa;
        let eta = 2.0 * RADIUS / (2.0 * squares).sqrt();
        let k = -eta * slope;
        for (i, v) in indices.iter().zip(values) {
            w[*i as usize] += k / scale * v;
        }
        norm_squared += k * (2.0 * prediction + k * aa);
        if norm_squared > RADIUS * RADIUS {
            scale *= RADIUS / norm_squared.sqrt();
            norm_squared = RADIUS * RADIUS;
        }
    }
    total
}

/// Gauge-FTRL with β that balances itself; the decision is factor·c, c the sum of gradients.
fn gauge_ftrl(rows: &SparseRows) -> f64 {
    let (mut c, mut factor, mut norm_squared) = (vec![0.0; rows.dim], 0.0, 0.0_f64);
    let (mut beta, mut total) = (0.0_f64, 0.0);
    for (indices, values, label) in rows.iter() {
        let (ac, aa) = products(indices, values, &c);
        let (loss, slope) = logistic(factor * ac, label);
        total += loss;
        let width = RADIUS * slope.abs() * aa.sqrt();
        let potential = (RADIUS * RADIUS * norm_squared + beta * beta).sqrt();
        beta += f64::min(0.5 * width * width / potential, 2.0 * width);
        for (i, v) in indices.iter().zip(values) {
            c[*i as usize] += slope * v;
        }
        norm_squared += slope * (2.0 * ac + slope * aa);
        let potential = (RADIUS * RADIUS * norm_squared + beta * beta).sqrt();
        factor = -RADIUS * RADIUS / potential;
    }
    total
}

/// Coin-FTRL: the decision is along_y·y + along_c·c.
fn coin_ftrl(rows: &SparseRows) -> f64 {
    #[derive(Clone, Copy, Default)]
    struct Cell {
        y: f64,
        c: f64,
        square: f64,
        top: f64,
    }
    let mut cells = vec![Cell::default(); rows.dim];
    let (mut yy, mut cc, mut longest, mut beta) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    let (mut length, mut share) = (Bet::default(), Bet::default());
    let mut total = 0.0;
    for (indices, values, label) in rows.iter() {
        let most = if longest > 0.0 {
            RADIUS / longest
        } else {
            f64::INFINITY
        };
        let bets = [length.bet(RADIUS / 1024.0), share.bet(1.0 / 1024.0)];
        let (m, w) = (bets[0].clamp(0.0, most), bets[1].clamp(0.0, 1.0));
        let potential = (RADIUS * RADIUS * cc + beta * beta).sqrt();
        let round = if potential > 0.0 {
            -RADIUS * RADIUS / potential
        } else {
            0.0
        };
        let (mut ay, mut ac, mut aa) = (0.0, 0.0, 0.0);
        for (i, v) in indices.iter().zip(values) {
            let cell = &cells[*i as usize];
            ay += v * cell.y;
            ac += v * cell.c;
            aa += v * v;
        }
        let (loss, slope) = logistic((1.0 - w) * m * ay + w * round * ac, label);
        total += loss;
        let width = RADIUS * slope.abs() * aa.sqrt();
        beta += f64::min(0.5 * width * width / potential, 2.0 * width);
        for (i, v) in indices.iter().zip(values) {
            let (g, cell) = (slope * v, &mut cells[*i as usize]);
            (yy, cc) = (yy - cell.y * cell.y, cc - cell.c * cell.c);
            cell.c += g;
            cell.square += g * g;
            cell.top = cell.top.max(g.abs());
            cell.y = -cell.c / (cell.square + cell.top * cell.top).sqrt();
            (yy, cc) = (yy + cell.y * cell.y, cc + cell.c * cell.c);
        }
        length.settle(slope * ay, bets[0], most);
        share.settle(slope * (round * ac - m * ay), bets[1], 1.0);
        longest = longest.max(yy.sqrt());
    }
    total
}

/// A number learnt by betting.
#[derive(Default)]
struct Bet {
    scale: f64,
    sum: f64,
    total: f64,
    won: f64,
}

impl Bet {
    fn bet(&self, stake: f64) -> f64 {
        if self.scale == 0.0 {
            return 0.0;
        }
        let part = (self.sum / (self.total + 2.0 * self.scale)).tanh();
        part * (stake + self.won / self.scale)
    }

    fn settle(&mut self, q: f64, bet: f64, high: f64) {
        if self.scale == 0.0 {
            self.scale = q.abs();
        }
        let counted = q.clamp(-self.scale, self.scale);
        self.scale = self.scale.max(q.abs());
        if (bet < 0.0 && q > 0.0) || (bet > high && q < 0.0) {
            return;
        }
        self.sum -= counted;
        self.total += counted.abs();
        self.won -= counted * bet;
    }
}

/// ⟨a, w⟩ and ‖a‖².
fn products(indices: &[u32], values: &[f64], w: &[f64]) -> (f64, f64) {
    let entries = indices.iter().zip(values);
    entries.fold((0.0, 0.0), |(aw, aa), (i, v)| {
        (aw + v * w[*i as usize], aa + v * v)
    })
}

/// ln(1 + e^(−yz)) and its derivative in z.
fn logistic(z: f64, y: f64) -> (f64, f64) {
    let e = (-(y * z).abs()).exp();
    let away = if y * z > 0.0 { e } else { 1.0 };
    ((-y * z).max(0.0) + e.ln_1p(), -y * away / (1.0 + e))
}
