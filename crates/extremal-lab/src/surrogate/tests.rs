use extremal::hindsight::{Options, QuadraticSum, solve};
use extremal::learner::Learner;
use extremal::loss::{LossSpec, Objective};
use extremal::set::SetSpec;
use extremal::stream::StreamSpec;

use super::*;

const SETS: [&str; 6] = [
    "l2:radius=2",
    "lp:p=1.5",
    "lp:p=1.1",
    "simplex",
    "l1",
    "box:lower=-0.5,upper=1",
];

fn set(text: &str, dim: usize) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(Some(dim)).unwrap()
}

fn written(x: &dyn Point) -> Vec<f64> {
    let mut out = vec![0.0; x.dim()];
    x.write(&mut out);
    out
}

struct At(Vec<f64>);

impl Point for At {
    fn dim(&self) -> usize {
        self.0.len()
    }
    fn dot(&self, row: &extremal::Row<'_>) -> extremal::Result<f64> {
        Ok(row.dot(&self.0))
    }
    fn norm_squared(&self) -> f64 {
        self.0.iter().map(|v| v * v).sum()
    }
    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.0);
    }
}

/// Plays; after each round, the onlooker sees the learner, and the decision and gradient of
/// the round.
fn play(
    spec: &str,
    set: &SharedSet,
    stream: &str,
    ridge: f64,
    rounds: u64,
    mut onlooker: impl FnMut(u64, &mut Follower, &dyn Learner, &[f64], &[f64]),
) {
    let spec: LearnerSpec = spec.parse().unwrap();
    let dim = set.dim();
    let loss = if stream == "regression" {
        "squared"
    } else {
        "linear"
    };
    let objective =
        Objective::new(loss.parse::<LossSpec>().unwrap().build().unwrap(), ridge).unwrap();
    let mut stream = stream.parse::<StreamSpec>().unwrap().build(dim, 7).unwrap();
    let mut learner = spec.build(set).unwrap();
    let mut follower = Follower::new(&spec, set).unwrap();
    for t in 1..=rounds {
        let x = learner.decide().unwrap();
        let x_written = written(x);
        let round = stream.next(x).unwrap().unwrap();
        let evaluation = objective
            .evaluate(round.row, round.label, round.weight, x)
            .unwrap();
        let gradient = evaluation.gradient;
        follower.see(x, &gradient);
        let mut g: Vec<f64> = x_written.iter().map(|v| gradient.ridge * v).collect();
        gradient.row.add_to(gradient.scale, &mut g);
        learner.observe(&gradient).unwrap();
        onlooker(t, &mut follower, &*learner, &x_written, &g);
    }
}

#[test]
fn gaps_are_not_negative_and_keep_their_lemma() {
    for name in SETS {
        let set = set(name, 10);
        let curved = set.geometry().strong_convexity.is_some();
        for (spec, ridge, streams, has_lemma) in [
            (
                "ofw:horizon=2000,gradient-bound=1",
                0.0,
                ["drift", "adversary", "noise"],
                true,
            ),
            (
                "ofw-ls:horizon=2000,gradient-bound=1",
                0.0,
                ["drift", "adversary", "alternating"],
                curved,
            ),
            (
                "sc-ofw:lambda=0.2",
                0.2,
                ["drift", "adversary", "regression"],
                true,
            ),
            (
                "sc-ofw:lambda=0.2,gradient-bound=20",
                0.2,
                ["rotating", "noise", "regression"],
                true,
            ),
        ] {
            let mut largest = 0.0_f64;
            for stream in streams {
                play(
                    spec,
                    &set,
                    stream,
                    ridge,
                    2000,
                    |t, follower, learner, _, _| {
                        let here = || format!("{spec} on {name}, {stream}, round {t}");
                        let raw = follower.distance(learner.decision()).unwrap();
                        let (gap, lemma) = follower.gap(learner.decision()).unwrap();
                        let far = kernel::norm(&follower.target);
                        let stiffness = if ridge > 0.0 { ridge * t as f64 } else { 2.0 };
                        assert!(raw >= -1e-12 * stiffness * (1.0 + far), "{}: {raw}", here());
                        assert_eq!(gap, raw.max(0.0));
                        assert_eq!(lemma.is_some(), has_lemma, "{}", here());
                        if let Some(lemma) = lemma {
                            assert!(gap <= lemma, "{}: {gap} {lemma}", here());
                        }
                        largest = largest.max(gap);
                    },
                );
            }
            // It is measured. On one stream it may be 0: where all gradients are on a line, a
            // line search finds the least value itself.
            assert!(largest > 1e-9, "{spec} on {name}: {largest}");
        }
    }
}

