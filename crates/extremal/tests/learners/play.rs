//! Learners × sets × streams × losses: decisions are feasible in every round, records say what
//! happened, certificates hold against fixed decisions, and theorems against certificates.

use extremal::Error;
use extremal::game::Game;
use extremal::hindsight::Meter;
use extremal::kernel::dot;
use extremal::learner::{Level, Record, RunStatistics};
use extremal::loss::{Loss, Objective};
use extremal::set::Set;
use extremal::stream::{Round, Stream, StreamSpec};
use extremal::theory::{Assumption, LossFacts};
use extremal::{Point, Row};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::{
    NamedSet, Team, atom, centre, losses, normals, rng, sets, soak, streams, teams, teams_on,
    written,
};

fn comparators(set: &dyn Set) -> Vec<Vec<f64>> {
    let mut r = rng(11);
    let mut all = vec![centre(set)];
    all.extend((0..3).map(|_| atom(set, &normals(&mut r, set.dim()))));
    all
}

/// The record against the round as it was seen from outside.
fn check_record(
    name: &str,
    record: &Record,
    x: &[f64],
    gradient: &[f64],
    size: f64,
    seen: &RunStatistics,
) {
    let (t, largest) = (seen.rounds, seen.largest_gradient);
    assert_eq!(record.round, t, "{name}");
    let norm = extremal::kernel::norm(gradient);
    let scale = (norm + 1e-3) * (size + 1.0);
    // where a ridge part cancels the row's, half of the digits that ‖x‖² is known to go with it
    assert!(
        (record.gradient_norm - norm).abs() <= 1e-9 * norm + 1e-6 * size,
        "{name}: {record:?}, not {norm}"
    );
    assert!(
        (record.gradient_dot - dot(gradient, x)).abs() <= 1e-9 * scale,
        "{name}: {record:?}"
    );
    assert!(
        (record.norm_squared - dot(x, x)).abs() <= 1e-9 * (1.0 + size * size),
        "{name}: {record:?}"
    );
    assert!(
        record.sigma.is_finite() && record.sigma >= 0.0,
        "{name}: {record:?}"
    );
    if record.gap.is_nan() {
        return; // no surrogate
    }
    assert!(record.sigma <= 1.0, "{name}: {record:?}");
    // nothing is asked where ∇F = 0
    let still = record.sigma == 0.0 && record.gap == 0.0;
    assert!(record.oracle_calls >= 1 || still, "{name}: {record:?}");
    // ∇F is at most a sum of t gradients and t multiples of decisions
    let rounding = 1e-13 * t as f64 * (1.0 + size) * (1.0 + size + largest);
    assert!(record.gap >= -rounding, "{name}: gap {:e}", record.gap);
}

