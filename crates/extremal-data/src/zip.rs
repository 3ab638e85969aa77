//! Zip archives with one member, which are read once from beginning to end, as a pipe requires.

use std::io::{self, BufRead, BufReader, Read, Take};

use crc32fast::Hasher;
use flate2::bufread::DeflateDecoder;

use crate::parse::excerpt;

const MEMBER: &[u8; 4] = b"PK\x03\x04";
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";
const DIRECTORY: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";
const LONG_END: &[u8; 4] = b"PK\x06\x06";
const LONG_LOCATOR: &[u8; 4] = b"PK\x06\x07";

/// The content of the only member. Directories and the members that macOS adds do not count.
pub(crate) struct Zip<R: Read> {
    state: State<R>,
    name: Option<String>,
}

enum State<R: Read> {
    Between(BufReader<R>),
    Inside(Box<Member>, Content<R>),
    /// An error before the first byte of content.
    Failed(io::Error),
    Ended,
}

enum Content<R: Read> {
    Stored(Take<BufReader<R>>),
    Deflated(DeflateDecoder<BufReader<R>>),
}

struct Member {
    name: String,
    method: u16,
    /// The size in the archive.
    packed: u64,
    encrypted: bool,
    /// Whether checksum and size follow the content.
    late: bool,
    /// Whether sizes have 8 bytes.
    long: bool,
    checksum: u32,
    size: u32,
    found: Hasher,
    length: u64,
}

impl<R: Read> Zip<R> {
    pub(crate) fn new(read: BufReader<R>) -> Zip<R> {
        let mut zip = Zip {
            state: State::Between(read),
            name: None,
        };
        if let Err(error) = zip.advance() {
            zip.state = State::Failed(error);
        }
        zip
    }

    /// The name of the member.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Goes to the content of the next member that counts, or to the end.
    fn advance(&mut self) -> io::Result<()> {
        while let State::Between(mut read) = std::mem::replace(&mut self.state, State::Ended) {
            let Some(member) = Member::next(&mut read)? else {
                return match self.name {
                    Some(_) => Ok(()),
                    None => Err(unsupported("the zip archive has no files".into())),
                };
            };
            let name = member.name.clone();
            self.state = member.content(read)?;
            if name.ends_with('/') || name.starts_with("__MACOSX/") {
                while self.part(&mut [0; 4096])? > 0 {}
                continue;
            }
            if let Some(first) = &self.name {
                return Err(unsupported(format!(
                    "the zip archive has several files, such as `{}` and `{}`. Unpack it, and use one of them",
                    excerpt(first.as_bytes()),
                    excerpt(name.as_bytes())
                )));
            }
            self.name = Some(name);
            return Ok(());
        }
        Ok(())
    }

    /// Reads content of the current member. At its end, checks it and returns 0.
    fn part(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let State::Inside(member, content) = &mut self.state else {
            return Ok(0);
        };
        let count = match content {
            Content::Stored(read) => read.read(buffer)?,
            Content::Deflated(read) => read.read(buffer)?,
        };
        if count > 0 || buffer.is_empty() {
            member.found.update(&buffer[..count]);
            member.length += count as u64;
            return Ok(count);
        }
        if let State::Inside(member, content) = std::mem::replace(&mut self.state, State::Ended) {
            let mut read = match content {
                Content::Stored(read) => read.into_inner(),
                Content::Deflated(read) => read.into_inner(),
            };
            member.check(&mut read)?;
            self.state = State::Between(read);
        }
        Ok(0)
    }
}

impl<R: Read> Read for Zip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let State::Failed(_) = &self.state
            && let State::Failed(error) = std::mem::replace(&mut self.state, State::Ended)
        {
            return Err(error);
        }
        let count = self.part(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.advance()?;
        }
        Ok(count)
    }
}

