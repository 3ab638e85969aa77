//! The score of a model on a test file: loss, accuracy and AUC, or RMSE.

use std::path::Path;

use extremal_data::{Next, OnError, ReadOptions, Reader};
use serde_json::{Value, json};

use crate::error::{Error, Result, finite};
use crate::format;
use crate::run::Host;
use crate::session::Session;
use crate::signs::Signs;
use crate::stream::name_of;

/// Scores a session on a test file. `None` if the host stops the run.
pub(crate) fn test(
    session: &Session,
    path: &Path,
    read: &ReadOptions,
    host: &dyn Host,
) -> Result<Option<Score>> {
    let plan = &session.plan;
    let kind = match (session.learns_classes(), plan.takes_signs()) {
        (true, _) => Kind::Classes,
        (false, true) => Kind::Signs,
        (false, false) => Kind::Numbers,
    };
    let loss = session.objective.loss();
    let file = name_of(Some(path));
    let mut score = Score {
        kind,
        ..Score::default()
    };
    let mut signs = Signs::default();
    let read = &ReadOptions {
        frozen: true,
        ..read.clone()
    };
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
            if kind != Kind::Classes {
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
            let value = match kind {
                Kind::Classes => 0.0,
                Kind::Signs | Kind::Numbers => loss.at(prediction, label).0,
            };
            let value = finite("loss", value, &file, &example)?;
            score.add(example.weight, value, prediction, label);
        }
    }
    score.skipped += reader.skipped();
    score.notes = reader.warnings();
    Ok(Some(score))
}

/// Weighted sums over the examples of a test file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Score {
    kind: Kind,
    weight: f64,
    loss: f64,
    right: f64,
    squares: f64,
    /// Prediction, weight, and whether the label is positive, for the AUC.
    ranked: Vec<(f64, f64, bool)>,
    skipped: u64,
    /// Warnings about the file.
    pub notes: Vec<String>,
}

/// The kind of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    /// ±1.
    Signs,
    /// Indices of classes.
    Classes,
    #[default]
    Numbers,
}

impl Score {
    /// Adds an example.
    fn add(&mut self, weight: f64, loss: f64, prediction: f64, label: f64) {
        self.weight += weight;
        self.loss += weight * loss;
        match self.kind {
            Kind::Signs => {
                let positive = label > 0.0;
                // A prediction of 0 is half right.
                self.right += weight
                    * match prediction {
                        0.0 => 0.5,
                        _ => f64::from((prediction > 0.0) == positive),
                    };
                self.ranked.push((prediction, weight, positive));
            }
            Kind::Classes => self.right += weight * f64::from(prediction == label),
            Kind::Numbers => self.squares += weight * (prediction - label).powi(2),
        }
    }

    /// The averages, by name. The AUC is NaN if a label is missing.
    fn averages(&mut self) -> Vec<(&'static str, f64)> {
        let loss = ("loss", self.loss / self.weight);
        let accuracy = ("accuracy", self.right / self.weight);
        match self.kind {
            Kind::Signs => vec![loss, accuracy, ("auc", self.auc().unwrap_or(f64::NAN))],
            Kind::Classes => vec![accuracy],
            Kind::Numbers => vec![loss, ("rmse", (self.squares / self.weight).sqrt())],
        }
    }

    /// A line for a person.
    pub fn describe(&mut self) -> String {
        let mut parts: Vec<String> = match self.weight {
            0.0 => vec!["no examples".into()],
            _ => self.averages().into_iter().map(shown).collect(),
        };
        if self.skipped > 0 {
            parts.push(format!("{} skipped", format::count(self.skipped)));
        }
        parts.join(", ")
    }

    /// A JSON object. The accuracy is a fraction. Undefined numbers are null.
    pub fn json(&mut self) -> Value {
        let mut object = json!({ "weight": self.weight });
        for (name, average) in self.averages() {
            object[name] = average.into();
        }
        object["skipped"] = self.skipped.into();
        object
    }

    /// The probability that a positive example ranks above a negative one. Ties count half.
    fn auc(&mut self) -> Option<f64> {
        self.ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut below, mut positive, mut won) = (0.0, 0.0, 0.0);
        let mut i = 0;
        while i < self.ranked.len() {
            let (mut p, mut n) = (0.0, 0.0);
            let score = self.ranked[i].0;
            loop {
                let (_, weight, is_positive) = self.ranked[i];
                *if is_positive { &mut p } else { &mut n } += weight;
                i += 1;
                if self.ranked.get(i).is_none_or(|next| next.0 != score) {
                    break;
                }
            }
            won += p * (below + 0.5 * n);
            below += n;
            positive += p;
        }
        (below > 0.0 && positive > 0.0).then(|| won / (below * positive))
    }
}

/// An average in words.
fn shown((name, average): (&str, f64)) -> String {
    match name {
        "accuracy" => format!("accuracy {:.2} %", 100.0 * average),
        "auc" if average.is_nan() => "AUC needs both labels".into(),
        "auc" => format!("AUC {average:.5}"),
        "rmse" => format!("RMSE {}", format::fixed(average)),
        _ => format!("{name} {}", format::fixed(average)),
    }
}
