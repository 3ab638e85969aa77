//! The format, from the name or from the first line.

use std::io::Cursor;

use crate::common::options;
use extremal_data::{Format, ReadOptions, Reader};

fn detected(name: &str, text: &str) -> Result<Format, String> {
    let text = Box::new(Cursor::new(text.to_string()));
    let reader = Reader::from_read(text, name, &ReadOptions::default());
    reader
        .map(|reader| reader.format())
        .map_err(|error| error.to_string())
}

#[test]
fn the_extension_identifies_the_format() {
    for (name, format) in [
        ("a.svm", Format::Libsvm),
        ("dir.csv/a.libsvm.gz", Format::Libsvm),
        ("a.b.vw.zst", Format::Vw),
        ("a.csv.bz2", Format::Csv),
        ("a.tsv.xz", Format::Tsv),
        ("a.jsonl", Format::Jsonl),
    ] {
        assert_eq!(detected(name, ""), Ok(format), "{name}");
    }
    for name in ["a.txt", "svm", "a.gz", "a.svm.gz.xz", "-"] {
        assert!(detected(name, "").is_err(), "{name}");
    }
}

#[test]
fn a_line_identifies_the_format_if_only_one_fits() {
    for (line, format) in [
        ("1 1:0.5 3:2", Format::Libsvm),
        ("\n# a comment\n1:0.5 3:2", Format::Libsvm),
        ("spam 1:0.5 3:2", Format::Libsvm),
        ("+1\t0:1\t7:0", Format::Libsvm),
        ("-1\n\n-1\n1 3:2", Format::Libsvm),
        ("1 | 1:0.5", Format::Vw),
        ("spam |", Format::Vw),
        ("0 |n a:0", Format::Vw),
        ("| a b c", Format::Vw),
        ("a,b,label", Format::Csv),
        ("1,2,3", Format::Csv),
        ("1 2 3", Format::Csv),
        ("a,b\tc,d", Format::Csv),
        ("a;b", Format::Csv),
        ("BZh,label\n", Format::Csv),
        ("BZh9,label", Format::Csv),
        ("a\tb\tlabel", Format::Tsv),
        ("{\"label\": 1, \"features\": {}}", Format::Jsonl),
    ] {
        assert_eq!(detected("-", line), Ok(format), "{line}");
    }
    for (line, error) in [
        (
            "1 1:0.5 3:x",
            "libsvm, but -:1: the value is not a number: 3:x",
        ),
        (
            "\n1 1:0.5 1:2",
            "libsvm, but -:2: index 1 appears twice: 1 1:0.5 1:2",
        ),
        (
            "1 1 1 1 | a:1",
            "vw, but -:1: expected only label, weight, base and tag before |: 1",
        ),
    ] {
        let wanted =
            format!("-: the file looks most like {error}; use --format if it has another format");
        assert_eq!(detected("-", line), Err(wanted));
    }
    for line in ["hello", "hello world", "1", ""] {
        let error = detected("-", line).unwrap_err();
        assert!(
            error.contains("neither the name nor the first line"),
            "{error}"
        );
    }
}

#[test]
fn formats_are_parsed_from_their_names() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
        let reader = Reader::from_read(Box::new(Cursor::new("")), "a.svm", &options(format));
        assert_eq!(reader.unwrap().format(), format);
    }
    assert_eq!(
        "xml".parse::<Format>().unwrap_err(),
        "unknown format `xml`: expected libsvm, vw, csv, tsv or jsonl"
    );
}
