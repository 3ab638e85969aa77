//! Where the pieces of a file end makes no difference; a pipe's examples come when they are there.

use std::io::{self, Read};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{self, Pieces, drain, options};
use extremal_data::{Error, Format, OnError, ReadOptions, Reader};

const TEXTS: [(Format, &str); 5] = [
    (Format::Libsvm, include_str!("corpus/libsvm.txt")),
    (Format::Vw, include_str!("corpus/vw.txt")),
    (Format::Csv, include_str!("corpus/csv.txt")),
    (Format::Tsv, include_str!("corpus/tsv.txt")),
    (Format::Jsonl, include_str!("corpus/jsonl.txt")),
];

#[test]
fn pieces_of_any_size_give_the_same_examples() {
    for (format, text) in TEXTS {
        for on_error in [OnError::Stop, OnError::Skip] {
            let options = ReadOptions {
                on_error,
                ..options(format)
            };
            // A bad line among them, and no end of the last.
            for text in [
                text.to_string(),
                format!("{text}\"]?\n{text}"),
                text.trim_end().into(),
            ] {
                let whole = common::read(text.clone(), &options);
                assert!(whole.0.len() > 3, "{format}: {whole:?}");
                for sizes in [
                    &[1][..],
                    &[2],
                    &[3],
                    &[7],
                    &[64],
                    &[1, 2, 3, 5, 8, 13],
                    &[100, 1],
                ] {
                    let pieces = Pieces::new(text.as_bytes(), sizes);
                    let mut reader = Reader::from_read(Box::new(pieces), "f", &options).unwrap();
                    assert_eq!(drain(&mut reader), whole, "{format} in {sizes:?}");
                }
            }
        }
    }
}

#[test]
fn a_format_that_is_told_from_the_content_loses_nothing() {
    for (format, text) in TEXTS {
        let wanted = common::read(text, &options(format));
        for text in [text.to_string(), format!("\n \n{text}")] {
            let blank = text.len() - text.trim_start().len();
            let lines = text[..blank].matches('\n').count() as u64;
            let pieces = Pieces::new(text.as_bytes(), &[1, 30]);
            let mut reader =
                Reader::from_read(Box::new(pieces), "-", &ReadOptions::default()).unwrap();
            assert_eq!(reader.format(), format);
            let (mut rows, error) = drain(&mut reader);
            for row in &mut rows {
                row.line -= lines;
            }
            assert_eq!((rows, error), wanted, "{format}");
        }
    }
}

#[test]
fn blocks_may_end_anywhere() {
    // Longer than a block, with lines of all lengths: every kind of place gets its turn at the end.
    let mut text = String::new();
    let mut wanted = Vec::new();
    for k in 0..40_000_u32 {
        let index = 1 + k % 977;
        text.push_str(&format!("{k} {index}:0.{}", 1 + k % 1013));
        for extra in 0..k % 5 {
            text.push_str(&format!(" {}:{}.25", index + 1 + extra, extra));
        }
        text.push('\n');
        wanted.push((f64::from(k), index - 1, 1 + (k % 5) as usize));
    }
    assert!(text.len() > 1 << 20);
    let (rows, error) = common::read(text, &options(Format::Libsvm));
    assert_eq!(error, None);
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.label.unwrap(), row.features[0].0, row.features.len()))
        .collect();
    assert!(seen == wanted);
    assert!(rows.iter().zip(1..).all(|(row, line)| row.line == line));
}

/// Gives what is sent, and waits in between.
struct Pipe(mpsc::Receiver<&'static [u8]>, &'static [u8]);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            self.1 = self.0.recv().unwrap_or(b"");
        }
        self.1.read(buffer)
    }
}

#[test]
fn a_silent_pipe_ends_the_first_block_of_a_table_after_its_first_row() {
    let (sender, receiver) = mpsc::channel();
    let pipe = Box::new(Pipe(receiver, b""));
    let mut reader = Reader::from_read(pipe, "-", &options(Format::Csv)).unwrap();
    sender.send(b"y,a\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    sender.send(b"1,2\n3,").unwrap();
    let facts = reader.facts(&|| false).unwrap().unwrap();
    assert_eq!(facts.columns.as_ref().unwrap().len(), 2);
    assert_eq!(reader.next().unwrap().unwrap().len(), 1);
    // Later rows do not change what the first block decided.
    sender.send(b"x\n").unwrap();
    assert!(reader.next().is_err());
}

#[test]
fn an_example_comes_as_soon_as_its_line_has() {
    let (sender, receiver) = mpsc::channel();
    let mut reader =
        Reader::from_read(Box::new(Pipe(receiver, b"")), "-", &options(Format::Libsvm)).unwrap();
    let (done, timer) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        sender.send(&b"1 1:2\n"[..]).unwrap();
        assert_eq!(reader.next().unwrap().unwrap().len(), 1);
        sender.send(b"2 1:1\n3 1:1\n4 1").unwrap();
        assert_eq!(reader.next().unwrap().unwrap().len(), 2);
        sender.send(b":1\n").unwrap();
        assert_eq!(reader.next().unwrap().unwrap().get(0).label, Some(4.0));
        drop(sender);
        assert!(reader.next().unwrap().is_none());
        done.send(()).unwrap();
    });
    // A reader that waits for more would wait for ever.
    timer.recv_timeout(Duration::from_secs(30)).unwrap();
    thread.join().unwrap();
}

