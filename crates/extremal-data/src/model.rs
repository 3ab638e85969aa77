//! Model files: what was learnt, kept so that it can be shipped and taken up again.
//!
//! A model file begins with text that says what it is, readable with `head`; its sections, in
//! any encoding that their owners like, follow in one piece:
//!
//! ```text
//! extremal model 1
//! bytes 8123
//! learner = ofw-ls
//! rounds = 1000
//! section 8000 learner
//! section 45 names
//!
//! the sections' bytes, one after the other, and a CRC-32 of everything before it
//! ```
//!
//! `bytes` counts what follows its line. The same content always gives the same bytes.
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
//! assert!(error.to_string().starts_with("m: this model is cut off"));
//! # Ok::<(), extremal_data::Error>(())
//! ```

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::atomic;
use crate::escape::{escape, unescape};
use crate::{Error, Result};

/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;

const MAGIC: &str = "extremal model ";

/// The first two lines are no longer than this.
const OPENING: usize = 64;

/// Or what is wrong, in words.
type Checked<T> = std::result::Result<T, String>;

/// A part of a model, in its owner's encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it is called.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What a model file holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelFile {
    /// What it says of itself: keys and values, in a fixed order.
    pub about: Vec<(String, String)>,
    /// The rest, in a fixed order.
    pub sections: Vec<Section>,
}

impl ModelFile {
    /// What it says under a key; the first where there are several.
    pub fn about(&self, key: &str) -> Option<&str> {
        let (_, value) = self.about.iter().find(|(k, _)| k == key)?;
        Some(value)
    }

    /// The bytes of a section; the first where several have that name.
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        let section = self.sections.iter().find(|s| s.name == name)?;
        Some(&section.bytes)
    }

    /// The file. The same content gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out).expect("memory takes every byte");
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

    /// The model in these bytes; `file` names them in errors. Whatever the bytes, no more memory
    /// is asked for than they take themselves, a few times over.
    pub fn from_bytes(bytes: &[u8], file: &str) -> Result<Self> {
        let opening = Opening::of(bytes).map_err(|what| content(file, what))?;
        opening
            .check(bytes.len() as u64)
            .map_err(|what| content(file, what))?;
        Self::decode(bytes, opening.end).map_err(|why| content(file, damaged(&why)))
    }

    /// Everything from the end of the opening on, in a file of the right length.
    fn decode(bytes: &[u8], opening: usize) -> Checked<Self> {
        let (covered, crc) = bytes.split_at(bytes.len() - 4);
        if crc32fast::hash(covered).to_le_bytes() != crc {
            return Err("checksum".into());
        }
        let mut rest = &covered[opening..];
        let (mut about, mut lengths) = (Vec::new(), Vec::new());
        loop {
            let end = rest.iter().position(|b| *b == b'\n');
            let end = end.ok_or("its heading does not end")?;
            let line = str::from_utf8(&rest[..end]).map_err(|_| "its heading is no text")?;
            rest = &rest[end + 1..];
            if line.is_empty() {
                break;
            }
            match line.strip_prefix("section ") {
                Some(section) if !has_plain_equals(line) => lengths.push(read_section(section)?),
                _ if lengths.is_empty() => about.push(read_about(line)?),
                _ => return Err(unreadable(line)),
            }
        }
        let total = lengths.iter().try_fold(0_usize, |sum, (_, length)| {
            sum.checked_add(usize::try_from(*length).ok()?)
        });
        if total != Some(rest.len()) {
            return Err("its sections are not as long as it says".into());
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

    /// Puts the model into a file, whole or not at all: it is written beside it, synced and
    /// renamed, so that on any failure the old file is still there as it was. A link is followed,
    /// an existing file's permissions are kept, what a killed process left behind is removed. A
    /// pipe or device is written into directly.
    pub fn write(&self, path: &Path) -> Result<()> {
        atomic::replace(path, |file| self.encode(file))
    }

    /// The model in a file.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |what| {
            move |source| Error::File {
                path: path.into(),
                what,
                source,
            }
        };
        let name = path.display().to_string();
        let file = File::open(path).map_err(failed("opening the model"))?;
        let mut bytes = Vec::new();
        let take = |most: u64, bytes: &mut Vec<u8>| {
            let part = (&file).take(most).read_to_end(bytes);
            part.map_err(failed("reading the model"))
        };
        // Something else by mistake, a disk or an archive say, is not read to its end.
        take(OPENING as u64, &mut bytes)?;
        let opening = Opening::of(&bytes).map_err(|what| content(&name, what))?;
        let left = opening.total().saturating_sub(bytes.len() as u64);
        take(left.saturating_add(1), &mut bytes)?;
        Self::from_bytes(&bytes, &name)
    }
}

