//! Certificates bound the regret that was really had, on every run; and are tight where they
//! claim to be. True regret comes from an independent comparator.

use crate::support::{self, *};
use extremal::hindsight::Meter;
use extremal::learner::frank_wolfe::sc_ofw::ScOfw;
use extremal::learner::{Certificate, Learner, Level, on_surrogate};
use extremal::loss::{LossSpec, Objective};
use extremal::set::SharedSet;
use extremal::{Gradient, Row, surrogate::DenseSurrogate};

/// Σf_t over a whole run, for the squared loss with a ridge term: ½xᵀAx − ⟨b, x⟩ + ½Σy².
struct Quadratic {
    a: Vec<Vec<f64>>,
    b: Vec<f64>,
    constant: Sum,
}

impl Quadratic {
    fn new(dim: usize) -> Self {
        Self {
            a: vec![vec![0.0; dim]; dim],
            b: vec![0.0; dim],
            constant: Sum::default(),
        }
    }

    fn see(&mut self, row: &[f64], y: f64, ridge: f64) {
        for (i, line) in self.a.iter_mut().enumerate() {
            line.iter_mut().zip(row).for_each(|(a, v)| *a += row[i] * v);
            line[i] += ridge;
        }
        self.b = plus(&self.b, y, row);
        self.constant.add(0.5 * y * y);
    }

    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        self.a
            .iter()
            .zip(&self.b)
            .map(|(line, b)| dot(line, x) - b)
            .collect()
    }

    fn value(&self, x: &[f64]) -> f64 {
        0.5 * dot(&minus(&self.gradient(x), &self.b), x) + self.constant.value()
    }

    /// A lower bound of the minimum, within 1e-9 of it relative to the gradients' size:
    /// projected gradient until the Frank-Wolfe gap says so.
    fn minimum(&self, body: &Body, set: &SharedSet) -> f64 {
        // Gershgorin: no eigenvalue exceeds the largest row of absolute values.
        let smoothness = self
            .a
            .iter()
            .map(|line| line.iter().map(|v| v.abs()).sum::<f64>())
            .fold(0.0, f64::max);
        let mut projection = set.projection().unwrap();
        let mut x = body.centre(set.dim());
        let mut gap = f64::INFINITY;
        let enough = 1e-9 * (1.0 + norm(&self.b));
        for _ in 0..20_000 {
            let gradient = self.gradient(&x);
            gap = dot(&gradient, &minus(&x, &body.oracle(&gradient)));
            if gap <= enough {
                break;
            }
            x = plus(&x, -1.0 / smoothness, &gradient);
            projection.project(&mut x).unwrap();
        }
        assert!(gap <= 1e3 * enough, "{body:?}: gap {gap}");
        self.value(&x) - gap
    }

    /// The minimum over a ball around 0 and where it is, by the secular equation ‖(A + μI)⁻¹b‖ = r.
    fn minimum_on_ball(&self, radius: f64) -> (f64, Vec<f64>) {
        let at = |mu: f64| solve(&self.a, mu, &self.b);
        let (mut low, mut high) = (0.0, norm(&self.b) / radius);
        if norm(&at(0.0)) <= radius {
            return (self.value(&at(0.0)), at(0.0));
        }
        for _ in 0..200 {
            let mu = 0.5 * (low + high);
            if norm(&at(mu)) > radius {
                low = mu
            } else {
                high = mu
            }
        }
        let x = at(high);
        let pull = plus(&self.gradient(&x), high, &x);
        assert!(norm(&pull) < 1e-9 * norm(&self.b), "not a KKT point");
        (self.value(&x), x)
    }
}

/// (A + μI)⁻¹b by elimination; A is positive definite.
fn solve(a: &[Vec<f64>], mu: f64, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut m: Vec<Vec<f64>> = a.to_vec();
    let mut x = b.to_vec();
    for (i, line) in m.iter_mut().enumerate() {
        line[i] += mu;
    }
    for i in 0..n {
        for j in i + 1..n {
            let k = m[j][i] / m[i][i];
            let pivot = m[i].clone();
            m[j].iter_mut().zip(&pivot).for_each(|(v, p)| *v -= k * p);
            x[j] -= k * x[i];
        }
    }
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| m[i][j] * x[j]).sum();
        x[i] = (x[i] - rest) / m[i][i];
    }
    x
}

struct Run {
    total: f64,
    losses: Quadratic,
    meter: Meter,
    own: Option<Certificate>,
    /// a_t, y_t, x_t
    data: Vec<(Vec<f64>, f64, Vec<f64>)>,
}

