//! The format of libsvm and SVMlight.

use crate::common::{self, features, options, read, rows};
use extremal_data::{Format, Labels, OnError, ReadOptions, Reader};

fn libsvm() -> ReadOptions {
    options(Format::Libsvm)
}

/// Wide enough for the quick path to be taken as well: it needs some room behind a pair.
const ROOM: &str = "\n1 1:1 # room room room room room room\n";

#[test]
fn lines_become_examples() {
    let text = "+1 1:0.5 3:2\n\n-1\t2:1e-3  7:-4. # comment 9:9\n# all comment\n  0.25 5:.5\r\n3\n";
    let rows = rows(text, &libsvm());
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.label, row.line, row.features.clone()))
        .collect();
    assert_eq!(
        seen,
        [
            (Some(1.0), 1, vec![(0, 0.5), (2, 2.0)]),
            (Some(-1.0), 3, vec![(1, 1e-3), (6, -4.0)]),
            (Some(0.25), 5, vec![(4, 0.5)]),
            (Some(3.0), 6, vec![]),
        ]
    );
    assert!(
        rows.iter()
            .all(|row| row.weight == 1.0 && row.tag.is_empty())
    );
}

#[test]
fn quick_and_careful_parsing_agree() {
    // The same pairs with much and with nothing behind them.
    for pair in [
        "1:0.5",
        "7:-0.25",
        "12345:0.0495008",
        "1234567:1",
        "3:12.5",
        "3:-1234567.7654321",
        "3:0.12345678",
        "3:0.123456789012345",
        "3:9007199254740993",
        "3:0.1234567890123456789",
        "3:1e5",
        "3:1.5e-7",
        "3:.5",
        "3:5.",
        "3:+5",
        "12345678:2",
        "3:1e-400",
    ] {
        let alone = features(format!("1 {pair}"), &libsvm())[0].clone();
        let roomy = features(format!("1 {pair}{ROOM}"), &libsvm())[0].clone();
        assert_eq!(alone, roomy, "{pair}");
        let (index, value) = pair.split_once(':').unwrap();
        let value: f64 = value.parse().unwrap();
        let wanted = Some((index.parse::<u32>().unwrap() - 1, value)).filter(|_| value != 0.0);
        assert_eq!(alone, Vec::from_iter(wanted), "{pair}");
    }
}

#[test]
fn indices_begin_with_1_or_with_0() {
    let zero = ReadOptions {
        zero_based: true,
        ..libsvm()
    };
    assert_eq!(features("1 0:2 3:4", &zero), [[(0, 2.0), (3, 4.0)]]);
    assert_eq!(
        features(format!("1 0:2 3:4{ROOM}"), &zero)[0],
        [(0, 2.0), (3, 4.0)]
    );
    for room in ["", ROOM] {
        let (_, error) = read(format!("1 0:2{room}"), &libsvm());
        assert_eq!(
            error.unwrap(),
            "f:1: the index is 0, but indices start at 1. Use --zero-based if they start at 0 in this file: 0:2"
        );
    }
}

#[test]
fn the_largest_index_is_2_to_the_32_minus_2() {
    let (largest, zero) = (
        u32::MAX - 1,
        ReadOptions {
            zero_based: true,
            ..libsvm()
        },
    );
    for (line, options, index) in [
        ("1 4294967295:1", &libsvm(), Some(largest)),
        ("1 4294967296:1", &libsvm(), None),
        ("1 4294967294:1", &zero, Some(largest)),
        ("1 4294967295:1", &zero, None),
        ("1 007:1", &zero, Some(7)),
    ] {
        let (rows, error) = read(line, options);
        let found = rows.first().map(|row| row.features[0].0);
        assert_eq!((found, error.is_none()), (index, index.is_some()), "{line}");
    }
}

#[test]
fn an_intercept_is_at_0_and_moves_the_others_up() {
    for zero_based in [false, true] {
        let options = ReadOptions {
            zero_based,
            intercept: true,
            ..libsvm()
        };
        let shift = u32::from(zero_based);
        assert_eq!(
            features(format!("1 5:2 1:4\n1\n#\n1 1:1{ROOM}"), &options)[..3],
            [
                vec![(0, 1.0), (1 + shift, 4.0), (5 + shift, 2.0)],
                vec![(0, 1.0)],
                vec![(0, 1.0), (1 + shift, 1.0)]
            ]
        );
        let (_, error) = read("1 5:2 5:3", &options);
        assert_eq!(error.unwrap(), "f:1: index 5 appears twice: 1 5:2 5:3");
    }
    let options = ReadOptions {
        intercept: true,
        ..libsvm()
    };
    let (_, error) = read("1 0:2", &options);
    assert_eq!(
        error.unwrap(),
        "f:1: the index is 0, but indices start at 1. Use --zero-based if they start at 0 in this file: 0:2"
    );
}

