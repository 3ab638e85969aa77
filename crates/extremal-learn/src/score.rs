//! How good predictions are: loss, accuracy and AUC, or RMSE.

use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;

use extremal_data::{Next, OnError, ReadOptions, Reader};
use serde_json::{Value, json};

use crate::error::{Error, Result, at_line, finite};
use crate::format;
use crate::run::Host;
use crate::session::Session;
use crate::signs::Signs;
use crate::source::{PATIENCE, name_of};

/// Scores a session on a file of its own; `None` if told to stop meanwhile.
pub(crate) fn test(
    session: &Session,
    path: &Path,
    read: &ReadOptions,
    host: &dyn Host,
) -> Result<Option<Score>> {
    let plan = session.plan();
    let kind = match (plan.classes().is_empty(), plan.takes_signs()) {
        (false, _) => Kind::Classes,
        (true, true) => Kind::Signs,
        (true, false) => Kind::Numbers,
    };
    let loss = plan.loss.build().map_err(|e| Error::Usage(e.to_string()))?;
    let file = name_of(Some(path));
    let mut score = Score::new(kind);
    let mut signs = Signs::default();
    let Some(mut reader) = open(path, read, host)? else {
        return Ok(None);
    };
    loop {
        if host.is_stopped() {
            return Ok(None);
        }
        let batch = match reader.next_within(PATIENCE)? {
            Next::Batch(batch) => batch,
            Next::Nothing => continue,
            Next::End => break,
        };
        for example in batch.iter() {
            if host.is_stopped() {
                return Ok(None);
            }
            let label = example.label.unwrap_or(f64::NAN);
            if kind != Kind::Classes {
                let admitted = loss.check_label(label);
                match admitted.and_then(|()| signs.with(&*loss, label)) {
                    Ok(seen) => signs = seen,
                    Err(_) if read.on_error == OnError::Skip => {
                        score.skipped += 1;
                        continue;
                    }
                    Err(error) => return Err(at_line(error, &file, &example)),
                }
            }
            let prediction = session
                .predict(&example)
                .map_err(|e| at_line(e, &file, &example))?;
            let prediction = finite(prediction, &file, &example)?;
            let value = match kind {
                Kind::Classes => 0.0,
                Kind::Signs | Kind::Numbers => loss.at(prediction, label).0,
            };
            if !value.is_finite() {
                return Err(Error::NotFinite {
                    place: format!("{file}:{}", example.line),
                    what: format!("the loss is not finite for the prediction {prediction:?}"),
                });
            }
            score.add(example.weight, value, prediction, label);
        }
    }
    score.skipped += reader.skipped();
    score.notes = reader.warnings();
    Ok(Some(score))
}

/// Opens a file that may be a pipe nobody writes to yet; `None` if told to stop meanwhile.
fn open(path: &Path, read: &ReadOptions, host: &dyn Host) -> Result<Option<Reader>> {
    let (sender, opened) = std::sync::mpsc::channel();
    let (file, read) = (path.to_path_buf(), read.clone());
    std::thread::spawn(move || {
        // nobody waits for it after a stop
        let _ = sender.send(Reader::open(Some(&file), &read));
    });
    loop {
        match opened.recv_timeout(PATIENCE) {
            Ok(reader) => return Ok(Some(reader?)),
            Err(RecvTimeoutError::Timeout) if !host.is_stopped() => {}
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let what = format!("{}: it could not be opened", path.display());
                return Err(Error::Unsupported(what));
            }
        }
    }
}

/// Adds up predictions and labels.
#[derive(Debug, Clone)]
pub(crate) struct Score {
    kind: Kind,
    weight: f64,
    loss: f64,
    right: f64,
    squares: f64,
    /// (score, weight, is positive), for the AUC.
    ranked: Vec<(f64, f64, bool)>,
    skipped: u64,
    /// What the user should know about the file.
    pub notes: Vec<String>,
}

/// What a score is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// ±1.
    Signs,
    /// One of several.
    Classes,
    /// Numbers.
    Numbers,
}

impl Score {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            weight: 0.0,
            loss: 0.0,
            right: 0.0,
            squares: 0.0,
            ranked: Vec::new(),
            skipped: 0,
            notes: Vec::new(),
        }
    }

    /// Notes an example: its weight, the data's loss, the prediction and the label.
    fn add(&mut self, weight: f64, loss: f64, prediction: f64, label: f64) {
        self.weight += weight;
        self.loss += weight * loss;
        match self.kind {
            Kind::Signs => {
                let positive = label > 0.0;
                // nothing said is half right
                let right = if prediction == 0.0 {
                    0.5
                } else {
                    f64::from((prediction > 0.0) == positive)
                };
                self.right += weight * right;
                self.ranked.push((prediction, weight, positive));
            }
            Kind::Classes => self.right += weight * f64::from(prediction == label),
            Kind::Numbers => self.squares += weight * (prediction - label).powi(2),
        }
    }

    /// In words.
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

    /// For programs; the accuracy is a share. A number that can't be had is null.
    pub fn json(&mut self) -> Value {
        let (weight, skipped) = (self.weight, self.skipped);
        let (loss, accuracy) = (self.loss / weight, self.right / weight);
        match self.kind {
            Kind::Signs => json!({
                "weight": weight,
                "loss": loss,
                "accuracy": accuracy,
                "auc": self.auc(),
                "skipped": skipped,
            }),
            Kind::Classes => json!({ "weight": weight, "accuracy": accuracy, "skipped": skipped }),
            Kind::Numbers => json!({
                "weight": weight,
                "loss": loss,
                "rmse": (self.squares / weight).sqrt(),
                "skipped": skipped,
            }),
        }
    }

    /// The chance that a positive example is ranked above a negative one, ties half.
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
        let data: Vec<(f64, f64)> = (0..60)
            .map(|i| {
                (
                    f64::from(i * 7 % 13),
                    if i * 5 % 11 > 5 { 1.0 } else { -1.0 },
                )
            })
            .collect();
        let mut score = Score::new(Kind::Signs);
        for (z, y) in &data {
            score.add(1.0, 0.0, *z, *y);
        }
        let (mut won, mut pairs) = (0.0, 0.0);
        for (a, y) in &data {
            for (b, w) in &data {
                if y > w {
                    pairs += 1.0;
                    won += if a > b {
                        1.0
                    } else if a == b {
                        0.5
                    } else {
                        0.0
                    };
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
    fn what_is_not_a_number_is_ranked_and_the_ranking_ends() {
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
