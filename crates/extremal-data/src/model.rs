//! Model files, which store a trained model.
//!
//! A model file begins with a text header, which the command `head` can show. The sections follow. Each
//! section has its own encoding:
//!
//! ```text
//! extremal model 1
//! bytes 8123
//! learner = ofw-ls
//! rounds = 1000
//! section 8000 learner
//! section 45 names
//!
//! the bytes of all sections, then a CRC-32 of everything before it
//! ```
//!
//! `bytes` is the number of bytes after the line of `bytes`. The same content always gives the same
//! bytes.
//!
//! ```
//! use extremal_data::{ModelFile, Section};
//!
//! let model = ModelFile {
//!     about: vec![("learner".into(), "ofw-ls".into())],
//!     sections: vec![Section { name: "state".into(), bytes: vec![1, 2, 3] }],
//! };
//! let bytes = model.to_bytes();
//! assert!(bytes.starts_with(b"extremal model 1\nbytes 41\nlearner = ofw-ls\n"));
//! assert_eq!(ModelFile::from_bytes(&bytes, "m")?, model);
//!
//! let error = ModelFile::from_bytes(&bytes[..50], "m").unwrap_err();
//! assert!(error.to_string().starts_with("m: the model is truncated"));
//! # Ok::<(), extremal_data::Error>(())
//! ```

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::atomic;
use crate::escape::{escape, unescape};
use crate::{Error, Result};

/// The version of the format. Other versions can't be read.
pub const VERSION: u32 = 1;

const MAGIC: &str = "extremal model ";

/// The largest size of the first two lines.
const OPENING: usize = 64;

/// A result whose error is a message.
type Checked<T> = std::result::Result<T, String>;

/// A part of a model file, with its own encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The name of the section.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The content of a model file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelFile {
    /// The header: keys and values, in a fixed order.
    pub about: Vec<(String, String)>,
    /// The sections, in a fixed order.
    pub sections: Vec<Section>,
}

impl ModelFile {
    /// The first value of a key in the header.
    pub fn about(&self, key: &str) -> Option<&str> {
        let (_, value) = self.about.iter().find(|(k, _)| k == key)?;
        Some(value)
    }

    /// The content of the first section with this name.
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        let section = self.sections.iter().find(|s| s.name == name)?;
        Some(&section.bytes)
    }

    /// Encodes the model. The same content gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out).expect("writing to memory can't fail");
        out
    }

    fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let mut head = String::new();
        for (key, value) in &self.about {
            escape(key, true, &mut head);
            head.push_str(" = ");
            escape(value, false, &mut head);
            head.push('\n');
        }
        for Section { name, bytes } in &self.sections {
            head.push_str(&format!("section {} ", bytes.len()));
            escape(name, true, &mut head);
            head.push('\n');
        }
        head.push('\n');
        let body: usize = self.sections.iter().map(|s| s.bytes.len()).sum();
        let opening = format!("{MAGIC}{VERSION}\nbytes {}\n", head.len() + body + 4);
        let mut crc = crc32fast::Hasher::new();
        let pieces = [opening.as_bytes(), head.as_bytes()];
        let sections = self.sections.iter().map(|s| &s.bytes[..]);
        for piece in pieces.into_iter().chain(sections) {
            crc.update(piece);
            out.write_all(piece)?;
        }
        out.write_all(&crc.finalize().to_le_bytes())
    }

    /// Decodes a model. Errors show the name `file`. The memory in use is at most a small multiple of the
    /// size of `bytes`, even if the bytes are damaged.
    pub fn from_bytes(bytes: &[u8], file: &str) -> Result<Self> {
        let opening = Opening::of(bytes).map_err(|what| Error::content(file, what))?;
        opening
            .check(bytes.len() as u64)
            .map_err(|what| Error::content(file, what))?;
        Self::decode(bytes, opening.end).map_err(|why| Error::content(file, damaged(&why)))
    }

    /// Decodes everything after the first two lines. The caller has checked the length of the file.
    fn decode(bytes: &[u8], opening: usize) -> Checked<Self> {
        let (covered, crc) = bytes.split_at(bytes.len() - 4);
        if crc32fast::hash(covered).to_le_bytes() != crc {
            return Err("the checksum does not match".into());
        }
        let mut rest = &covered[opening..];
        let (mut about, mut lengths) = (Vec::new(), Vec::new());
        loop {
            let end = rest.iter().position(|b| *b == b'\n');
            let end = end.ok_or("the header does not end")?;
            let line = str::from_utf8(&rest[..end]).map_err(|_| "the header is not UTF-8")?;
            rest = &rest[end + 1..];
            if line.is_empty() {
                break;
            }
            match line.strip_prefix("section ") {
                Some(section) if plain_equals(line).is_none() => {
                    lengths.push(read_section(section)?)
                }
                _ if lengths.is_empty() => about.push(read_about(line)?),
                _ => return Err(unreadable(line)),
            }
        }
        let total = lengths.iter().try_fold(0_usize, |sum, (_, length)| {
            sum.checked_add(usize::try_from(*length).ok()?)
        });
        if total != Some(rest.len()) {
            return Err("the sizes of the sections do not match the header".into());
        }
        let sections = lengths.into_iter().map(|(name, length)| {
            let (bytes, after) = rest.split_at(length as usize);
            rest = after;
            Section {
                name,
                bytes: bytes.to_vec(),
            }
        });
        let sections = sections.collect();
        Ok(Self { about, sections })
    }

    /// Writes the model to a file atomically: a temporary file in the same folder is written, synced and
    /// renamed. On any failure the old file is unchanged. Links are followed, and the permissions of an
    /// existing file are kept. Temporary files of killed processes are removed. Pipes and devices are
    /// written directly.
    pub fn write(&self, path: &Path) -> Result<()> {
        atomic::replace(path, |file| self.encode(file))
    }

    /// Reads a model from a file.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(Error::file(path, "the model can't be opened"))?;
        let mut bytes = Vec::new();
        let take = |most: u64, bytes: &mut Vec<u8>| {
            let part = (&file).take(most).read_to_end(bytes);
            part.map_err(Error::file(path, "the model can't be read"))
        };
        // A file that is not a model, such as a disk image, is not read to its end.
        take(OPENING as u64, &mut bytes)?;
        let opening = Opening::of(&bytes).map_err(|what| Error::content(&name, what))?;
        let left = opening.total().saturating_sub(bytes.len() as u64);
        take(left.saturating_add(1), &mut bytes)?;
        Self::from_bytes(&bytes, &name)
    }
}

