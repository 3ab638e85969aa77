//! Tables for a model that remembers the columns it was learnt from.

use std::io::Cursor;

use crate::common::{features, options, read, rows};
use extremal_data::{Column, Format, Holds, Labels, ReadOptions, Reader};

/// The options that a model learnt from this table has.
fn after(text: &str, options: &ReadOptions) -> ReadOptions {
    let read = Box::new(Cursor::new(text.to_string()));
    let mut reader = Reader::from_read(read, "f", options).unwrap();
    let (mut columns, mut features) = (None, None);
    while let Some(batch) = reader.next().unwrap() {
        columns = batch.columns().map(|columns| columns.to_vec());
        features = batch.features().cloned();
    }
    ReadOptions {
        columns: Some(columns.unwrap()),
        features,
        learnt_from: Some(Format::Csv),
        ..options.clone()
    }
}

const TABLE: &str = "y,w,a,colour,none\n1,2,3,red,\n0,1,4,blue,\n";

fn model() -> ReadOptions {
    let weighted = ReadOptions {
        weight_column: Some("w".into()),
        ..options(Format::Csv)
    };
    after(TABLE, &weighted)
}

#[test]
fn the_columns_and_what_they_hold_are_passed_on() {
    let column = |name: &str, holds| Column {
        name: name.into(),
        holds,
    };
    let wanted = [
        column("y", Holds::Label),
        column("w", Holds::Weight),
        column("a", Holds::Numbers),
        column("colour", Holds::Text),
        column("none", Holds::Numbers),
    ];
    assert_eq!(model().columns.unwrap(), wanted);
}

#[test]
fn columns_in_another_order_are_the_same_features() {
    let reordered = "none,colour,w,y,a\n,red,2,1,3\n,blue,1,0,4\n";
    for intercept in [false, true] {
        let plain = ReadOptions {
            columns: None,
            learnt_from: None,
            features: None,
            intercept,
            ..model()
        };
        let resumed = after(TABLE, &plain);
        assert_eq!(rows(reordered, &resumed), rows(TABLE, &plain));
    }
}

#[test]
fn other_columns_are_refused_by_name() {
    for (text, error) in [
        ("y,w,a,colour\n", "missing `none`: y,w,a,colour"),
        ("y,w,a,colour,none,b\n", "unknown `b`: y,w,a,colour,none,b"),
        (
            "w,b,colour,none\n",
            "missing `y`, `a`; unknown `b`: w,b,colour,none",
        ),
    ] {
        let (rows, found) = read(text, &model());
        assert!(rows.is_empty());
        let start = "f:1: the columns differ from those that the model was trained on: ";
        assert_eq!(found.unwrap(), format!("{start}{error}"));
    }
}

#[test]
fn label_and_weight_may_be_missing_where_labels_are_not_looked_at() {
    let predicting = ReadOptions {
        labels: Labels::None,
        labels_required: false,
        ..model()
    };
    let wanted = features(TABLE, &predicting);
    assert_eq!(wanted[0].len(), 3);
    assert_eq!(
        features("a,colour,none\n3,red,\n4,blue,\n", &predicting),
        wanted
    );
    let (_, error) = read("colour,none\nred,\n", &predicting);
    assert!(error.unwrap().contains("missing `a`"));
    // where the label's column was the first for want of a name, it is known now
    let first = ReadOptions {
        labels: Labels::None,
        labels_required: false,
        ..after("t,a\n1,2\n", &options(Format::Csv))
    };
    assert_eq!(features("a\n2\n", &first), [[(0, 2.0)]]);
    assert_eq!(features("a,t\n2,1\n", &first), [[(0, 2.0)]]);
}

#[test]
fn a_column_holds_what_it_held() {
    let (_, error) = read("y,w,a,colour,none\n1,1,red,red,\n", &model());
    let error = error.unwrap();
    assert!(error.starts_with(
        "f:2: column `a`: text in a column of numbers. Train the model with --missing red"
    ));
    // A number in a column of text is a new text, unless the dictionary is frozen.
    let text = "y,w,a,colour,none\n1,1,1,7,\n";
    assert_eq!(features(text, &model()), [[(0, 1.0), (3, 1.0), (5, 1.0)]]);
    let frozen = ReadOptions {
        frozen: true,
        ..model()
    };
    assert_eq!(features(text, &frozen), [[(0, 1.0), (3, 1.0)]]);
    // a column of numbers stays one, whatever is declared later
    let declared = ReadOptions {
        categorical: vec!["a".into()],
        ..model()
    };
    let text = "y,w,a,colour,none\n1,1,1,red,\n";
    assert_eq!(features(text, &declared), features(text, &model()));
}

#[test]
fn a_file_with_other_numbers_for_its_features_is_refused() {
    let misfit = |learnt_from, format, zero_based, text: &str| {
        let options = ReadOptions {
            learnt_from: Some(learnt_from),
            zero_based,
            ..options(format)
        };
        read(text, &options).1
    };
    let (svm, vw, json) = (
        "1 1:1\n",
        "1 | 1:1\n",
        "{\"label\": 1, \"features\": {\"1\": 1}}\n",
    );
    assert_eq!(
        misfit(Format::Libsvm, Format::Vw, false, vw).unwrap(),
        "f: the features of vw are numbered from 0, but the model was trained on libsvm, whose features are numbered from 1"
    );
    assert_eq!(
        misfit(Format::Csv, Format::Libsvm, false, svm).unwrap(),
        "f: the features of libsvm are numbered from 1, but the model was trained on csv, whose features are a table's columns"
    );
    assert!(misfit(Format::Jsonl, Format::Libsvm, false, svm).is_some());
    assert!(misfit(Format::Libsvm, Format::Jsonl, false, json).is_some());
    for (from, to, zero_based, text) in [
        (Format::Libsvm, Format::Libsvm, false, svm),
        (Format::Libsvm, Format::Vw, true, vw),
        (Format::Vw, Format::Jsonl, false, json),
        (Format::Jsonl, Format::Libsvm, true, svm),
        (Format::Csv, Format::Tsv, false, "y\ta\n1\t2\n"),
    ] {
        assert_eq!(misfit(from, to, zero_based, text), None, "{from} {to}");
    }
}