/// Plays ridge-regularised squared losses; the meter is told `lambda`.
fn play(
    learner: &mut dyn Learner,
    set: &SharedSet,
    stream: &str,
    seed: u64,
    rounds: u64,
    (ridge, lambda): (f64, f64),
) -> Run {
    let dim = set.dim();
    let objective = objective("squared", ridge);
    let mut stream = support::stream(stream, dim, seed);
    let mut run = Run {
        total: 0.0,
        losses: Quadratic::new(dim),
        meter: Meter::new(set, lambda, false),
        own: None,
        data: Vec::new(),
    };
    let mut total = Sum::default();
    for _ in 0..rounds {
        let x = learner.decide().unwrap();
        let round = stream.next(x).unwrap().unwrap();
        let evaluation = objective
            .evaluate(round.row, round.label, round.weight, x)
            .unwrap();
        let mut row = vec![0.0; dim];
        round.row.add_to(1.0, &mut row);
        run.losses.see(&row, round.label, ridge);
        run.data.push((row, round.label, written(x)));
        total.add(evaluation.value);
        run.meter.see(x, &evaluation.gradient).unwrap();
        learner.observe(&evaluation.gradient).unwrap();
    }
    run.total = total.value();
    run.own = learner.certificate();
    run
}

fn objective(loss: &str, ridge: f64) -> Objective {
    Objective::new(loss.parse::<LossSpec>().unwrap().build().unwrap(), ridge).unwrap()
}

const LABELLED: [&str; 3] = [
    "regression",
    "regression:norm=3,noise=0.5",
    "regression:noise=0",
];

#[test]
fn quadratic_certificates_are_never_below_the_regret() {
    let (dim, rounds) = (5, rounds(1000, 100_000));
    for body in bodies() {
        let set = set(&body.spec(), dim);
        for stream in LABELLED {
            for seed in 0..if soak() { 30 } else { 5 } {
                // the losses are ridge-strongly convex; a smaller λ is true of them as well
                for (ridge, lambda) in [(0.1, 0.1), (0.5, 0.2), (0.02, 0.001)] {
                    let mut learner = learner(&format!("sc-ofw:lambda={lambda}"), &set);
                    let constants = (ridge, lambda);
                    let mut run = play(&mut *learner, &set, stream, seed, rounds, constants);
                    let regret = run.total - run.losses.minimum(&body, &set);
                    let own = run.own.unwrap();
                    let metered = run.meter.certificate(50).unwrap();
                    let rounding = 1e-9 * run.total.abs();
                    for certificate in [own, metered] {
                        assert_eq!(certificate.level, Level::Quadratic);
                        assert!(
                            regret <= certificate.regret + rounding,
                            "{body:?}, {stream}, {seed}, λ = {lambda}: {regret} > {certificate:?}"
                        );
                    }
                }
            }
        }
    }
}

/// With u the surrogate's minimiser and u* the comparator, the best quadratic certificate exceeds
/// the regret by at least ½Σ⟨a, x_t − u*⟩² and at most ½Σ⟨a, x_t − u⟩²: by the curvature that the
/// data adds to λ, and by nothing else.
#[test]
fn the_best_quadratic_certificate_exceeds_the_regret_by_the_datas_curvature_alone() {
    let (dim, rounds) = (10, 20_000);
    for (radius, ridge, stream) in [
        (1.0, 0.1, "regression"),
        (0.5, 0.02, "regression"),
        (1.0, 0.1, "regression:norm=3,noise=0.5"),
    ] {
        let body = Body::Lp { p: 2.0, radius };
        let set = set(&body.spec(), dim);
        let mut learner = learner(&format!("sc-ofw:lambda={ridge}"), &set);
        let mut run = play(&mut *learner, &set, stream, 1, rounds, (ridge, ridge));
        let (lowest, best) = run.losses.minimum_on_ball(radius);
        let regret = run.total - lowest;
        let metered = run.meter.certificate(20_000).unwrap().regret;
        // u: the projection of −c/β, c the sum of the data's gradients
        let beta = ridge * rounds as f64;
        let c = run
            .data
            .iter()
            .fold(vec![0.0; dim], |c, (a, y, x)| plus(&c, dot(a, x) - y, a));
        let u = body.project(&scaled(&c, -1.0 / beta));
        let bend = |u: &[f64]| -> f64 {
            let rounds = run.data.iter();
            rounds
                .map(|(a, _, x)| 0.5 * dot(a, &minus(x, u)).powi(2))
                .sum()
        };
        let (low, high) = (regret + bend(&best), regret + bend(&u));
        println!("regret {regret:.5}, meter {metered:.5}, between {low:.5} and {high:.5}");
        assert!(low * 0.9999 <= metered && metered <= high * 1.001);
    }
}

