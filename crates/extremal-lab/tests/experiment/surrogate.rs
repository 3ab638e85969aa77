//! The surrogate gap against its definition.

use extremal::hindsight::{Options, QuadraticSum, solve};
use extremal::learner::LearnerSpec;
use extremal::set::{SetSpec, SharedSet};
use extremal::{Gradient, theory};
use extremal_lab::surrogate::Follower;

fn set(text: &str) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(None).unwrap()
}

#[test]
fn the_gap_is_that_of_a_search_for_the_surrogates_minimum() {
    for name in ["l2:radius=2,dim=4", "lp:p=1.5,dim=4", "simplex:dim=4"] {
        let set = set(name);
        for (spec, lambda, warm) in [
            ("ofw:horizon=60,gradient-bound=1,eta-scale=20", 0.0, 0.0),
            ("sc-ofw:lambda=0.5", 0.5, 0.0),
            ("sc-ofw:lambda=0.5,warm=3", 0.5, 3.0),
        ] {
            let spec: LearnerSpec = spec.parse().unwrap();
            let mut learner = spec.build(&set).unwrap();
            let mut follower = Follower::new(&spec, &set).unwrap();
            let mut x = vec![0.0; 4];
            set.centre(&mut x);
            // F = ½β‖x‖² + ⟨q, x⟩, straight from the definition
            let eta = 20.0 * set.geometry().diameter / (2.0 * 60f64.powf(0.75));
            let (mut beta, k) = if lambda > 0.0 {
                (lambda * warm, 1.0)
            } else {
                (2.0, eta)
            };
            let mut q: Vec<f64> = x.iter().map(|v| -beta * v).collect();
            for t in 1..=40_u32 {
                learner.decide().unwrap().write(&mut x);
                let g = [0, 1, 2, 3].map(|i| 0.5 * (f64::from(t) * f64::from(i + 1)).sin() - 0.1);
                let gradient = Gradient::dense(&g);
                follower.see(learner.decision(), &gradient);
                learner.observe(&gradient).unwrap();
                beta += lambda;
                for i in 0..4 {
                    q[i] += k * g[i] - lambda * x[i];
                }
                let gram = (0..16).map(|i| if i % 5 == 0 { beta } else { 0.0 });
                let total = QuadraticSum::from_parts(gram.collect(), &q, 0.0).unwrap();
                let options = Options {
                    relative_gap: 0.0,
                    absolute_gap: 1e-11 * beta,
                    ..Options::default()
                };
                let least = solve(&total, &*set, &options).unwrap().value;
                learner.decision().write(&mut x);
                let terms = x.iter().zip(&q).map(|(x, q)| 0.5 * beta * x * x + q * x);
                let expected = terms.sum::<f64>() - least;
                let (gap, _) = follower.gap(learner.decision()).unwrap();
                let near = (expected - gap).abs() <= 1e-9 * beta;
                assert!(near, "{spec} on {name}, round {t}: {expected} {gap}");
            }
        }
    }
}

#[test]
fn lemmas_need_their_conditions() {
    let ball = set("l2:dim=3");
    let lemma = |spec: &str, gradients: &[f64]| {
        let mut follower = Follower::new(&spec.parse().unwrap(), &ball).unwrap();
        let x = [0.0; 3];
        for g in gradients {
            follower.see(&x, &Gradient::sparse(&[1], &[*g]));
        }
        follower.gap(&x).unwrap().1
    };
    let spec = "ofw-ls:horizon=2,gradient-bound=1";
    // t is the number of the decision to come
    let three = Some(theory::ofw_ls_lemma(2.0, 1.0, 3.0));
    assert_eq!(lemma(spec, &[1.0, 1.0]), three);
    assert_eq!(lemma(spec, &[1.0, 1.1]), None, "above G");
    assert_eq!(lemma(spec, &[1.0; 3]), None, "beyond T");
    let scaled = "ofw-ls:horizon=2,gradient-bound=1,eta-scale=2";
    assert_eq!(lemma(scaled, &[1.0]), None, "another η");
    assert_eq!(lemma("sc-ofw:lambda=0.5,gradient-bound=2", &[3.0]), None);
    assert_eq!(lemma("sc-ofw:lambda=0.5,warm=1", &[1.0]), None);
    for unknown in ["ofw:horizon=10", "ofw-ls:horizon=10,doubling=true", "ogd"] {
        let spec: LearnerSpec = unknown.parse().unwrap();
        assert!(Follower::new(&spec, &ball).is_none(), "{spec}");
    }
}
