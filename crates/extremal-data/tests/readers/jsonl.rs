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
            "the label is not a finite number at column 14: {\"label\": true, \"features\": []}",
        ),
        (
            "{\"label\": [], \"features\": []}",
            "expected a number, a string, true or false at column 12: {\"label\": [], \"features\": []}",
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

/// Labels, and features with their names.
type Named = Vec<(Option<f64>, Vec<(String, f64)>)>;

fn named(text: &str, options: &ReadOptions) -> Result<Named, String> {
    let text = Box::new(std::io::Cursor::new(text.to_string()));
    let mut reader = Reader::from_read(text, "f", options).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    loop {
        let Some(batch) = reader.next().map_err(|error| error.to_string())? else {
            return Ok(rows);
        };
        let names = batch.features().unwrap();
        for example in batch.iter() {
            let name = |k: &u32| names.name(*k as usize).unwrap();
            let mut row: Vec<_> = std::iter::zip(example.indices, example.values)
                .map(|(k, x)| (name(k), *x))
                .collect();
            row.sort_by(|a, b| a.0.cmp(&b.0));
            rows.push((example.label, row));
        }
    }
}

fn of(features: &[(&str, f64)]) -> Vec<(String, f64)> {
    features.iter().map(|(k, x)| (k.to_string(), *x)).collect()
}

#[test]
fn records_are_rows_of_a_table() {
    let records = [
        r#"{"y":1.5,"age":31,"new":true,"city":"Bath","day":"2024-03-01","w":2}"#,
        r#"{"y":2,"age":null,"new":false,"city":null,"day":null,"w":1}"#,
        r#"{"y":null,"age":"12","user":{"id":7,"in":{"town":"Rome"}},"w":1}"#,
        r#"{"city":"NA","y":"3","words":["b","a","b",""],"size":[2,null,0.5],"w":1}"#,
        r#"{"y":4,"late":1,"more":"x","list":[{"a":5},["q",6]],"age":0,"w":1}"#,
    ];
    let options = ReadOptions {
        weight_column: Some("w".into()),
        intercept: true,
        labels_may_miss: true,
        ..jsonl()
    };
    let trend = 8826.0 / 365.2425;
    let i = ("intercept", 1.0);
    let wanted = [
        (
            Some(1.5),
            of(&[
                ("age", 31.0),
                ("city=Bath", 1.0),
                ("day:month=3", 1.0),
                ("day:trend", trend),
                ("day:weekday=Friday", 1.0),
                ("day:year=2024", 1.0),
                i,
                ("new", 1.0),
            ]),
        ),
        (
            Some(2.0),
            of(&[
                ("age (missing)", 1.0),
                ("city (missing)", 1.0),
                ("day (missing)", 1.0),
                i,
            ]),
        ),
        (
            None,
            of(&[
                ("age", 12.0),
                i,
                ("user.id", 7.0),
                ("user.in.town=Rome", 1.0),
            ]),
        ),
        (
            Some(3.0),
            of(&[
                ("city (missing)", 1.0),
                i,
                ("size[0]", 2.0),
                ("size[2]", 0.5),
                ("words=", 1.0),
                ("words=a", 1.0),
                ("words=b", 2.0),
            ]),
        ),
        (
            Some(4.0),
            of(&[
                i,
                ("late", 1.0),
                ("list=q", 1.0),
                ("list[0].a", 5.0),
                ("list[1][1]", 6.0),
                ("more=x", 1.0),
            ]),
        ),
    ];
    assert_eq!(named(&records.join("\n"), &options).unwrap(), wanted);
    // An array in any layout has the same records.
    for array in [
        format!("[{}]", records.join(",")),
        format!(
            "\n [\n{}\n]\n",
            records.join(" ,\r\n  ").replace("\":", "\"\n : ")
        ),
    ] {
        let detect = ReadOptions {
            format: None,
            ..options.clone()
        };
        assert_eq!(named(&array, &detect).unwrap(), wanted);
    }
}

#[test]
fn options_of_tables_apply_to_records() {
    let text = r#"{"a":1,"b":"2","c":{"d":"x","e":3},"t":"yes","n":-9,"day":"2024-03-01"}
{"a":2,"b":"3","c":{"d":"y","e":4},"t":"no","n":5,"day":"?","tags":[1,2]}"#;
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| name.to_string())
            .collect::<Vec<_>>()
    };
    let options = ReadOptions {
        label_column: Some("t".into()),
        labels: Labels::Auto,
        categorical: list(&["a", "tags"]),
        numeric: list(&["b"]),
        ignore: list(&["c"]),
        missing: list(&["-9"]),
        date: list(&["day"]),
        ..jsonl()
    };
    let rows = named(text, &options).unwrap();
    assert_eq!(rows[0].0, Some(1.0));
    assert_eq!(rows[1].0, Some(-1.0));
    let plain = |row: &[(String, f64)]| -> Vec<_> {
        let other = |(name, _): &&(String, f64)| !name.starts_with("day:");
        row.iter().filter(other).cloned().collect()
    };
    assert_eq!(
        plain(&rows[0].1),
        of(&[("a=1", 1.0), ("b", 2.0), ("n (missing)", 1.0)])
    );
    assert_eq!(
        plain(&rows[1].1),
        of(&[
            ("a=2", 1.0),
            ("b", 3.0),
            ("day (missing)", 1.0),
            ("n", 5.0),
            ("tags=1", 1.0),
            ("tags=2", 1.0)
        ])
    );
    for (label, error) in [
        ("u", "f:1: no column is called `u`"),
        (
            "day",
            "f:1: key `day`: all labels so far are the text `2024-03-01`. Use --labels",
        ),
        ("c.d", "f:2"),
    ] {
        let options = ReadOptions {
            label_column: Some(label.into()),
            labels: Labels::Auto,
            ..jsonl()
        };
        let found = named(&format!("{text}\n{text}"), &options);
        match label {
            "c.d" => assert!(found.is_ok(), "{found:?}"),
            _ => assert!(found.clone().unwrap_err().starts_with(error), "{found:?}"),
        }
    }
}

#[test]
fn a_record_that_does_not_fit_names_the_flag_that_helps() {
    let text = "{\"y\":1,\"a\":1,\"b\":\"x\"}\n".repeat(600);
    for (line, error) in [
        (
            r#"{"y":1,"a":"n.a.","b":"x"}"#,
            "f:601: key `a`: text in a column of numbers. Use --missing n.a. if it means a missing value, or --categorical a to treat all values as text: {\"y\":1,\"a\":\"n.a.\",\"b\":\"x\"}",
        ),
        (
            r#"{"y":"x","a":1}"#,
            "f:601: key `y`: the label is not a finite number: {\"y\":\"x\",\"a\":1}",
        ),
        (
            r#"{"y":1,"a":1"#,
            "f:601: the line ends before the JSON object does at column 12: {\"y\":1,\"a\":1",
        ),
    ] {
        assert_eq!(
            named(&format!("{text}{line}\n"), &jsonl()),
            Err(error.into())
        );
    }
    for (array, error) in [
        (
            "[{\"y\":1},{\"y\":2}",
            "f: can't be read: the JSON array has no end",
        ),
        (
            "[{\"y\":1}] x",
            "f: can't be read: there is text after the end of the JSON array",
        ),
        (
            "[{\"y\":1},7]",
            "f:2: invalid type: integer `7`, expected an object at column 1: 7",
        ),
    ] {
        assert_eq!(named(array, &jsonl()), Err(error.into()));
    }
}
