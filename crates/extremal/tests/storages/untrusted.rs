//! Saved states are checked before they are taken: one whose numbers can't be is refused, and
//! nothing has changed.

use std::sync::Arc;

use crate::common::{normals, rng};
use extremal::pair::{DensePair, Gradient, LazyPair, Motion, Pair, Update};
use extremal::set::{SetSpec, SharedSet};

fn set(text: &str) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(Some(4)).unwrap()
}

/// After some rounds, one of them afresh, so that everything is in use.
fn played<P: Pair>(mut pair: P) -> P {
    pair.start(2.0);
    let mut r = rng(1);
    for k in 0..20 {
        let g = normals(&mut r, 4);
        let gradient = Gradient::dense(&g);
        let update = Update::new(0.1, &gradient, 2.0);
        let update = if k == 7 { update.afresh() } else { update };
        let probe = pair.probe(&update, true).unwrap();
        pair.commit(Motion::Step(probe.line_search()));
    }
    pair
}

/// Loads the pair's own bytes with the 8 bytes at `at` changed.
fn try_with(pair: &mut impl Pair, at: usize, number: f64) -> extremal::Result<()> {
    let own = pair.save().unwrap();
    let mut bytes = own.clone();
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
    let outcome = pair.load(&bytes);
    match outcome {
        Ok(()) => pair.load(&own).unwrap(),
        Err(_) => assert_eq!(pair.save().unwrap(), own, "an error changed the state"),
    }
    outcome
}

/// Where a number stands in a pair's bytes.
fn find(pair: &impl Pair, number: f64) -> usize {
    let bytes = pair.save().unwrap();
    let all = bytes.windows(8).enumerate();
    let found: Vec<usize> = all
        .filter(|(_, w)| *w == number.to_le_bytes())
        .map(|(i, _)| i)
        .collect();
    assert!(!found.is_empty(), "{number} is not there");
    *found.last().unwrap()
}

const WRONG: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn a_dense_state_with_a_wrong_norm_scale_or_centre_is_refused() {
    for text in ["l2:radius=3", "lp:p=1.5", "box:lower=0,upper=3", "simplex"] {
        let mut pair = played(DensePair::new(set(text), None).unwrap());
        // from the end: ‖x‖², the scale, x₁
        let end = pair.save().unwrap().len();
        let (norm, scale, origin) = (end - 8, end - 16, end - 24);
        for number in WRONG {
            for (what, at) in [("norm", norm), ("scale", scale), ("centre", origin)] {
                assert!(
                    try_with(&mut pair, at, number).is_err(),
                    "{text}: {what} {number}"
                );
            }
        }
        for number in [-1.0, 1e3, f64::MAX] {
            assert!(try_with(&mut pair, norm, number).is_err(), "{text}");
        }
        for number in [0.0, -1.0] {
            assert!(try_with(&mut pair, scale, number).is_err(), "{text}");
        }
        assert!(try_with(&mut pair, origin, 100.0).is_err(), "{text}");
        // and its own are taken
        let own = extremal::pair::Point::norm_squared(&pair);
        assert_eq!(find(&pair, own), norm);
        try_with(&mut pair, norm, own).unwrap();
    }
}

#[test]
fn a_dense_state_with_a_decision_or_sum_that_cannot_be_is_refused() {
    let mut pair = played(DensePair::new(set("l2:radius=3"), None).unwrap());
    for value in [pair.decision()[2], pair.gradient_sum()[2]] {
        let at = find(&pair, value);
        for number in WRONG {
            assert!(try_with(&mut pair, at, number).is_err(), "{number}");
        }
    }
    let at = find(&pair, pair.decision()[2]);
    assert!(try_with(&mut pair, at, 1e3).is_err());
}

#[test]
fn a_lazy_state_with_numbers_that_cannot_be_is_refused() {
    let mut pair = played(LazyPair::new(set("l2:radius=3"), None).unwrap());
    let own = pair.save().unwrap();
    let (mut numbers, mut refused) = (0, 0);
    for at in 8..own.len() - 8 {
        let here = f64::from_le_bytes(own[at..at + 8].try_into().unwrap());
        // numbers of this run, wherever they stand, rather than bytes across two
        if !(here.abs() > 1e-6 && here.abs() < 1e6) {
            continue;
        }
        numbers += 1;
        refused += u32::from(try_with(&mut pair, at, f64::NAN).is_err());
    }
    // Bytes across two numbers may happen to look like one, and counters are no such numbers.
    assert!(
        numbers >= 15 && refused + 5 >= numbers,
        "{refused} of {numbers}"
    );
}

#[test]
fn states_that_are_fine_are_taken_at_any_scale() {
    for text in [
        "l2:radius=1e50",
        "l2:radius=1e-50",
        "lp:p=3,radius=1e50",
        "lp:p=1.5,radius=1e-50",
        "box:lower=1000,upper=1000.001",
        "simplex:total=1e50",
    ] {
        let pair = played(DensePair::new(set(text), None).unwrap());
        let saved = pair.save().unwrap();
        let mut other = DensePair::new(set(text), None).unwrap();
        other.load(&saved).unwrap();
        assert_eq!(other.save().unwrap(), saved, "{text}");
    }
    let ball: SharedSet = Arc::clone(&set("l2:radius=1e50"));
    let pair = played(LazyPair::new(ball.clone(), None).unwrap());
    let mut other = LazyPair::new(ball, None).unwrap();
    other.load(&pair.save().unwrap()).unwrap();
}
