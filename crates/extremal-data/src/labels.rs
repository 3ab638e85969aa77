//! The kinds of labels, and the facts about them that the first block shows.

use crate::missing::Missing;
use crate::number;

/// The kind of labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Labels {
    /// Any finite number.
    #[default]
    Number,
    /// Numbers, or exactly two texts, which become −1 and +1 in alphabetical order. The first block
    /// of records decides.
    Auto,
    /// Two texts, which become −1 and +1. Texts that are numbers are compared by value.
    Pair {
        /// The text that becomes −1.
        negative: String,
        /// The text that becomes +1.
        positive: String,
    },
    /// Classes: a label becomes its position in this list, from 0. Texts that are numbers are compared
    /// by value.
    Names(Vec<String>),
    /// Labels are ignored and may be missing.
    None,
}

impl Labels {
    /// The label as a number, or an error that lists the valid labels.
    pub(crate) fn read(&self, text: &[u8]) -> Result<f64, String> {
        match self {
            Labels::Number | Labels::Auto => number::parse(text)
                .filter(|number| number.is_finite())
                .ok_or_else(|| "the label is not a finite number".into()),
            Labels::Pair { negative, positive } => {
                if same(text, positive) {
                    Ok(1.0)
                } else if same(text, negative) {
                    Ok(-1.0)
                } else {
                    Err(format!("the label is neither {negative} nor {positive}"))
                }
            }
            Labels::Names(names) => match names.iter().position(|name| same(text, name)) {
                Some(place) => Ok(place as f64),
                None => Err(format!("the label is not one of {}", list(names))),
            },
            Labels::None => Ok(f64::NAN),
        }
    }

    /// The problem with the labels, if there is one.
    pub(crate) fn problem(&self) -> Option<String> {
        let pair;
        let names = match self {
            Labels::Number | Labels::Auto | Labels::None => return None,
            Labels::Pair { negative, positive } => {
                pair = [negative.clone(), positive.clone()];
                &pair[..]
            }
            Labels::Names(names) => names,
        };
        if names.is_empty() || names.iter().any(String::is_empty) {
            return Some("a label, or the list of labels, is empty".into());
        }
        names.iter().enumerate().find_map(|(k, name)| {
            let earlier = names[..k]
                .iter()
                .find(|earlier| same(name.as_bytes(), earlier))?;
            Some(format!("the labels {earlier} and {name} are equal"))
        })
    }
}

/// Whether a label equals a name, as text or as a finite number.
fn same(text: &[u8], name: &str) -> bool {
    text == name.as_bytes()
        || match (number::parse(text), number::parse(name.as_bytes())) {
            (Some(a), Some(b)) => a == b && a.is_finite(),
            _ => false,
        }
}

/// The first names, for a message.
fn list(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len() {
        0..=MOST => shown,
        more => format!("{shown}, … ({more} in all)"),
    }
}

/// What the labels of the first block are.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum LabelFacts {
    /// The block has no labels.
    #[default]
    None,
    /// More than two numbers.
    Numbers,
    /// All labels are this number.
    One(f64),
    /// −1 and +1.
    Signs,
    /// 0 and 1.
    ZeroOne,
    /// Two other numbers, in increasing order.
    TwoNumbers(f64, f64),
    /// Two texts, in alphabetical order. With [`Labels::Auto`], the first is −1 and the second +1.
    TwoTexts(String, String),
}

/// The labels of the first block, as the parser counts them.
#[derive(Debug, Default)]
pub(crate) struct Census {
    labels: usize,
    texts: usize,
    /// The first different labels.
    different: Vec<String>,
}

impl Census {
    /// The largest number of labels that are kept.
    const MOST: usize = 30;

    /// Counts a label. A missing label does not count.
    pub(crate) fn add(&mut self, text: &[u8], missing: &Missing) {
        if missing.is(text) {
            return;
        }
        self.labels += 1;
        self.texts += usize::from(number::parse(text).is_none());
        if self.different.len() < Census::MOST && !self.different.iter().any(|l| same(text, l)) {
            self.different
                .push(String::from_utf8_lossy(text).into_owned());
        }
    }

    /// Decides [`Labels::Auto`], and returns the facts. An error names the flag that helps.
    pub(crate) fn decide(mut self, labels: &mut Labels) -> Result<LabelFacts, String> {
        self.different.sort_unstable();
        let different = &self.different;
        let is_text = 20 * self.texts > self.labels;
        if !is_text {
            let mut numbers: Vec<f64> = different
                .iter()
                .filter_map(|label| number::parse(label.as_bytes()))
                .collect();
            numbers.sort_by(f64::total_cmp);
            return Ok(match numbers[..] {
                [] => LabelFacts::None,
                [-1.0, 1.0] => LabelFacts::Signs,
                [0.0, 1.0] => LabelFacts::ZeroOne,
                [low, high] => LabelFacts::TwoNumbers(low, high),
                [one] => LabelFacts::One(one),
                _ => LabelFacts::Numbers,
            });
        }
        let is_auto = *labels == Labels::Auto;
        match &different[..] {
            [negative, positive] => {
                if is_auto {
                    *labels = Labels::Pair {
                        negative: negative.clone(),
                        positive: positive.clone(),
                    };
                }
                Ok(LabelFacts::TwoTexts(negative.clone(), positive.clone()))
            }
            _ if !is_auto => Ok(LabelFacts::Numbers),
            [one] => Err(format!(
                "all labels so far are the text `{one}`. Use --labels NEG,POS to name both labels"
            )),
            many => Err(format!(
                "the labels are more than two texts. Use --classes {}{} for classes",
                many.join(","),
                if many.len() == Census::MOST {
                    ",…"
                } else {
                    ""
                }
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_decides_what_labels_are() {
        let facts = |text: &str| {
            let (mut census, mut labels) = (Census::default(), Labels::Auto);
            let missing = Missing::default();
            (text.split(' ')).for_each(|label| census.add(label.as_bytes(), &missing));
            (census.decide(&mut labels), labels)
        };
        for (text, expected) in [
            ("NA", LabelFacts::None),
            ("1 1.0 1", LabelFacts::One(1.0)),
            ("+1 -1 1.0", LabelFacts::Signs),
            ("0 1 1.0", LabelFacts::ZeroOne),
            ("2 1 2 nan", LabelFacts::TwoNumbers(1.0, 2.0)),
            ("2 1 2 3", LabelFacts::Numbers),
        ] {
            assert_eq!(facts(text), (Ok(expected), Labels::Auto), "{text}");
        }
        let (found, labels) = facts("yes no yes ?");
        assert_eq!(found, Ok(LabelFacts::TwoTexts("no".into(), "yes".into())));
        assert_eq!(labels.read(b"yes"), Ok(1.0));
        let error = facts("yes").0.unwrap_err();
        assert!(error.contains("--labels"), "{error}");
        let error = facts("b c a").0.unwrap_err();
        assert!(error.contains("--classes a,b,c "), "{error}");
    }
}
