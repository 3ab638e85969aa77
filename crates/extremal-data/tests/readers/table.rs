//! CSV and TSV.

use std::io::Cursor;

use crate::common::{self, drain, features, options, read, rows};
use extremal_data::{Format, Labels, OnError, ReadOptions, Reader};

fn csv() -> ReadOptions {
    options(Format::Csv)
}

/// MurmurHash3 of `colour=red`, `colour=blue` and `city=Bath, "UK"` with seed 0, the last 18 bits,
/// by scikit-learn's `murmurhash3_32`.
const RED: u32 = 238_209;
const BLUE: u32 = 145_920;
const BATH: u32 = 132_551;

#[test]
fn rows_become_examples() {
    let text = "age,label,colour, w ,height\n31,1,red,2.5,1.75\n\n , -1 ,\"blue\",1,0\n";
    let options = ReadOptions {
        weight_column: Some("w".into()),
        ..csv()
    };
    for text in [
        text.to_string(),
        text.replace('\n', "\r\n"),
        format!("\u{feff}{text}"),
    ] {
        let rows = rows(text, &options);
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].label, rows[0].weight, rows[0].line),
            (Some(1.0), 2.5, 2)
        );
        assert_eq!(rows[0].features, [(0, 31.0), (2, 1.75), (3 + RED, 1.0)]);
        assert_eq!(
            (rows[1].label, rows[1].weight, rows[1].line),
            (Some(-1.0), 1.0, 4)
        );
        assert_eq!(rows[1].features, [(3 + BLUE, 1.0)]);
    }
    let tabs = text.replace(',', "\t");
    let options = ReadOptions {
        format: Some(Format::Tsv),
        ..options
    };
    assert_eq!(rows(tabs, &options)[0].features.len(), 3);
}

#[test]
fn quoted_fields_may_hold_anything() {
    let text = "label,city,\"a \"\"b\"\",\nc\"\n1,\"Bath, \"\"UK\"\"\", \"5\" \n2,\"x\ny\r\n\"\"z\",6\n3,a\"b,7\n4,,8\n";
    let rows = rows(text, &csv());
    let lines: Vec<_> = rows.iter().map(|row| (row.label, row.line)).collect();
    assert_eq!(
        lines,
        [
            (Some(1.0), 3),
            (Some(2.0), 4),
            (Some(3.0), 7),
            (Some(4.0), 8)
        ]
    );
    assert_eq!(rows[0].features, [(1, 5.0), (2 + BATH, 1.0)]);
    assert_eq!(rows[1].features.len(), 2);
    assert_eq!(rows[3].features, [(1, 8.0)]);
}

#[test]
fn the_label_is_where_it_is_said_to_be() {
    let label_of = |text: &str, options: &ReadOptions| {
        let mut reader =
            Reader::from_read(Box::new(Cursor::new(text.to_string())), "f", options).unwrap();
        let (rows, error) = drain(&mut reader);
        assert_eq!(error, None);
        (rows[0].label, rows[0].features.clone(), reader.warnings())
    };
    for name in ["label", "y", "target", "class"] {
        let text = format!("a,{name},b\n1,2,3\n");
        assert_eq!(
            label_of(&text, &csv()),
            (Some(2.0), vec![(0, 1.0), (1, 3.0)], vec![])
        );
    }
    assert_eq!(
        label_of("a,b\n1,2\n", &csv()),
        (
            Some(1.0),
            vec![(0, 2.0)],
            vec![
                "no column is called label, y, target or class: the first column, `a`, is used as the label"
                    .into()
            ]
        )
    );
    let b = ReadOptions {
        label_column: Some("b".into()),
        ..csv()
    };
    assert_eq!(
        label_of("label,b\n1,2\n", &b),
        (Some(2.0), vec![(0, 1.0)], vec![])
    );
    let predicting = ReadOptions {
        labels: Labels::None,
        ..b
    };
    assert_eq!(
        label_of("a,c\n1,2\n", &predicting),
        (None, vec![(0, 1.0), (1, 2.0)], vec![])
    );
    assert_eq!(
        label_of("a,b\n1,junk\n", &predicting),
        (None, vec![(0, 1.0)], vec![])
    );
}

#[test]
fn where_labels_are_not_looked_at_the_first_column_is_no_label() {
    let predicting = ReadOptions {
        labels: Labels::None,
        labels_required: false,
        ..csv()
    };
    assert_eq!(features("a,b\n1,2\n", &predicting), [[(0, 1.0), (1, 2.0)]]);
    assert_eq!(features("a,y\n1,2\n", &predicting), [[(0, 1.0)]]);
}

