//! Saving and loading: 2n rounds are n rounds, saved, loaded, and n more, bit for bit.

use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::set::Structure;

use crate::common::{Team, bits, rng, teams, uniform, written};
use extremal_check::script::{self, Given, play, record_text};

const DIM: usize = 6;
const ROUNDS: usize = 80;

fn check_resume(team: &Team, script: &[Given], cut: usize, decided: bool) {
    let Team { name, .. } = team;
    let mut whole = team.build();
    let expected = play(&mut *whole, script);

    let mut first = team.build();
    play(&mut *first, &script[..cut]);
    if decided {
        first.decide().unwrap();
    }
    let saved = first.save().unwrap();
    // once into a fresh learner, once into one that has been elsewhere
    let mut elsewhere = team.build();
    play(&mut *elsewhere, &script[7..30]);
    for (what, mut second) in [("a fresh", team.build()), ("a used", elsewhere)] {
        second.load(&saved).unwrap();
        assert_eq!(
            second.save().unwrap(),
            saved,
            "{name}: {what} one, at {cut}"
        );
        assert_eq!(second.rounds(), cut as u64, "{name}");
        assert_eq!(second.seen(), first.seen(), "{name}");
        assert_eq!(second.certificate(), first.certificate(), "{name}");
        assert_eq!(second.guarantee(), first.guarantee(), "{name}");
        let mut rest = Vec::new();
        if decided && cut < script.len() {
            let x = written(second.decision());
            let record = second.observe(&script[cut].gradient()).unwrap();
            rest.push((bits(&x), record_text(&record)));
        }
        rest.extend(play(&mut *second, &script[cut + rest.len()..]));
        assert_eq!(
            rest,
            expected[cut..],
            "{name}: {what} one, cut at {cut}, decided: {decided}"
        );
        assert_eq!(
            second.save().unwrap(),
            whole.save().unwrap(),
            "{name}: {what} one, cut at {cut}, decided: {decided}"
        );
    }
}

#[test]
fn a_run_that_is_saved_and_loaded_goes_on_bit_for_bit() {
    for dim in [1, DIM] {
        let script = script::mixed(1, dim, ROUNDS);
        for team in teams(dim, |_, _| {}) {
            for cut in [0, 1, 2, 17, ROUNDS / 2] {
                for decided in [false, true] {
                    check_resume(&team, &script, cut, decided);
                }
            }
        }
    }
}

#[test]
fn a_run_is_the_same_bits_every_time_and_in_several_threads_at_once() {
    let script = script::mixed(2, DIM, ROUNDS);
    for team in teams(DIM, |_, _| {}) {
        let run = || {
            let mut learner = team.build();
            let played = play(&mut *learner, &script);
            (played, learner.save().unwrap())
        };
        let alone = run();
        let (one, other) = std::thread::scope(|s| {
            let (one, other) = (s.spawn(run), s.spawn(run));
            (one.join().unwrap(), other.join().unwrap())
        });
        assert!(alone == one && one == other, "{}", team.name);
    }
}

/// What bytes are bound to. A Euclidean ball is one whatever it is called.
fn kind(team: &Team) -> (&'static str, String, Storage) {
    let set = match team.set.structure() {
        Structure::Euclidean { .. } if team.storage == Storage::Lazy => "ball",
        _ => team.set.name(),
    };
    (team.learner.entry().name, set.into(), team.storage)
}

/// Nothing but an error may come of these bytes, and nothing may have changed.
fn check_refused(name: &str, what: &str, learner: &mut dyn Learner, bytes: &[u8]) {
    let before = learner.save().unwrap();
    let outcome = learner.load(bytes);
    assert!(outcome.is_err(), "{name}: {what} was loaded");
    assert_eq!(
        learner.save().unwrap(),
        before,
        "{name}: {what} changed the state"
    );
}

#[test]
fn bytes_that_do_not_fit_are_errors_that_change_nothing() {
    let script = script::mixed(3, DIM, 20);
    let teams_here = teams(DIM, |_, _| {});
    let bytes: Vec<Vec<u8>> = teams_here
        .iter()
        .map(|team| {
            let mut learner = team.build();
            play(&mut *learner, &script);
            learner.save().unwrap()
        })
        .collect();
    let other_dims: Vec<Team> = teams(DIM + 1, |_, _| {});
    let mut r = rng(4);
    for (k, team) in teams_here.iter().enumerate() {
        let name = &team.name;
        let mut learner = team.build();
        play(&mut *learner, &script[..5]);
        for (other, bytes) in teams_here.iter().zip(&bytes) {
            if kind(other) != kind(team) {
                check_refused(name, &other.name, &mut *learner, bytes);
            }
        }
        let own = &bytes[k];
        for length in (0..own.len()).step_by(1 + own.len() / 50) {
            check_refused(
                name,
                &format!("{length} bytes of its own"),
                &mut *learner,
                &own[..length],
            );
        }
        let mut longer = own.clone();
        longer.push(0);
        check_refused(name, "its own bytes and one more", &mut *learner, &longer);
        for length in [1, 10, own.len(), 10_000] {
            let noise: Vec<u8> = (0..length)
                .map(|_| (256.0 * uniform(&mut r)) as u8)
                .collect();
            check_refused(name, "noise", &mut *learner, &noise);
        }
        if let Some(wider) = other_dims.iter().find(|t| {
            t.learner == team.learner && t.set.name() == team.set.name() && t.set.dim() != DIM
        }) {
            check_refused(
                name,
                &wider.name,
                &mut *learner,
                &wider.build().save().unwrap(),
            );
        }
    }
}

#[test]
fn bytes_with_a_fault_never_make_a_learner_panic() {
    let script = script::mixed(5, DIM, 20);
    let mut r = rng(6);
    for team in teams(DIM, |_, _| {}) {
        let mut learner = team.build();
        play(&mut *learner, &script);
        let own = learner.save().unwrap();
        for _ in 0..60 {
            let mut broken = own.clone();
            let at = (uniform(&mut r) * own.len() as f64) as usize;
            broken[at] ^= 1 << (uniform(&mut r) * 8.0) as u32;
            let mut victim = team.build();
            let before = victim.save().unwrap();
            if victim.load(&broken).is_err() {
                assert_eq!(victim.save().unwrap(), before, "{}", team.name);
            } else if victim.decide().is_ok() {
                // numbers may be off, or an error say so; that is all
                let _ = victim.observe(&script[0].gradient());
            }
        }
    }
}

#[test]
fn a_default_that_is_written_out_is_no_other_setting() {
    let mut tried = 0;
    for team in teams(DIM, |_, _| {}) {
        for parameter in team.learner.entry().parameters {
            let Some(default) = parameter.default() else {
                continue;
            };
            if team.learner.value(parameter.name).is_some() {
                continue;
            }
            let text = team.learner.to_string();
            let separator = if text.contains(':') { "," } else { ":" };
            let text = format!("{text}{separator}{}={default}", parameter.name);
            let written: LearnerSpec = text.parse().unwrap();
            let mut there = written.build_stored(&team.set, team.storage).unwrap();
            let saved = team.build().save().unwrap();
            assert_eq!(there.load(&saved), Ok(()), "{text}");
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}
