//! Whatever is in a file: no panic, and examples that are what they should be.

use crate::common::{Pieces, Rng, soak};
use extremal_data::{Format, Labels, OnError, ReadOptions, Reader};

const SEEDS: [(Format, &[u8]); 7] = [
    (Format::Libsvm, include_bytes!("corpus/libsvm.txt")),
    (Format::Vw, include_bytes!("corpus/vw.txt")),
    (Format::Csv, include_bytes!("corpus/csv.txt")),
    (Format::Tsv, include_bytes!("corpus/tsv.txt")),
    (Format::Jsonl, include_bytes!("corpus/jsonl.txt")),
    (Format::Jsonl, include_bytes!("corpus/records.txt")),
    (Format::Jsonl, include_bytes!("corpus/array.txt")),
];

/// What breaks parsers.
const WORDS: [&[u8]; 40] = [
    b"nan",
    b"inf",
    b"-inf",
    b"1e999",
    b"-1e999",
    b"1e-999",
    b"0",
    b"-0",
    b"4294967295",
    b"4294967296",
    b"99999999999999999999",
    b":",
    b"::",
    b"|",
    b"||",
    b"\"",
    b"\"\"",
    b",",
    b"\t",
    b" ",
    b"  ",
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"#",
    b"'",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"qid:1",
    b"1:1",
    b"null",
    b"+",
];

fn mutate(rng: &mut Rng, text: &mut Vec<u8>, scratch: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(text.len() + 1);
        let end = (at + rng.below(12)).min(text.len());
        scratch.clear();
        match rng.below(7) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..end)),
            2 => scratch.extend_from_slice(&text[at..end]),
            3 => scratch.extend_from_slice(WORDS[rng.below(WORDS.len())]),
            4 => scratch.push(rng.below(256) as u8),
            5 => {
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << rng.below(8);
                }
            }
            _ => {
                let word = WORDS[rng.below(WORDS.len())];
                text.splice(at..end, word.iter().copied());
            }
        }
        let at = rng.below(text.len() + 1);
        text.splice(at..at, scratch.iter().copied());
    }
}

fn any_options(rng: &mut Rng, format: Format) -> ReadOptions {
    let flip = |rng: &mut Rng| rng.below(2) == 0;
    ReadOptions {
        format: Some(format).filter(|_| rng.below(10) > 0),
        zero_based: flip(rng),
        bits: [None, Some(1), Some(31), Some(10)][rng.below(4)],
        label_column: Some("label".to_string()).filter(|_| flip(rng)),
        weight_column: Some("age".to_string()).filter(|_| rng.below(5) == 0),
        categorical: Vec::from_iter(Some("age".to_string()).filter(|_| rng.below(5) == 0)),
        numeric: Vec::from_iter(Some("age".to_string()).filter(|_| rng.below(9) == 0)),
        date: Vec::from_iter(Some("city".to_string()).filter(|_| rng.below(30) == 0)),
        ignore: Vec::from_iter(Some("empty".to_string()).filter(|_| rng.below(9) == 0)),
        missing: Vec::from_iter(Some("1".to_string()).filter(|_| rng.below(5) == 0)),
        delimiter: [Some(";"), Some("blank"), None][rng.below(20).min(2)]
            .and_then(|delimiter| delimiter.parse().ok()),
        no_header: rng.below(9) == 0,
        labels: match rng.below(6) {
            0 => Labels::None,
            1 => Labels::Pair {
                negative: "-1".into(),
                positive: "1".into(),
            },
            2 => Labels::Names(vec!["1".into(), "-1".into(), "x".into()]),
            3 => Labels::Auto,
            _ => Labels::Number,
        },
        learnt_from: None,
        columns: None,
        features: None,
        frozen: flip(rng),
        labels_required: flip(rng),
        labels_may_miss: flip(rng),
        on_error: [OnError::Stop, OnError::Skip][rng.below(2)],
        intercept: flip(rng),
    }
}

