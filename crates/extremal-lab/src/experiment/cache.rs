//! A cache of finished runs in the experiment's directory, so that no run is repeated.

use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::output::{CELLS, Output};

/// A cache of finished runs in a directory. Without a directory, the cache stores nothing.
pub(crate) struct Cache<'a>(pub Option<&'a Output>);

/// A hash of the texts that a result depends on.
pub(crate) fn key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // Each length precedes its text, so that different lists have different bytes.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()[..16]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

fn file(key: &str) -> String {
    format!("{CELLS}/{key}.json")
}

impl Cache<'_> {
    /// The value of a key. `None` if the key's file does not exist or is damaged. The run is repeated
    /// in this case.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let text = self.0?.read(&file(key))?;
        serde_json::from_str(&text).ok()
    }

    /// Stores the value of a key.
    pub fn put<T: Serialize>(&self, key: &str, value: &T) -> Result<()> {
        if let Some(output) = self.0 {
            let text = serde_json::to_string(value).expect("numbers and text have a JSON form");
            output.cache(&file(key), &text)?;
        }
        Ok(())
    }
}
