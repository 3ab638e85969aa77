//! Numbers, references and errors as text.

use extremal::learner::LearnerSpec;
use extremal_lab::Error;
use extremal_lab::cite::{all, learner};
use extremal_lab::format::{duration, exponent, fitted, listed, measured};

#[test]
fn durations_have_units() {
    assert_eq!(duration(2.3e-7), "230 ns");
    assert_eq!(duration(1.26e-6), "1.3 µs");
    assert_eq!(duration(0.0421), "42 ms");
    assert_eq!(duration(12.4), "12 s");
}

#[test]
fn exponents_are_fractions_where_theorems_have_them() {
    assert_eq!(exponent(2.0 / 3.0), "2/3");
    assert_eq!(exponent(0.0), "log T");
    assert_eq!(exponent(0.8), "0.80");
    assert_eq!(measured(Some(-0.001)), "0.00");
    assert_eq!(fitted(Some(0.5), Some(0.4), Some(0.6)), "0.50 ±0.10");
    assert_eq!(
        fitted(Some(0.66), Some(0.5), Some(0.68)),
        "0.66 [0.50, 0.68]"
    );
    assert_eq!(fitted(None, None, None), "—");
    assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
}

#[test]
fn every_learner_has_something_to_cite_and_all_holds_it() {
    let all = all();
    for entry in LearnerSpec::ENTRIES {
        let text = learner(entry.name).unwrap();
        assert_eq!(text.matches('@').count(), entry.citations.len());
        for record in text.split("\n\n").skip(1) {
            assert!(all.contains(record.trim()), "{record}");
        }
    }
}

#[test]
fn an_unknown_learner_is_an_error_that_names_those_there_are() {
    let error = learner("nobody").unwrap_err();
    assert!(error.is_usage());
    for entry in LearnerSpec::ENTRIES {
        assert!(error.to_string().contains(entry.name));
    }
}

#[test]
fn a_contradiction_names_the_run_and_ends_the_program_with_code_3() {
    let error = Error::Contradiction {
        place: "ball, ogd, T = 100, seed 1".into(),
        what: "the regret is at least 5 and at most 4".into(),
    };
    assert!(error.is_numerical());
    let text = error.to_string();
    assert!(text.starts_with("internal error: ball, ogd, T = 100, seed 1: the regret is"));
}
