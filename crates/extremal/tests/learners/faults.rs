//! What a caller or an oracle may do wrong: an error each time, and nothing has happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use extremal::Error;
use extremal::learner::Learner;
use extremal::set::affine::AffineSet;
use extremal::set::l2::L2Ball;
use extremal::set::product::ProductSet;
use extremal::set::sum::SumSet;
use extremal::set::{CustomSet, Geometry, Intersection, SetSpec, SharedSet};
use extremal::{Gradient, Row};

use crate::common::{STORAGES, Team, hard_sets, learners, sets, teams, teams_on};
use extremal_check::script::{self, play};

const DIM: usize = 6;

/// Errors on observing, and changes no byte.
fn check_no_effect(name: &str, what: &str, learner: &mut dyn Learner, bad: &Gradient<'_>) -> Error {
    let before = learner.save().unwrap();
    let Err(error) = learner.observe(bad) else {
        panic!("{name}: {what} was accepted");
    };
    assert_eq!(
        learner.save().unwrap(),
        before,
        "{name}: {what} changed the state"
    );
    error
}

fn check_bad_gradients(name: &str, learner: &mut dyn Learner) {
    let dim = learner.dim();
    let good = vec![0.5; dim];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for i in [0, dim - 1] {
            let mut values = good.clone();
            values[i] = bad;
            let error = check_no_effect(name, "a dense row", learner, &Gradient::dense(&values));
            assert!(matches!(error, Error::NotFinite { .. }), "{name}: {error}");
        }
        let (indices, values) = ([0, dim as u32 - 1], [1.0, bad]);
        let sparse = Gradient::sparse(&indices, &values);
        let error = check_no_effect(name, "a sparse row", learner, &sparse);
        assert!(matches!(error, Error::NotFinite { .. }), "{name}: {error}");
        for gradient in [
            Gradient {
                scale: bad,
                ..Gradient::dense(&good)
            },
            Gradient {
                ridge: bad,
                ..Gradient::dense(&good)
            },
            Gradient {
                scale: bad,
                ..Gradient::sparse(&[0], &[1.0])
            },
        ] {
            let error = check_no_effect(name, "a factor", learner, &gradient);
            assert!(matches!(error, Error::NotFinite { .. }), "{name}: {error}");
        }
    }
    for length in [0, dim - 1, dim + 1] {
        let error = check_no_effect(
            name,
            "a length",
            learner,
            &Gradient::dense(&vec![1.0; length]),
        );
        assert!(matches!(error, Error::Size { .. }), "{name}: {error}");
    }
    let out = [dim as u32, u32::MAX];
    for index in out {
        let error = check_no_effect(
            name,
            "an index",
            learner,
            &Gradient::sparse(&[0, index], &[1.0, 1.0]),
        );
        assert!(matches!(error, Error::Index { .. }), "{name}: {error}");
    }
    for (indices, values) in [
        (&[0u32, 1][..], &[1.0][..]),
        (&[0], &[1.0, 2.0]),
        (&[], &[1.0]),
    ] {
        let error = check_no_effect(
            name,
            "a mismatch",
            learner,
            &Gradient::sparse(indices, values),
        );
        assert!(matches!(error, Error::Size { .. }), "{name}: {error}");
    }
    for indices in [[1, 1], [1, 0]] {
        let gradient = Gradient::sparse(&indices, &[1.0, 1.0]);
        let error = check_no_effect(name, "an order", learner, &gradient);
        assert!(matches!(error, Error::Order { .. }), "{name}: {error}");
    }
    let beyond = [dim as u32];
    let entries = |width, rows, columns, values| Gradient {
        row: Row::Entries {
            width,
            rows,
            columns,
            values,
        },
        scale: 1.0,
        ridge: 0.0,
    };
    for bad in [
        entries(2, &[0], &[2], &[1.0]),
        entries(2, &beyond, &[0], &[1.0]),
        entries(2, &[u32::MAX], &[1], &[1.0]),
        entries(0, &[0], &[0], &[1.0]),
        entries(usize::MAX, &[2], &[0], &[1.0]),
        entries(2, &[0, 1], &[0], &[1.0]),
        entries(2, &[0], &[0], &[1.0, 1.0]),
        entries(2, &[0], &[0], &[f64::NAN]),
        entries(2, &[0, 0], &[1, 1], &[1.0, 1.0]),
        entries(2, &[0, 0], &[1, 0], &[1.0, 1.0]),
        entries(1, &[1, 0], &[0, 0], &[1.0, 1.0]),
    ] {
        check_no_effect(name, "matrix entries", learner, &bad);
    }
}

