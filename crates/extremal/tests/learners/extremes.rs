//! Runs that break what a learner was told: gradients far from G, many more rounds than T, none
//! at all. Decisions stay feasible and numbers finite, and the guarantee's checks say which
//! assumption failed, from the round on in which it did.

use crate::common::{
    self, NamedSet, Team, distance, normals, rng, scaled, soak, teams_on, unit, written,
};
use extremal::learner::{Learner, Record};
use extremal::loss::{LossSpec, Objective};
use extremal::set::SetSpec;
use extremal::stream::StreamSpec;
use extremal::theory::{Assumption, Check, LossFacts};
use extremal::{Gradient, Row};

const DIM: usize = 6;

/// At least one set of each shape: curved, pointed, flat, centred at 0 or not.
const SETS: [&str; 9] = [
    "l2",
    "l2:radius=10",
    "lp:p=1.5",
    "lp:p=3",
    "simplex",
    "simplex:total=2,at-most=true",
    "box",
    "box:lower=0,upper=3",
    "l1",
];

fn every_team() -> Vec<Team> {
    let named = |text: &&str| {
        let spec: SetSpec = text.parse().unwrap();
        NamedSet {
            name: text.to_string(),
            set: spec.build(Some(DIM)).unwrap(),
            spec,
            precision: 1e-12,
        }
    };
    let teams = teams_on(SETS.iter().map(named).collect(), |_, _| {});
    for text in SETS {
        assert!(teams.iter().any(|team| team.name.contains(text)), "{text}");
    }
    teams
}

/// One round; the decision is looked at before, and every number of the record after.
fn play(team: &Team, learner: &mut dyn Learner, gradient: &Gradient<'_>) -> Record {
    let x = written(learner.decide().unwrap());
    let violation = team.set.violation(&x).unwrap();
    let t = learner.rounds() + 1;
    assert!(
        violation <= 1e-9,
        "{}, round {t}: violation {violation:e}",
        team.name
    );
    let record = learner.observe(gradient).unwrap();
    let numbers = [
        record.sigma,
        record.gradient_norm,
        record.gradient_dot,
        record.norm_squared,
    ];
    assert!(
        numbers.iter().all(|v| v.is_finite()),
        "{}: {record:?}",
        team.name
    );
    assert!(!record.gap.is_infinite(), "{}: {record:?}", team.name);
    record
}

/// What the guarantee's checks say now, for losses as strongly convex as asked; none where
/// nothing is promised. A bound is a number, whatever happened.
fn checks(team: &Team, learner: &dyn Learner) -> Option<Vec<Check>> {
    let guarantee = learner.guarantee()?;
    let bound = guarantee.bound(learner.rounds() as f64);
    assert!(
        bound >= 0.0 && bound.is_finite(),
        "{}: bound {bound}",
        team.name
    );
    if let Some(certificate) = learner.certificate() {
        assert!(certificate.regret.is_finite(), "{}", team.name);
    }
    // gradients that are given beforehand are those of linear losses
    let losses = LossFacts {
        strong_convexity: f64::INFINITY,
        smoothness: 0.0,
        oblivious: true,
    };
    Some(guarantee.check(learner.seen(), &losses))
}

/// Whether the check of G = 1, the horizon T = 1000 holds; none where it is not assumed.
fn holds(checks: &Option<Vec<Check>>, which: fn(&Assumption) -> bool) -> Option<bool> {
    let check = checks.as_ref()?.iter().find(|c| which(&c.assumption))?;
    assert!(!check.detail.is_empty());
    Some(check.holds)
}

fn is_told_gradient(assumption: &Assumption) -> bool {
    *assumption == Assumption::Gradient(1.0)
}

fn is_horizon(assumption: &Assumption) -> bool {
    matches!(assumption, Assumption::Horizon(_))
}

/// The value of a key that the learner was told.
fn told(team: &Team, key: &str) -> Option<f64> {
    let text = team.learner.to_string();
    let start = text.find(&format!("{key}="))? + key.len() + 1;
    let value = text[start..].split([',', ')']).next().unwrap();
    Some(value.parse().unwrap())
}

