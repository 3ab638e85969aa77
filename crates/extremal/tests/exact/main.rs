//! No certified number is ever false. Every kind of them (intervals, floors, linear and quadratic
//! certificates, learners' own) is held against the truth in 120 digits, on problems that are made
//! to lose digits: nearly collinear columns, sets far from the origin, large λ, gradients that
//! jump by 1e±12 and cancel. On problems that lose none, the allowance for rounding is too small to
//! be seen.

mod big;
mod kinks;
mod quoted;
#[path = "../support/mod.rs"]
mod support;

use big::*;
use extremal::game::Game;
use extremal::hindsight::{Best, Meter, Options, QuadraticSum, Sum, solve};
use extremal::learner::{LearnerSpec, Level, Storage};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{SetSpec, SharedSet};
use extremal::{Gradient, Point, Row};
use extremal_check::kit::written;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::soak;

/// A uniform number between −1 and 1.
fn noise(rng: &mut ChaCha8Rng) -> f64 {
    2.0 * rng.random::<f64>() - 1.0
}

fn pick<T: Clone>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

fn list(x: &[f64]) -> String {
    format!(
        "[{}]",
        x.iter()
            .map(|v| format!("{v:?}"))
            .collect::<Vec<_>>()
            .join(",")
    )
}

/// A set of the library that has this shape.
fn spec(shape: &Shape) -> String {
    match shape {
        Shape::Ball { centre, radius } if centre.iter().all(|c| *c == 0.0) => {
            format!("l2:radius={radius:?},dim={}", centre.len())
        }
        Shape::Ball { centre, radius } => {
            let dim = centre.len();
            format!(
                "translate:by={},set=(l2:radius={radius:?},dim={dim})",
                list(centre)
            )
        }
        Shape::Box { low, high } => format!("box:lower={},upper={}", list(low), list(high)),
        Shape::Segment { a, b } => format!("hull:points=[{},{}]", list(a), list(b)),
    }
}

fn build(shape: &Shape) -> SharedSet {
    spec(shape).parse::<SetSpec>().unwrap().build(None).unwrap()
}

/// A shape of that size, at that distance from the origin.
fn shape(rng: &mut ChaCha8Rng, dim: usize, size: f64, distance: f64) -> Shape {
    let mut place = |k: f64| -> Vec<f64> { (0..dim).map(|_| k * noise(rng)).collect() };
    let centre = place(distance);
    let a: Vec<f64> = place(size)
        .iter()
        .zip(&centre)
        .map(|(a, c)| a + c)
        .collect();
    // the library refuses points that lie 10⁴ diameters from the origin
    let b = loop {
        let b: Vec<f64> = place(size)
            .iter()
            .zip(&centre)
            .map(|(b, c)| b + c + size)
            .collect();
        if support::distance(&a, &b) >= 0.2 * size {
            break b;
        }
    };
    match rng.random_range(0..3) {
        0 => Shape::Ball {
            centre,
            radius: size,
        },
        1 => Shape::Box {
            low: centre.iter().map(|c| c - size).collect(),
            high: centre.iter().map(|c| c + 0.7 * size).collect(),
        },
        _ => Shape::Segment { a, b },
    }
}

fn squared(ridge: f64) -> Objective {
    Objective::new(
        "squared".parse::<LossSpec>().unwrap().build().unwrap(),
        ridge,
    )
    .unwrap()
}

/// `low` ≤ truth ≤ `high`, with the numbers where it is not so.
fn assert_between(low: f64, truth: &Big, high: f64, what: &str) {
    assert!(
        big(low) <= *truth && *truth <= big(high),
        "{what}: {:e} is not between {low:e} and {high:e}; off by {:e} and {:e}",
        truth.to_f64(),
        (truth - big(low)).to_f64(),
        (big(high) - truth).to_f64(),
    );
}

/// A stream of squared losses.
struct Rows {
    rows: Vec<(Vec<f64>, f64)>,
    next: usize,
}

