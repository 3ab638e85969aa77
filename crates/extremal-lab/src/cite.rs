//! The papers that the learners come from, as BibTeX records.

use extremal::learner::LearnerSpec;
use extremal::references;

use crate::{Error, Result};

/// The papers that the learner with this name comes from, as BibTeX records. The records follow a
/// comment line, which BibTeX ignores.
pub fn learner(name: &str) -> Result<String> {
    let mut entries = LearnerSpec::ENTRIES.iter();
    let Some(entry) = entries.find(|entry| entry.name == name) else {
        let names: Vec<_> = LearnerSpec::ENTRIES.iter().map(|e| e.name).collect();
        return Err(Error::Usage(format!(
            "there is no learner `{name}`; the learners are {}",
            names.join(", ")
        )));
    };
    let records = entry.citations.iter().filter_map(|k| references::record(k));
    let records: Vec<_> = records.collect();
    let heading = format!("% {name}: {}", entry.reference);
    Ok(format!("{heading}\n\n{}\n", records.join("\n\n")))
}

/// All papers as BibTeX records. A comment line before each record names the learners that come from
/// the paper.
pub fn all() -> String {
    let records = references::records().map(|(key, record)| {
        let learners = LearnerSpec::ENTRIES.iter();
        let learners = learners.filter(|entry| entry.citations.contains(&key));
        let learners: Vec<_> = learners.map(|entry| entry.name).collect();
        format!("% {}\n{record}\n", learners.join(", "))
    });
    records.collect::<Vec<_>>().join("\n")
}
