//! The score of a model on a test file: loss, accuracy and AUC, or RMSE.

use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;

use extremal_data::{Next, OnError, ReadOptions, Reader};
use serde_json::{Value, json};

use crate::error::{Error, Result, finite};
use crate::format;
use crate::run::Host;
use crate::session::Session;
use crate::signs::Signs;
use crate::stream::{PATIENCE, name_of};

/// Scores a session on a test file. `None` if the host stops it.
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
    let mut score = Score::new(kind);
    let mut signs = Signs::default();
    let Some(mut reader) = open(path, read, host)? else {
        return Ok(None);
    };
    while !host.is_stopped() {
        let batch = match reader.next_within(PATIENCE)? {
            Next::Batch(batch) => batch,
            Next::Nothing => continue,
            Next::End => {
                score.skipped += reader.skipped();
                score.notes = reader.warnings();
                return Ok(Some(score));
            }
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
    Ok(None)
}

/// Opens a file on another thread, since a pipe without a writer blocks. `None` if the host stops it.
fn open(path: &Path, read: &ReadOptions, host: &dyn Host) -> Result<Option<Reader>> {
    let (sender, opened) = std::sync::mpsc::channel();
    let (file, read) = (path.to_path_buf(), read.clone());
    std::thread::spawn(move || {
        // After a stop, the result is not needed.
        let _ = sender.send(Reader::open(Some(&file), &read));
    });
    loop {
        match opened.recv_timeout(PATIENCE) {
            Ok(reader) => return Ok(Some(reader?)),
            Err(RecvTimeoutError::Timeout) if !host.is_stopped() => {}
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::content(&name_of(Some(path)), "can't be opened"));
            }
        }
    }
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
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

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

    /// A line for a person.
    pub fn describe(&mut self) -> String {
        let loss = format::fixed(self.loss / self.weight);
        let accuracy = 100.0 * self.right / self.weight;
        let mut text = match self.kind {
            _ if self.weight == 0.0 => "no examples".into(),
            Kind::Signs => {
                let auc = match self.auc() {
                    Some(auc) => format!("AUC {auc:.5}"),
                    None => "AUC needs both labels".into(),
                };
                format!("loss {loss}, accuracy {accuracy:.2} %, {auc}")
            }
            Kind::Classes => format!("accuracy {accuracy:.2} %"),
            Kind::Numbers => {
                let rmse = format::fixed((self.squares / self.weight).sqrt());
                format!("loss {loss}, RMSE {rmse}")
            }
        };
        if self.skipped > 0 {
            text += &format!(", {} skipped", format::count(self.skipped));
        }
        text
    }

    /// A JSON object. The accuracy is a fraction. Undefined numbers are null.
    pub fn json(&mut self) -> Value {
        let mut object = json!({ "weight": self.weight });
        if self.kind != Kind::Classes {
            object["loss"] = (self.loss / self.weight).into();
        }
        match self.kind {
            Kind::Numbers => object["rmse"] = (self.squares / self.weight).sqrt().into(),
            Kind::Signs | Kind::Classes => object["accuracy"] = (self.right / self.weight).into(),
        }
        if self.kind == Kind::Signs {
            object["auc"] = self.auc().into();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_auc_is_the_share_of_pairs_in_order() {
        let label = |i: i32| if i * 5 % 11 > 5 { 1.0 } else { -1.0 };
        let data = (0..60).map(|i| (f64::from(i * 7 % 13), label(i)));
        let data: Vec<(f64, f64)> = data.collect();
        let mut score = Score::new(Kind::Signs);
        for (z, y) in &data {
            score.add(1.0, 0.0, *z, *y);
        }
        let (mut won, mut pairs) = (0.0, 0.0);
        for (a, y) in &data {
            for (b, w) in &data {
                if y > w {
                    pairs += 1.0;
                    won += 0.5 * (f64::from(a > b) + f64::from(a >= b));
                }
            }
        }
        let auc = score.auc().unwrap();
        assert!((auc - won / pairs).abs() < 1e-12, "{auc}");
        let mut one_sided = Score::new(Kind::Signs);
        one_sided.add(1.0, 0.3, 1.0, 1.0);
        assert_eq!(one_sided.auc(), None);
    }

    #[test]
    fn predictions_of_nan_are_ranked() {
        let mut score = Score::new(Kind::Signs);
        for (z, y) in [(f64::NAN, 1.0), (0.0, -1.0), (f64::NAN, -1.0)] {
            score.add(1.0, 0.0, z, y);
        }
        assert_eq!(score.auc(), Some(0.5));
    }

    #[test]
    fn weights_count_as_repetitions() {
        let (mut a, mut b) = (Score::new(Kind::Signs), Score::new(Kind::Signs));
        for (z, y, n) in [(0.5, 1.0, 3), (-0.2, 1.0, 1), (0.1, -1.0, 2)] {
            a.add(f64::from(n), 0.25, z, y);
            for _ in 0..n {
                b.add(1.0, 0.25, z, y);
            }
        }
        assert_eq!(a.describe(), b.describe());
    }
}