/// The first two lines.
struct Opening {
    /// Where they end.
    end: usize,
    /// How many bytes should follow.
    follow: u64,
}

impl Opening {
    fn of(bytes: &[u8]) -> Checked<Self> {
        let start = &bytes[..bytes.len().min(OPENING)];
        let magic = MAGIC.as_bytes();
        let common = start.len().min(magic.len());
        if start[..common] != magic[..common] {
            return Err("this is not an extremal model".into());
        }
        let mut lines = start.split_inclusive(|b| *b == b'\n');
        let mut line = || {
            let line = lines.next().unwrap_or_default();
            match line.strip_suffix(b"\n") {
                Some(whole) => Ok(str::from_utf8(whole).unwrap_or("?")),
                None if bytes.len() < OPENING => Err(cut_off("its first lines are missing")),
                None => Err(damaged("its first lines do not end")),
            }
        };
        let first = line()?;
        match number(&first[magic.len().min(first.len())..]) {
            None => return Err("this is not an extremal model: it has no version".into()),
            Some(version) if version > u64::from(VERSION) => {
                return Err(format!(
                    "this model was written by a newer extremal (model version {version}, this \
                     one reads up to {VERSION}): update"
                ));
            }
            Some(version) if version < u64::from(VERSION) => {
                return Err(format!(
                    "this model was written by an older extremal (model version {version}, this \
                     one reads from {VERSION} on): learn it again"
                ));
            }
            Some(_) => {}
        }
        let second = line()?;
        let follow = second.strip_prefix("bytes ").and_then(number);
        Ok(Self {
            end: first.len() + second.len() + 2,
            follow: follow.ok_or_else(|| damaged("it does not say how long it is"))?,
        })
    }

    fn total(&self) -> u64 {
        self.follow.saturating_add(self.end as u64)
    }

    /// Whether a file has the length that it should have.
    fn check(&self, found: u64) -> Checked<()> {
        let total = self.total();
        if found < total {
            Err(cut_off(&format!(
                "it has {found} bytes, and should have {total}"
            )))
        } else if found > total {
            Err(damaged(&format!("it goes on after its {total} bytes")))
        } else if self.follow < 5 {
            Err(damaged("it is shorter than any model"))
        } else {
            Ok(())
        }
    }
}

fn content(file: &str, what: String) -> Error {
    Error::Content {
        file: file.into(),
        what,
    }
}

fn cut_off(why: &str) -> String {
    format!("this model is cut off: {why}")
}

fn damaged(why: &str) -> String {
    format!("this model is damaged: {why}")
}

fn unreadable(line: &str) -> String {
    format!("its heading has the line {line:?}")
}

/// A number as it is written here, and in no other way.
fn number(text: &str) -> Option<u64> {
    let value: u64 = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}

/// Whether a line has a `=` of its own, as `key = value` has and a section has not.
fn has_plain_equals(line: &str) -> bool {
    plain_equals(line).is_some()
}

/// Where the first `=` is that no backslash stands before; a backslash escapes what follows it.
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
