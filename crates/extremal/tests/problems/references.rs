//! The records of papers, and who cites them.

use extremal::references::{ALL, record, records};
use extremal::spec::Entry;
use extremal::{LearnerSpec, LossSpec, SetSpec, StreamSpec};

/// Of all kinds.
fn entries() -> impl Iterator<Item = &'static Entry> {
    let kinds = [SetSpec::ENTRIES, LossSpec::ENTRIES, StreamSpec::ENTRIES];
    let kinds = kinds.into_iter().flatten();
    kinds.chain(LearnerSpec::ENTRIES)
}

#[test]
fn every_learner_cites_something_and_what_is_cited_is_on_record() {
    for entry in LearnerSpec::ENTRIES {
        assert!(!entry.citations.is_empty(), "{}", entry.name);
    }
    for entry in entries() {
        for key in entry.citations {
            assert!(record(key).is_some(), "{}: {key}", entry.name);
        }
    }
}

#[test]
fn every_record_is_cited() {
    for (key, _) in records() {
        let cited = entries().any(|entry| entry.citations.contains(&key));
        assert!(cited, "{key}");
    }
}

#[test]
fn a_learner_of_this_project_says_so_in_both_places() {
    for entry in LearnerSpec::ENTRIES {
        let ours = entry.reference.starts_with("this project");
        assert_eq!(
            ours,
            entry.citations.contains(&"Extremal"),
            "{}",
            entry.name
        );
    }
}

#[test]
fn records_are_well_formed_and_their_keys_distinct() {
    let mut seen = Vec::new();
    for (key, record) in records() {
        assert!(!seen.contains(&key), "{key} twice");
        seen.push(key);
        let balance =
            |open: char, close: char| record.matches(open).count() == record.matches(close).count();
        assert!(
            record.starts_with('@') && record.ends_with("\n}") && balance('{', '}'),
            "{record}"
        );
        assert!(record.is_ascii(), "{key}: letters beyond ASCII are TeX's");
        let has = |field: &str| record.contains(&format!("\n  {field} "));
        assert!(has("title"), "{key}");
        assert!(key == "Extremal" || has("author") && has("year"), "{key}");
    }
    assert!(seen[1..].is_sorted(), "the records are not in order");
    assert_eq!(seen.len(), ALL.matches('@').count());
}
