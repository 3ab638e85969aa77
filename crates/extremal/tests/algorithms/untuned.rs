//! The default learner, which is told the set and the loss and nothing else, against projected
//! gradient descent with the step size that turned out best.

use std::sync::Arc;

use crate::common::{losses, sets, soak};
use extremal::game::Game;
use extremal::kernel::{axpy, dot};
use extremal::learner::{LearnerSpec, Storage, default_for};
use extremal::loss::{Loss, LossSpec, Objective};
use extremal::set::{Atom, Set, SetSpec, SharedSet};
use extremal::stream::{Round, Stream, StreamSpec};
use extremal::{Point, Row};

/// A stream's rounds, kept to be played again.
struct Kept {
    dim: usize,
    rows: Vec<f64>,
    labels: Vec<f64>,
}

impl Kept {
    fn new(text: &str, dim: usize, rounds: usize, seed: u64) -> Self {
        let mut stream = text
            .parse::<StreamSpec>()
            .unwrap()
            .build(dim, seed)
            .unwrap();
        let nowhere = vec![0.0; dim];
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let round = stream.next(&nowhere).unwrap().unwrap();
            let Row::Dense(row) = round.row else {
                panic!("a dense stream was asked for")
            };
            rows.extend_from_slice(row);
            labels.push(round.label);
        }
        Self { dim, rows, labels }
    }

    fn loss_and_gradient(&self, objective: &Objective, x: &[f64], out: &mut [f64]) -> f64 {
        let rounds = self.labels.len() as f64;
        out.iter_mut()
            .zip(x)
            .for_each(|(g, x)| *g = objective.ridge() * x);
        let mut sum = 0.0;
        for (row, label) in self.rows.chunks(self.dim).zip(&self.labels) {
            let (value, slope) = objective.loss().at(dot(row, x), *label);
            sum += value;
            axpy(slope / rounds, row, out);
        }
        sum / rounds + 0.5 * objective.ridge() * dot(x, x)
    }

    /// The average loss of the best fixed decision, from below: projected gradient descent with
    /// momentum, until the Frank-Wolfe gap is small.
    fn best_fixed(&self, set: &SharedSet, objective: &Objective) -> f64 {
        let mut gradient = vec![0.0; self.dim];
        let (mut oracle, mut atom) = (set.oracle(), Atom::new());
        let mut projection = set.projection().unwrap();
        let mut x = vec![0.0; self.dim];
        set.centre(&mut x);
        let (mut y, mut value, mut weight) = (x.clone(), f64::INFINITY, 1.0_f64);
        // rows are on the unit sphere
        let smooth = objective.loss().smoothness() + objective.ridge();
        for _ in 0..20_000 {
            self.loss_and_gradient(objective, &y, &mut gradient);
            let mut new = y.clone();
            axpy(-1.0 / smooth, &gradient, &mut new);
            projection.project(&mut new).unwrap();
            let new_value = self.loss_and_gradient(objective, &new, &mut gradient);
            let low = oracle.minimise(&gradient, &mut atom).unwrap().floor;
            let gap = dot(&gradient, &new) - low;
            if gap <= 1e-6 * new_value {
                return new_value - gap;
            }
            if new_value > value {
                (y, weight) = (x.clone(), 1.0);
                continue;
            }
            let next = (1.0 + (1.0 + 4.0 * weight * weight).sqrt()) / 2.0;
            y.clone_from(&new);
            axpy((weight - 1.0) / next, &new, &mut y);
            axpy(-(weight - 1.0) / next, &x, &mut y);
            (x, value, weight) = (new, new_value, next);
        }
        panic!("the best fixed decision was not found");
    }

    fn average_loss(&self, spec: &LearnerSpec, set: &SharedSet, objective: &Objective) -> f64 {
        let mut learner = spec.build(set).unwrap();
        let mut stream = Again {
            kept: self,
            next: 0,
        };
        let rounds = self.labels.len();
        let summary = Game::default()
            .with_watch(&**set)
            .play(&mut *learner, &mut stream, objective, rounds as u64)
            .unwrap();
        assert!(summary.largest_violation.unwrap() <= 1e-9);
        summary.total_loss / rounds as f64
    }
}

