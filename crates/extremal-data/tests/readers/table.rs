//! CSV and TSV.

use std::io::Cursor;

use crate::common::{self, drain, features, options, read, rows};
use extremal_data::{Format, Labels, OnError, ReadOptions, Reader};

fn csv() -> ReadOptions {
    options(Format::Csv)
}

/// MurmurHash3 of `colour=red` with seed 0, the last 18 bits, by scikit-learn's `murmurhash3_32`.
const RED: u32 = 238_209;

/// The names of the features of all rows.
fn names(text: &str, options: &ReadOptions) -> Vec<String> {
    let read = Box::new(Cursor::new(text.to_string()));
    let mut reader = Reader::from_read(read, "f", options).unwrap();
    let mut names = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        names = batch.features().unwrap().to_vec();
    }
    names
}

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
        assert_eq!(rows[0].features, [(0, 31.0), (1, 1.75), (2, 1.0)]);
        assert_eq!(
            (rows[1].label, rows[1].weight, rows[1].line),
            (Some(-1.0), 1.0, 4)
        );
        assert_eq!(rows[1].features, [(3, 1.0), (4, 1.0)]);
    }
    let expected = [
        "age",
        "height",
        "colour=red",
        "age (missing)",
        "colour=blue",
    ];
    assert_eq!(names(text, &options), expected);
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
    assert_eq!(rows[0].features, [(0, 5.0), (1, 1.0)]);
    assert_eq!(rows[1].features, [(0, 6.0), (2, 1.0)]);
    let names = names(text, &csv());
    assert_eq!(names[1], "city=Bath, \"UK\"");
    assert_eq!(names[2], "city=x\ny\r\n\"z");
    assert_eq!(names[4], "city (missing)");
    assert_eq!(rows[3].features, [(0, 8.0), (4, 1.0)]);
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
                "no column is called label, y, target or class: the first column, `a`, is used as the label. Use --label for another one"
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
        label_of(
            "a,B\n1,junk\n",
            &ReadOptions {
                label_column: Some("B".into()),
                ..predicting
            }
        ),
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
fn with_bits_text_is_hashed_behind_the_numbers() {
    for (bits, intercept) in [(1, false), (1, true), (3, false)] {
        let options = ReadOptions {
            bits: Some(bits),
            intercept,
            ..csv()
        };
        let shift = u32::from(intercept);
        let text = "label,a,b,c\n1,red,5,x\n1,blue,6,y\n1,green,7,z\n";
        for row in features(text, &options) {
            assert!(row.contains(&(shift, row[usize::from(intercept)].1)));
            let hashed: Vec<_> = row.iter().filter(|pair| pair.0 > shift).collect();
            assert!(hashed.iter().all(|pair| pair.0 < shift + 1 + (1 << bits)));
            assert_eq!(hashed.iter().map(|pair| pair.1).sum::<f64>(), 2.0);
            assert_eq!(intercept, row[0] == (0, 1.0));
        }
    }
    let options = ReadOptions {
        bits: Some(18),
        ..csv()
    };
    let rows = features("y,a,colour\n1,2,red\n", &options);
    assert_eq!(rows, [[(0, 2.0), (1 + RED, 1.0)]]);
}

#[test]
fn the_first_block_decides_what_columns_hold() {
    let rows = |bad: usize| {
        let mut text = "y,code\n".to_string();
        (0..40).for_each(|k| text += if k < bad { "1,x\n" } else { "1,7\n" });
        text
    };
    // One in twenty fields may be text in a column of numbers, and is then an error.
    let (_, error) = read(rows(2), &csv());
    assert_eq!(
        error.unwrap(),
        "f:2: column `code`: text in a column of numbers. Use --missing x if it means a missing value, or --categorical code to treat all values as text: x"
    );
    assert_eq!(names(&rows(3), &csv()), ["code=x", "code=7"]);
    let as_missing = ReadOptions {
        missing: vec!["x".into()],
        ..csv()
    };
    assert_eq!(names(&rows(3), &as_missing), ["code", "code (missing)"]);
    let declared = ReadOptions {
        categorical: vec!["code".into()],
        ..csv()
    };
    assert_eq!(
        names("y,code\n1,12\n1,nan\n1,A12\n", &declared),
        ["code=12", "code (missing)", "code=A12"]
    );
    let (_, error) = read("y,cod\n1,12\n", &declared);
    assert_eq!(
        error.unwrap(),
        "f:1: no column is called `code`; did you mean `cod`?: y,cod"
    );
    let numeric = ReadOptions {
        numeric: vec!["code".into()],
        ..csv()
    };
    let (_, error) = read(rows(40), &numeric);
    assert!(
        error
            .unwrap()
            .starts_with("f:2: column `code`: text in a column of numbers")
    );
    let ignored = ReadOptions {
        ignore: vec!["code".into()],
        ..csv()
    };
    assert_eq!(features("y,code,a\n1,?!,2\n", &ignored), [[(0, 2.0)]]);
}