impl extremal::stream::Stream for Rows {
    fn next(&mut self, _: &dyn Point) -> extremal::Result<Option<extremal::stream::Round<'_>>> {
        let Some((row, label)) = self.rows.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        Ok(Some(extremal::stream::Round {
            row: Row::Dense(row),
            label: *label,
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        f64::INFINITY
    }
}

/// What a run's certified numbers are held against.
struct Played {
    /// Σf_t(x_t) − min, exactly.
    regret: Big,
    total: f64,
    rounding: f64,
    best: [Best; 2],
}

/// Plays squared losses on a shape and checks all that is certified.
fn check_squares(
    what: &str,
    shape: &Shape,
    rows: &[(Vec<f64>, f64)],
    ridge: f64,
    learner: &str,
) -> Played {
    let (set, objective) = (build(shape), squared(ridge));
    let dim = set.dim();
    let mut learner = learner.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
    let mut meter = Meter::of(&set, &objective);
    let mut decisions = vec![written(learner.decision())];
    // one round at a time, to see every decision
    let mut stream = Rows {
        rows: rows.to_vec(),
        next: 0,
    };
    let (mut total, mut rounding) = (0.0, 0.0);
    for _ in rows {
        let summary = Game::default()
            .with_meter(&mut meter)
            .play(&mut *learner, &mut stream, &objective, 1)
            .unwrap();
        total += summary.total_loss;
        rounding += summary.rounding;
        decisions.push(written(learner.decision()));
    }
    rounding += rows.len() as f64 * f64::EPSILON * total;
    let (mut quadratic, mut suffered) = (Quadratic::zero(dim), big(0.0));
    let mut sum = Sum::new(dim, &objective).unwrap();
    let mut statistics = QuadraticSum::new(dim, ridge).unwrap();
    for ((row, label), x) in rows.iter().zip(&decisions) {
        let (a, x) = (bigs(row), bigs(x));
        let rest = dot(&a, &x) - big(*label);
        let value = &(&rest * &rest) + &(&big(ridge) * &dot(&x, &x));
        suffered = suffered + value * big(0.5);
        quadratic.push(row, *label, ridge);
        sum.push(Row::Dense(row), *label, 1.0).unwrap();
        statistics.push(Row::Dense(row), *label, 1.0).unwrap();
    }
    let least = shape.minimum(&quadratic);
    let regret = &suffered - &least;
    assert_between(
        total - rounding,
        &suffered,
        total + rounding,
        &format!("{what}: total"),
    );
    let options = Options {
        relative_gap: 1e-12,
        ..Options::default()
    };
    let best = [
        solve(&sum, &*set, &options).unwrap(),
        solve(&statistics, &*set, &options).unwrap(),
    ];
    for (best, how) in best.iter().zip(["rows", "statistics"]) {
        assert_between(best.floor, &least, best.value, &format!("{what}: {how}"));
        let interval = best.regret(total);
        let (low, high) = (interval.lower - rounding, interval.upper + rounding);
        assert_between(low, &regret, high, &format!("{what}: interval of {how}"));
        // the value is that of the point, which lies in the set but for its last digits
        let there = quadratic.value(&bigs(&best.x));
        assert!(there <= big(best.value), "{what}: {how}");
    }
    for steps in [1, 50] {
        let certificate = meter.certificate(steps).unwrap();
        let what = format!("{what}: {} certificate", certificate.level);
        assert_between(f64::MIN, &regret, certificate.regret, &what);
    }
    if let Some(own) = learner
        .certificate()
        .filter(|c| c.strong_convexity <= ridge)
    {
        assert_between(
            f64::MIN,
            &regret,
            own.regret,
            &format!("{what}: own certificate"),
        );
    }
    Played {
        regret,
        total,
        rounding,
        best,
    }
}

/// Columns K·(1 … 1.5) + noise of 1, and labels that depend on their differences.
fn collinear(rng: &mut ChaCha8Rng, dim: usize, size: f64, rounds: usize) -> Vec<(Vec<f64>, f64)> {
    (0..rounds)
        .map(|_| {
            let common = size * (1.0 + 0.5 * rng.random::<f64>());
            let row: Vec<f64> = (0..dim).map(|_| common + noise(rng)).collect();
            let label = 3.0 * (row[0] - row[dim - 1]) + 0.3 * noise(rng);
            (row, label)
        })
        .collect()
}

fn problems(short: usize) -> usize {
    if soak() { 100 * short } else { short }
}

#[test]
fn intervals_hold_on_nearly_collinear_columns() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for k in 0..problems(170) {
        let dim = 1 + k % 3;
        let column = 10f64.powf(8.0 * rng.random::<f64>());
        let rows = collinear(&mut rng, dim, column, 40);
        let size = pick(&mut rng, &[0.1, 1.0, 10.0]);
        let shape = shape(&mut rng, dim, size, 0.0);
        let ridge = pick(&mut rng, &[0.0, 0.0, 0.1, 1e3]);
        let learner = match (&shape, ridge > 0.0) {
            (_, true) => format!("sc-ofw:lambda={ridge:?}"),
            (Shape::Ball { .. }, _) => pick(&mut rng, &["gauge-ftrl", "coin-ftrl", "ogd"]).into(),
            _ => "ofw-free".into(),
        };
        let what = format!("problem {k}, K = {column:e}, {shape:?}, ridge {ridge}, {learner}");
        check_squares(&what, &shape, &rows, ridge, &learner);
    }
}

#[test]
fn certificates_hold_far_from_the_origin_and_for_large_curvature() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for k in 0..problems(170) {
        let dim = 1 + k % 3;
        // sets that are moved may not go farther
        let distance = 10f64.powf(2.8 * rng.random::<f64>());
        let lambda = 10f64.powf(8.0 * rng.random::<f64>() - 3.0);
        let shape = shape(&mut rng, dim, 1.0, distance);
        let rows: Vec<(Vec<f64>, f64)> = (0..60)
            .map(|_| {
                let row: Vec<f64> = (0..dim).map(|_| noise(&mut rng)).collect();
                (row, distance * noise(&mut rng))
            })
            .collect();
        let what = format!("problem {k}, {shape:?}, λ = {lambda:e}");
        check_squares(
            &what,
            &shape,
            &rows,
            lambda,
            &format!("sc-ofw:lambda={lambda:?}"),
        );
    }
}