#[test]
fn lines_are_sorted_and_zeros_left_out() {
    assert_eq!(
        features("1 7:1 3:0 2:5 9:-0", &libsvm()),
        [[(1, 5.0), (6, 1.0)]]
    );
}

#[test]
fn queries_are_ignored_with_one_note() {
    let text = "1 qid:3 1:2\n1 qid:4 1:2\n";
    let mut reader = Reader::from_read(Box::new(text.as_bytes()), "f", &libsvm()).unwrap();
    let (rows, error) = common::drain(&mut reader);
    assert_eq!((rows.len(), error), (2, None));
    assert_eq!(rows[1].features, [(0, 2.0)]);
    assert_eq!(reader.warnings(), ["qid is ignored"]);
    assert_eq!(reader.warnings(), [""; 0]);
}

#[test]
fn every_fault_is_named_with_its_place() {
    let huge = format!("1 1:{}", "9".repeat(400));
    let long = format!("1 1:{}", "x".repeat(400));
    let cut = |filler: char, what: &str| {
        let filler = String::from_iter([filler; 78]);
        format!("the value is {what}: 1:{filler}…")
    };
    for (line, error) in [
        ("1 1:2 1:3", "index 1 appears twice: 1 1:2 1:3"),
        ("1 2:1 1:2 2:0", "index 2 appears twice: 1 2:1 1:2 2:0"),
        ("1 -1:2", "the index is negative: -1:2"),
        ("1 x:2", "the index is not a whole number: x:2"),
        ("1 1.5:2", "the index is not a whole number: 1.5:2"),
        ("1 :2", "the index is not a whole number: :2"),
        ("1 4294967296:2", "the index is too large: 4294967296:2"),
        (
            "1 99999999999999999999:2",
            "the index is too large: 99999999999999999999:2",
        ),
        ("1 1:", "the value is not a number: 1:"),
        ("1 1:x", "the value is not a number: 1:x"),
        ("1 1:0x1", "the value is not a number: 1:0x1"),
        ("1 1:1,5", "the value is not a number: 1:1,5"),
        ("1 1:2:3", "the value is not a number: 1:2:3"),
        ("1 1:nan", "the value is not finite: 1:nan"),
        ("1 1:NaN", "the value is not finite: 1:NaN"),
        ("1 1:inf", "the value is not finite: 1:inf"),
        ("1 1:-Infinity", "the value is not finite: 1:-Infinity"),
        ("1 1:1e999", "the value is not finite: 1:1e999"),
        (&huge, &cut('9', "not finite")),
        (&long, &cut('x', "not a number")),
        ("1 7", "expected index:value: 7"),
        ("1 qid:x 1:2", "the index is not a whole number: qid:x"),
        ("1 1:2 #\0", "the line contains a NUL byte: #\\u{0}"),
        ("1 1:2\0", "the value is not a number: 1:2\\u{0}"),
        ("1 1:\x1b[31m", "the value is not a number: 1:\\u{1b}[31m"),
        ("1 1:\u{661}", "the value is not a number: 1:\u{661}"),
        ("x 1:2", "the label is not a finite number: x"),
        ("inf 1:2", "the label is not a finite number: inf"),
        ("1,2 1:2", "the label is not a finite number: 1,2"),
        ("1e999 1:2", "the label is not a finite number: 1e999"),
    ] {
        for room in ["", ROOM] {
            let (rows, found) = read(format!("1 1:1\n\n{line}{room}"), &libsvm());
            assert_eq!(found.as_deref(), Some(&*format!("f:3: {error}")));
            assert_eq!(rows.len(), 1, "{line}: what is before it comes first");
        }
        let skip = ReadOptions {
            on_error: OnError::Skip,
            ..libsvm()
        };
        let text = format!("1 1:1\n{line}\n2 2:2\n{line}\n3 3:3\n");
        let mut reader =
            Reader::from_read(Box::new(std::io::Cursor::new(text)), "f", &skip).unwrap();
        let (rows, found) = common::drain(&mut reader);
        assert_eq!(found, None);
        let labels: Vec<_> = rows.iter().map(|row| (row.label, row.line)).collect();
        assert_eq!(labels, [(Some(1.0), 1), (Some(2.0), 3), (Some(3.0), 5)]);
        assert_eq!(reader.skipped(), 2, "{line}");
        assert_eq!(reader.warnings(), [format!("skipped f:2: {error}")]);
    }
    let (_, error) = read(b"1 1:2 # \xff\n", &libsvm());
    assert_eq!(error.unwrap(), "f:1: the line is not UTF-8: # \u{fffd}");
    let (_, error) = read(b"1 1:2\xff\n", &libsvm());
    assert_eq!(
        error.unwrap(),
        "f:1: the value is not a number: 1:2\u{fffd}"
    );
}