#[test]
fn gradients_that_grow_by_24_orders_are_survived_and_told() {
    let mut told_of = 0;
    for team in every_team() {
        let mut learner = team.build();
        let mut r = rng(1);
        for _ in 0..300 {
            let row = scaled(&unit(&mut r, DIM), 1e-12);
            play(&team, &mut *learner, &Gradient::dense(&row));
        }
        let before = checks(&team, &*learner);
        assert_ne!(
            holds(&before, is_told_gradient),
            Some(false),
            "{}",
            team.name
        );
        for k in 0..300 {
            let row = scaled(&unit(&mut r, DIM), 1e12);
            let mut gradient = Gradient::dense(&row);
            if k % 3 == 0 {
                gradient.row = Row::Sparse {
                    indices: &[1, 4],
                    values: &row[..2],
                };
            }
            play(&team, &mut *learner, &gradient);
        }
        let after = checks(&team, &*learner);
        if holds(&before, is_told_gradient).is_some() {
            assert_eq!(
                holds(&after, is_told_gradient),
                Some(false),
                "{}",
                team.name
            );
            told_of += 1;
        }
        // and back again
        for _ in 0..300 {
            let row = scaled(&unit(&mut r, DIM), 1e-12);
            play(&team, &mut *learner, &Gradient::dense(&row));
        }
        if holds(&before, is_told_gradient).is_some() {
            let last = checks(&team, &*learner);
            assert_eq!(holds(&last, is_told_gradient), Some(false), "{}", team.name);
        }
    }
    assert!(told_of > 20, "{told_of}");
}

#[test]
fn a_thousand_rounds_of_nothing_change_nothing_and_promise_nothing_false() {
    for team in every_team() {
        let mut learner = team.build();
        let start = written(learner.decision());
        let size = team.set.geometry().norm_bound;
        for k in 0..1000 {
            let nothing = if k % 2 == 0 {
                Gradient::dense(&[0.0; DIM])
            } else {
                Gradient::sparse(&[], &[])
            };
            let record = play(&team, &mut *learner, &nothing);
            assert_eq!(record.gradient_norm, 0.0, "{}", team.name);
            assert_eq!(record.gradient_dot, 0.0, "{}", team.name);
        }
        let moved = distance(&written(learner.decision()), &start);
        assert!(moved <= 1e-9 * size, "{}: moved by {moved:e}", team.name);
        for check in checks(&team, &*learner).into_iter().flatten() {
            if check.assumption == Assumption::InExpectation {
                continue; // no single run keeps to it
            }
            assert!(check.holds, "{}: {check:?}", team.name);
        }
        // nor is it stuck
        let row = scaled(&unit(&mut rng(2), DIM), 1.0);
        for _ in 0..50 {
            play(&team, &mut *learner, &Gradient::dense(&row));
        }
        let moved = distance(&written(learner.decision()), &start);
        assert!(moved > 1e-6 * size, "{}: stuck at its start", team.name);
    }
}

#[test]
fn three_times_the_horizon_is_played_and_told() {
    let mut told_of = 0;
    for team in every_team() {
        let horizon = told(&team, "horizon").unwrap_or(1000.0) as u64;
        let mut learner = team.build();
        let mut r = rng(3);
        let mean = scaled(&unit(&mut r, DIM), 0.3);
        for t in 1..=3 * horizon {
            let noise = unit(&mut r, DIM);
            let row = common::plus(&mean, 0.6, &noise);
            play(&team, &mut *learner, &Gradient::dense(&row));
            if t.abs_diff(horizon) <= 1 || t == 2 * horizon || t == 3 * horizon {
                let now = checks(&team, &*learner);
                if let Some(holds) = holds(&now, is_horizon) {
                    assert_eq!(holds, t == horizon, "{}, round {t}", team.name);
                    told_of += 1;
                }
                assert_ne!(holds(&now, is_told_gradient), Some(false), "{}", team.name);
            }
        }
    }
    assert!(told_of > 50, "{told_of}");
}

#[test]
fn a_gradient_beyond_the_bound_is_told_from_its_round_on() {
    let mut told_of = 0;
    for team in every_team() {
        let mut learner = team.build();
        let mut r = rng(4);
        for t in 1..=600 {
            let size = if t == 300 { 5.0 } else { 1.0 };
            let row = scaled(&unit(&mut r, DIM), size);
            play(&team, &mut *learner, &Gradient::dense(&row));
            let now = checks(&team, &*learner);
            // a learner that was told G and promises something knows when G is broken
            let assumed = told(&team, "gradient-bound").is_some() && now.is_some();
            if assumed {
                // a mixture takes a base's G for granted once it is broken
                let mixed = team.learner.entry().name == "hedge";
                let expected = if mixed && t < 300 {
                    None
                } else {
                    Some(t < 300)
                };
                assert_eq!(
                    holds(&now, is_told_gradient),
                    expected,
                    "{}, round {t}",
                    team.name
                );
                told_of += 1;
            }
        }
        let failed = checks(&team, &*learner).into_iter().flatten();
        for check in failed.filter(|c| is_told_gradient(&c.assumption)) {
            assert!(check.detail.contains("5.0") && check.detail.contains('>'));
        }
    }
    assert!(told_of > 10_000, "{told_of}");
}