impl Member {
    /// Reads the header of the next member. `None` is the end of a complete archive.
    fn next(read: &mut impl BufRead) -> io::Result<Option<Member>> {
        loop {
            let rest = match &bytes(read)? {
                MEMBER => return Member::header(read).map(Some),
                DIRECTORY => {
                    let fields = bytes::<42>(read)?;
                    [24, 26, 28]
                        .map(|at| u64::from(two(&fields, at)))
                        .iter()
                        .sum()
                }
                LONG_END => u64::from_le_bytes(bytes(read)?),
                LONG_LOCATOR => 16,
                END => {
                    let fields = bytes::<18>(read)?;
                    skip(read, two(&fields, 16).into())?;
                    return match read.fill_buf()? {
                        [] => Ok(None),
                        _ => Err(invalid("the file goes on after the end of the zip archive")),
                    };
                }
                _ => return Err(invalid("this is no part of a zip archive")),
            };
            skip(read, rest)?;
        }
    }

    fn header(read: &mut impl BufRead) -> io::Result<Member> {
        let header = bytes::<26>(read)?;
        let mut name = vec![0; two(&header, 22).into()];
        read.read_exact(&mut name)?;
        let mut extra = vec![0; two(&header, 24).into()];
        read.read_exact(&mut extra)?;
        let long = long_sizes(&extra);
        let (size, packed) = (four(&header, 18), four(&header, 14));
        let (size, packed) = match long {
            Some(sizes) if packed == u32::MAX => (sizes.0 as u32, sizes.1),
            _ => (size, packed.into()),
        };
        let flags = two(&header, 2);
        Ok(Member {
            name: String::from_utf8_lossy(&name).into_owned(),
            method: two(&header, 4),
            packed,
            encrypted: flags & 1 != 0,
            late: flags & 8 != 0,
            long: long.is_some(),
            checksum: four(&header, 10),
            size,
            found: Hasher::new(),
            length: 0,
        })
    }

    fn content<R: Read>(self, read: BufReader<R>) -> io::Result<State<R>> {
        let content = match self.method {
            _ if self.encrypted => return Err(self.unsupported("is encrypted")),
            0 if self.late => return Err(self.unsupported("has an unknown size")),
            0 => Content::Stored(read.take(self.packed)),
            8 => Content::Deflated(DeflateDecoder::new(read)),
            _ => return Err(self.unsupported("is compressed by a method other than deflate")),
        };
        Ok(State::Inside(Box::new(self), content))
    }

    fn unsupported(&self, what: &str) -> io::Error {
        let name = excerpt(self.name.as_bytes());
        unsupported(format!(
            "the file `{name}` in the zip archive {what}. Unpack it first"
        ))
    }

    /// Compares the content with its checksum and size.
    fn check(mut self, read: &mut impl BufRead) -> io::Result<()> {
        if self.late {
            let mut checksum = bytes(read)?;
            if &checksum == DESCRIPTOR {
                checksum = bytes(read)?;
            }
            self.checksum = u32::from_le_bytes(checksum);
            self.size = match self.long {
                true => four(&bytes::<16>(read)?, 8),
                false => four(&bytes::<8>(read)?, 4),
            };
        }
        if self.checksum != self.found.finalize() || self.size != self.length as u32 {
            return Err(invalid("the checksum or the size is wrong"));
        }
        Ok(())
    }
}

/// The size and the packed size, if the extra field of a member has 8 bytes for each.
fn long_sizes(mut extra: &[u8]) -> Option<(u64, u64)> {
    while let Some((head, rest)) = extra.split_first_chunk::<4>() {
        if two(head, 0) == 1 {
            let (sizes, _) = rest.split_first_chunk::<16>()?;
            let eight = |at| u64::from(four(sizes, at)) | u64::from(four(sizes, at + 4)) << 32;
            return Some((eight(0), eight(8)));
        }
        extra = rest.get(two(head, 2).into()..)?;
    }
    None
}

fn bytes<const N: usize>(read: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    read.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn skip(read: &mut impl Read, count: u64) -> io::Result<()> {
    match io::copy(&mut read.take(count), &mut io::sink())? {
        skipped if skipped == count => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn two<const N: usize>(bytes: &[u8; N], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn four<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from(two(bytes, at)) | u32::from(two(bytes, at + 2)) << 16
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The archive is valid, but can't be read here.
fn unsupported(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}