#[test]
fn quadratic_certificates_are_within_a_tenth_of_the_regret_where_lambda_dominates() {
    // rows on the unit sphere have curvature 1/d in every direction
    for (dim, ridge) in [(10, 1.0), (50, 0.5)] {
        for radius in [0.5, 1.0] {
            let body = Body::Lp { p: 2.0, radius };
            let set = set(&body.spec(), dim);
            let mut learner = learner(&format!("sc-ofw:lambda={ridge}"), &set);
            let constants = (ridge, ridge);
            let mut run = play(&mut *learner, &set, "regression", 1, 20_000, constants);
            let regret = run.total - run.losses.minimum_on_ball(radius).0;
            let own = run.own.unwrap().regret;
            let metered = run.meter.certificate(1000).unwrap().regret;
            println!("d = {dim}: regret {regret:.5}, own {own:.5}, meter {metered:.5}");
            for certified in [own, metered] {
                assert!(regret <= certified && certified <= 1.1 * regret);
            }
        }
    }
}

#[test]
fn where_losses_have_no_curvature_beyond_lambda_the_best_certificate_is_the_regret() {
    let (dim, rounds, lambda) = (4, 3000, 0.2);
    let objective = objective("linear", lambda);
    for body in bodies() {
        if matches!(body, Body::Lp { p, .. } if p != 2.0) {
            continue; // no projection by plain means
        }
        let set = set(&body.spec(), dim);
        for stream in ["noise", "drift", "adversary:kind=sign"] {
            let mut learner = learner("sc-ofw:lambda=0.2", &set);
            let mut stream = support::stream(stream, dim, 1);
            let mut meter = Meter::new(&set, lambda, false);
            let (mut total, mut s) = (Sum::default(), vec![0.0; dim]);
            for _ in 0..rounds {
                let x = learner.decide().unwrap();
                let row = stream.next(x).unwrap().unwrap().row;
                let evaluation = objective.evaluate(row, 0.0, 1.0, x).unwrap();
                total.add(evaluation.value);
                row.add_to(1.0, &mut s);
                meter.see(x, &evaluation.gradient).unwrap();
                learner.observe(&evaluation.gradient).unwrap();
            }
            let beta = lambda * f64::from(rounds);
            let best = body.project(&scaled(&s, -1.0 / beta));
            let regret = total.value() - dot(&s, &best) - 0.5 * beta * dot(&best, &best);
            let own = learner.certificate().unwrap().regret;
            let metered = meter.certificate(20_000).unwrap().regret;
            assert!(regret <= own + 1e-9, "{body:?}: {own} < {regret}");
            assert!(
                regret - 1e-9 <= metered && metered <= 1.01 * regret + 1e-3,
                "{body:?}: {metered}, regret {regret}"
            );
        }
    }
}

#[test]
fn the_meter_certifies_learners_that_can_not_do_it_themselves() {
    let (dim, rounds, ridge) = (5, rounds(2000, 100_000), 0.2);
    for body in bodies() {
        let set = set(&body.spec(), dim);
        for text in [
            "ofw-ls:horizon=2000,gradient-bound=5,eta-scale=50",
            "ofw-weibel:horizon=2000,gradient-bound=5",
            "ogd:lambda=0.2",
        ] {
            let mut learner = learner(text, &set);
            let mut run = play(&mut *learner, &set, "regression", 2, rounds, (ridge, ridge));
            assert_eq!(run.own, None);
            let regret = run.total - run.losses.minimum(&body, &set);
            let first = run.meter.certificate(1).unwrap().regret;
            assert_eq!(run.meter.calls(), 1);
            let searched = run.meter.certificate(300).unwrap().regret;
            assert!(regret <= searched + 1e-9 * run.total, "{text} on {body:?}");
            assert!(
                searched <= first + 1e-9 * run.total,
                "looking longer did harm"
            );
            assert!(run.meter.calls() <= 301);
        }
    }
}

#[test]
fn the_linear_certificate_is_never_below_the_regret() {
    let (dim, rounds) = (5, rounds(1000, 50_000));
    for body in bodies() {
        let set = set(&body.spec(), dim);
        for text in ["ofw-ls:horizon=1000,gradient-bound=5", "sc-ofw:lambda=0.3"] {
            let mut learner = learner(text, &set);
            let mut run = play(&mut *learner, &set, "regression", 3, rounds, (0.0, 0.0));
            let regret = run.total - run.losses.minimum(&body, &set);
            let certificate = run.meter.certificate(1).unwrap();
            assert_eq!(certificate.level, Level::Linear);
            assert!(regret <= certificate.regret, "{text} on {body:?}");
        }
    }
}