/// One run; returns the theorem whose bound was held against it.
fn check_run(
    team: &Team,
    what: &str,
    stream: &StreamSpec,
    objective: &Objective,
    rounds: u64,
) -> Option<String> {
    let name = format!("{} against {what}", team.name);
    let set = &*team.set;
    let (dim, size) = (set.dim(), set.geometry().norm_bound);
    let mut learner = team.build();
    let mut stream = stream.build(dim, 5).unwrap();
    let mut meter = Meter::of(&team.set, objective);
    let fixed = comparators(set);
    let mut fixed_loss = vec![0.0; fixed.len()];
    let (mut total, mut calls) = (0.0, 0);
    let mut x = vec![0.0; dim];
    let mut gradient = vec![0.0; dim];
    for t in 1..=rounds {
        let decision = learner.decide().unwrap();
        decision.write(&mut x);
        let violation = set.violation(&x).unwrap_or(0.0);
        assert!(
            violation <= 1e-9,
            "{name}: violation {violation:e} in round {t}"
        );
        let round = stream
            .next(decision)
            .unwrap()
            .expect("a stream without end");
        let evaluation = objective
            .evaluate(round.row, round.label, round.weight, decision)
            .unwrap();
        for (sum, u) in fixed_loss.iter_mut().zip(&fixed) {
            let there = objective.evaluate(round.row, round.label, round.weight, u);
            *sum += there.unwrap().value;
        }
        total += evaluation.value;
        meter.see(decision, &evaluation.gradient).unwrap();
        let given = evaluation.gradient;
        for (g, x) in gradient.iter_mut().zip(&x) {
            *g = given.ridge * x;
        }
        given.row.add_to(given.scale, &mut gradient);
        let record = learner.observe(&given).unwrap();
        assert_eq!(learner.rounds(), t, "{name}");
        check_record(&name, &record, &x, &gradient, size, learner.seen());
        calls += u64::from(record.oracle_calls);
    }
    let seen = learner.seen();
    assert_eq!(
        (learner.rounds(), seen.rounds, seen.oracle_calls),
        (rounds, rounds, calls),
        "{name}"
    );

    let regret = fixed_loss
        .iter()
        .map(|l| total - l)
        .fold(f64::MIN, f64::max);
    let tolerance = 1e-9 * (1.0 + rounds as f64 * (1.0 + size * seen.largest_gradient));
    let certificate = meter.certificate(300).unwrap();
    let certified = certificate.regret;
    assert!(
        certified >= regret - tolerance,
        "{name}: certified {certified}, regret {regret}"
    );

    let guarantee = learner.guarantee();
    let checks = guarantee.as_ref().map(|g| {
        g.check(
            seen,
            &LossFacts::strongly_convex(objective.strong_convexity()),
        )
    });
    if let Some(own) = learner.certificate() {
        let curved = checks
            .iter()
            .flatten()
            .all(|c| c.holds || !matches!(c.assumption, Assumption::StronglyConvexLosses(_)));
        if own.level != Level::Quadratic || curved {
            assert!(
                own.regret >= regret - tolerance,
                "{name}: it certified {}, regret {regret}",
                own.regret
            );
        }
    }
    let (guarantee, checks) = (guarantee?, checks?);
    if !checks.iter().all(|c| c.holds) {
        return None;
    }
    let bound = guarantee.bound(rounds as f64);
    // but for what it allows for rounding
    let certified = certified - certificate.rounding;
    assert!(
        certified <= bound + tolerance,
        "{name}: {} says {bound}, certified {certified}",
        guarantee.theorem()
    );
    Some(guarantee.theorem().to_string())
}

/// The losses that admit the stream's labels.
fn fitting_losses(stream: &StreamSpec, dim: usize) -> Vec<(&'static str, Arc<dyn Loss>)> {
    let mut stream = stream.build(dim, 5).unwrap();
    let start = vec![0.0; dim];
    let label = stream.next(&start).unwrap().unwrap().label;
    let fits = |loss: &Arc<dyn Loss>| match loss.check_label(label) {
        Ok(()) => true,
        Err(Error::Label { .. }) => false,
        Err(e) => panic!("{e}"),
    };
    losses()
        .into_iter()
        .filter(|(_, loss)| fits(loss))
        .collect()
}

#[test]
fn decisions_are_feasible_records_true_and_theorems_kept_on_every_stream() {
    const DIMS: [usize; 4] = [4, 1, 2, 13];
    let (mut runs, mut held) = (0, 0);
    let mut theorems = std::collections::BTreeSet::new();
    for (d, dim) in DIMS.into_iter().enumerate() {
        for (i, team) in teams(dim, |_, _| {}).iter().enumerate() {
            for (j, (text, stream)) in streams().iter().enumerate() {
                // each pair meets in one of the dimensions
                if (i + j) % DIMS.len() != d {
                    continue;
                }
                let fitting = fitting_losses(stream, dim);
                let other = &fitting[(i / 4 + j / 4) % fitting.len()];
                let (ridge, loss) = [(0.0, &fitting[0]), (0.1, other)][(i / 4) % 2];
                let both = [(ridge, loss), (0.1 - ridge, other)];
                // one of the two where time is short, so that every team and every stream has both
                let one = (i / 4 + j / 3) % 2;
                let played = if soak() { &both[..] } else { &both[one..=one] };
                for &(ridge, (loss_name, loss)) in played {
                    let objective = Objective::new(loss.clone(), ridge).unwrap();
                    let what = format!("{text}, {loss_name} with ridge {ridge}");
                    runs += 1;
                    if let Some(theorem) = check_run(team, &what, stream, &objective, 1000) {
                        held += 1;
                        theorems.insert(theorem);
                    }
                }
            }
        }
    }
    println!("{runs} runs, {held} of them under a theorem: {theorems:?}");
    assert!(runs > 1000 && held > runs / 5);
    assert!(theorems.len() >= 9, "{theorems:?}");
}

