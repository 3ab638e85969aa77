//! Parts of saved states as bytes, and the error for bytes that can't be read.

use serde::{Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// A part of a state, as bytes.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(damaged)
}

/// Reads the bytes that [`encode`] wrote.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(damaged("it is too long")),
        Err(e) => Err(damaged(e)),
    }
}

/// The error for a state that no learner can have saved.
pub(crate) fn damaged(why: impl std::fmt::Display) -> Error {
    Error::State(format!("it is damaged: {why}"))
}
