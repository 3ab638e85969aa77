//! Follow the leader: what it plays, when that is good, and when it is not.

use extremal::Gradient;
use extremal::learner::Learner;
use extremal::theory;

use crate::support::*;

fn play(learner: &mut dyn Learner, g: &[f64]) -> Vec<f64> {
    let x = written(learner.decide().unwrap());
    learner.observe(&Gradient::dense(g)).unwrap();
    x
}

#[test]
fn on_a_ball_it_plays_against_the_sum_of_gradients() {
    let set = set("l2:radius=3", 5);
    let mut learner = learner("ftl", &set);
    let mut rng = kit::rng(1);
    let mut sum = vec![0.0; 5];
    for t in 0..200 {
        let x = play(&mut *learner, &[0.0; 5]);
        let expected = if t == 0 {
            vec![0.0; 5]
        } else {
            scaled(&sum, -3.0 / norm(&sum))
        };
        assert!(distance(&x, &expected) < 1e-13, "{t}: {x:?}");
        let g = normals(&mut rng, 5);
        play(&mut *learner, &g);
        sum = plus(&sum, 1.0, &g);
    }
}

#[test]
fn on_every_set_it_plays_the_atom_of_the_sum() {
    let mut rng = kit::rng(2);
    for body in bodies() {
        let set = set(&body.spec(), 4);
        let mut learner = learner("ftl", &set);
        let mut sum = vec![0.0; 4];
        for _ in 0..50 {
            let g = normals(&mut rng, 4);
            play(&mut *learner, &g);
            sum = plus(&sum, 1.0, &g);
            let x = written(learner.decision());
            let best = dot(&sum, &body.oracle(&sum));
            let worse = dot(&sum, &x) - best;
            assert!(worse.abs() <= 1e-9 * norm(&sum), "{body:?}: {worse:e}");
        }
    }
}

/// Gradients g_t of λ-strongly convex losses, as they come.
#[test]
fn with_lambda_it_plays_the_minimiser_of_the_sum_of_quadratics() {
    let mut rng = kit::rng(3);
    for (body, lambda) in [
        (
            Body::Lp {
                p: 2.0,
                radius: 1.5,
            },
            0.3,
        ),
        (Body::L1 { radius: 2.0 }, 1.0),
        (
            Body::Lp {
                p: 2.0,
                radius: 0.1,
            },
            4.0,
        ),
    ] {
        let set = set(&body.spec(), 4);
        let mut learner = learner(&format!("ftl:lambda={lambda}"), &set);
        let mut past: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        let mut a = vec![0.0; 4];
        for t in 1..=60 {
            let g = normals(&mut rng, 4);
            let x = play(&mut *learner, &g);
            a = plus(&plus(&a, 1.0, &g), -lambda, &x);
            past.push((g.clone(), x.clone()));
            let next = written(learner.decision());
            let explicit = body.project(&scaled(&a, -1.0 / (lambda * t as f64)));
            assert!(distance(&next, &explicit) < 1e-9, "{body:?}, {t}");
            let total = |y: &[f64]| -> f64 {
                let one = |(g, x): &(Vec<f64>, Vec<f64>)| {
                    dot(g, y) + 0.5 * lambda * distance(x, y).powi(2)
                };
                past.iter().map(one).sum()
            };
            let least = total(&next);
            for _ in 0..5 {
                let there = body.some_point(&mut rng, 4);
                let bend = 0.5 * lambda * t as f64 * distance(&there, &next).powi(2);
                assert!(total(&there) >= least + bend - 1e-9 * (1.0 + least.abs()));
            }
            // what the leader before lost by not knowing this round
            let lost = total(&x) - least;
            let most = dot(&g, &g) / (2.0 * lambda * t as f64);
            assert!(
                lost <= most * (1.0 + 1e-9) + 1e-9,
                "{body:?}, {t}: {lost} {most}"
            );
        }
    }
}

/// With losses (λ/2)‖x − c_t‖² the leader is the same whoever plays.
#[test]
fn sc_ofw_approaches_it() {
    let lambda = 0.5;
    for text in ["l2", "l1", "simplex"] {
        let set = set(text, 4);
        let mut leader = learner(&format!("ftl:lambda={lambda}"), &set);
        let mut chaser = learner(&format!("sc-ofw:lambda={lambda}"), &set);
        let mut rng = kit::rng(4);
        let mut apart = Vec::new();
        for t in 1..=rounds(10_000, 200_000) {
            let c = plus(&[0.6, -0.2, 0.5, 0.4], 0.5, &normals(&mut rng, 4));
            for learner in [&mut leader, &mut chaser] {
                let x = written(learner.decide().unwrap());
                let g = scaled(&minus(&x, &c), lambda);
                learner.observe(&Gradient::dense(&g)).unwrap();
            }
            let (x, y) = (written(leader.decision()), written(chaser.decision()));
            if [30, 1_000, 10_000].contains(&t) {
                apart.push(distance(&x, &y));
            }
        }
        println!("{text}: SC-OFW is {apart:?} from the leader");
        assert!(
            apart[2] < 0.02 && apart[2] < 0.5 * apart[0],
            "{text}: {apart:?}"
        );
    }
}

