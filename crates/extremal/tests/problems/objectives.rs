//! Whole games with losses that have a form or a domain: the constants that [`Objective`] gives
//! are those that learners, certificates and theorems need, held against comparators found by
//! plain means.

use crate::common::{centre, minus, normals, plus, rng, scaled, uniform};
use extremal::game::Game;
use extremal::hindsight::Meter;
use extremal::kernel::{dot, norm};
use extremal::learner::Level;
use extremal::loss::{LossSpec, Objective, Scratch};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::{Round, Stream};
use extremal::theory::LossFacts;
use extremal::{Point, Row};
use extremal_check::kit::learner;

const DIM: usize = 4;
const ROUNDS: u64 = 1000;

/// Rows given beforehand, with weights.
struct Given {
    rows: Vec<Vec<f64>>,
    weight: f64,
    next: usize,
}

impl Given {
    fn new(rows: &[Vec<f64>], weight: f64) -> Self {
        let rows = rows.to_vec();
        Self {
            rows,
            weight,
            next: 0,
        }
    }
}

impl Stream for Given {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        self.next += 1;
        let row = self.rows.get(self.next - 1);
        Ok(row.map(|row| Round {
            row: Row::Dense(row),
            label: 0.0,
            weight: self.weight,
        }))
    }

    fn row_bound(&self) -> f64 {
        self.rows.iter().map(|row| norm(row)).fold(0.0, f64::max)
    }
}

fn set(text: &str) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(Some(DIM)).unwrap()
}

fn objective(text: &str, ridge: f64) -> Objective {
    Objective::new(text.parse::<LossSpec>().unwrap().build().unwrap(), ridge).unwrap()
}

/// The best fixed decision by projected gradient descent on the mean loss ½⟨x, Mx⟩ + ⟨b, x⟩.
fn best_quadratic(set: &SharedSet, m: &[[f64; DIM]; DIM], b: &[f64], steepest: f64) -> Vec<f64> {
    let mut projection = set.projection().unwrap();
    let mut x = centre(&**set);
    for _ in 0..3000 {
        let mx: Vec<f64> = m.iter().map(|row| dot(row, &x)).collect();
        x = plus(&x, -1.0 / steepest, &plus(&mx, 1.0, b));
        projection.project(&mut x).unwrap();
    }
    x
}