#[test]
fn bad_gradients_and_deciding_twice_change_nothing_and_observe_decides_by_itself() {
    let script = script::mixed(1, DIM, 40);
    for team in teams(DIM, |_, _| {}) {
        let name = &team.name;
        let [mut plain, mut bothered, mut silent] = [(); 3].map(|()| team.build());
        for (k, given) in script.iter().enumerate() {
            let expected = play(&mut *plain, std::slice::from_ref(given));
            let x = crate::common::bits(&crate::common::written(bothered.decide().unwrap()));
            let before = bothered.save().unwrap();
            let twice = crate::common::bits(&crate::common::written(bothered.decide().unwrap()));
            assert_eq!(twice, x, "{name}: decide twice, two decisions");
            assert_eq!(
                bothered.save().unwrap(),
                before,
                "{name}: decide twice changed the state"
            );
            if k % 8 < 2 {
                check_bad_gradients(name, &mut *bothered);
            }
            let record = bothered.observe(&given.gradient()).unwrap();
            let got = vec![(x, script::record_text(&record))];
            assert_eq!(got, expected, "{name}: round {k} differs after errors");
            let alone = silent.observe(&given.gradient()).unwrap();
            let (_, record) = &expected[0];
            assert_eq!(script::record_text(&alone), *record, "{name}: round {k}");
        }
        assert_eq!(bothered.save().unwrap(), plain.save().unwrap(), "{name}");
        assert_eq!(silent.save().unwrap(), plain.save().unwrap(), "{name}");
    }
}

/// The ball of radius 2 by a function that fails whenever `fails` says so of the call's number.
fn failing_ball(fails: fn(u64) -> Option<Fault>) -> (SharedSet, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let geometry = Geometry {
        diameter: 4.0,
        norm_bound: 2.0,
        inner_radius: Some(2.0),
        strong_convexity: Some(0.5),
    };
    let counter = calls.clone();
    let ball = CustomSet::new("ball", DIM, geometry, move |d, v| {
        let norm = extremal::kernel::norm(d);
        for (v, d) in v.iter_mut().zip(d) {
            *v = -2.0 * d / norm;
        }
        match fails(counter.fetch_add(1, Ordering::Relaxed)) {
            None => Ok(()),
            Some(Fault::Error) => Err("out of memory".into()),
            Some(Fault::Nan) => {
                v[3] = f64::NAN;
                Ok(())
            }
        }
    });
    (Arc::new(ball.unwrap()), calls)
}

enum Fault {
    Error,
    Nan,
}

#[test]
fn an_oracle_that_fails_leaves_the_learner_as_it_was() {
    let script = script::mixed(2, DIM, 60);
    let (sound, _) = failing_ball(|_| None);
    let (mut tested, mut total) = (0, 0);
    for (text, spec) in learners() {
        for storage in STORAGES {
            let Ok(mut plain) = spec.build_stored(&sound, storage) else {
                continue;
            };
            // often at first; then seldom enough for a round of many calls to succeed
            let (faulty, calls) = failing_ball(|call| match (call % 1000 < 100, call % 7) {
                (true, 3) => Some(Fault::Error),
                (true, 5) => Some(Fault::Nan),
                _ => None,
            });
            let mut tried = spec.build_stored(&faulty, storage).unwrap();
            for given in &script {
                let expected = play(&mut *plain, std::slice::from_ref(given));
                let x = crate::common::written(tried.decide().unwrap());
                let record = loop {
                    let before = tried.save().unwrap();
                    match tried.observe(&given.gradient()) {
                        Ok(record) => break record,
                        Err(e) => assert!(
                            matches!(e, Error::Oracle { .. } | Error::NotFinite { .. }),
                            "{text}: {e}"
                        ),
                    }
                    assert_eq!(
                        tried.save().unwrap(),
                        before,
                        "{text}: a failed call left traces"
                    );
                };
                let got = vec![(crate::common::bits(&x), script::record_text(&record))];
                assert_eq!(got, expected, "{text}");
            }
            assert_eq!(tried.save().unwrap(), plain.save().unwrap(), "{text}");
            tested += 1;
            total += calls.load(Ordering::Relaxed);
        }
    }
    assert!(tested > 5 && total > 100);
}

