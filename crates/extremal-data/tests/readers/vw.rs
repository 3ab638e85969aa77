//! Vowpal Wabbit's text.

use crate::common::{self, Pieces, features, options, read, rows};
use extremal_data::{Format, Labels, OnError, ReadOptions, Reader};

fn vw() -> ReadOptions {
    options(Format::Vw)
}

#[test]
fn names_are_hashed_as_vowpal_wabbit_hashes_them() {
    // The indices that vowpalwabbit 9.11.9 gives with 18 bits, without its stride of 4.
    for (line, wanted) in [
        (
            "1 | 7:0.5 12 |word:2 hello world:3",
            &[(7, 0.5), (12, 1.0), (83_479, 6.0), (202_494, 2.0)][..],
        ),
        (
            "1 |a x 7 age:31 |bb x |3 y",
            &[
                (47_694, 1.0),
                (55_432, 1.0),
                (92_601, 1.0),
                (126_360, 1.0),
                (210_600, 31.0),
            ],
        ),
        ("1 | price size:2 | price", &[(71_674, 2.0), (229_902, 2.0)]),
        ("1 |été café", &[(97_633, 1.0)]),
        ("1 | city:paris 7:paris", &[(35_428, 1.0), (44_468, 1.0)]),
        (
            "1 |a:2 city:paris 7:paris city:3 :0 :2",
            &[
                (92_595, 4.0),
                (209_351, 1.0),
                (239_683, 1.0),
                (244_218, 6.0),
            ],
        ),
        (
            "1 | :0.25 x :0.125 |a | :0.5 :3",
            &[(0, 0.75), (1, 3.125), (170_779, 1.0)],
        ),
    ] {
        assert_eq!(features(line, &vw()), [wanted], "{line}");
        let few = ReadOptions {
            bits: Some(31),
            ..vw()
        };
        let many = features(line, &few)[0]
            .iter()
            .map(|pair| pair.0 % (1 << 18))
            .collect::<Vec<_>>();
        for (index, _) in wanted {
            assert!(
                many.contains(index),
                "fewer bits are the last of more: {line}"
            );
        }
    }
}

#[test]
fn heads_have_label_weight_base_and_tag() {
    for (line, label, weight, tag) in [
        ("1 | 3", Some(1.0), 1.0, ""),
        ("-1.5 2 | 3", Some(-1.5), 2.0, ""),
        ("1 0.5 0.25 | 3", Some(1.0), 0.5, ""),
        ("1 0 'a7 | 3", Some(1.0), 0.0, "a7"),
        ("1 'a7 | 3", Some(1.0), 1.0, "a7"),
        ("1 2 a7| 3", Some(1.0), 2.0, "a7"),
        ("1 2 'été| 3", Some(1.0), 2.0, "été"),
        ("  1\t2   ' | 3", Some(1.0), 2.0, ""),
        ("| 3", None, 1.0, ""),
        ("a7| 3", None, 1.0, "a7"),
        ("'a7 | 3", None, 1.0, "a7"),
    ] {
        let unlabelled = ReadOptions {
            labels_required: label.is_some(),
            ..vw()
        };
        for end in ["", "\n", "\r\n", "\n\n1 | 1:0.5 2:0.5 3:0.5 4:0.5\n"] {
            let row = &rows(format!("\n{line}{end}"), &unlabelled)[0];
            assert_eq!(
                (row.label, row.weight, &*row.tag, row.line),
                (label, weight, tag, 2),
                "{line}"
            );
            assert_eq!(row.features, [(3, 1.0)], "{line}");
        }
    }
}

#[test]
fn features_may_be_written_in_many_ways() {
    let same = [
        "1 | 3:0.5 7:-2 12",
        "1 |\t3:0.5  7:-2 12:1",
        "1 | 12 7:-2 3:0.5",
        "1 | 3:0.5 | 7:-2 | 12 |",
        "1 | 3:.5 7:-2.0 5:0 12:1e0",
        "1 | 3:0.25 3:0.25 7:-2 12",
        "1 | 3:0.5| 7:-2 12   ",
        "1 | 003:0.5 7:-20e-1 12",
    ];
    for line in same {
        for end in ["", "\n1 | 1:0.5 2:0.5 3:0.5 4:0.5\n"] {
            assert_eq!(
                features(format!("{line}{end}"), &vw())[0],
                [(3, 0.5), (7, -2.0), (12, 1.0)],
                "{line}"
            );
        }
    }
}

