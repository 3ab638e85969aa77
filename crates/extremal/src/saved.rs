//! Saved states as bytes, and the errors for bytes that can't be loaded.

use serde::{Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// The format version of saved states. Increase this version whenever the content of a learner's or a
/// meter's state changes. A build rejects a state of another version instead of misreading the state.
pub const STATE_VERSION: u16 = 3;

const MAGIC: [u8; 4] = *b"XTRS";

/// Encodes a part of a state as bytes.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(damaged)
}

/// Reads the bytes that [`encode`] wrote.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(damaged("there are extra bytes at its end")),
        Err(e) => Err(damaged(e)),
    }
}

/// Encodes a whole state, with magic bytes, version and checksum.
pub(crate) fn seal<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend(MAGIC);
    bytes.extend(STATE_VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    let mut bytes = postcard::to_extend(value, bytes).map_err(damaged)?;
    let checksum = checksum(&bytes);
    bytes[6..10].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// Reads the bytes that [`seal`] wrote. Bytes that have changed since then are an error.
pub(crate) fn unseal<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let Some((start, rest)) = bytes.split_at_checked(10).filter(|(s, _)| s[..4] == MAGIC) else {
        return Err(mismatch("these bytes are not a saved state".into()));
    };
    let version = u16::from_le_bytes([start[4], start[5]]);
    if version != STATE_VERSION {
        return Err(mismatch(format!(
            "it has format version {version}; this build reads version {STATE_VERSION}"
        )));
    }
    if start[6..] != checksum(bytes).to_le_bytes() {
        return Err(damaged("the checksum does not match"));
    }
    decode(rest)
}

/// The checksum of all bytes except the checksum itself.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..6]);
    hasher.update(&bytes[10..]);
    hasher.finalize()
}

/// Returns an error if the settings of a saved state differ from the current ones.
pub(crate) fn check_settings(saved: &str, here: &str) -> Result<()> {
    if saved == here {
        return Ok(());
    }
    Err(mismatch(format!("it belongs to {saved}, not to {here}")))
}

/// Returns an error unless `fits` is true. `fits` is true if the parts of a state have the right lengths
/// and indices.
pub(crate) fn check_shape(fits: bool) -> Result<()> {
    if fits {
        return Ok(());
    }
    Err(damaged(
        "its parts have lengths or indices that do not match",
    ))
}

/// The error for a state that no learner and no meter can have saved.
pub(crate) fn damaged(why: impl std::fmt::Display) -> Error {
    Error::State(format!("it is damaged: {why}"))
}

/// The error for a state of another learner, meter or set.
pub(crate) fn mismatch(why: String) -> Error {
    Error::State(why)
}
