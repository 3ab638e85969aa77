//! Saved states: a version, the settings, the set, what was seen, the body's bytes, and a checksum
//! over all of it.

use serde::{Deserialize, Serialize};

use super::super::Seen;
use crate::saved::{damaged, decode};
use crate::set::{Identity, SharedSet};
use crate::{Error, Result};

/// The version of all states. Raise it with every change of what any learner saves: a build then
/// refuses the states of another one instead of reading other numbers out of them.
pub const STATE_VERSION: u16 = 2;

const MAGIC: [u8; 4] = *b"XTRS";

/// What every state says about itself.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub settings: String,
    pub set: Option<Identity>,
    pub seen: Seen,
}

impl Header {
    /// Errors unless the state is that of a learner with these settings on this set.
    pub fn check(&self, settings: &str, set: Option<&SharedSet>) -> Result<()> {
        if self.settings != settings {
            return Err(refused(format!(
                "it is of {}, not of {settings}",
                self.settings
            )));
        }
        match (&self.set, set) {
            (Some(identity), Some(set)) => identity.check(&**set),
            (None, None) => Ok(()),
            _ => Err(refused("it is of another kind of set".into())),
        }
    }
}

/// Bytes with magic, version and checksum.
pub(super) fn pack(header: &Header, body: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(256 + body.len());
    bytes.extend(MAGIC);
    bytes.extend(STATE_VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    let mut bytes = postcard::to_extend(&(header, body), bytes).map_err(damaged)?;
    let checksum = checksum(&bytes);
    bytes[6..10].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// The header and the body's bytes, if nothing has changed since [`pack`].
pub(super) fn unpack(bytes: &[u8]) -> Result<(Header, Vec<u8>)> {
    let Some((start, rest)) = bytes.split_at_checked(10).filter(|(s, _)| s[..4] == MAGIC) else {
        return Err(refused("these are not the bytes of a learner".into()));
    };
    let version = u16::from_le_bytes([start[4], start[5]]);
    if version != STATE_VERSION {
        return Err(refused(format!(
            "it has version {version}; this build reads version {STATE_VERSION}"
        )));
    }
    if start[6..] != checksum(bytes).to_le_bytes() {
        return Err(damaged("its checksum does not match"));
    }
    decode(rest)
}

/// Of everything but itself.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..6]);
    hasher.update(&bytes[10..]);
    hasher.finalize()
}

fn refused(why: String) -> Error {
    Error::State(why)
}