/// Reads it all, and looks at every example.
fn check(mut reader: Reader, options: &ReadOptions) -> (u64, String) {
    let mut examples = 0;
    let mut line = 0;
    let mut seen = String::new();
    loop {
        let batch = match reader.next() {
            Ok(Some(batch)) => batch,
            Ok(None) => return (examples, seen),
            Err(error) => return (examples, seen + &error.to_string()),
        };
        for example in batch.iter() {
            examples += 1;
            assert!(example.line > line, "lines rise");
            line = example.line;
            assert!(example.label.is_none_or(f64::is_finite));
            match &options.labels {
                Labels::Pair { .. } => assert!(example.label.is_none_or(|y| y.abs() == 1.0)),
                Labels::Names(_) => {
                    assert!(example.label.is_none_or(|y| [0.0, 1.0, 2.0].contains(&y)))
                }
                Labels::None => assert!(example.label.is_none()),
                Labels::Number | Labels::Auto => {}
            }
            assert!(example.weight.is_finite() && example.weight >= 0.0);
            assert!(
                example.indices.is_sorted_by(|a, b| a < b),
                "{:?}",
                example.indices
            );
            assert!(example.indices.iter().all(|&index| index < u32::MAX));
            assert!(example.values.iter().all(|x| x.is_finite() && *x != 0.0));
            assert_eq!(example.indices.len(), example.values.len());
            assert!(!options.intercept || (example.indices[0], example.values[0]) == (0, 1.0));
            seen.push_str(&format!("{example:?}"));
        }
    }
}

fn fuzz(format: Format, seed: &[u8], rounds: usize) {
    let mut rng = Rng(0x2545_F491_4F6C_DD1D ^ format as u64);
    let (mut text, mut scratch) = (Vec::new(), Vec::new());
    let mut examples = 0;
    for round in 0..rounds {
        text.clear();
        text.extend_from_slice(seed);
        mutate(&mut rng, &mut text, &mut scratch);
        let options = any_options(&mut rng, format);
        let open = |pieces: Pieces| Reader::from_read(Box::new(pieces), "f", &options);
        let Ok(reader) = open(Pieces::new(&text, &[usize::MAX])) else {
            continue;
        };
        let (count, seen) = check(reader, &options);
        examples += count;
        if round % 16 == 0 {
            let sizes = [1 + rng.below(9), 1 + rng.below(40)];
            let again = check(open(Pieces::new(&text, &sizes)).unwrap(), &options);
            assert_eq!(
                seen,
                again.1,
                "in pieces: {:?}",
                String::from_utf8_lossy(&text)
            );
        }
    }
    assert!(
        examples > rounds as u64 / 2,
        "{format}: too little is left to be read: {examples}"
    );
}

/// 20,000 mutations, ten million when soaking.
fn rounds() -> usize {
    if soak() { 10_000_000 } else { 20_000 }
}

#[test]
fn mutated_libsvm_does_no_harm() {
    fuzz(SEEDS[0].0, SEEDS[0].1, rounds());
}

#[test]
fn mutated_vw_text_does_no_harm() {
    fuzz(SEEDS[1].0, SEEDS[1].1, rounds());
}

#[test]
fn mutated_csv_does_no_harm() {
    fuzz(SEEDS[2].0, SEEDS[2].1, rounds());
}

#[test]
fn mutated_tsv_does_no_harm() {
    fuzz(SEEDS[3].0, SEEDS[3].1, rounds());
}

#[test]
fn mutated_json_does_no_harm() {
    fuzz(SEEDS[4].0, SEEDS[4].1, rounds());
}

#[test]
fn mutated_json_records_do_no_harm() {
    fuzz(SEEDS[5].0, SEEDS[5].1, rounds());
}

#[test]
fn mutated_json_arrays_do_no_harm() {
    fuzz(SEEDS[6].0, SEEDS[6].1, rounds());
}