#[test]
fn the_linear_certificate_holds_against_any_fixed_decision_for_logistic_losses() {
    let (dim, rounds) = (5, rounds(1000, 50_000));
    let objective = objective("logistic", 0.0);
    let mut rng = kit::rng(1);
    for body in bodies() {
        let set = set(&body.spec(), dim);
        let mut learner = learner("ofw-weibel:horizon=1000,gradient-bound=1", &set);
        let mut stream = support::stream("classification", dim, 1);
        let mut meter = Meter::new(&set, 0.0, false);
        let mut total = 0.0;
        let mut candidates: Vec<Vec<f64>> =
            (0..200).map(|_| body.some_point(&mut rng, dim)).collect();
        candidates.extend((0..200).map(|_| body.oracle(&normals(&mut rng, dim))));
        let mut others = vec![0.0; candidates.len()];
        for _ in 0..rounds {
            let x = learner.decide().unwrap();
            let round = stream.next(x).unwrap().unwrap();
            let evaluation = objective.evaluate(round.row, round.label, 1.0, x).unwrap();
            total += evaluation.value;
            for (other, y) in others.iter_mut().zip(&candidates) {
                *other += objective.loss().at(round.row.dot(y), round.label).0;
            }
            meter.see(x, &evaluation.gradient).unwrap();
            learner.observe(&evaluation.gradient).unwrap();
        }
        let best = others.iter().copied().fold(f64::INFINITY, f64::min);
        let certificate = meter.certificate(1).unwrap();
        assert_eq!(certificate.level, Level::Linear);
        assert!(total - best <= certificate.regret, "{body:?}");
    }
}

#[test]
fn for_linear_losses_the_certificate_is_the_regret() {
    let dim = 6;
    for body in bodies() {
        let set = set(&body.spec(), dim);
        for stream in ["noise", "drift", "adversary:kind=sign"] {
            let mut learner = learner("ofw-weibel:horizon=500,gradient-bound=1", &set);
            let mut stream = support::stream(stream, dim, 1);
            let mut meter = Meter::new(&set, 0.0, true);
            let (mut played, mut s) = (Sum::default(), vec![0.0; dim]);
            for _ in 0..500 {
                let x = learner.decide().unwrap();
                let row = stream.next(x).unwrap().unwrap().row;
                let mut g = vec![0.0; dim];
                row.add_to(1.0, &mut g);
                played.add(dot(&g, &written(x)));
                s = plus(&s, 1.0, &g);
                meter.see(x, &Gradient::dense(&g)).unwrap();
                learner.observe(&Gradient::dense(&g)).unwrap();
            }
            let certificate = meter.certificate(1).unwrap();
            assert_eq!(certificate.level, Level::Exact);
            let regret = played.value() - dot(&s, &body.oracle(&s));
            assert!((certificate.regret - regret).abs() < 1e-11 * 500.0);
            let mut best = vec![0.0; dim];
            meter.candidate(&mut best);
            assert!(distance(&best, &body.oracle(&s)) < 1e-9 * body.diameter(dim));
        }
    }
}

#[test]
fn the_meter_reads_sparse_rows_as_it_reads_dense_ones() {
    let dim = 40;
    let set = set("l2:radius=2", dim);
    for (lambda, ridge) in [(0.0, 0.0), (0.3, 0.3), (0.1, 0.3)] {
        let mut learner = learner("sc-ofw:lambda=0.1", &set);
        let mut stream = support::stream("zipf:nonzeros=4", dim, 1);
        let mut meters = [0; 3].map(|_| Meter::new(&set, lambda, false));
        for _ in 0..300 {
            let x = learner.decide().unwrap();
            let row = stream.next(x).unwrap().unwrap().row;
            let mut dense = vec![0.0; dim];
            row.add_to(1.0, &mut dense);
            let scale = 0.7;
            let gradient = Gradient { row, scale, ridge };
            let spread = Gradient {
                row: Row::Dense(&dense),
                ..gradient
            };
            let written = plus(&scaled(&dense, scale), ridge, &written(x));
            meters[0].see(x, &gradient).unwrap();
            meters[1].see(x, &spread).unwrap();
            meters[2].see(x, &Gradient::dense(&written)).unwrap();
            learner.observe(&gradient).unwrap();
        }
        let [a, b, c] = meters.map(|mut m| m.certificate(20).unwrap().regret);
        assert!((a - b).abs() < 1e-10 * a.abs() && (a - c).abs() < 1e-10 * a.abs());
    }
}

