//! Decompression of gzip, bzip2, zstd, xz and zip archives. The first bytes of a file show its format.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use liblzma::stream::Stream;

use crate::array::Array;
use crate::zip::Zip;

/// A compression format.
#[derive(Clone, Copy, PartialEq)]
enum Packing {
    Gzip,
    Bzip2,
    Zstd,
    Xz,
    Zip,
}

impl Packing {
    const ALL: [Packing; 5] = [
        Packing::Gzip,
        Packing::Bzip2,
        Packing::Zstd,
        Packing::Xz,
        Packing::Zip,
    ];

    /// The first bytes of every archive.
    fn magic(self) -> &'static [u8] {
        match self {
            Packing::Gzip => b"\x1f\x8b",
            Packing::Bzip2 => b"BZh",
            Packing::Zstd => b"\x28\xb5\x2f\xfd",
            Packing::Xz => b"\xfd7zXZ\0",
            Packing::Zip => b"PK\x03\x04",
        }
    }

    /// The usual extension of the file name.
    fn extension(self) -> &'static str {
        match self {
            Packing::Gzip => ".gz",
            Packing::Bzip2 => ".bz2",
            Packing::Zstd => ".zst",
            Packing::Xz => ".xz",
            Packing::Zip => ".zip",
        }
    }

    /// Whether a file with this beginning may be an archive.
    fn possible(head: &[u8]) -> bool {
        Packing::ALL.into_iter().any(|packing| {
            let magic = packing.magic();
            let shared = head.len().min(magic.len());
            head[..shared] == magic[..shared]
        })
    }

    /// The format of a file that begins with `head`. `head` has ten bytes, or is the whole file if the
    /// file is shorter.
    fn of(head: &[u8]) -> Option<Packing> {
        Packing::ALL
            .into_iter()
            .find(|packing| match head.strip_prefix(packing.magic()) {
                // Text may begin with BZh too, but it can't continue with the header of a block.
                Some([b'1'..=b'9', rest @ ..]) if *packing == Packing::Bzip2 => {
                    b"\x31\x41\x59\x26\x53\x59".starts_with(rest)
                        || b"\x17\x72\x45\x38\x50\x90".starts_with(rest)
                }
                found => found.is_some() && *packing != Packing::Bzip2,
            })
    }
}

/// A name without the extension of an archive.
pub(crate) fn without_extension(name: &str) -> &str {
    Packing::ALL
        .into_iter()
        .find_map(|packing| name.strip_suffix(packing.extension()))
        .unwrap_or(name)
}

/// Counts the bytes read, and records whether a read failed.
struct Counted {
    read: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
    failed: Arc<AtomicBool>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.read.read(buffer) {
                Ok(count) => {
                    self.consumed.fetch_add(count as u64, Ordering::Relaxed);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }
}

/// The content of a file, decompressed if it is an archive.
pub(crate) struct Unpacked {
    read: Box<dyn Read + Send>,
    packed: bool,
    /// The name of the file in a zip archive.
    member: Option<String>,
    failed: Arc<AtomicBool>,
}

impl Unpacked {
    /// Detects the compression from the first bytes, or from the name if there are too few bytes. If
    /// the content `may_be_json`, an array becomes lines.
    pub(crate) fn new(
        read: Box<dyn Read + Send>,
        name: &str,
        consumed: Arc<AtomicU64>,
        may_be_json: bool,
    ) -> io::Result<Unpacked> {
        let failed = Arc::new(AtomicBool::new(false));
        let mut counted = Counted {
            read,
            consumed,
            failed: failed.clone(),
        };
        let mut head = [0; 10];
        let mut length = 0;
        // A pipe may return fewer bytes than requested.
        while length < head.len() && Packing::possible(&head[..length]) {
            match counted.read(&mut head[length..])? {
                0 => break,
                count => length += count,
            }
        }
        let packing = Packing::of(&head[..length]).or_else(|| {
            // The decoder then reports that the archive is truncated.
            (Packing::ALL.into_iter()).find(|packing| {
                name.ends_with(packing.extension())
                    && length < 4.max(packing.magic().len())
                    && packing
                        .magic()
                        .starts_with(&head[..length.min(packing.magic().len())])
            })
        });
        let all = Cursor::new(head).take(length as u64).chain(counted);
        let mut member = None;
        let read: Box<dyn Read + Send> = match packing {
            None => Box::new(all),
            Some(packing) => {
                let all = BufReader::with_capacity(1 << 16, all);
                unpack(packing, all, &mut member)?
            }
        };
        Ok(Unpacked {
            read: match may_be_json {
                true => Box::new(Array::new(read)),
                false => read,
            },
            packed: packing.is_some(),
            member,
            failed,
        })
    }

    /// The name of the file in a zip archive.
    pub(crate) fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// Whether a read failed because the content of the archive is invalid.
    pub(crate) fn is_damaged(&self) -> bool {
        self.packed && !self.failed.load(Ordering::Relaxed)
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read.read(buffer)
    }
}

/// Decompresses one archive, or several archives in a row.
fn unpack<R: Read + Send + 'static>(
    packing: Packing,
    read: BufReader<R>,
    member: &mut Option<String>,
) -> io::Result<Box<dyn Read + Send>> {
    // `xz -9` needs less than this. The limit rejects files that request gigabytes.
    const XZ_MEMORY: u64 = 256 << 20;
    Ok(match packing {
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(read)),
        Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(read)),
        Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(read)?),
        Packing::Xz => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(read, stream))
        }
        Packing::Zip => {
            let zip = Zip::new(read);
            *member = zip.name().map(String::from);
            Box::new(zip)
        }
    })
}
