//! Parsers for the values of flags.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;

use crate::config::Names;

/// The heading of the flags for the input.
pub const READING: &str = "Input";

/// The values of `--link`.
pub const LINKS: &[&str] = &["identity", "logistic"];

/// Parses one of the words, as serde does.
pub fn one_of<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value(word.into()))
}

/// Parses `NEG,POS`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((negative, positive)) => Ok((negative.into(), positive.into())),
        None => Err("expected two labels, NEG,POS".into()),
    }
}

/// Parses `N` or `A,B,..`.
pub fn classes(text: &str) -> Result<Names, String> {
    match text.parse::<u32>() {
        Ok(count @ 2..=100_000) => Ok((1..=count).map(|k| k.to_string()).collect()),
        Ok(_) => Err("expected between 2 and 100000 classes".into()),
        Err(_) => Ok(text.split(',').map(str::to_string).collect()),
    }
}