#[test]
fn losses_less_convex_than_promised_are_told() {
    let mut told_of = 0;
    for team in every_team() {
        let Some(lambda) = told(&team, "lambda") else {
            continue;
        };
        let mut learner = team.build();
        let row = normals(&mut rng(5), DIM);
        play(&team, &mut *learner, &Gradient::dense(&row));
        let Some(guarantee) = learner.guarantee() else {
            continue;
        };
        for (text, ridge, enough) in [
            ("linear", 0.0, false),
            ("squared", 0.5 * lambda, false),
            ("quadratic:diagonal=0.05", 0.0, 0.05 >= lambda),
            ("quadratic:diagonal=0.05", lambda, true),
            ("absolute", lambda, true),
        ] {
            let loss = text.parse::<LossSpec>().unwrap().build().unwrap();
            let objective = Objective::new(loss, ridge).unwrap();
            let checks = guarantee.check(
                learner.seen(),
                &LossFacts::strongly_convex(objective.strong_convexity()),
            );
            let mut curved = checks
                .iter()
                .filter(|c| matches!(c.assumption, Assumption::StronglyConvexLosses(_)));
            let check = curved.next().expect("λ is assumed");
            assert_eq!(check.holds, enough, "{}, {text}: {check:?}", team.name);
            told_of += 1;
        }
    }
    assert!(told_of > 20, "{told_of}");
}

#[test]
fn streams_without_a_scale_are_played_by_everyone() {
    let rounds = if soak() { 1_000_000 } else { 2_000 };
    for (i, team) in every_team().iter().enumerate() {
        for text in [
            "heavy-tailed:index=0.5",
            "heavy-tailed:law=student,index=0.5",
            "scale-jump",
            "scale-jump:factor=1e30,every=50",
        ] {
            let spec: StreamSpec = text.parse().unwrap();
            let mut stream = spec.build(DIM, i as u64).unwrap();
            let mut learner = team.build();
            for _ in 0..rounds {
                let round = stream.next(learner.decision()).unwrap().unwrap();
                let gradient = Gradient {
                    row: round.row,
                    scale: 1.0,
                    ridge: 0.0,
                };
                play(team, &mut *learner, &gradient);
            }
            checks(team, &*learner);
        }
    }
}

/// Slopes of one size, there and back, bring the surrogate's minimiser to the boundary: what is
/// left of ∇F there is rounding, and the atom must come from no difference of large numbers.
#[test]
fn a_direction_that_is_all_rounding_gives_an_atom_of_the_set() {
    let seeds = if soak() { 1_000 } else { 20 };
    let mut teams = Vec::new();
    for text in ["l2:dim=1", "l2:radius=0.3,dim=1", "l2:dim=2"] {
        let spec: SetSpec = text.parse().unwrap();
        let set = NamedSet {
            name: text.into(),
            set: spec.build(None).unwrap(),
            spec,
            precision: 1e-12,
        };
        teams.extend(teams_on(vec![set], |_, _| {}));
    }
    for team in teams {
        for text in ["quantile", "absolute"] {
            let loss = text.parse::<LossSpec>().unwrap().build().unwrap();
            let ridge = told(&team, "lambda").unwrap_or(0.1);
            let objective = Objective::new(loss, ridge).unwrap();
            for seed in 0..seeds {
                let spec: StreamSpec = "switching".parse().unwrap();
                let mut stream = spec.build(team.set.dim(), seed).unwrap();
                let mut learner = team.build();
                for _ in 0..500 {
                    let x = learner.decision();
                    let round = stream.next(x).unwrap().unwrap();
                    let evaluation = objective.evaluate(round.row, round.label, 1.0, x);
                    play(&team, &mut *learner, &evaluation.unwrap().gradient);
                }
            }
        }
    }
}