#[test]
fn games_with_a_quadratic_form_keep_to_the_theorems_with_the_objectives_constants() {
    let matrix = [
        [2.0, -1.0, 0.0, 0.3],
        [-1.0, 2.0, -1.0, 0.0],
        [0.0, -1.0, 2.0, -1.0],
        [0.3, 0.0, -1.0, 2.0],
    ];
    let diagonal = [
        [0.5, 0.0, 0.0, 0.0],
        [0.0, 3.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.7],
    ];
    let identity = [
        [0.4, 0.0, 0.0, 0.0],
        [0.0, 0.4, 0.0, 0.0],
        [0.0, 0.0, 0.4, 0.0],
        [0.0, 0.0, 0.0, 0.4],
    ];
    let mut r = rng(1);
    let mean = normals(&mut r, DIM);
    let rows: Vec<Vec<f64>> = (0..ROUNDS)
        .map(|_| scaled(&plus(&mean, 0.5, &normals(&mut r, DIM)), 0.3))
        .collect();
    let mut tested = 0;
    for (text, a) in [
        (format!("quadratic:matrix={matrix:?}"), matrix),
        ("quadratic:diagonal=[0.5,3,1,0.7]".to_string(), diagonal),
        ("quadratic:diagonal=0.4".to_string(), identity),
    ] {
        for (ridge, weight) in [(0.0, 1.0), (0.2, 2.5)] {
            let objective = objective(&text, ridge);
            let (lambda, smoothness) = (objective.strong_convexity(), objective.smoothness(1.0));
            assert!(lambda > ridge && !objective.is_linear());
            for set in ["l2", "simplex", "box", "l1:radius=0.7"].map(set) {
                let stream = Given::new(&rows, weight);
                let bound = weight * stream.row_bound();
                let g = objective.gradient_bound(bound, 0.0, set.geometry().norm_bound);
                for spec in [
                    format!("sc-ofw:lambda={lambda},gradient-bound={g}"),
                    format!("ogd:lambda={lambda}"),
                    format!("ofw:horizon={ROUNDS},gradient-bound={g}"),
                ] {
                    let name = format!("{spec} on {}, {text}, ridge {ridge}", set.name());
                    let mut learner = learner(&spec, &set);
                    let mut stream = Given::new(&rows, weight);
                    let mut meter = Meter::of(&set, &objective);
                    let summary = Game::default()
                        .with_meter(&mut meter)
                        .with_watch(&*set)
                        .play(&mut *learner, &mut stream, &objective, 2 * ROUNDS)
                        .unwrap();
                    assert_eq!(summary.rounds, ROUNDS);
                    assert!(summary.largest_violation.unwrap() <= 1e-9, "{name}");

                    // the comparator, from the sums alone
                    let mut sum = vec![0.0; DIM];
                    for row in &rows {
                        sum = plus(&sum, weight / ROUNDS as f64, row);
                    }
                    let mut m = a;
                    for (i, row) in m.iter_mut().enumerate() {
                        row[i] += ridge;
                    }
                    let best = best_quadratic(&set, &m, &sum, smoothness);
                    let mx: Vec<f64> = m.iter().map(|row| dot(row, &best)).collect();
                    let least = ROUNDS as f64 * (0.5 * dot(&mx, &best) + dot(&sum, &best));
                    let regret = summary.total_loss - least;

                    let certificate = meter.certificate(2000).unwrap();
                    assert_eq!(certificate.level, Level::Quadratic);
                    assert!(
                        certificate.regret >= regret - 1e-6,
                        "{name}: {certificate:?}, {regret}"
                    );
                    let guarantee = learner.guarantee().unwrap();
                    for check in
                        guarantee.check(learner.seen(), &LossFacts::strongly_convex(lambda))
                    {
                        assert!(check.holds, "{name}: {check:?}");
                    }
                    assert!(regret <= guarantee.bound(ROUNDS as f64), "{name}: {regret}");
                    // G is no gross overestimate where the run comes near the boundary
                    assert!(learner.seen().largest_gradient >= 0.1 * g, "{name}");
                    tested += 1;
                }
            }
        }
    }
    assert_eq!(tested, 3 * 2 * 4 * 3);
}

#[test]
fn a_flat_form_is_a_ridge_term_and_stays_sparse() {
    let mut scratch = Scratch::default();
    let (form, ridge) = (
        objective("quadratic:diagonal=0.4", 0.1),
        objective("linear", 0.5),
    );
    assert_eq!(form.strong_convexity(), ridge.strong_convexity());
    let x = vec![0.1, -0.2, 0.3, 0.0];
    let row = Row::Sparse {
        indices: &[1, 3],
        values: &[1.0, 2.0],
    };
    let one = form.evaluate_in(row, 0.0, 1.0, &x, &mut scratch).unwrap();
    let other = ridge.evaluate(row, 0.0, 1.0, &x).unwrap();
    assert_eq!(one.gradient, other.gradient);
    assert!((one.value - other.value).abs() < 1e-15);
    // but the form is the data's, and the ridge is not
    assert!((one.data_value - other.data_value - 0.2 * 0.14).abs() < 1e-15);
}

/// Price relatives of a few assets, none below 0.8.
fn relatives(rounds: u64) -> Vec<Vec<f64>> {
    let mut r = rng(7);
    let drift = [0.004, 0.0, 0.002, -0.002];
    let day = |_| {
        let one = |k: usize| 0.8 + drift[k] + 0.4 * uniform(&mut r);
        (0..DIM).map(one).collect()
    };
    (0..rounds).map(day).collect()
}

/// The best constant rebalanced portfolio's loss by Cover's fixed point x_i ← x_i·f_i with
/// f_i = mean(a_i/⟨a, x⟩), which climbs to it from inside the simplex. By Jensen's inequality no
/// other gains more than rounds·ln(max f).
fn best_portfolio(rows: &[Vec<f64>]) -> f64 {
    let mut x = vec![1.0 / DIM as f64; DIM];
    for _ in 0..20_000 {
        let mut factors = vec![0.0; DIM];
        for row in rows {
            let share = 1.0 / dot(row, &x) / rows.len() as f64;
            for (factor, a) in factors.iter_mut().zip(row) {
                *factor += share * a;
            }
        }
        let most = factors.iter().copied().fold(0.0, f64::max);
        if rows.len() as f64 * most.ln() < 1e-4 {
            return -rows.iter().map(|row| dot(row, &x).ln()).sum::<f64>();
        }
        x.iter_mut().zip(&factors).for_each(|(x, f)| *x *= f);
    }
    panic!("no portfolio was certified to be the best");
}

