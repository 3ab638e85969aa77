//! The score of a model on a test file.

use std::path::Path;

use extremal_data::{Next, OnError, ReadOptions, Reader};
use serde_json::{Value, json};

use crate::error::{Error, Result, finite};
use crate::format;
use crate::run::Host;
use crate::session::Session;
use crate::signs::Signs;
use crate::stream::name_of;
use crate::tally::Tally;

/// The score of a session on a test file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Score {
    tally: Tally,
    weight: f64,
    /// The weighted loss. `None` with classes, whose loss is the error rate.
    loss: Option<f64>,
    skipped: u64,
    /// Warnings about the file.
    pub notes: Vec<String>,
}

/// Scores a session on a test file. `None` if the host stops the run.
pub(crate) fn test(
    session: &Session,
    path: &Path,
    read: &ReadOptions,
    host: &dyn Host,
) -> Result<Option<Score>> {
    let loss = session.objective.loss();
    let by_class = session.learns_classes();
    let file = name_of(Some(path));
    let mut score = Score {
        tally: Tally::new(&session.plan, loss.labels()),
        ..Score::default()
    };
    let mut signs = Signs::default();
    let read = &ReadOptions {
        frozen: true,
        ..read.clone()
    };
    let mut sum = 0.0;
    let mut reader = Reader::open(Some(path), read)?;
    loop {
        let batch = match reader.next_unless(&|| host.is_stopped())? {
            Next::Batch(batch) => batch,
            Next::Stopped => return Ok(None),
            Next::End => break,
        };
        for example in batch.iter() {
            if host.is_stopped() {
                return Ok(None);
            }
            if session.lacks_label(&example) {
                continue;
            }
            if !by_class {
                match signs.with(&**loss, example.label) {
                    Ok(known) => signs = known,
                    Err(_) if read.on_error == OnError::Skip => {
                        score.skipped += 1;
                        continue;
                    }
                    Err(error) => return Err(Error::at_line(error, &file, &example)),
                }
            }
            let label = example.label.unwrap_or(f64::NAN);
            let prediction = session.predict(&example);
            let prediction = prediction.map_err(|e| Error::at_line(e, &file, &example))?;
            let prediction = finite("prediction", prediction, &file, &example)?;
            if !by_class {
                let value = finite("loss", loss.at(prediction, label).0, &file, &example)?;
                sum += example.weight * value;
            }
            score.weight += example.weight;
            score.tally.add(example.weight, prediction, label);
        }
    }
    score.loss = (!by_class).then_some(sum);
    score.skipped += reader.skipped();
    score.notes = reader.warnings();
    Ok(Some(score))
}

impl Score {
    /// A line for a person.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        if self.weight == 0.0 {
            parts.push("no examples".into());
        } else {
            let loss = self.loss.map(|loss| format::fixed(loss / self.weight));
            parts.extend(loss.map(|loss| format!("loss {loss}")));
            let entries = self.tally.entries();
            parts.extend(entries.map(|(name, value)| format!("{name} {value}")));
        }
        if self.skipped > 0 {
            parts.push(format!("{} skipped", format::count(self.skipped)));
        }
        parts.join(", ")
    }

    /// A JSON object. Rates are fractions. Undefined numbers are null.
    pub fn json(&self) -> Value {
        let mut object = json!({ "weight": self.weight });
        if let Some(loss) = self.loss {
            object["loss"] = (loss / self.weight).into();
        }
        self.tally.add_to(&mut object);
        object["skipped"] = self.skipped.into();
        object
    }
}
