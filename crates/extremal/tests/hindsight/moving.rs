//! Regret as an interval, against moving comparators, and on the worst interval.

use extremal::Gradient;
use extremal::game::Game;
use extremal::hindsight::{Dynamic, Intervals, Meter, Options, QuadraticSum, Sum, solve};
use extremal::learner::{LearnerSpec, Level};
use extremal::loss::{LossSpec, Objective};
use extremal::stream::StreamSpec;

use crate::common::{atom, distance, feasible_points, normals, rng};
use crate::set;

#[test]
fn the_regret_of_a_run_lies_in_its_interval() {
    for (loss, stream) in [("squared", "regression"), ("logistic", "classification")] {
        let set = set("l2:radius=2", 5);
        let objective =
            Objective::new(loss.parse::<LossSpec>().unwrap().build().unwrap(), 0.1).unwrap();
        let mut learner = "sc-ofw:lambda=0.1"
            .parse::<LearnerSpec>()
            .unwrap()
            .build(&set)
            .unwrap();
        let spec: StreamSpec = stream.parse().unwrap();
        let mut meter = Meter::new(&set, 0.1, false);
        let mut seen = spec.build(5, 3).unwrap();
        let summary = Game::default()
            .with_meter(&mut meter)
            .play(&mut *learner, &mut *seen, &objective, 500)
            .unwrap();
        let mut sum = Sum::new(5, &objective).unwrap();
        let mut replayed = spec.build(5, 3).unwrap();
        for _ in 0..500 {
            let round = replayed.next(&vec![0.0; 5]).unwrap().unwrap();
            sum.push(round.row, round.label, round.weight).unwrap();
        }
        let best = solve(&sum, &*set, &Options::default()).unwrap();
        let regret = best.regret(summary.total_loss);
        assert!(regret.lower <= regret.upper && regret.upper - regret.lower <= 1e-6 * best.value);
        // every fixed decision's regret is below the upper end, and the certificate from
        // gradients is above the lower
        for p in feasible_points(&mut rng(31), &*set, 200) {
            assert!(summary.total_loss - sum.value(&p).unwrap() <= regret.upper);
        }
        assert!(meter.certificate(100).unwrap().regret >= regret.lower);
        assert_eq!(Level::Interval.to_string(), "interval");
    }
}

#[test]
fn dynamic_regret_is_that_against_every_rounds_best() {
    for text in ["l2", "l1:radius=2", "simplex", "lp:p=1.5"] {
        let set = set(text, 4);
        let mut r = rng(32);
        let mut dynamic = Dynamic::new(&set);
        let (mut regret, mut path, mut last) = (0.0, 0.0, None::<Vec<f64>>);
        for x in feasible_points(&mut r, &*set, 20) {
            let g = normals(&mut r, 4);
            dynamic.see(&x.clone(), &Gradient::dense(&g)).unwrap();
            let u = atom(&*set, &g);
            regret += (0..4).map(|i| g[i] * (x[i] - u[i])).sum::<f64>();
            path += last.map_or(0.0, |l| distance(&l, &u));
            last = Some(u);
        }
        assert!(
            (dynamic.regret() - regret).abs() <= 1e-10 * regret,
            "{text}"
        );
        assert!((dynamic.path() - path).abs() <= 1e-10 * path, "{text}");
        let before = (dynamic.regret(), dynamic.rounds());
        let bad = [f64::NAN, 0.0, 0.0, 0.0];
        assert!(dynamic.see(&vec![0.0; 4], &Gradient::dense(&bad)).is_err());
        let short = Gradient::dense(&[1.0; 3]);
        assert!(dynamic.see(&vec![0.0; 4], &short).is_err());
        assert_eq!(before, (dynamic.regret(), dynamic.rounds()));
    }
}

#[test]
fn dynamic_regret_counts_the_ridge_term() {
    let set = set("l2", 2);
    let mut dynamic = Dynamic::new(&set);
    let mut gradient = Gradient::dense(&[0.0, 1.0]);
    gradient.ridge = 2.0;
    // g = (0, 1) + 2·(0.5, 0) = (1, 1)
    dynamic.see(&vec![0.5, 0.0], &gradient).unwrap();
    assert!((dynamic.regret() - (0.5 + 2f64.sqrt())).abs() < 1e-12);
}

#[test]
fn the_worst_interval_is_the_worst_of_all() {
    let set = set("l1", 3);
    let mut r = rng(33);
    let points = feasible_points(&mut r, &*set, 20);
    let rounds: Vec<(Vec<f64>, Vec<f64>)> = (0..24)
        .map(|t| (points[t % points.len()].clone(), normals(&mut r, 3)))
        .collect();
    for spacing in [1, 4] {
        let mut intervals = Intervals::new(&set, spacing).unwrap();
        assert_eq!(intervals.worst().unwrap(), None);
        for (x, g) in &rounds {
            intervals.see(&x.clone(), &Gradient::dense(g)).unwrap();
        }
        let worst = intervals.worst().unwrap().unwrap();
        let mut most = f64::NEG_INFINITY;
        let step = spacing as usize;
        for first in (0..24).step_by(step) {
            for end in (first + step..=24).step_by(step) {
                let mut sum = vec![0.0; 3];
                let mut played = 0.0;
                for (x, g) in &rounds[first..end] {
                    sum.iter_mut().zip(g).for_each(|(s, g)| *s += g);
                    played += x.iter().zip(g).map(|(a, b)| a * b).sum::<f64>();
                }
                let u = atom(&*set, &sum);
                let low: f64 = sum.iter().zip(&u).map(|(a, b)| a * b).sum();
                if played - low > most {
                    most = played - low;
                }
            }
        }
        assert!(
            (worst.regret - most).abs() <= 1e-10 * most,
            "{worst:?} {most}"
        );
        assert!(worst.first >= 1 && worst.last <= 24 && worst.first <= worst.last);
    }
    assert!(Intervals::new(&set, 0).is_err());
}

#[test]
fn an_empty_total_is_minimal_everywhere() {
    let sum = QuadraticSum::new(3, 0.0).unwrap();
    let best = solve(&sum, &*set("l2", 3), &Options::default()).unwrap();
    assert_eq!((best.value, best.floor), (0.0, 0.0));
}