#[test]
fn where_the_sum_hovers_at_0_its_regret_is_linear_and_nothing_is_promised() {
    let set = set("l2", 3);
    let mut learner = learner("ftl", &set);
    let rounds = rounds(2_000, 200_000);
    let (mut total, mut sum) = (0.0, vec![0.0; 3]);
    for t in 0..rounds {
        let k = match t {
            0 => 0.5,
            _ if t % 2 == 1 => -1.0,
            _ => 1.0,
        };
        let g = [k, 0.0, 0.0];
        total += dot(&g, &play(&mut *learner, &g));
        sum = plus(&sum, 1.0, &g);
    }
    let regret = total + norm(&sum);
    assert!(regret > 0.99 * rounds as f64, "{regret}");
    // ‖S_t‖ = 1/2 throughout, so that the bound is no less than 8·T·(1 + ln T)/(α/2)
    let bound = learner.guarantee().unwrap().bound(rounds as f64);
    assert!(bound > 10.0 * rounds as f64, "{bound}");
    // and none at all once the sum is 0
    play(&mut *learner, &scaled(&sum, -1.0));
    assert!(learner.guarantee().is_none());
}

#[test]
fn where_the_sum_grows_its_regret_is_logarithmic_and_below_the_bound() {
    for (text, alpha) in [("l2", 1.0), ("l2:radius=4", 0.25), ("lp:p=1.5", 0.5)] {
        let set = set(text, 6);
        let known = set.geometry().strong_convexity.unwrap();
        assert!(text.starts_with("lp") || (known / alpha - 1.0).abs() < 1e-12);
        let mut learner = learner("ftl", &set);
        let mut rng = kit::rng(6);
        let mean = scaled(&unit(&mut rng, 6), 0.5);
        let (mut total, mut sum, mut slowest) = (0.0, vec![0.0; 6], f64::INFINITY);
        let mut regrets = Vec::new();
        let last = rounds(16_000, 1_000_000);
        for t in 1..=last {
            let g = plus(&mean, 0.5, &unit(&mut rng, 6));
            total += dot(&g, &play(&mut *learner, &g));
            sum = plus(&sum, 1.0, &g);
            slowest = f64::min(slowest, norm(&sum) / t as f64);
            if t == 1_000 || t == last {
                let best = dot(&sum, &written(learner.decision()));
                regrets.push(total - best);
                let bound = learner.guarantee().unwrap().bound(t as f64);
                let g = learner.seen().largest_gradient;
                let expected = theory::ftl(g, known, slowest).bound(t as f64);
                assert!((bound / expected - 1.0).abs() < 1e-9, "{bound} {expected}");
                assert!(total - best <= bound, "{text}: {} {bound}", total - best);
            }
        }
        println!("{text}: regret {regrets:?}");
        // sixteen times the rounds add no more than three times as much
        assert!(
            regrets[1] < 3.0 * regrets[0].max(1.0),
            "{text}: {regrets:?}"
        );
    }
}

#[test]
fn with_lambda_its_regret_is_logarithmic_and_below_the_bound() {
    let lambda = 0.2;
    for text in ["l2", "simplex", "box"] {
        let set = set(text, 4);
        let diameter = set.geometry().diameter;
        let mut learner = learner(&format!("ftl:lambda={lambda}"), &set);
        let mut rng = kit::rng(7);
        let t = rounds(5_000, 500_000);
        // (λ/2)‖x − c_t‖², whose best fixed decision is the projection of the mean of the c_t
        let (mut total, mut sum, mut squares) = (0.0, vec![0.0; 4], 0.0);
        for k in 0..t {
            let x = written(learner.decide().unwrap());
            let away = if k % 3 == 0 { -1.0 } else { 1.0 };
            let c = plus(&scaled(&x, away), 1.0, &unit(&mut rng, 4));
            total += 0.5 * lambda * distance(&x, &c).powi(2);
            sum = plus(&sum, 1.0, &c);
            squares += dot(&c, &c);
            let g = scaled(&minus(&x, &c), lambda);
            learner.observe(&Gradient::dense(&g)).unwrap();
        }
        let mut u = scaled(&sum, 1.0 / t as f64);
        set.projection().unwrap().project(&mut u).unwrap();
        let best = 0.5 * lambda * (squares - 2.0 * dot(&sum, &u) + t as f64 * dot(&u, &u));
        let guarantee = learner.guarantee().unwrap();
        let g = learner.seen().largest_gradient;
        let expected = 2.0 * (g + lambda * diameter).powi(2) * (1.0 + (t as f64).ln()) / lambda;
        assert!((guarantee.bound(t as f64) / expected - 1.0).abs() < 1e-12);
        // the leader's own, which every round's loss by not knowing it adds up to
        let sharp = g * g * (1.0 + (t as f64).ln()) / (2.0 * lambda);
        println!(
            "{text}: regret {}, bounds {sharp} and {expected}",
            total - best
        );
        assert!(
            total - best <= sharp + 1e-6,
            "{text}: {} {sharp}",
            total - best
        );
        assert!(
            total - best > 0.05 * sharp,
            "{text}: {} {sharp}",
            total - best
        );
    }
}