/// Gradients whose sizes jump by up to 1e±12, and of which most cancel another one.
fn jumping(rng: &mut ChaCha8Rng, dim: usize, rounds: usize) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    while all.len() < rounds {
        let size = pick(rng, &[1.0, 1.0, 1e-12, 1e6, 1e12]);
        let gradient: Vec<f64> = (0..dim).map(|_| size * noise(rng)).collect();
        let back = gradient.iter().map(|g| -g).collect();
        all.push(gradient);
        if rng.random::<f64>() < 0.7 {
            let place = rng.random_range(0..=all.len());
            all.insert(place, back);
        }
    }
    all
}

#[test]
fn certificates_of_linear_losses_hold_where_gradients_jump_and_cancel() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut own = 0;
    for k in 0..problems(170) {
        let dim = 1 + k % 3;
        let distance = pick(&mut rng, &[0.0, 0.0, 100.0]);
        let size = pick(&mut rng, &[1.0, 30.0]);
        let mut shape = shape(&mut rng, dim, size, distance);
        let gradients = jumping(&mut rng, dim, 60);
        let lazy = distance == 0.0 && k % 2 == 0;
        if lazy {
            let centre = vec![0.0; dim];
            shape = Shape::Ball {
                centre,
                radius: size,
            };
        }
        let name = match &shape {
            Shape::Ball { .. } if lazy => pick(&mut rng, &["gauge-ftrl", "coin-ftrl"]),
            Shape::Ball { .. } if distance == 0.0 => {
                pick(&mut rng, &["gauge-ftrl", "coin-ftrl", "ofw-free"])
            }
            Shape::Ball { .. } => pick(&mut rng, &["gauge-ftrl", "ofw-free"]),
            _ => "ofw-free",
        };
        let storage = if lazy { Storage::Lazy } else { Storage::Dense };
        let set = build(&shape);
        let what = format!("problem {k}, {shape:?}, {name}, {storage:?}");
        let learner = name.parse::<LearnerSpec>().unwrap();
        let mut learner = learner.build_stored(&set, storage).unwrap();
        let mut meter = Meter::new(&set, 0.0, true);
        let (mut suffered, mut linear) = (big(0.0), Quadratic::zero(dim));
        for g in &gradients {
            let x = learner.decide().unwrap();
            let gradient = Gradient::dense(g);
            suffered = suffered + dot(&bigs(g), &bigs(&written(x)));
            linear.push_linear(&bigs(g));
            meter.see(x, &gradient).unwrap();
            learner.observe(&gradient).unwrap();
        }
        let regret = suffered - shape.minimum(&linear);
        let certificate = meter.certificate(1).unwrap();
        assert_eq!(certificate.level, Level::Exact);
        let low = certificate.regret - 2.0 * certificate.rounding;
        assert_between(low, &regret, certificate.regret, &what);
        if let Some(certificate) = learner.certificate() {
            let what = format!("{what}: own certificate");
            assert_between(f64::MIN, &regret, certificate.regret, &what);
            own += 1;
        }
        if let Some(guarantee) = learner.guarantee() {
            let bound = guarantee.bound(gradients.len() as f64);
            assert_between(
                f64::MIN,
                &regret,
                bound,
                &format!("{what}: bound of the run"),
            );
        }
    }
    assert!(own > 50, "{own}");
}