#[test]
fn the_gap_is_that_of_a_search_for_the_surrogates_minimum() {
    for name in SETS {
        let set = set(name, 4);
        let (dim, diameter) = (4, set.geometry().diameter);
        for spec in [
            "ofw:horizon=60,gradient-bound=1,eta-scale=20",
            "ofw-ls:horizon=60,gradient-bound=1,eta-scale=10",
            "sc-ofw:lambda=0.5",
            "sc-ofw:lambda=0.5,warm=3",
        ] {
            let strong = spec.starts_with("sc");
            let mut first = vec![0.0; dim];
            set.centre(&mut first);
            let eta = match spec.split(':').next() {
                Some("ofw") => 20.0 * diameter / (2.0 * 60f64.powf(0.75)),
                _ => 10.0 * diameter / (2.0 * 62f64.powf(2.0 / 3.0)),
            };
            let warm = if spec.contains("warm") { 3.0 } else { 0.0 };
            // ½β‖x‖² + ⟨q, x⟩, straight from the definition
            let (mut beta, mut q) = if strong {
                let q: Vec<f64> = first.iter().map(|v| -0.5 * warm * v).collect();
                (0.5 * warm, q)
            } else {
                (2.0, first.iter().map(|v| -2.0 * v).collect())
            };
            let ridge = if strong { 0.5 } else { 0.0 };
            play(
                spec,
                &set,
                "drift",
                ridge,
                60,
                |t, follower, learner, x, g| {
                    for i in 0..dim {
                        q[i] += if strong {
                            g[i] - 0.5 * x[i]
                        } else {
                            eta * g[i]
                        };
                    }
                    beta += if strong { 0.5 } else { 0.0 };
                    if t % 7 != 0 {
                        return;
                    }
                    let mut gram = vec![0.0; dim * dim];
                    (0..dim).for_each(|i| gram[i * dim + i] = beta);
                    let total = QuadraticSum::from_parts(gram, &q, 0.0).unwrap();
                    let options = Options {
                        relative_gap: 0.0,
                        absolute_gap: 1e-11 * beta,
                        ..Options::default()
                    };
                    let best = solve(&total, &*set, &options).unwrap();
                    let next = written(learner.decision());
                    let value: f64 = (next.iter().zip(&q))
                        .map(|(x, q)| 0.5 * beta * x * x + q * x)
                        .sum();
                    let (gap, _) = follower.gap(learner.decision()).unwrap();
                    assert!(
                        (value - best.value - gap).abs() <= 1e-9 * beta,
                        "{spec} on {name}, round {t}: {} {gap}",
                        value - best.value
                    );
                },
            );
        }
    }
}

#[test]
fn the_surrogate_does_not_grow_along_a_line_search() {
    for name in SETS {
        let set = set(name, 6);
        for (spec, ridge) in [
            ("ofw-ls:horizon=500,gradient-bound=1,eta-scale=30", 0.0),
            ("sc-ofw:lambda=0.1", 0.1),
        ] {
            play(
                spec,
                &set,
                "noise",
                ridge,
                500,
                |t, follower, learner, x, _| {
                    // both under F_t, whose least value is the same
                    let before = follower.gap(&At(x.to_vec())).unwrap().0;
                    let after = follower.gap(learner.decision()).unwrap().0;
                    let rounding = 1e-12 * (1.0 + ridge * t as f64);
                    assert!(after <= before + rounding, "{spec} on {name}, round {t}");
                },
            );
        }
    }
}

