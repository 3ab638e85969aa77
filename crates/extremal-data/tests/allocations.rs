//! After a warm-up no example allocates, in any format: neither on the thread that reads nor on the
//! one that takes the batches. JSON strings with escapes are the exception: serde_json decodes
//! them into memory of its own, once per line.

#![allow(unsafe_code)] // counting allocations takes an allocator

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use extremal_data::{Format, Labels, OnError, ReadOptions, Reader};

static CALLS: AtomicU64 = AtomicU64::new(0);

struct Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::SeqCst);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::SeqCst);
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const EXAMPLES: usize = 20_000;

/// The first time that one thread waits for the other, which may be late, the channel asks for
/// memory twice. That is far from once per batch.
const WAITING: u64 = 4;

fn text(format: Format) -> String {
    let mut text = match format {
        Format::Csv => "label,x,colour,w,text\n".to_string(),
        Format::Tsv => "label\tx\tcolour\tw\ttext\n".to_string(),
        _ => String::new(),
    };
    for k in 0..EXAMPLES {
        // The first are the longest.
        let n = if k < EXAMPLES / 2 { 9 } else { 7 + k % 2 };
        let (label, w) = (k % 2, 1 + k % 3);
        match format {
            Format::Libsvm => {
                write!(text, "{label} qid:3").unwrap();
                // Falling, long, and with an exponent.
                for i in (0..n).rev() {
                    write!(
                        text,
                        " {}:0.{}1234567890123 {}:1e-{i}",
                        3 * i + 3,
                        k % 7,
                        3 * i + 2
                    )
                    .unwrap();
                }
                text.push_str(" # comment\n");
            }
            Format::Vw => {
                write!(text, "{label} {w} 'tag{} | 7:0.5", k % 10).unwrap();
                for i in 0..n {
                    write!(text, " {i}:0.25 |n{i} a b:{i}.5").unwrap();
                }
                text.push('\n');
            }
            Format::Csv => {
                let colour = ["red", "green", "\"b\"\"l\"\"ue\""][k % 3];
                writeln!(text, "{label},0.{k},{colour},{w},\"{}\ny\"", "x".repeat(n)).unwrap();
            }
            Format::Tsv => writeln!(text, "{label}\t{k}e-3\tred\t{w}\t{}", "x".repeat(n)).unwrap(),
            Format::Jsonl => {
                write!(text, "{{\"id\": [{w}], \"weight\": {w}, \"tag\": \"täg\"").unwrap();
                write!(
                    text,
                    ", \"label\": {label}, \"features\": {{\"colour\": \"red\""
                )
                .unwrap();
                for i in (0..n).rev() {
                    write!(text, ", \"{i}\": 0.5, \"name{i}\": -1.5e-3").unwrap();
                }
                text.push_str("}}\n");
            }
        }
    }
    text
}

/// How often memory was asked for in the second half.
fn calls_late(bytes: Vec<u8>, options: &ReadOptions) -> u64 {
    let mut reader = Reader::from_read(Box::new(Cursor::new(bytes)), "f", options).unwrap();
    let mut examples = 0;
    let mut at_half = None;
    let mut at_end = 0;
    while let Some(batch) = reader.next().unwrap() {
        examples += batch.len();
        if examples > EXAMPLES / 2 {
            // The last batch but one: what ends a thread is not counted.
            at_end = CALLS.load(Ordering::SeqCst);
            at_half.get_or_insert(at_end);
        }
        if examples > EXAMPLES * 9 / 10 {
            break;
        }
    }
    assert!(examples > EXAMPLES * 8 / 10, "{examples}");
    at_end - at_half.unwrap()
}

#[test]
fn after_a_warm_up_no_example_asks_for_memory() {
    for format in Format::ALL {
        for labels in [
            Labels::Number,
            Labels::Pair {
                negative: "0".into(),
                positive: "1.0".into(),
            },
        ] {
            let options = ReadOptions {
                format: Some(format),
                labels,
                weight_column: Some(
                    if format == Format::Jsonl {
                        "weight"
                    } else {
                        "w"
                    }
                    .into(),
                ),
                intercept: true,
                on_error: OnError::Skip,
                ..ReadOptions::default()
            };
            let plain = text(format).into_bytes();
            let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
            gz.write_all(&plain).unwrap();
            assert!(calls_late(plain, &options) <= WAITING, "{format}");
            let packed = gz.finish().unwrap();
            assert!(calls_late(packed, &options) <= WAITING, "{format}, packed");
        }
    }
}