struct Broken(bool);

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            return Err(io::Error::other("unplugged"));
        }
        let text = b"1 1:2\n2 1:2\n3 1";
        buffer[..text.len().min(10)].copy_from_slice(&text[..text.len().min(10)]);
        Ok(10)
    }
}

#[test]
fn an_error_of_the_device_is_told_as_such() {
    let mut reader =
        Reader::from_read(Box::new(Broken(false)), "tape", &options(Format::Libsvm)).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().len(), 1);
    let error = reader.next().unwrap_err();
    assert!(matches!(error, Error::File { .. }));
    assert_eq!(error.to_string(), "tape: can't be read: unplugged");
}

#[test]
fn a_reader_that_panics_is_an_error_and_not_an_end() {
    struct Panics;
    impl Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("on purpose");
        }
    }
    let mut reader = Reader::from_read(Box::new(Panics), "f", &options(Format::Libsvm)).unwrap();
    assert!(reader.next().is_err());
}

#[test]
fn a_line_without_end_is_refused_and_can_be_passed_over() {
    let long = "x".repeat(17 << 20);
    for (format, line) in [(Format::Libsvm, "1 1:2"), (Format::Vw, "1 | 1")] {
        let text = format!("{line}\n{long}\n{line}\n");
        let (rows, error) = common::read(text.clone(), &options(format));
        assert_eq!(rows.len(), 1);
        let error = error.unwrap();
        assert!(
            error.starts_with("f:2: the line is longer than 16 MiB: xxx"),
            "{error}"
        );
        assert!(error.len() < 200);
        let skip = ReadOptions {
            on_error: OnError::Skip,
            ..options(format)
        };
        let (rows, error) = common::read(text, &skip);
        assert_eq!(error, None);
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [1, 3]);
        let (rows, error) = common::read(format!("{line}\n{long}"), &skip);
        assert_eq!((rows.len(), error), (1, None));
    }
}

#[test]
fn a_long_line_that_fits_is_read() {
    let mut line = String::from("1");
    for k in 1..=200_000 {
        line.push_str(&format!(" {k}:0.5"));
    }
    let (rows, error) = common::read(format!("1 1:2\n{line}\n3 1:2\n"), &options(Format::Libsvm));
    assert_eq!(error, None);
    assert_eq!(rows[1].features.len(), 200_000);
    assert_eq!(rows[2].line, 3);
}

#[test]
fn files_without_examples_have_none() {
    for (format, text) in [
        (Format::Libsvm, ""),
        (Format::Libsvm, "\n\n# nothing\n"),
        (Format::Vw, "\n \n"),
        (Format::Csv, "a,b\n"),
        (Format::Csv, ""),
        (Format::Jsonl, "\n"),
    ] {
        assert_eq!(common::read(text, &options(format)), (vec![], None));
    }
    let error = common::read("", &ReadOptions::default()).1.unwrap();
    assert!(error.contains("use --format"), "{error}");
}

#[test]
fn a_reader_may_be_dropped_at_any_time() {
    for batches in 0..3 {
        let text = "1 1:2\n".repeat(100_000);
        let mut reader = Reader::from_read(
            Box::new(io::Cursor::new(text)),
            "f",
            &options(Format::Libsvm),
        )
        .unwrap();
        for _ in 0..batches {
            assert!(reader.next().unwrap().is_some());
        }
    }
}

#[test]
fn skipped_records_have_positions_and_the_most_frequent_problem_is_known_at_the_end() {
    let skip = ReadOptions {
        on_error: OnError::Skip,
        ..options(Format::Libsvm)
    };
    let text = "1 1:x\n1 1:1\n1 a:1\n2 1:1\n".to_string() + &"1 b:1\n".repeat(1000);
    let mut reader = Reader::from_read(Box::new(std::io::Cursor::new(text)), "f", &skip).unwrap();
    let (mut examples, mut skipped) = (0, Vec::new());
    while let Some(batch) = reader.next().unwrap() {
        assert!(batch.skipped().len() <= 512);
        skipped.extend(batch.skipped().iter().map(|at| examples + at));
        examples += batch.len();
    }
    assert_eq!((examples, skipped.len()), (2, 1002));
    assert_eq!(skipped[..3], [0, 1, 2]);
    let reason = "f:3: the index is not a whole number: a:1";
    assert_eq!(reader.skip_reason(), Some(reason));
}