#[test]
fn labels_mean_what_was_asked_for() {
    let read_label = |label: &str, labels: Labels| {
        let options = ReadOptions { labels, ..libsvm() };
        let (rows, error) = read(format!("{label} 1:2\n"), &options);
        rows.first().map(|row| row.label).ok_or(error)
    };
    let pair = || Labels::Pair {
        negative: "0".into(),
        positive: "1".into(),
    };
    assert_eq!(read_label("1", pair()), Ok(Some(1.0)));
    assert_eq!(read_label("+1.0", pair()), Ok(Some(1.0)));
    assert_eq!(read_label("-0", pair()), Ok(Some(-1.0)));
    assert_eq!(
        read_label("-1", pair()),
        Err(Some("f:1: the label is neither 0 nor 1: -1".into()))
    );
    let spam = || Labels::Pair {
        negative: "ham".into(),
        positive: "spam".into(),
    };
    assert_eq!(read_label("spam", spam()), Ok(Some(1.0)));
    assert_eq!(read_label("ham", spam()), Ok(Some(-1.0)));
    assert!(read_label("Spam", spam()).is_err());
    let names = || Labels::Names(vec!["a".into(), "2".into(), "c".into()]);
    assert_eq!(read_label("c", names()), Ok(Some(2.0)));
    assert_eq!(read_label("2.0", names()), Ok(Some(1.0)));
    assert_eq!(
        read_label("0", names()),
        Err(Some("f:1: the label is not one of a, 2, c: 0".into()))
    );
    let many = Labels::Names((0..100).map(|k| format!("c{k}")).collect());
    let error =
        "f:1: the label is not one of c0, c1, c2, c3, c4, c5, c6, c7, … (100 in all): x".into();
    assert_eq!(read_label("x", many), Err(Some(error)));
    assert_eq!(read_label("whatever", Labels::None), Ok(None));
    assert_eq!(read_label("", Labels::None), Ok(None));
}

#[test]
fn labels_may_be_missing_or_two_texts() {
    let options = ReadOptions {
        labels_required: false,
        ..libsvm()
    };
    let rows = rows("1:2\n5 1:2\n", &options);
    assert_eq!(rows[0].label, None);
    assert_eq!(rows[0].features, [(0, 2.0)]);
    assert_eq!(rows[1].label, Some(5.0));
    let (_, error) = read("x 1:2\n", &options);
    assert!(error.is_some(), "a bad label is never a missing one");
    for line in ["1:2", "? 1:2", "nan 1:2", "NA 1:2"] {
        let error = read(line, &libsvm()).1.unwrap();
        assert!(error.starts_with("f:1: the label is missing: "), "{error}");
        assert_eq!(common::rows(line, &options)[0].label, None, "{line}");
    }
    let auto = ReadOptions {
        labels: Labels::Auto,
        labels_may_miss: true,
        ..libsvm()
    };
    let labels = |text: &str| {
        common::rows(text, &auto)
            .iter()
            .map(|row| row.label)
            .collect::<Vec<_>>()
    };
    let (ham, spam) = (Some(-1.0), Some(1.0));
    assert_eq!(
        labels("spam 1:1\n? 1:2\nham\nspam #\n"),
        [spam, None, ham, spam]
    );
    assert_eq!(labels("+1 1:1\r\n-1\r\n"), [spam, ham]);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (options, error) in [
        (
            ReadOptions {
                bits: Some(32),
                ..libsvm()
            },
            "f: bits must be between 1 and 31, not 32",
        ),
        (
            ReadOptions {
                labels: Labels::Names(vec![]),
                ..libsvm()
            },
            "f: a label, or the list of labels, is empty",
        ),
        (
            ReadOptions {
                labels: Labels::Pair {
                    negative: "1".into(),
                    positive: "1.0".into(),
                },
                ..libsvm()
            },
            "f: the labels 1 and 1.0 are equal",
        ),
    ] {
        assert_eq!(read("", &options).1.as_deref(), Some(error));
    }
}
