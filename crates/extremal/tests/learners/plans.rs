//! Discarded and failed rounds where an oracle starts from the last atom; and states of other
//! settings, which are refused.

use std::sync::Arc;

use extremal::Gradient;
use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::set::{CustomSet, Set, SetSpec, SharedSet, l2::L2Ball};
use extremal::{Error, kernel};

const DIM: usize = 6;

/// The unit ball by an oracle that comes half way from the atom handed in to the minimiser, and
/// fails for directions whose last entry is negative after it has written to the atom.
fn half_way() -> SharedSet {
    let geometry = L2Ball::new(DIM, 1.0).unwrap().geometry();
    let oracle = |direction: &[f64], v: &mut [f64]| {
        let norm = kernel::norm(direction);
        for (v, d) in v.iter_mut().zip(direction) {
            *v = 0.5 * (*v - d / norm);
        }
        match direction[DIM - 1] < 0.0 {
            true => Err("no answer".into()),
            false => Ok(Some(-norm)),
        }
    };
    Arc::new(CustomSet::inexact("half-way", DIM, geometry, oracle).unwrap())
}

#[test]
fn discarded_and_failed_rounds_leave_no_trace_in_an_iterative_oracles_start() {
    for text in [
        "ofw-ls:horizon=60,gradient-bound=9",
        "ofw-free",
        "gauge-ftrl",
    ] {
        let spec = text.parse::<LearnerSpec>().unwrap();
        let build = || spec.build(&half_way()).unwrap();
        let (mut plain, mut planned) = (build(), build());
        let (mut failed, mut discarded) = (0, 0);
        for t in 0..60_i32 {
            let gradient = |k: i32| -> [f64; DIM] {
                std::array::from_fn(|i| f64::from((t * k + 3 * i as i32) % 7 - 3))
            };
            let mut given = gradient(5);
            given[DIM - 1] = 4.0;
            for k in [2, 3] {
                let mut other = gradient(k);
                other[DIM - 1] *= 1000.0;
                match planned.plan(&Gradient::dense(&other)) {
                    Ok(_) => discarded += 1,
                    Err(Error::Oracle { .. }) => failed += 1,
                    Err(error) => panic!("{text}: {error}"),
                }
                planned.discard();
            }
            let saved = planned.save().unwrap();
            planned = build();
            planned.load(&saved).unwrap();
            let given = Gradient::dense(&given);
            let (a, b) = (plain.observe(&given), planned.observe(&given));
            assert_eq!(a.is_ok(), b.is_ok(), "{text}, {t}");
            assert_eq!(
                plain.save().unwrap(),
                planned.save().unwrap(),
                "{text}, {t}"
            );
        }
        assert!(
            failed > 10 && discarded > 10,
            "{text}: {failed} {discarded}"
        );
    }
}

fn learner(text: &str) -> Box<dyn Learner> {
    let set = "l2:dim=3".parse::<SetSpec>().unwrap().build(None).unwrap();
    let spec = text.parse::<LearnerSpec>().unwrap();
    spec.build_stored(&set, Storage::Dense).unwrap()
}

#[test]
fn a_state_of_other_settings_is_refused() {
    for (one, other) in [
        (
            "ofw-ls:horizon=1000,gradient-bound=1",
            "ofw-ls:horizon=9000000,gradient-bound=1",
        ),
        ("ofw-ls", "ofw"),
        ("sc-ofw:lambda=0.1", "sc-ofw:lambda=0.2"),
        ("ogd:gradient-bound=1", "ogd:gradient-bound=2"),
        ("ogd", "dual-averaging"),
        ("coin-ftrl", "coin-ftrl:stake=0.5"),
        ("delayed:delay=3", "delayed:delay=4"),
        (
            "ons:exp-concavity=0.1,gradient-bound=1",
            "ons:exp-concavity=0.2,gradient-bound=1",
        ),
        ("fpl:seed=1", "fpl:seed=2"),
        (
            "hedge:base=(ofw-free),grid=[1,2]",
            "hedge:base=(ofw-free),grid=[1,3]",
        ),
    ] {
        let mut from = learner(one);
        from.observe(&Gradient::dense(&[1.0, 0.5, 0.0])).unwrap();
        let saved = from.save().unwrap();
        let mut to = learner(other);
        let before = to.save().unwrap();
        let error = to.load(&saved).unwrap_err();
        assert!(matches!(error, Error::State(_)), "{error}");
        assert_eq!(to.save().unwrap(), before, "{other}");
        learner(one).load(&saved).unwrap();
    }
}

#[test]
fn no_changed_bit_is_loaded() {
    for text in [
        "ofw-ls:horizon=1000,gradient-bound=1",
        "coin-ftrl",
        "dual-averaging",
        "hedge:base=(ofw-free),grid=[1,2]",
    ] {
        let mut from = learner(text);
        for k in 0..5 {
            let row = [1.0, 0.5 - k as f64, 0.25];
            from.observe(&Gradient::dense(&row)).unwrap();
        }
        let saved = from.save().unwrap();
        let mut to = learner(text);
        let before = to.save().unwrap();
        for bit in 0..8 * saved.len() {
            let mut changed = saved.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(to.load(&changed).is_err(), "{text}: bit {bit}");
        }
        for end in 0..saved.len() {
            assert!(to.load(&saved[..end]).is_err(), "{text}: cut at {end}");
        }
        assert_eq!(to.save().unwrap(), before, "{text}");
        to.load(&saved).unwrap();
    }
}
