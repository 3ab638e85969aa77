//! JSON lines.

use crate::common::{self, features, options, read, rows};
use extremal_data::{Format, Labels, OnError, ReadOptions, Reader};

fn jsonl() -> ReadOptions {
    options(Format::Jsonl)
}

#[test]
fn features_may_be_an_object_pairs_or_values() {
    let wanted = [(0, 1.5), (3, -2.0)];
    for text in [
        r#"{"label": 1, "features": {"0": 1.5, "3": -2}}"#,
        r#"{"label": 1, "features": {"3": -2.0, "0": 1.5, "7": 0, "8": null, "9": false}}"#,
        r#"{"features":{"3":-2e0,"0":1.5,"7":null,"7":0},"label":"1"}"#,
        r#"{"label": 1, "features": [[0, 1.5], [3, -2]]}"#,
        r#"{"label": 1, "features": [[3, -2], [0, 15e-1], [5, 0.0]]}"#,
        r#" { "label" : 1 , "features" : [ 1.5 , 0 , null , -2 ] } "#,
    ] {
        assert_eq!(features(text, &jsonl())[..], [&wanted[..]], "{text}");
        let with = ReadOptions {
            intercept: true,
            ..jsonl()
        };
        assert_eq!(
            features(text, &with),
            [[(0, 1.0), (1, 1.5), (4, -2.0)]],
            "{text}"
        );
    }
    assert_eq!(
        features(
            "{\"label\":1,\"features\":{}}\n{\"label\":1,\"features\":[]}",
            &jsonl()
        ),
        [[], []]
    );
}

#[test]
fn names_and_texts_are_hashed() {
    // By scikit-learn's murmurhash3_32 with seed 0, the last 18 bits.
    let text = r#"{"label": 1, "features": {"colour": "red", "price": 2.5, "new": true}}"#;
    let mut wanted = vec![(238_209, 1.0), (229_902, 2.5), (157_063, 1.0)];
    wanted.sort_by_key(|pair| pair.0);
    assert_eq!(features(text, &jsonl()), [wanted.clone()]);
    let escaped =
        r#"{"label": 1, "features": {"colou\u0072": "\u0072ed", "price": 2.5, "new": true}}"#;
    assert_eq!(features(escaped, &jsonl()), [wanted]);
    let few = ReadOptions {
        bits: Some(1),
        ..jsonl()
    };
    let sum: f64 = features(text, &few)[0].iter().map(|pair| pair.1).sum();
    assert_eq!(sum, 4.5, "what shares an index is added up");
}