#[test]
fn lemmas_need_their_conditions() {
    let set = set("l2", 3);
    let lemma = |spec: &str, gradients: &[f64]| {
        let mut follower = Follower::new(&spec.parse().unwrap(), &set).unwrap();
        let x = At(vec![0.0; 3]);
        for g in gradients {
            follower.see(&x, &Gradient::dense(&[0.0, *g, 0.0]));
        }
        follower.gap(&x).unwrap().1
    };
    let spec = "ofw-ls:horizon=2,gradient-bound=1";
    // t is the number of the decision to come
    assert_eq!(lemma(spec, &[]), Some(theory::ofw_ls_lemma(2.0, 1.0, 1.0)));
    let three = Some(theory::ofw_ls_lemma(2.0, 1.0, 3.0));
    assert_eq!(lemma(spec, &[1.0, 1.0]), three);
    assert_eq!(lemma(spec, &[1.0, 1.1]), None, "above G");
    assert_eq!(lemma(spec, &[1.0; 3]), None, "beyond T");
    let scaled = "ofw-ls:horizon=2,gradient-bound=1,eta-scale=2";
    assert_eq!(lemma(scaled, &[1.0]), None, "another η");
    let spec = "ofw:horizon=9,gradient-bound=1";
    assert_eq!(lemma(spec, &[1.0; 8]), Some(theory::ofw_lemma(2.0, 9.0)));
    let curved = theory::sc_ofw_constant(3.0, 0.5, 2.0, 1.0);
    let general = theory::sc_ofw_general_lemma(3.0, 0.5, 2.0, 3.0);
    let expected = Some(curved.min(general));
    assert_eq!(lemma("sc-ofw:lambda=0.5", &[1.0, 3.0]), expected);
    assert_eq!(lemma("sc-ofw:lambda=0.5,gradient-bound=2", &[3.0]), None);
    assert_eq!(lemma("sc-ofw:lambda=0.5,warm=1", &[1.0]), None);
    assert_eq!(lemma("sc-ofw:lambda=0.5", &[]), None, "F is 0");
}

#[test]
fn there_is_no_gap_where_the_surrogate_is_not_known() {
    let refused = |spec: &str, set: &SharedSet| {
        let spec: LearnerSpec = spec.parse().unwrap();
        assert!(Follower::new(&spec, set).is_none(), "{spec}");
    };
    let ball = set("l2", 3);
    for spec in [
        "ofw",
        "ofw:horizon=10",
        "ofw-ls:gradient-bound=1",
        "ofw-ls:horizon=10,doubling=true",
        "sc-ofw",
        "ogd",
        "gauge-ftrl",
        "ofw-ls:horizon=10,gradient-bound=1,start=[0,0]",
    ] {
        refused(spec, &ball);
    }
    let hull = "hull:points=[[1,0,0],[0,2,0],[0,0,1]]";
    let hull = hull.parse::<SetSpec>().unwrap().build(None).unwrap();
    assert!(hull.projection().is_none());
    refused("ofw:horizon=10,gradient-bound=1", &hull);
}

#[test]
fn sparse_gradients_and_starts_count_the_same() {
    let set = set("l1:radius=3", 5);
    let spec: LearnerSpec = "ofw:horizon=9,gradient-bound=1,start=[1,0,-0.5,0,0]"
        .parse()
        .unwrap();
    let mut learner = spec.build(&set).unwrap();
    let [mut dense, mut sparse] = [(); 2].map(|()| Follower::new(&spec, &set).unwrap());
    assert_eq!(dense.gap(learner.decision()).unwrap().0, 0.0);
    for k in 0..9_u32 {
        let mut g = [0.0; 5];
        g[k as usize % 5] = 0.7;
        let x = learner.decide().unwrap();
        dense.see(x, &Gradient::dense(&g));
        sparse.see(x, &Gradient::sparse(&[k % 5], &[0.7]));
        learner.observe(&Gradient::dense(&g)).unwrap();
        let next = learner.decision();
        assert_eq!(dense.gap(next), sparse.gap(next));
    }
}

#[test]
fn a_target_far_outside_leaves_the_gap_its_digits() {
    let set = set("l2", 2);
    let spec = "ofw:horizon=1,gradient-bound=1e-9".parse().unwrap();
    let mut follower = Follower::new(&spec, &set).unwrap();
    follower.see(&At(vec![0.0; 2]), &Gradient::dense(&[-1.0, 0.0]));
    let far = follower
        .distance(&At(vec![1.0, 0.0]))
        .map(|_| follower.target[0]);
    let (far, angle) = (far.unwrap(), 1e-5_f64);
    assert!(far > 1e8);
    let x = At(vec![angle.cos(), angle.sin()]);
    let (gap, lemma) = follower.gap(&x).unwrap();
    // ‖x − z‖² − ‖y − z‖² = 2‖z‖(1 − cos φ) = 4‖z‖ sin²(φ/2)
    let exact = 4.0 * far * (angle / 2.0).sin().powi(2);
    // one rounding of the projection is 2e-6 of the gap
    assert!((gap / exact - 1.0).abs() < 1e-5, "{gap} {exact}");
    assert_eq!(lemma, None);
}