#[test]
fn on_well_conditioned_problems_the_allowance_can_not_be_seen() {
    let rounds = if soak() { 1_000_000 } else { 20_000 };
    for (spec, name, ridge) in [
        ("l2:radius=2,dim=10", "gauge-ftrl", 0.0),
        ("l2:radius=1024,dim=10", "coin-ftrl", 0.0),
        ("lp:p=1.5,radius=2,dim=10", "sc-ofw:lambda=0.1", 0.1),
        ("simplex:dim=10", "sc-ofw:lambda=0.1", 0.1),
    ] {
        let set = spec.parse::<SetSpec>().unwrap().build(None).unwrap();
        let objective = squared(ridge);
        let mut learner = name.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
        let mut stream = support::stream("regression", 10, 7);
        let mut meter = Meter::of(&set, &objective);
        let summary = Game::default()
            .with_meter(&mut meter)
            .play(&mut *learner, &mut *stream, &objective, rounds)
            .unwrap();
        let enough = 1e-9 * summary.total_loss;
        let certificate = meter.certificate(1).unwrap();
        assert!(
            certificate.rounding > 0.0 && certificate.rounding < enough,
            "{spec}: {certificate:?}"
        );
        let own = learner.certificate().unwrap();
        // A learner keeps its sums in plain numbers, whose T roundings show beyond 10⁵ rounds (the
        // meter's do not); and over a ball of radius 1,024 the certificate is many times the loss.
        let longer = f64::max(1.0, rounds as f64 / 1e5);
        let enough_own = longer * enough.max(1e-9 * own.regret.abs());
        assert!(
            own.rounding > 0.0 && own.rounding < enough_own,
            "{spec}: {own:?}, {enough_own:e}"
        );
        assert!(
            summary.rounding > 0.0 && summary.rounding < enough,
            "{spec}"
        );
        let mut stream = support::stream("regression", 10, 7);
        let mut sum = Sum::new(10, &objective).unwrap();
        let mut statistics = QuadraticSum::new(10, ridge).unwrap();
        for _ in 0..rounds {
            let round = stream.next(learner.decision()).unwrap().unwrap();
            sum.push(round.row, round.label, 1.0).unwrap();
            statistics.push(round.row, round.label, 1.0).unwrap();
        }
        for best in [
            solve(&sum, &*set, &Options::default()),
            solve(&statistics, &*set, &Options::default()),
        ] {
            let best = best.unwrap();
            assert!(best.gap() <= (1e-6 + 1e-9) * best.value, "{spec}: {best:?}");
        }
    }
}