/// Whatever a learner asks of its set, it asks before the first round: what is built plays.
#[test]
fn a_set_that_lacks_what_a_learner_needs_is_refused_when_the_learner_is_built() {
    let mut all: Vec<(String, SharedSet)> = Vec::new();
    for named in sets(DIM).into_iter().chain(hard_sets(DIM)) {
        all.push((named.name, named.set));
    }
    let build = |text: &str| text.parse::<SetSpec>().unwrap().build(Some(DIM)).unwrap();
    let met = Intersection::new(vec![build("l2"), build("box:lower=-0.7,upper=0.3")]).unwrap();
    let met = met.shared();
    let ball: SharedSet = Arc::new(L2Ball::new(DIM, 1.0).unwrap());
    let mut without: Vec<(&str, SharedSet)> = vec![("intersection", met.clone())];
    without.push((
        "scaled",
        Arc::new(AffineSet::scaled(met.clone(), 2.0).unwrap()),
    ));
    let parts = vec![met.clone(), ball.clone()];
    without.push(("product", Arc::new(ProductSet::new(parts.clone()).unwrap())));
    without.push(("sum", Arc::new(SumSet::new(parts).unwrap())));
    all.extend(without.into_iter().map(|(name, set)| (name.into(), set)));
    let bare = CustomSet::new("bare", DIM, ball.geometry(), |direction, v| {
        v.fill(0.0);
        v[0] = -direction[0].signum();
        Ok(())
    });
    all.push(("bare".into(), Arc::new(bare.unwrap())));
    let (mut built, mut refused) = (0, 0);
    for (place, set) in &all {
        for (text, spec) in learners() {
            let name = format!("{text} on {place}");
            match spec.build(set) {
                Ok(mut learner) => {
                    for _ in 0..3 {
                        let played = learner.decide().map(|_| ()).and_then(|()| {
                            learner.observe(&Gradient::dense(&vec![0.5; set.dim()]))
                        });
                        played.unwrap_or_else(|error| panic!("{name}: {error}"));
                    }
                    built += 1;
                }
                Err(Error::CannotPlay { .. }) => refused += 1,
                // a number that the user may know
                Err(Error::Missing { name: "rho", .. }) => {}
                Err(error) => panic!("{name}: {error:?}"),
            }
        }
    }
    println!("{built} built, {refused} refused");
    assert!(built > 500 && refused > 100);
}

#[test]
fn what_does_not_go_together_is_refused_in_words() {
    let mut refused = 0;
    for dim in [1, DIM] {
        teams(dim, |name, error| {
            refused += 1;
            assert!(
                matches!(
                    error,
                    Error::Unsupported(_) | Error::CannotPlay { .. } | Error::Missing { .. }
                ),
                "{name}: {error:?}"
            );
            assert!(error.to_string().len() > 20, "{name}: {error}");
        });
    }
    assert!(refused > 0);
    // a learner's need for a constant is told by the constant's name, on a set that it can play
    let teams = teams(DIM, |_, _| {});
    for (text, spec) in learners() {
        let bare = spec
            .entry()
            .name
            .parse::<extremal::learner::LearnerSpec>()
            .unwrap();
        let plays = |team: &&Team| team.learner == spec;
        let Team { set, .. } = teams.iter().find(plays).unwrap();
        if let Err(error) = bare.build(set) {
            assert!(matches!(error, Error::Missing { .. }), "{text}: {error:?}");
        }
    }
}

#[test]
fn a_gradient_out_of_range_changes_nothing() {
    let mut refused = 0;
    for team in teams_on(hard_sets(DIM), |_, _| {}) {
        let mut learner = team.build();
        play(&mut *learner, &script::mixed(4, DIM, 5));
        learner.decide().unwrap();
        for huge in [1e100, 1e101, 1e200, 1e308] {
            let before = learner.save().unwrap();
            let (indices, values) = (&[0, 3][..], &[huge, -huge][..]);
            for gradient in [
                Gradient::dense(&[huge; DIM]),
                Gradient::sparse(indices, values),
                Gradient {
                    scale: huge,
                    ..Gradient::sparse(indices, &[1.0, 1.0])
                },
            ] {
                let error = learner.observe(&gradient).unwrap_err();
                let name = &team.name;
                assert!(matches!(error, Error::Range { .. }), "{name}: {error}");
                assert_eq!(learner.save().unwrap(), before, "{name}: {huge:e}");
                refused += 1;
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn a_guarantee_never_promises_less_than_nothing() {
    for team in teams(DIM, |_, _| {}) {
        let mut learner = team.build();
        for given in script::mixed(3, DIM, 30) {
            if let Some(guarantee) = learner.guarantee() {
                let mut last = 0.0;
                for rounds in [0.0, 1.0, 2.0, 10.0, 1e3, 1e9] {
                    let bound = guarantee.bound(rounds);
                    assert!(
                        bound >= last,
                        "{}: {bound} after {rounds}, {last} before",
                        team.name
                    );
                    last = bound;
                }
            }
            play(&mut *learner, std::slice::from_ref(&given));
        }
    }
}
