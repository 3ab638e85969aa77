//! Archives, recognised by their first bytes: gzip, bzip2, zstd and xz.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use liblzma::stream::Stream;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Packing {
    Gzip,
    Bzip2,
    Zstd,
    Xz,
}

impl Packing {
    const ALL: [Packing; 4] = [Packing::Gzip, Packing::Bzip2, Packing::Zstd, Packing::Xz];

    /// What all of them begin with.
    fn magic(self) -> &'static [u8] {
        match self {
            Packing::Gzip => b"\x1f\x8b",
            Packing::Bzip2 => b"BZh",
            Packing::Zstd => b"\x28\xb5\x2f\xfd",
            Packing::Xz => b"\xfd7zXZ\0",
        }
    }

    /// How files are called that are packed so.
    fn extension(self) -> &'static str {
        match self {
            Packing::Gzip => ".gz",
            Packing::Bzip2 => ".bz2",
            Packing::Zstd => ".zst",
            Packing::Xz => ".xz",
        }
    }

    /// Whether a file that begins like this may be an archive.
    fn possible(head: &[u8]) -> bool {
        Packing::ALL.into_iter().any(|packing| {
            let magic = packing.magic();
            let shared = head.len().min(magic.len());
            head[..shared] == magic[..shared]
        })
    }

    /// By the beginning of the file, ten bytes or all that there is.
    fn of(head: &[u8]) -> Option<Packing> {
        Packing::ALL
            .into_iter()
            .find(|packing| match head.strip_prefix(packing.magic()) {
                // A text may begin like this too, but not go on like that.
                Some([b'1'..=b'9', rest @ ..]) if *packing == Packing::Bzip2 => {
                    b"\x31\x41\x59\x26\x53\x59".starts_with(rest)
                        || b"\x17\x72\x45\x38\x50\x90".starts_with(rest)
                }
                found => found.is_some() && *packing != Packing::Bzip2,
            })
    }
}

/// A name without the ending that says how the file is packed.
pub(crate) fn without_extension(name: &str) -> &str {
    Packing::ALL
        .into_iter()
        .find_map(|packing| name.strip_suffix(packing.extension()))
        .unwrap_or(name)
}

/// Counts what is read, and remembers whether it was reading that failed.
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

/// What a file says once it is unpacked.
pub(crate) struct Unpacked {
    read: Box<dyn Read + Send>,
    packed: bool,
    failed: Arc<AtomicBool>,
}

impl Unpacked {
    /// Looks at the first bytes of `read`. The name matters only where there are too few of them.
    pub(crate) fn new(
        read: Box<dyn Read + Send>,
        name: &str,
        consumed: Arc<AtomicU64>,
    ) -> io::Result<Unpacked> {
        let failed = Arc::new(AtomicBool::new(false));
        let mut counted = Counted {
            read,
            consumed,
            failed: failed.clone(),
        };
        let mut head = [0; 10];
        let mut length = 0;
        // A pipe may not have more yet.
        while length < head.len() && Packing::possible(&head[..length]) {
            match counted.read(&mut head[length..])? {
                0 => break,
                count => length += count,
            }
        }
        let packing = Packing::of(&head[..length]).or_else(|| {
            // The unpacker will say that there is too little.
            (Packing::ALL.into_iter()).find(|packing| {
                name.ends_with(packing.extension())
                    && length < 4.max(packing.magic().len())
                    && packing
                        .magic()
                        .starts_with(&head[..length.min(packing.magic().len())])
            })
        });
        let all = Cursor::new(head).take(length as u64).chain(counted);
        let read: Box<dyn Read + Send> = match packing {
            None => Box::new(all),
            Some(packing) => unpack(packing, BufReader::with_capacity(1 << 16, all))?,
        };
        Ok(Unpacked {
            read,
            packed: packing.is_some(),
            failed,
        })
    }

    /// Whether an error came from what is in the file, not from reading it.
    pub(crate) fn is_damaged(&self) -> bool {
        self.packed && !self.failed.load(Ordering::Relaxed)
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read.read(buffer)
    }
}

/// Several archives one after the other are as good as one.
fn unpack<R: Read + Send + 'static>(
    packing: Packing,
    read: BufReader<R>,
) -> io::Result<Box<dyn Read + Send>> {
    // More than `xz -9` needs, and little enough for a file that asks for gigabytes to be refused.
    const XZ_MEMORY: u64 = 256 << 20;
    Ok(match packing {
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(read)),
        Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(read)),
        Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(read)?),
        Packing::Xz => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(read, stream))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_known_by_their_first_bytes() {
        for (head, packing) in [
            (&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..], Some(Packing::Gzip)),
            (b"BZh91AY&SY", Some(Packing::Bzip2)),
            (b"BZh1\x17\x72\x45\x38\x50\x90", Some(Packing::Bzip2)),
            (b"BZh91AY", Some(Packing::Bzip2)),
            (b"\x28\xb5\x2f\xfd\x04\x58", Some(Packing::Zstd)),
            (b"\xfd7zXZ\0\0\x04", Some(Packing::Xz)),
            (b"BZh,label\n", None),
            (b"BZh9,label", None),
            (b"BZh", None),
            (b"(1,2)", None),
            (b"1 1:2", None),
            (b"", None),
        ] {
            assert_eq!(Packing::of(head), packing, "{head:?}");
        }
    }

    #[test]
    fn the_ending_of_a_name_is_dropped_once() {
        assert_eq!(without_extension("a.svm.gz"), "a.svm");
        assert_eq!(without_extension("a.svm"), "a.svm");
        assert_eq!(without_extension("a.gz.xz"), "a.gz");
    }
}
