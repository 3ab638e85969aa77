//! Whatever the bytes, reading a model neither panics nor asks for more memory than the bytes can
//! account for, and what it accepts is what it would have written.

#![allow(unsafe_code)] // watching allocations takes an allocator

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

use extremal_data::ModelFile;

thread_local! {
    /// Bytes asked for since it was last set to 0.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

struct Watching;

unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.with(|a| a.set(a.get().saturating_add(layout.size())));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.with(|a| a.set(a.get().saturating_add(size)));
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// splitmix64
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model_corpus");
    let files = std::fs::read_dir(folder).expect("the corpus");
    let mut paths: Vec<_> = files.map(|f| f.expect("a file").path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).expect("a seed"))
        .collect()
}

/// Pieces that headings are made of.
const WORDS: [&[u8]; 14] = [
    b"\n",
    b" = ",
    b"=",
    b"\\",
    b"\\n",
    b"\\u1b",
    b"section ",
    b"section 4294967296 a\n",
    b"section 18446744073709551615 b\n",
    b"bytes 18446744073709551615\n",
    b"bytes 4\n",
    b"extremal model ",
    b"2",
    b"\xff",
];

fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + dice.below(9)).min(bytes.len());
        match dice.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 if at < bytes.len() => bytes[at] = dice.below(256) as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let word = WORDS[dice.below(WORDS.len())];
                drop(bytes.splice(at..end, word.iter().copied()));
            }
            5 => {
                let from = dice.below(other.len() + 1);
                let to = (from + dice.below(40)).min(other.len());
                drop(bytes.splice(at..end, other[from..to].iter().copied()));
            }
            _ => {
                let piece = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, piece));
            }
        }
    }
}

/// Makes length and checksum right, so that the heading behind them is looked at.
fn mend(bytes: &mut Vec<u8>) {
    let mut ends = (0..bytes.len()).filter(|i| bytes[*i] == b'\n');
    if let (Some(first), Some(second)) = (ends.next(), ends.next()) {
        let rest = bytes.split_off(second + 1);
        bytes.truncate(first + 1);
        bytes.extend(format!("bytes {}\n", rest.len()).bytes());
        bytes.extend(rest);
    }
    if let Some(end) = bytes.len().checked_sub(4) {
        let crc = crc32fast::hash(&bytes[..end]);
        bytes[end..].copy_from_slice(&crc.to_le_bytes());
    }
}

#[test]
fn no_bytes_make_reading_panic_or_ask_for_too_much_memory() {
    let seeds = corpus();
    assert!(seeds.len() >= 8, "the corpus is gone");
    let soak = std::env::var("EXTREMAL_SOAK").is_ok_and(|v| v == "1");
    let inputs = if soak { 10_000_000 } else { 100_000 };
    let mut dice = Dice(1);
    let (mut accepted, mut mended_but_refused) = (0_u64, 0_u64);
    for k in 0..inputs {
        let mut bytes = seeds[dice.below(seeds.len())].clone();
        let other = &seeds[dice.below(seeds.len())];
        if k >= seeds.len() {
            mutate(&mut bytes, other, &mut dice);
        }
        let mended = dice.below(4) > 0;
        if mended {
            mend(&mut bytes);
        }
        ASKED.with(|a| a.set(0));
        let read = ModelFile::from_bytes(&bytes, "fuzz");
        let asked = ASKED.with(Cell::get);
        assert!(
            asked <= 64 * bytes.len() + 4096,
            "{asked} bytes for {}: {bytes:?}",
            bytes.len()
        );
        match read {
            Ok(model) => {
                accepted += 1;
                assert_eq!(model.to_bytes(), bytes, "not as it would be written");
            }
            Err(e) => {
                mended_but_refused += u64::from(mended);
                assert!(e.to_string().starts_with("fuzz: the "), "{e}");
            }
        }
    }
    assert!(accepted > inputs as u64 / 100, "{accepted} accepted");
    assert!(
        mended_but_refused > inputs as u64 / 100,
        "{mended_but_refused} refused for their headings"
    );
}