#[test]
fn a_meters_sums_have_the_same_bits_for_rows_of_any_structure_and_come_back() {
    let dim = 19;
    let set = set("l2", dim);
    let row: Vec<f64> = (0..dim).map(|i| (i as f64 * 0.7).sin()).collect();
    let indices: Vec<u32> = (0..dim as u32).collect();
    let [mut one, mut other, mut resumed] = [0; 3].map(|_| Meter::new(&set, 0.0, true));
    for t in 0..200 {
        let scale = 10f64.powi(t % 30) * if t < 100 { 0.1 } else { -0.1 };
        let see = |meter: &mut Meter, row: Row<'_>| {
            let ridge = 0.0;
            meter
                .see(&vec![0.0; dim], &Gradient { row, scale, ridge })
                .unwrap();
        };
        see(&mut one, Row::Dense(&row));
        see(&mut other, Row::sparse(&indices, &row));
    }
    let saved = one.save().unwrap();
    assert_eq!(saved, other.save().unwrap());
    resumed.load(&saved).unwrap();
    assert_eq!(saved, resumed.save().unwrap());
    // what is 0 takes no memory
    one.grow(100_000).unwrap();
    assert!(one.save().unwrap().len() < saved.len() + 100);
}

#[test]
fn calls_made_to_report_are_not_counted_as_calls_made_to_play() {
    let set = set("simplex", 4);
    let mut learner = learner("sc-ofw:lambda=0.5", &set);
    let mut run = play(&mut *learner, &set, "regression", 1, 30, (0.5, 0.5));
    assert_eq!(run.meter.calls(), 0);
    run.meter.certificate(7).unwrap();
    let calls = run.meter.calls();
    assert!((1..=7).contains(&calls));
    assert_eq!(learner.seen().oracle_calls, 30);
}

/// Σ(g_t − λx_t) as the learner stores it, against the same sum compensated and against a
/// running mean: what decides whether sums or means are to be stored.
fn digits_lost(stream: Option<&str>, rounds: u64) -> (f64, f64) {
    let (dim, lambda) = (3, 0.1);
    let set = set("l2", dim);
    let spec = ScOfw {
        lambda: Some(lambda),
        ..ScOfw::default()
    };
    let rule = spec.rule().unwrap();
    let pair = DenseSurrogate::new(set.clone(), None).unwrap();
    let mut learner = on_surrogate("sc-ofw", rule, pair, set.geometry());
    let objective = objective("squared", lambda);
    let mut stream = stream.map(|text| support::stream(text, dim, 1));
    let mut exact = [Sum::default(); 3];
    let mut mean = [0.0; 3];
    for t in 1..=rounds {
        let x = learner.decide().unwrap();
        // the ridge is λ, so that g − λx is the data's part alone
        let mut g = vec![0.1, -0.2, 0.3];
        if let Some(stream) = &mut stream {
            let round = stream.next(x).unwrap().unwrap();
            let evaluation = objective.evaluate(round.row, round.label, 1.0, x).unwrap();
            g.fill(0.0);
            round.row.add_to(evaluation.gradient.scale, &mut g);
        }
        for i in 0..dim {
            exact[i].add(g[i]);
            mean[i] += (g[i] - mean[i]) / t as f64;
        }
        let gradient = Gradient {
            row: Row::Dense(&g),
            scale: 1.0,
            ridge: lambda,
        };
        learner.observe(&gradient).unwrap();
    }
    let exact: Vec<f64> = exact.iter().map(Sum::value).collect();
    let sum = distance(learner.body().surrogate().gradient_sum(), &exact) / norm(&exact);
    let mean = distance(&scaled(&mean, rounds as f64), &exact) / norm(&exact);
    (sum, mean)
}

#[test]
fn the_sum_that_sc_ofw_stores_keeps_its_digits_over_a_long_run() {
    let rounds = rounds(200_000, 10_000_000);
    let (sum, mean) = digits_lost(Some("regression"), rounds);
    println!("T = {rounds}, regression: sum {sum:.1e} off, mean {mean:.1e} off");
    assert!(sum < 1e-12, "{sum:e}");
    // The same gradient for ever is rounded to the same side for ever.
    let (sum, mean) = digits_lost(None, rounds);
    println!("T = {rounds}, one gradient: sum {sum:.1e} off, mean {mean:.1e} off");
    assert!(sum < 1e-9, "{sum:e}");
}