/// The first two lines.
struct Opening {
    /// The end of the two lines.
    end: usize,
    /// The number of bytes that should follow.
    follow: u64,
}

impl Opening {
    fn of(bytes: &[u8]) -> Checked<Self> {
        let start = &bytes[..bytes.len().min(OPENING)];
        let magic = MAGIC.as_bytes();
        let common = start.len().min(magic.len());
        if start[..common] != magic[..common] {
            return Err("the file is not an extremal model".into());
        }
        let mut lines = start.split_inclusive(|b| *b == b'\n');
        let mut line = || {
            let line = lines.next().unwrap_or_default();
            match line.strip_suffix(b"\n") {
                Some(whole) => Ok(str::from_utf8(whole).unwrap_or("?")),
                None if bytes.len() < OPENING => {
                    Err(truncated("the first two lines are incomplete"))
                }
                None => Err(damaged("the first two lines are too long")),
            }
        };
        let first = line()?;
        match number(&first[magic.len().min(first.len())..]) {
            None => return Err("the file is not an extremal model: the version is missing".into()),
            Some(version) if version > u64::from(VERSION) => {
                return Err(format!(
                    "the model has version {version}, and this program reads version {VERSION}: \
                     update extremal"
                ));
            }
            Some(version) if version < u64::from(VERSION) => {
                return Err(format!(
                    "the model has version {version}, and this program reads version {VERSION}: \
                     train the model again"
                ));
            }
            Some(_) => {}
        }
        let second = line()?;
        let follow = second.strip_prefix("bytes ").and_then(number);
        Ok(Self {
            end: first.len() + second.len() + 2,
            follow: follow.ok_or_else(|| damaged("the second line must be the size"))?,
        })
    }

    fn total(&self) -> u64 {
        self.follow.saturating_add(self.end as u64)
    }

    /// Checks the size of the file.
    fn check(&self, found: u64) -> Checked<()> {
        let total = self.total();
        if found < total {
            Err(truncated(&format!(
                "the file has {found} bytes instead of {total}"
            )))
        } else if found > total {
            Err(damaged(&format!("the file has more than {total} bytes")))
        } else if self.follow < 5 {
            Err(damaged("the file is too short"))
        } else {
            Ok(())
        }
    }
}

fn truncated(why: &str) -> String {
    format!("the model is truncated: {why}")
}

fn damaged(why: &str) -> String {
    format!("the model is damaged: {why}")
}

fn unreadable(line: &str) -> String {
    format!("the header contains the invalid line {line:?}")
}

/// A number in canonical form.
fn number(text: &str) -> Option<u64> {
    let value: u64 = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}

/// The position of the first `=` that no backslash escapes.
fn plain_equals(line: &str) -> Option<usize> {
    let mut escaped = false;
    for (i, b) in line.bytes().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'=' => return Some(i),
            _ => {}
        }
    }
    None
}

fn read_about(line: &str) -> Checked<(String, String)> {
    let parts = plain_equals(line).and_then(|at| {
        let key = line[..at].strip_suffix(' ')?;
        let value = line[at + 1..].strip_prefix(' ')?;
        Some((unescape(key, true)?, unescape(value, false)?))
    });
    parts.ok_or_else(|| unreadable(line))
}

fn read_section(text: &str) -> Checked<(String, u64)> {
    let parts = text
        .split_once(' ')
        .and_then(|(length, name)| Some((unescape(name, true)?, number(length)?)));
    parts.ok_or_else(|| unreadable(text))
}