#[test]
fn numbers_are_indices_and_reduced_if_bits_are_given() {
    let text = "1 | 262151:2 7 300000:0.5";
    assert_eq!(
        features(text, &vw()),
        [[(7, 1.0), (262_151, 2.0), (300_000, 0.5)]]
    );
    let bits = ReadOptions {
        bits: Some(18),
        ..vw()
    };
    // As vowpalwabbit 9.11.9 has it.
    assert_eq!(features(text, &bits), [[(7, 3.0), (37_856, 0.5)]]);
}

#[test]
fn a_category_that_begins_like_a_number_is_noted() {
    let text = "1 | a:x b:1,5 c:2x";
    let mut reader = Reader::from_read(Box::new(text.as_bytes()), "f", &vw()).unwrap();
    assert_eq!(common::drain(&mut reader).0[0].features.len(), 3);
    assert_eq!(
        reader.warnings(),
        ["`b:1,5` and similar features are categories, since their values are not numbers"]
    );
}

#[test]
fn values_at_one_index_are_added_in_the_order_of_the_line() {
    for (line, wanted) in [
        // 1e16 + 1 rounds to 1e16.
        ("1 | 3:1e16 3:1 3:1 3:-1e16 4", &[(4, 1.0)][..]),
        ("1 | 3:1 3:-1", &[]),
        ("1 | 5 2:4 5:2.5", &[(2, 4.0), (5, 3.5)]),
    ] {
        assert_eq!(features(line, &vw()), [wanted], "{line}");
    }
}

#[test]
fn an_intercept_is_at_0_and_moves_the_others_up() {
    let with = ReadOptions {
        intercept: true,
        ..vw()
    };
    assert_eq!(
        features("1 | 0:3 7:0.5 price\n1 |\n", &with),
        [
            vec![(0, 1.0), (1, 3.0), (8, 0.5), (229_903, 1.0)],
            vec![(0, 1.0)]
        ]
    );
}

#[test]
fn a_base_is_ignored_with_a_note() {
    let text = "1 1 0.5 | 1\n1 1 0.5 | 1\n";
    let mut reader = Reader::from_read(Box::new(text.as_bytes()), "f", &vw()).unwrap();
    assert_eq!(common::drain(&mut reader).0.len(), 2);
    assert_eq!(
        reader.warnings(),
        ["the base (the third number before |) is ignored"]
    );
}