#[test]
fn a_date_is_a_trend_and_categories() {
    let text = "day,y\n2000-01-01,1\n?,2\n2001-03-05 14:30,3\n";
    let expected = [
        "day:trend",
        "day:year=2000",
        "day:month=1",
        "day:weekday=Saturday",
        "day (missing)",
        "day:year=2001",
        "day:month=3",
        "day:weekday=Monday",
        "day:hour=14",
    ];
    assert_eq!(names(text, &csv()), expected);
    let rows = features(text, &csv());
    assert_eq!(rows[0], [(1, 1.0), (2, 1.0), (3, 1.0)], "the trend is 0");
    assert!((rows[2][0].1 - 1.176).abs() < 1e-3, "{:?}", rows[2]);
    let (_, error) = read(
        format!("{text}2001-02-29,1\n"),
        &ReadOptions {
            date: vec!["day".into()],
            ..csv()
        },
    );
    assert!(
        error
            .unwrap()
            .starts_with("f:5: column `day`: text in a column of dates")
    );
}

#[test]
fn a_first_line_that_looks_like_a_row_is_questioned() {
    for text in [
        "1,2\n3,4\n",
        "M,0.5,NA\nF,0.4,2\n",
        "1\n2\n",
        "1,2\n",
        "2024-03-01,7\n2024-03-02,8\n",
    ] {
        let (rows, error) = read(text, &csv());
        let error = error.unwrap();
        assert!(
            error.starts_with("f:1: the first line looks like a row"),
            "{error}"
        );
        assert!(rows.is_empty() && error.contains("--no-header") && error.contains("--label N"));
    }
    // Numbers in other columns than those of numbers are names.
    assert_eq!(
        names("city,2010,y\nBath,yes,1\nParis,no,2\n", &csv()).len(),
        4
    );
    let headless = ReadOptions {
        no_header: true,
        label_column: Some("3".into()),
        ..csv()
    };
    let text = "M,0.5,1\nF,0.4,2\n";
    assert_eq!(names(text, &headless), ["2", "1=M", "1=F"]);
    assert_eq!(rows(text, &headless)[1].label, Some(2.0));
    // A flag that has a name shows that the first line has the names.
    let named = ReadOptions {
        label_column: Some("y".into()),
        ..csv()
    };
    assert_eq!(names("y,1999\n3,4\n", &named), ["1999"]);
}

#[test]
fn the_separator_is_recognised() {
    let expected = rows("y,a,b c\n1,2,x y\n3,4,z\n", &csv());
    for text in [
        "y;a;b c\n1;2;x y\n3;4;z\n",
        "y\ta\tb c\n1\t2\tx y\n3\t4\tz\n",
        "y|a|b c\n1|2|x y\n3|4|z\n",
        "y a \"b c\"\n 1  2 \"x y\"\n3\t4 z\n",
        "y;a;\"b c\"\n1;2;x y\n3;4;\"z\"\n",
    ] {
        assert_eq!(rows(text, &csv()), expected, "{text}");
    }
    let semicolon = ReadOptions {
        delimiter: Some(";".parse().unwrap()),
        ..csv()
    };
    assert_eq!(names("y;a,b\n1;2,3\n", &semicolon), ["a,b=2,3"]);
    assert!("xy".parse::<extremal_data::Delimiter>().is_err());
}

#[test]
fn labels_may_be_texts_and_may_be_missing() {
    let auto = ReadOptions {
        labels: Labels::Auto,
        ..csv()
    };
    let labels = |text: &str| {
        let (rows, error) = read(text, &auto);
        (rows.iter().map(|row| row.label).collect::<Vec<_>>(), error)
    };
    let text = "y,a\nyes,1\nno,2\nNA,3\n";
    assert_eq!(labels(text).0, [Some(1.0), Some(-1.0), None]);
    let (_, error) = labels("y,a\nb,1\nc,2\na,3\n");
    assert!(
        error
            .unwrap()
            .contains("Use --classes a,b,c for classes, or --label")
    );
    let (_, error) = labels("y,a\nb,1\n");
    assert!(error.unwrap().contains("--labels NEG,POS"));
}

#[test]
fn a_row_that_is_left_out_decides_nothing() {
    let skip = ReadOptions {
        on_error: OnError::Skip,
        ..csv()
    };
    let text = "b,a,y\nu,3,bad\nv,x,2\nw,4,2\n";
    let rows = rows(
        text,
        &ReadOptions {
            numeric: vec!["a".into()],
            ..skip.clone()
        },
    );
    assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [4]);
    assert_eq!(rows[0].features, [(0, 4.0), (1, 1.0)]);
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
        (
            "1,2",
            "expected 3 fields as in the first line, found 2: 1,2",
        ),
        (
            "1,2,3,4",
            "expected 3 fields as in the first line, found 4: 1,2,3,4",
        ),
        (
            "x,1,3",
            "column `y`: the label is not a finite number. Use --label NAME if another column has the label: x",
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
            "a,b,a",
            "two columns are called `a`. Use --no-header if the first line is a row: a,b,a",
        ),
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
            "no column is called `c`; the columns are a, b",
        ),
        (
            ReadOptions {
                weight_column: Some("c".into()),
                ..csv()
            },
            "no column is called `c`; the columns are a, b",
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
