//! Finished cells, kept in the experiment's directory so that none is run twice.

use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::output::{CELLS, Output};

/// Where cells are kept; nowhere, if there is no directory.
pub(crate) struct Store<'a>(pub Option<&'a Output>);

/// What a cell's results depend on, hashed.
pub(crate) fn key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // its length first, so that no two lists of parts run together
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

impl Store<'_> {
    /// What is kept under this key. A file that can't be read is as good as none: the cell is run
    /// again.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let text = self.0?.read(&file(key))?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps it.
    pub fn put<T: Serialize>(&self, key: &str, value: &T) -> Result<()> {
        if let Some(output) = self.0 {
            let text = serde_json::to_string(value).expect("numbers and text have a JSON form");
            output.cache(&file(key), &text)?;
        }
        Ok(())
    }
}
