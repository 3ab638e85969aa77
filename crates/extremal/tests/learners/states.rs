//! A corpus of saved states, in `tests/states`: one file per version, one line per learner and
//! storage. A build reads the states of its own version and refuses all others. It never reads
//! other numbers out of them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use extremal::learner::skeleton::STATE_VERSION;
use extremal::learner::{Learner, LearnerSpec};
use extremal::set::SetSpec;
use extremal::{Example, Gradient, LossSpec, Objective, Row};
use serde::{Deserialize, Serialize};

use crate::common::{STORAGES, distance, written};

const DIM: usize = 4;
const BEFORE: u32 = 12;
const AFTER: u32 = 8;

const NEW: &str = "For a new learner, run \
    `STATES=overwrite cargo test -p extremal --test learners states`, which adds its states";

const HELP: &str = "If what a learner saves has changed on purpose, raise STATE_VERSION in \
    src/saved.rs. Then run \
    `STATES=overwrite cargo test -p extremal --test learners states` and add the new file";

/// A state after [`BEFORE`] rounds, and the decision [`AFTER`] more rounds later.
#[derive(Serialize, Deserialize)]
struct Line {
    learner: String,
    set: String,
    storage: String,
    state: String,
    decision: Vec<f64>,
}

impl Line {
    fn key(&self) -> (String, String) {
        (self.learner.clone(), self.storage.clone())
    }

    fn bytes(&self) -> Vec<u8> {
        let digits = self.state.as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/states")
}

fn play(learner: &mut dyn Learner, rounds: std::ops::Range<u32>) {
    let squared = "squared".parse::<LossSpec>().unwrap().build().unwrap();
    let squared = Objective::new(squared, 0.0).unwrap();
    for t in rounds {
        let entry = |i: u32| f64::from((t * 7 + i * 3) % 11) / 11.0 - 0.3;
        learner.decide().unwrap();
        let mut entries = [(t % 4, entry(0)), ((t + 1) % 4, entry(1))];
        entries.sort_unstable_by_key(|entry| entry.0);
        let (indices, values) = (entries.map(|e| e.0), entries.map(|e| e.1));
        if learner.by_example().is_some() {
            let row = Row::sparse(&indices, &values);
            let example = Example::new(row, entry(2), 1.0, &squared).unwrap();
            learner.learn(&example).unwrap();
            continue;
        }
        let gradient = Gradient {
            ridge: 0.1,
            ..Gradient::sparse(&indices, &values)
        };
        learner.observe(&gradient).unwrap();
    }
}

/// Every learner's first example in every storage, on the first of a few sets that it plays.
fn present() -> Vec<Line> {
    let mut lines = Vec::new();
    for entry in LearnerSpec::ENTRIES {
        let text = entry.examples[0];
        let spec: LearnerSpec = text.parse().unwrap();
        for storage in STORAGES {
            let built = ["l2", "simplex", "l1", "lp:p=3", "unit-free"]
                .iter()
                .find_map(|set| {
                    let shared = set.parse::<SetSpec>().unwrap().build(Some(DIM)).unwrap();
                    Some((set, spec.build_stored(&shared, storage).ok()?))
                });
            let Some((set, mut learner)) = built else {
                assert_ne!(storage, STORAGES[0], "{text} plays none of the sets");
                continue;
            };
            play(&mut *learner, 0..BEFORE);
            let state = learner.save().unwrap();
            play(&mut *learner, BEFORE..BEFORE + AFTER);
            lines.push(Line {
                learner: text.into(),
                set: set.to_string(),
                storage: format!("{storage:?}"),
                state: state.iter().map(|byte| format!("{byte:02x}")).collect(),
                decision: written(learner.decision()),
            });
        }
    }
    lines
}

fn check_loads(line: &Line) {
    let Line { learner, set, .. } = line;
    let name = format!("{learner} on {set}, {}", line.storage);
    let spec: LearnerSpec = learner.parse().unwrap_or_else(|e| panic!("{e}. {HELP}"));
    let shared = set.parse::<SetSpec>().unwrap().build(Some(DIM)).unwrap();
    let storage = STORAGES
        .into_iter()
        .find(|s| format!("{s:?}") == line.storage);
    let mut learner = spec.build_stored(&shared, storage.unwrap()).unwrap();
    if let Err(error) = learner.load(&line.bytes()) {
        panic!("{name}: {error}. {HELP}");
    }
    assert_eq!(learner.rounds(), u64::from(BEFORE), "{name}");
    play(&mut *learner, BEFORE..BEFORE + AFTER);
    // another machine's logarithms and powers may differ in the last bits
    let off = distance(&written(learner.decision()), &line.decision);
    assert!(
        off <= 1e-9,
        "{name}: the decision is off by {off:e}. {HELP}"
    );
}

#[test]
fn states_of_this_version_go_on_as_they_did_and_others_are_refused() {
    let own = folder().join(format!("{STATE_VERSION}.jsonl"));
    let present = present();
    if std::env::var("STATES").is_ok_and(|v| v == "overwrite") {
        // What is kept stays as it is: the last bits may be another machine's.
        let mut text = std::fs::read_to_string(&own).unwrap_or_default();
        let kept = text
            .lines()
            .map(|l| serde_json::from_str::<Line>(l).unwrap());
        let kept: BTreeSet<_> = kept.map(|line| line.key()).collect();
        for line in present.iter().filter(|line| !kept.contains(&line.key())) {
            text += &(serde_json::to_string(line).unwrap() + "\n");
        }
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(&own, text).unwrap();
    }
    let mut kept = BTreeSet::new();
    for file in std::fs::read_dir(folder()).unwrap() {
        let path = file.unwrap().path();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let line: Line = serde_json::from_str(line).unwrap();
            if path == own {
                check_loads(&line);
                kept.insert(line.key());
                continue;
            }
            let any = "l2".parse::<SetSpec>().unwrap().build(Some(DIM)).unwrap();
            let mut any = "ofw-ls"
                .parse::<LearnerSpec>()
                .unwrap()
                .build(&any)
                .unwrap();
            let error = any.load(&line.bytes()).unwrap_err().to_string();
            assert!(error.contains("version"), "{}: {error}", path.display());
        }
    }
    for line in &present {
        let key = line.key();
        assert!(kept.contains(&key), "no state of {key:?} is kept. {NEW}");
    }
}