struct Again<'a> {
    kept: &'a Kept,
    next: usize,
}

impl Stream for Again<'_> {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        let dim = self.kept.dim;
        let row = &self.kept.rows[self.next * dim..][..dim];
        self.next += 1;
        Ok(Some(Round {
            row: Row::Dense(row),
            label: self.kept.labels[self.next - 1],
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }
}

/// Regret per round of the default, of the best OGD, and of the learner that lazy storage would
/// have: one alone, with a theorem.
fn regrets(set: &str, loss: &str, ridge: f64, stream: &str, dim: usize) -> [f64; 3] {
    let rounds = if soak() { 50_000 } else { 5_000 };
    let shape = set;
    let set = set.parse::<SetSpec>().unwrap().build(Some(dim)).unwrap();
    let loss: Arc<dyn Loss> = loss.parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, ridge).unwrap();
    let kept = Kept::new(stream, dim, rounds, 1);
    let best = kept.best_fixed(&set, &objective);
    let regret = |spec: &LearnerSpec| kept.average_loss(spec, &set, &objective) - best;
    let ogd = (-4..=5)
        .map(|k| format!("ogd:gradient-bound=1,eta-scale={}", 4f64.powi(k)))
        .map(|text| regret(&text.parse().unwrap()))
        .fold(f64::INFINITY, f64::min);
    let [ours, alone] = [Storage::Dense, Storage::Lazy]
        .map(|storage| regret(&default_for(&*set, &objective, storage)));
    println!("{shape}, {stream}: default {ours:.5}, OGD {ogd:.5}, alone {alone:.5}");
    assert!(ogd > 0.0);
    [ours, ogd, alone]
}

/// Logistic and ridge losses on planted streams, over sets that hold the solution.
fn compare(sets: impl Fn(f64) -> Vec<String>, check: impl Fn(&str, [f64; 3])) {
    for (dim, size) in [(8, 6.0), (40, 12.0)] {
        let classes = format!("classification:norm={size}");
        let values = format!("regression:norm={size},noise=0.5");
        for set in sets(size) {
            check(&set, regrets(&set, "logistic", 0.0, &classes, dim));
            check(&set, regrets(&set, "squared", 0.01, &values, dim));
        }
    }
}

#[test]
fn on_curved_sets_the_default_is_within_twice_the_best_gradient_descent() {
    let sets = |size: f64| {
        vec![
            format!("l2:radius={size}"),
            format!("lp:p=1.5,radius={}", 1.5 * size),
        ]
    };
    compare(sets, |set, [ours, ogd, _]| {
        assert!(ours <= 2.0 * ogd, "{set}: {ours}, OGD {ogd}");
    });
}

#[test]
fn on_other_sets_the_default_is_no_worse_than_one_learner_alone() {
    let sets = |size: f64| {
        vec![
            format!("l1:radius={}", 3.0 * size),
            format!("box:lower={},upper={}", -size / 3.0, size / 3.0),
            format!("simplex:total={size}"),
        ]
    };
    compare(sets, |set, [ours, _, alone]| {
        assert!(ours <= alone, "{set}: {ours}, alone {alone}");
    });
}

#[test]
fn there_is_a_default_with_a_guarantee_for_every_set_loss_and_storage() {
    for dim in [1, 2, 10] {
        for named in sets(dim) {
            for (_, loss) in losses() {
                for ridge in [0.0, 0.1] {
                    let objective = Objective::new(loss.clone(), ridge).unwrap();
                    let spec = default_for(&*named.set, &objective, Storage::Dense);
                    let learner = spec.build(&named.set).unwrap();
                    assert!(learner.guarantee().is_some(), "{spec} on {}", named.name);
                    assert_eq!(spec.to_string().parse::<LearnerSpec>().unwrap(), spec);
                    let lazy = default_for(&*named.set, &objective, Storage::Lazy);
                    if lazily_played(&*named.set) {
                        let learner = lazy.build_stored(&named.set, Storage::Lazy).unwrap();
                        assert!(learner.guarantee().is_some(), "{lazy} on {}", named.name);
                    }
                }
            }
        }
    }
}

fn lazily_played(set: &dyn Set) -> bool {
    matches!(set.structure(), extremal::set::Structure::Euclidean { .. })
}