#[test]
fn heads_have_label_weight_and_tag() {
    let text = "\n{\"tag\": \"a\\n7\", \"label\": -1, \"weight\": 2.5, \"features\": []}\n{\"tag\": 17, \"label\": \"3\", \"features\": []}\n";
    let all = rows(text, &jsonl());
    assert_eq!(
        (all[0].label, all[0].weight, &*all[0].tag, all[0].line),
        (Some(-1.0), 2.5, "a\n7", 2)
    );
    assert_eq!(
        (all[1].label, all[1].weight, &*all[1].tag, all[1].line),
        (Some(3.0), 1.0, "17", 3)
    );
    let elsewhere = ReadOptions {
        label_column: Some("y".into()),
        weight_column: Some("w".into()),
        ..jsonl()
    };
    let row = &rows(
        r#"{"y": 5, "w": 0, "label": 7, "features": [1]}"#,
        &elsewhere,
    )[0];
    assert_eq!((row.label, row.weight), (Some(5.0), 0.0));
    let unlabelled = ReadOptions {
        labels_required: false,
        ..jsonl()
    };
    assert_eq!(rows(r#"{"features": [1]}"#, &unlabelled)[0].label, None);
    assert_eq!(
        rows(r#"{"label": null, "features": [1]}"#, &unlabelled)[0].label,
        None
    );
    let none = ReadOptions {
        labels: Labels::None,
        ..jsonl()
    };
    assert_eq!(
        rows(r#"{"label": [1, {"a": 2}], "features": [1]}"#, &none)[0].label,
        None
    );
}

#[test]
fn other_keys_are_ignored_with_a_note() {
    let text = "{\"id\": {\"a\": [1, null, \"x\"]}, \"label\": 1, \"features\": []}\n".repeat(2);
    let mut reader =
        Reader::from_read(Box::new(std::io::Cursor::new(text)), "f", &jsonl()).unwrap();
    assert_eq!(common::drain(&mut reader).0.len(), 2);
    assert_eq!(reader.warnings(), ["key `id` is ignored"]);
    // Many different ones do not fill the screen.
    let keys: String = (0..1000).map(|k| format!("\"k{k}\": 0, ")).collect();
    let text = std::io::Cursor::new(format!("{{{keys}\"label\": 1, \"features\": []}}"));
    let mut reader = Reader::from_read(Box::new(text), "f", &jsonl()).unwrap();
    assert_eq!(common::drain(&mut reader).0.len(), 1);
    assert_eq!(reader.warnings().len(), 16);
}

#[test]
fn every_fault_is_named_with_its_place() {
    for (line, error) in [
        (
            "1",
            "invalid type: integer `1`, expected an object with the key features at column 1: 1",
        ),
        (
            "[]",
            "invalid type: sequence, expected an object with the key features at column 1: []",
        ),
        (
            "{",
            "the line ends before the JSON object does at column 1: {",
        ),
        (
            "{\"label\": 1",
            "the line ends before the JSON object does at column 11: {\"label\": 1",
        ),
        (
            "{\"label\": 1}",
            "the features are missing at column 12: {\"label\": 1}",
        ),
        (
            "{\"features\": []}",
            "the label is missing at column 16: {\"features\": []}",
        ),
        (
            "{\"label\": null, \"features\": []}",
            "the label is missing at column 14: {\"label\": null, \"features\": []}",
        ),
        (
            "{\"label\": \"x\", \"features\": []}",
            "the label is not a finite number at column 13: {\"label\": \"x\", \"features\": []}",
        ),
        (
            "{\"label\": NaN, \"features\": []}",
            "expected value at column 11: {\"label\": NaN, \"features\": []}",
        ),
        (
            "{\"label\": 1e999, \"features\": []}",
            "the label is not a finite number at column 15: {\"label\": 1e999, \"features\": []}",
        ),
        (
            "{\"label\": true, \"features\": []}",
            "expected a number or a string at column 14: {\"label\": true, \"features\": []}",
        ),
        (
            "{\"label\": 1, \"label\": 1, \"features\": []}",
            "the key appears twice at column 20: {\"label\": 1, \"label\": 1, \"features\": []}",
        ),
        (
            "{\"label\": 1, \"weight\": -1, \"features\": []}",
            "the weight is not a finite number of at least 0 at column 25: {\"label\": 1, \"weight\": -1, \"features\": []}",
        ),
        (
            "{\"label\": 1, \"weight\": null, \"features\": []}",
            "the weight is missing at column 27: {\"label\": 1, \"weight\": null, \"features\": []}",
        ),
        (
            "{\"label\": 1, \"features\": 5}",
            "invalid type: integer `5`, expected features as an object or a list at column 26: {\"label\": 1, \"features\": 5}",
        ),
        (
            "{\"label\": 1, \"features\": {\"a\": []}}",
            "invalid type: sequence, expected a number, a string, true, false or null at column 33: {\"label\": 1, \"features\": {\"a\": []}}",
        ),
        (
            "{\"label\": 1, \"features\": {\"a\": 1e999}}",
            "number out of range at column 36: {\"label\": 1, \"features\": {\"a\": 1e999}}",
        ),
        (
            "{\"label\": 1, \"features\": {\"a\": 01}}",
            "invalid number at column 33: {\"label\": 1, \"features\": {\"a\": 01}}",
        ),
        (
            "{\"label\": 1, \"features\": {\"4294967295\": 1}}",
            "the index is too large at column 42: label\": 1, \"features\": {\"4294967295\": 1}}",
        ),
        (
            "{\"label\": 1, \"features\": {\"7\": 1e308, \"7\": 1e308}}",
            "index 7 appears twice at column 49:  1, \"features\": {\"7\": 1e308, \"7\": 1e308}}",
        ),
        (
            "{\"label\": 1, \"features\": [[1, 2], [1, 3]]}",
            "index 1 appears twice at column 41: \"label\": 1, \"features\": [[1, 2], [1, 3]]}",
        ),
        (
            "{\"label\": 1, \"features\": [[1, 2], 3]}",
            "the list mixes values and [index, value] pairs at column 36: {\"label\": 1, \"features\": [[1, 2], 3]}",
        ),
        (
            "{\"label\": 1, \"features\": [[-1, 2]]}",
            "expected [index, value], a whole number and a number at column 33: {\"label\": 1, \"features\": [[-1, 2]]}",
        ),
        (
            "{\"label\": 1, \"features\": [[1.5, 2]]}",
            "expected [index, value], a whole number and a number at column 34: {\"label\": 1, \"features\": [[1.5, 2]]}",
        ),
        (
            "{\"label\": 1, \"features\": [[1]]}",
            "expected [index, value], a whole number and a number at column 29: {\"label\": 1, \"features\": [[1]]}",
        ),
        (
            "{\"label\": 1, \"features\": [[1, 2, 3]]}",
            "trailing characters at column 34: {\"label\": 1, \"features\": [[1, 2, 3]]}",
        ),
        (
            "{\"label\": 1, \"features\": [\"a\"]}",
            "invalid type: string \"a\", expected a number, null or [index, value] at column 29: {\"label\": 1, \"features\": [\"a\"]}",
        ),
        (
            "{\"label\": 1, \"features\": []} x",
            "trailing characters at column 30: {\"label\": 1, \"features\": []} x",
        ),
        (
            "{\"label\": 1, \"features\": [],}",
            "trailing comma at column 29: {\"label\": 1, \"features\": [],}",
        ),
        (
            "{\"label\": 1 \"features\": []}",
            "expected `,` or `}` at column 13: {\"label\": 1 \"features\": []}",
        ),
        (
            "{\"label\": 1, features: []}",
            "key must be a string at column 14: {\"label\": 1, features: []}",
        ),
        (
            "{\"label\": 1, \"features\": {\"a\0\": 1}}",
            "the line contains a NUL byte: {\"label\": 1, \"features\": {\"a\\u{0}\": 1}}",
        ),
    ] {
        let good = "{\"label\": 1, \"features\": [1]}";
        let (rows, found) = read(format!("{good}\n{line}\n{good}\n"), &jsonl());
        assert_eq!(found.as_deref(), Some(&*format!("f:2: {error}")));
        assert_eq!(rows.len(), 1, "{line}");
        let skip = ReadOptions {
            on_error: OnError::Skip,
            ..jsonl()
        };
        let left = common::rows(format!("{good}\n{line}\n{good}\n"), &skip);
        assert_eq!(left.iter().map(|row| row.line).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(left[1].features, [(0, 1.0)]);
    }
    let (_, error) = read(b"{\"label\": 1, \"features\": {\"\xff\": 1}}", &jsonl());
    assert_eq!(
        error.unwrap(),
        "f:1: the line is not UTF-8: {\"label\": 1, \"features\": {\"\u{fffd}\": 1}}"
    );
}