#[test]
fn every_fault_is_named_with_its_place() {
    for (line, error) in [
        ("1 2 3", "expected | before the features: 1 2 3"),
        (
            "1 -1 | 2",
            "the weight is not a finite number of at least 0: -1",
        ),
        (
            "1 nan | 2",
            "the weight is not a finite number of at least 0: nan",
        ),
        (
            "1 inf | 2",
            "the weight is not a finite number of at least 0: inf",
        ),
        (
            "1 x | 2",
            "the weight is not a finite number of at least 0: x",
        ),
        ("1 1 x | 2", "the base is not a finite number: x"),
        (
            "1 1 1 1 | 2",
            "expected only label, weight, base and tag before |: 1",
        ),
        ("1 'a b | 2", "the tag is not the last item before |: b"),
        ("1 'a b| 2", "the tag is not the last item before |: b"),
        ("| 2", "the label is missing: | 2"),
        ("1| 2", "the label is missing: 1| 2"),
        ("x | 2", "the label is not a finite number: x"),
        ("1:2 | 2", "the label is not a finite number: 1:2"),
        ("1 | :x", "the feature has no name: :x"),
        ("1 |:2 a", "the namespace has no name: :2"),
        (
            "1 |n:x a",
            "the namespace's factor is not a finite number: n:x",
        ),
        (
            "1 |n:inf a",
            "the namespace's factor is not a finite number: n:inf",
        ),
        ("1 | a:", "the value is not a number: a:"),
        ("1 | a:nan", "the value is not finite: a:nan"),
        ("1 | 7:inf", "the value is not finite: 7:inf"),
        (
            "1 |n:1e300 a:1e300",
            "the product of the value and its namespace's factor is not finite: a:1e300",
        ),
        (
            "1 | 7:1e308 7:1e308",
            "the sum of the values at index 7 is too large for a number: 1 | 7:1e308 7:1e308",
        ),
        ("1 | 4294967295", "the index is too large: 4294967295"),
        (
            "1 | 99999999999999999999:1",
            "the index is too large: 99999999999999999999:1",
        ),
        ("1 | a\0b", "the line contains a NUL byte: 1 | a\\u{0}b"),
        ("1 'a\0b | 1", "the line contains a NUL byte: 'a\\u{0}b"),
    ] {
        for end in ["", "\n1 | 1:0.5 2:0.5 3:0.5 4:0.5\n"] {
            let (rows, found) = read(format!("1 | 1\n{line}{end}"), &vw());
            assert_eq!(found.as_deref(), Some(&*format!("f:2: {error}")));
            assert_eq!(rows.len(), 1, "{line}");
        }
        let skip = ReadOptions {
            on_error: OnError::Skip,
            ..vw()
        };
        let left = rows(format!("1 | 1\n{line}\n2 'b | 2\n"), &skip);
        assert_eq!(left.len(), 2, "{line}");
        assert_eq!((left[1].line, &*left[1].tag), (3, "b"));
        assert_eq!(
            left[1].features,
            [(2, 1.0)],
            "nothing of the bad line is left"
        );
    }
    for bad in [&b"1 | a\xff"[..], b"1 |\xff a", b"1 '\xff | 1"] {
        let error = read(bad, &vw()).1.unwrap();
        assert!(error.starts_with("f:1: the line is not UTF-8: "), "{error}");
    }
}

#[test]
fn labels_need_not_be_numbers() {
    let names = ReadOptions {
        labels: Labels::Names(vec!["cat".into(), "dog".into()]),
        ..vw()
    };
    assert_eq!(rows("dog 2 | 1", &names)[0].label, Some(1.0));
    let none = ReadOptions {
        labels: Labels::None,
        ..vw()
    };
    assert_eq!(rows("dog 2 | 1\n| 1\n", &none)[0].label, None);
}

/// Whether features are read one by one or several at once depends on how much of the input is
/// there already; whether a line is refused may not.
#[test]
fn what_is_no_text_is_refused_however_it_arrives() {
    let text = b"1 | 7:0.5\n\xad1 0 | 9:0.2\n1 | 9:0.2 \xad\n1 | 5:0.25 6:0.125\n";
    for labels in [Labels::None, Labels::Number] {
        let options = ReadOptions {
            labels,
            on_error: OnError::Skip,
            ..vw()
        };
        for sizes in [&[usize::MAX][..], &[1], &[3, 7], &[20]] {
            let pieces = Box::new(Pieces::new(text, sizes));
            let mut reader = Reader::from_read(pieces, "f", &options).unwrap();
            let mut lines = Vec::new();
            while let Some(batch) = reader.next().unwrap() {
                lines.extend(batch.iter().map(|example| example.line));
            }
            assert_eq!((lines, reader.skipped()), (vec![1, 4], 2), "{sizes:?}");
        }
    }
}

#[test]
fn lines_without_a_label_are_examples() {
    let auto = ReadOptions {
        labels: Labels::Auto,
        labels_may_miss: true,
        ..vw()
    };
    let text = "spam 't1 | a\n't2 | a\nt3| a\n| a\nham 2 | a\n? | a\n1| a\n";
    let mut reader = Reader::from_read(Box::new(text.as_bytes()), "f", &auto).unwrap();
    let (rows, error) = common::drain(&mut reader);
    assert_eq!(error, None);
    let found: Vec<_> = rows.iter().map(|row| (row.label, &*row.tag)).collect();
    let (ham, spam) = (Some(-1.0), Some(1.0));
    assert_eq!(
        found,
        [
            (spam, "t1"),
            (None, "t2"),
            (None, "t3"),
            (None, ""),
            (ham, ""),
            (None, ""),
            (None, "1")
        ]
    );
    assert_eq!(
        reader.warnings(),
        ["`1|` is a tag, not a label. Put a blank before | if it is a label"]
    );
}