#[test]
fn only_the_line_that_opens_a_quote_is_passed_over() {
    let skip = ReadOptions {
        on_error: OnError::Skip,
        ..csv()
    };
    let text = "y,a\n1,\"p\n2,q\nx\",\"z\n3,q\nx\",\"z\n4,q\n";
    let reader = &mut Reader::from_read(Box::new(Cursor::new(text)), "f", &skip).unwrap();
    let (rows, error) = drain(reader);
    assert_eq!(error, None);
    let kept: Vec<_> = rows.iter().map(|row| (row.label, row.line)).collect();
    assert_eq!(kept, [(Some(2.0), 3), (Some(3.0), 5), (Some(4.0), 7)]);
    assert_eq!(reader.skipped(), 3);
}

#[test]
fn quotes_that_never_close_are_not_looked_for_again_and_again() {
    let skip = ReadOptions {
        on_error: OnError::Skip,
        ..csv()
    };
    let long = format!("x{}\",\"y\n", "x".repeat(1000));
    for (line, count) in [("x\",\"y\n", 100_000), (&long, 20_000)] {
        let start = std::time::Instant::now();
        let text = format!("y,a\n1,2\n{}", line.repeat(count));
        let reader = &mut Reader::from_read(Box::new(Cursor::new(text)), "f", &skip).unwrap();
        let (rows, error) = drain(reader);
        assert_eq!((rows.len(), error), (1, None));
        assert_eq!(reader.skipped(), count as u64);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}

#[test]
fn text_is_hashed_behind_all_columns() {
    for (bits, intercept) in [(1, false), (1, true), (3, false)] {
        let options = ReadOptions {
            bits: Some(bits),
            intercept,
            ..csv()
        };
        let shift = u32::from(intercept);
        let text = "label,a,b,c\n1,red,1,x\n1,blue,2,y\n1,green,3,z\n";
        for row in features(text, &options) {
            assert!(row.contains(&(shift + 1, row[usize::from(intercept)].1)));
            let hashed: Vec<_> = row.iter().filter(|pair| pair.0 > shift + 2).collect();
            assert!(hashed.iter().all(|pair| pair.0 < shift + 3 + (1 << bits)));
            assert_eq!(hashed.iter().map(|pair| pair.1).sum::<f64>(), 2.0);
            assert_eq!(intercept, row[0] == (0, 1.0));
        }
    }
}

#[test]
fn a_column_holds_numbers_or_text_unless_it_is_called_categorical() {
    let (_, error) = read("y,code\n1,12\n1,\n1,A12\n", &csv());
    assert_eq!(
        error.unwrap(),
        "f:4: column `code`: text after numbers; use --categorical code to treat all its values as text: A12"
    );
    let (_, error) = read("y,code\n1,A12\n1,12\n", &csv());
    assert_eq!(
        error.unwrap(),
        "f:3: column `code`: a number after text; use --categorical code to treat all its values as text: 12"
    );
    let options = ReadOptions {
        categorical: vec!["code".into()],
        ..csv()
    };
    let rows = features("y,code\n1,12\n1,nan\n1,A12\n", &options);
    assert!(
        rows.iter()
            .all(|row| row.len() == 1 && row[0].0 > 0 && row[0].1 == 1.0)
    );
    let (_, error) = read("y,a\n1,12\n", &options);
    assert_eq!(error.unwrap(), "f:1: no column is called `code`: y,a");
}

#[test]
fn a_row_that_is_left_out_decides_nothing() {
    let skip = ReadOptions {
        on_error: OnError::Skip,
        ..csv()
    };
    let text = "a,b,y\nn/a,3,bad\n1,x,2\n2,y,2\n";
    let rows = rows(text, &skip);
    assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(rows[0].features[0], (0, 1.0));
}

#[test]
fn a_mark_of_utf_8_may_come_before_a_quote() {
    let rows = rows("\u{feff}\"y\nz\",a\n1,2\n", &csv());
    assert_eq!((rows[0].line, rows[0].label), (3, Some(1.0)));
}

#[test]
fn every_fault_is_named_with_its_place() {
    let weighted = ReadOptions {
        weight_column: Some("w".into()),
        ..csv()
    };
    for (line, error) in [
        ("1,2", "expected 3 fields as in the header, found 2: 1,2"),
        (
            "1,2,3,4",
            "expected 3 fields as in the header, found 4: 1,2,3,4",
        ),
        (",1,3", "column `y`: the label is missing: "),
        ("x,1,3", "column `y`: the label is not a finite number: x"),
        (
            "nan,1,3",
            "column `y`: the label is not a finite number: nan",
        ),
        (
            "1,-1,3",
            "column `w`: the weight is not a finite number of at least 0: -1",
        ),
        (
            "1,inf,3",
            "column `w`: the weight is not a finite number of at least 0: inf",
        ),
        ("1,,3", "column `w`: the weight is missing: "),
        ("1,1,nan", "column `a`: the value is not finite: nan"),
        ("1,1,-inf", "column `a`: the value is not finite: -inf"),
        ("1,1,1e999", "column `a`: the value is not finite: 1e999"),
        ("1,1,\"3\"x", "text after a closing quote: \"3\"x"),
        ("1,1,a\0b", "the line contains a NUL byte: 1,1,a\\u{0}b"),
    ] {
        let (rows, found) = read(format!("y,w,a\n1,1,1\n{line}\n1,1,1\n"), &weighted);
        assert_eq!(found.as_deref(), Some(&*format!("f:3: {error}")));
        assert_eq!(rows.len(), 1, "{line}");
        let skip = ReadOptions {
            on_error: OnError::Skip,
            ..weighted.clone()
        };
        let rows = common::rows(format!("y,w,a\n1,1,1\n{line}\n1,1,1\n"), &skip);
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 4]);
    }
    let (_, error) = read(b"y,a\n1,\xff\n", &csv());
    assert_eq!(error.unwrap(), "f:2: the line is not UTF-8: 1,\u{fffd}");
}

