//! Values of flags that are more than a number, a text or a path.

use std::collections::HashSet;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use extremal_data::OnError;
use serde::de::DeserializeOwned;

use crate::config::Names;

/// Over the flags about examples.
pub const READING: &str = "How examples are read";

/// The values of `--link`.
pub const LINKS: &[&str] = &["identity", "logistic"];

/// One of these words, as serde reads it.
pub fn one_of<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value(word.into()))
}

/// `stop` or `skip`.
pub fn on_error() -> impl TypedValueParser<Value = OnError> {
    PossibleValuesParser::new(["stop", "skip"]).map(|word| match &*word {
        "skip" => OnError::Skip,
        _ => OnError::Stop,
    })
}

/// `NEG,POS`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((negative, positive)) if differ(&[negative, positive]) => {
            Ok((negative.into(), positive.into()))
        }
        _ => Err("expected two different texts, NEG,POS".into()),
    }
}

/// `N` or `A,B,..`.
pub fn classes(text: &str) -> Result<Names, String> {
    if let Ok(count) = text.parse::<u32>() {
        return match count {
            2..=100_000 => Ok((1..=count).map(|k| k.to_string()).collect()),
            _ => Err("expected between 2 and 100000 classes".into()),
        };
    }
    let names: Vec<&str> = text.split(',').collect();
    if names.len() < 2 || !differ(&names) {
        return Err("expected a number, or names that differ: A,B,C".into());
    }
    Ok(names.into_iter().map(str::to_string).collect())
}

/// Whether no two of them mean the same label, as 1 and 1.0 do, and none is empty.
fn differ(names: &[&str]) -> bool {
    let mut seen = HashSet::new();
    names.iter().all(|name| {
        let meant = match name.parse::<f64>() {
            // -0 is 0
            Ok(number) if number.is_finite() => format!("{:?}", number + 0.0),
            _ => name.to_string(),
        };
        !name.is_empty() && seen.insert(meant)
    })
}