#[test]
fn portfolios_are_played_within_their_domain_and_under_the_theorem() {
    let set = set("simplex");
    let rows = relatives(ROUNDS);
    let objective = objective("log-wealth", 0.0);
    let row_bound = Given::new(&rows, 1.0).row_bound();
    let norm_bound = set.geometry().norm_bound;
    assert_eq!(
        objective.gradient_bound(row_bound, 0.0, norm_bound),
        f64::INFINITY
    );
    assert_eq!(objective.smoothness(row_bound), f64::INFINITY);
    assert_eq!(objective.strong_convexity(), 0.0);
    let low = rows.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let high = rows.iter().flatten().copied().fold(0.0, f64::max);
    let g = objective.gradient_bound_between(row_bound, low, high, 0.0, norm_bound);
    let best = best_portfolio(&rows);
    for spec in [
        format!("ofw:horizon={ROUNDS},gradient-bound={g}"),
        format!("ofw-weibel:horizon={ROUNDS},gradient-bound={g}"),
        format!("ogd:gradient-bound={g}"),
    ] {
        let mut learner = learner(&spec, &set);
        let mut meter = Meter::of(&set, &objective);
        let summary = Game::default()
            .with_meter(&mut meter)
            .with_watch(&*set)
            .play(
                &mut *learner,
                &mut Given::new(&rows, 1.0),
                &objective,
                ROUNDS,
            )
            .unwrap();
        let regret = summary.total_loss - best;
        let guarantee = learner.guarantee().unwrap();
        assert!(
            guarantee
                .check(learner.seen(), &LossFacts::default())
                .iter()
                .all(|c| c.holds),
            "{spec}"
        );
        assert!(regret <= guarantee.bound(ROUNDS as f64), "{spec}: {regret}");
        let certificate = meter.certificate(1).unwrap();
        assert_eq!(certificate.level, Level::Linear);
        assert!(
            certificate.regret >= regret - 1e-4,
            "{spec}: {certificate:?}, {regret}"
        );
        assert!(learner.seen().largest_gradient >= 0.5 * g, "{spec}");
    }
}

#[test]
fn a_round_outside_the_domain_ends_the_game_and_changes_nothing() {
    let set = set("box");
    let objective = objective("log-wealth", 0.0);
    let mut learner = learner(
        "ofw:horizon=10,gradient-bound=1,start=[0.5,0.5,0.5,0.5]",
        &set,
    );
    let rows = [vec![1.0; DIM], vec![-1.0; DIM]];
    let mut play = |rows: &[Vec<f64>]| {
        let mut stream = Given::new(rows, 1.0);
        let played = Game::default().play(&mut *learner, &mut stream, &objective, 5);
        (
            played.map(|summary| summary.rounds),
            learner.save().unwrap(),
        )
    };
    let (first, before) = play(&rows[..1]);
    assert_eq!(first.unwrap(), 1);
    let (second, after) = play(&rows[1..]);
    assert!(
        second
            .unwrap_err()
            .to_string()
            .contains("log-wealth loss is not defined")
    );
    assert_eq!(before, after);
}

/// No mixture does better than what the fixed point ends at, and no asset alone.
#[test]
fn the_comparator_of_portfolios_is_the_best() {
    let rows = relatives(200);
    let best = best_portfolio(&rows);
    let mut r = rng(9);
    for _ in 0..2000 {
        let shares: Vec<f64> = (0..DIM).map(|_| -uniform(&mut r).ln()).collect();
        let total: f64 = shares.iter().sum();
        let loss: f64 = rows
            .iter()
            .map(|row| -(dot(row, &shares) / total).ln())
            .sum();
        assert!(loss >= best - 1e-4, "{loss} < {best}");
    }
    let alone = minus(
        &[0.0; DIM],
        &rows.iter().fold(vec![0.0; DIM], |sum, row| {
            let logs: Vec<f64> = row.iter().map(|v| v.ln()).collect();
            plus(&sum, 1.0, &logs)
        }),
    );
    assert!(
        alone.iter().all(|loss| *loss >= best - 1e-4),
        "{alone:?}, {best}"
    );
}