#[test]
fn long_runs_stay_feasible_and_true() {
    let mut teams = teams(5, |_, _| {});
    let of_its_own = |named: &NamedSet| ![5, 10].contains(&named.set.dim());
    let others = sets(10).into_iter().filter(of_its_own).collect();
    teams.extend(teams_on(others, |_, _| {}));
    let wanted = |(i, team): &(usize, &Team)| {
        let first = team.learner.entry().examples[0].parse() == Ok(team.learner.clone());
        first && (soak() || i % 3 == 0)
    };
    let wanted: Vec<_> = teams.iter().enumerate().filter(wanted).collect();
    std::thread::scope(|scope| {
        for part in 0..2 {
            let runs = wanted.iter().skip(part).step_by(2);
            scope.spawn(move || runs.for_each(|(i, team)| play_long(*i, team)));
        }
    });
}

fn play_long(i: usize, team: &Team) {
    let rounds = if soak() { 1_000_000 } else { 10_000 };
    let wanted_streams = ["drift", "adversary:kind=orthogonal", "zipf:nonzeros=5"];
    // five non-zeros need as many entries
    let few = usize::from(team.set.dim() < 5);
    let text = wanted_streams[i % (wanted_streams.len() - few)];
    if soak() {
        println!("{} against {text}", team.name);
    }
    let stream = text.parse().unwrap();
    let (_, linear) = &losses()[0];
    let ridge = if team.learner.entry().name == "sc-ofw" {
        0.1
    } else {
        0.0
    };
    let objective = Objective::new(linear.clone(), ridge).unwrap();
    check_run(team, text, &stream, &objective, rounds);
}

#[test]
fn a_game_played_twice_is_the_same_game() {
    for team in teams(5, |_, _| {}) {
        for (text, spec) in streams() {
            let play = || {
                let mut learner = team.build();
                let mut stream = spec.build(5, 9).unwrap();
                let objective = Objective::new(losses()[0].1.clone(), 0.0).unwrap();
                let mut losses = Vec::new();
                Game::default()
                    .with_watch(&*team.set)
                    .play_while(&mut *learner, &mut *stream, &objective, 50, |turn| {
                        losses.push(turn.evaluation.value.to_bits());
                        ControlFlow::Continue(())
                    })
                    .map(|summary| {
                        (
                            summary,
                            losses,
                            learner.save().unwrap(),
                            written(learner.decision()),
                        )
                    })
                    .unwrap()
            };
            let (one, other) = (play(), play());
            assert!(one == other, "{} against {text}", team.name);
            assert_eq!(one.0.rounds, 50);
        }
    }
}

/// A stream that ends, or whose label makes no sense, after a few rounds.
struct Short {
    left: u32,
    label: f64,
}

impl Stream for Short {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        let label = if self.left == 0 { self.label } else { 1.0 };
        if self.left == 0 && self.label == 1.0 {
            return Ok(None);
        }
        self.left = self.left.saturating_sub(1);
        Ok(Some(Round {
            row: Row::Dense(&[0.6, 0.8]),
            label,
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        1.0
    }
}

#[test]
fn after_a_stream_has_ended_or_failed_the_game_goes_on_with_the_next() {
    let (_, logistic) = losses()
        .into_iter()
        .find(|(n, _)| *n == "logistic")
        .unwrap();
    let objective = Objective::new(logistic, 0.0).unwrap();
    for team in teams(2, |_, _| {}) {
        let mut learner = team.build();
        let mut play = |label: f64| {
            let mut stream = Short { left: 7, label };
            Game::default().play(&mut *learner, &mut stream, &objective, 100)
        };
        assert_eq!(play(1.0).unwrap().rounds, 7, "{}", team.name);
        assert!(
            matches!(play(5.0), Err(Error::Label { .. })),
            "{}",
            team.name
        );
        assert_eq!(play(1.0).unwrap().rounds, 7, "{}", team.name);
        assert_eq!(learner.rounds(), 21, "{}", team.name);
    }
}