#[test]
fn a_header_that_can_not_be_used_stops_even_where_lines_are_skipped() {
    let skip = ReadOptions {
        on_error: OnError::Skip,
        ..csv()
    };
    for (header, error) in [
        (
            "1,2,3",
            "`1` is a number, not a column's name: add a first line with the names of the columns: 1,2,3",
        ),
        (
            "red,0.5,1",
            "`0.5` is a number, not a column's name: add a first line with the names of the columns: red,0.5,1",
        ),
        ("a,b,a", "two columns are called `a`: a,b,a"),
        ("a,\"b\"x", "text after a closing quote: \"b\"x"),
    ] {
        let (rows, found) = read(format!("{header}\n1,2,3\n"), &skip);
        assert_eq!(found.as_deref(), Some(&*format!("f:1: {error}")));
        assert!(rows.is_empty());
    }
    for (options, error) in [
        (
            ReadOptions {
                label_column: Some("c".into()),
                ..csv()
            },
            "no column is called `c`",
        ),
        (
            ReadOptions {
                weight_column: Some("c".into()),
                ..csv()
            },
            "no column is called `c`",
        ),
        (
            ReadOptions {
                label_column: Some("b".into()),
                weight_column: Some("b".into()),
                ..csv()
            },
            "column `b` is both label and weight",
        ),
    ] {
        let (_, found) = read("a,b\n1,2\n", &options);
        assert_eq!(found.unwrap(), format!("f:1: {error}: a,b"));
    }
}

#[test]
fn a_quote_that_is_not_closed_is_never_the_rest_of_the_file() {
    let text = "y,a\n1,\"x\n2,y\n3,z\n";
    let (rows, error) = read(text, &csv());
    assert!(rows.is_empty());
    assert_eq!(error.unwrap(), "f:2: the quote is never closed: 1,\"x");
    let skip = ReadOptions {
        on_error: OnError::Skip,
        ..csv()
    };
    let rows = common::rows(text, &skip);
    let lines: Vec<_> = rows.iter().map(|row| (row.label, row.line)).collect();
    assert_eq!(lines, [(Some(2.0), 3), (Some(3.0), 4)]);
}

#[test]
fn a_quote_is_not_looked_for_without_end() {
    let line = format!("2,{}\n", "z".repeat(1000));
    let text = format!("y,a\n1,\"x\n{}", line.repeat(17_500));
    assert!(text.len() > 16 << 20);
    let skip = ReadOptions {
        on_error: OnError::Skip,
        ..csv()
    };
    let (rows, error) = read(text, &skip);
    assert_eq!(error, None);
    assert_eq!(rows.len(), 17_500);
    assert_eq!(rows[0].line, 3);
}
