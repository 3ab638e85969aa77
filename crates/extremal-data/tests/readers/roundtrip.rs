//! What is written is read back, number for number, in every format.

use std::collections::BTreeMap;

use crate::common::{self, Row, options, rows};
use extremal_data::{Format, ReadOptions};
use proptest::prelude::*;

/// Numbers of all sizes, short ones more often than they would come by themselves.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite, not 0", |x| x.is_finite() && *x != 0.0),
        (1..1_000_000_i64, 0..8_u32)
            .prop_map(|(digits, behind)| digits as f64 / 10_f64.powi(behind as i32)),
        (-1000..1000_i64).prop_map(|k| k as f64 + 0.5),
        (1..100_i64).prop_map(|k| k as f64),
    ]
}

/// Any way to write it that gives it back.
fn written() -> impl Strategy<Value = (f64, String)> {
    (number(), 0..4_u8).prop_map(|(x, way)| {
        let text = match way {
            0 => format!("{x}"),
            1 => format!("{x:e}"),
            2 => format!("{x:?}"),
            _ => format!("{x:.17e}"),
        };
        assert_eq!(
            text.parse::<f64>().unwrap().to_bits(),
            x.to_bits(),
            "{text}"
        );
        (x, text)
    })
}

#[derive(Debug, Clone)]
struct Given {
    label: (f64, String),
    weight: (f64, String),
    tag: String,
    features: BTreeMap<u32, (f64, String)>,
}

fn given() -> impl Strategy<Value = Vec<Given>> {
    let index = prop_oneof![0..50_u32, 0..100_000_u32, 0..u32::MAX - 1];
    let one = (
        written(),
        written(),
        "[a-z0-9_é]{0,8}",
        prop::collection::btree_map(index, written(), 0..20),
    )
        .prop_map(|(label, weight, tag, features)| Given {
            label,
            weight: (weight.0.abs(), weight.1.trim_start_matches('-').to_string()),
            tag,
            features,
        });
    prop::collection::vec(one, 1..40)
}

fn same(rows: &[Row], given: &[Given], weights: bool, tags: bool) -> Result<(), TestCaseError> {
    prop_assert_eq!(rows.len(), given.len());
    for (row, given) in std::iter::zip(rows, given) {
        let bits = |pairs: Vec<(u32, f64)>| -> Vec<(u32, u64)> {
            pairs.into_iter().map(|(i, x)| (i, x.to_bits())).collect()
        };
        let wanted: Vec<_> = given.features.iter().map(|(i, x)| (*i, x.0)).collect();
        prop_assert_eq!(row.label.unwrap().to_bits(), given.label.0.to_bits());
        prop_assert_eq!(bits(row.features.clone()), bits(wanted));
        if weights {
            prop_assert_eq!(row.weight.to_bits(), given.weight.0.to_bits());
        }
        if tags {
            prop_assert_eq!(&row.tag, &given.tag);
        }
    }
    Ok(())
}

fn cases() -> ProptestConfig {
    let cases = if common::soak() { 20_000 } else { 200 };
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn libsvm_is_read_back(given in given(), zero_based: bool, backwards: bool) {
        let mut text = String::new();
        for one in &given {
            text.push_str(&one.label.1);
            let pair = |(index, value): (&u32, &(f64, String))| {
                format!(" {}:{}", u64::from(*index) + u64::from(!zero_based), value.1)
            };
            if backwards {
                text.extend(one.features.iter().rev().map(pair));
            } else {
                text.extend(one.features.iter().map(pair));
            }
            text.push('\n');
        }
        let options = ReadOptions { zero_based, ..options(Format::Libsvm) };
        same(&rows(text, &options), &given, false, false)?;
    }

    #[test]
    fn vw_text_is_read_back(given in given(), spread: bool) {
        let mut text = String::new();
        for one in &given {
            text.push_str(&format!("{} {} '{} |", one.label.1, one.weight.1, one.tag));
            for (index, value) in &one.features {
                text.push_str(&format!(" {index}:{}", value.1));
                if spread {
                    text.push_str(" |");
                }
            }
            text.push('\n');
        }
        same(&rows(text, &options(Format::Vw)), &given, true, true)?;
    }

    #[test]
    fn json_lines_are_read_back(given in given(), listed: bool) {
        let mut text = String::new();
        for one in &given {
            // JSON has its own way to write numbers, and serde_json writes it.
            let number = |x: f64| serde_json::Value::from(x);
            let features: serde_json::Value = if listed {
                one.features.iter().map(|(i, x)| serde_json::json!([i, number(x.0)])).collect()
            } else {
                one.features
                    .iter()
                    .map(|(i, x)| (i.to_string(), number(x.0)))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            };
            let object = serde_json::json!({
                "tag": one.tag, "features": features,
                "weight": number(one.weight.0), "label": number(one.label.0),
            });
            text.push_str(&format!("{object}\n"));
        }
        same(&rows(text, &options(Format::Jsonl)), &given, true, true)?;
    }

    #[test]
    fn dense_tables_are_read_back(
        (columns, cells) in (1..8_usize).prop_flat_map(|columns| (
            Just(columns),
            prop::collection::vec(prop::option::weighted(0.8, written()), columns..columns * 20),
        )),
        labels in prop::collection::vec(written(), 20),
        weights in prop::collection::vec(written(), 20),
        tabs: bool, crlf: bool, quotes: bool,
    ) {
        // The csv crate writes, ours reads.
        let mut writer = csv::WriterBuilder::new()
            .delimiter(if tabs { b'\t' } else { b',' })
            .terminator(if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') })
            .quote_style(if quotes { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary })
            .from_writer(Vec::new());
        let mut header = vec!["label".to_string(), "my \"weight\",\t".to_string()];
        header.extend((0..columns).map(|k| format!("x{k}")));
        writer.write_record(&header).unwrap();
        let mut given = Vec::new();
        for (k, row) in cells.chunks_exact(columns).enumerate() {
            let (label, weight) = (labels[k].clone(), weights[k].clone());
            let weight = (weight.0.abs(), weight.1.trim_start_matches('-').to_string());
            let mut record = vec![label.1.clone(), weight.1.clone()];
            record.extend(row.iter().map(|x| x.as_ref().map_or(String::new(), |x| x.1.clone())));
            writer.write_record(&record).unwrap();
            let features = row.iter().enumerate();
            given.push(Given {
                label, weight, tag: String::new(),
                features: features.filter_map(|(i, x)| Some((i as u32, x.clone()?))).collect(),
            });
        }
        let format = if tabs { Format::Tsv } else { Format::Csv };
        let options = ReadOptions {
            weight_column: Some("my \"weight\",\t".into()),
            ..options(format)
        };
        let mut rows = rows(writer.into_inner().unwrap(), &options);
        for (row, given) in std::iter::zip(&mut rows, &given) {
            // A missing field has an indicator.
            prop_assert_eq!(row.features.len(), columns);
            row.features.truncate(given.features.len());
        }
        same(&rows, &given, true, false)?;
    }

    #[test]
    fn texts_in_tables_are_told_apart_however_they_are_quoted(
        texts in prop::collection::vec("[a-c\",\n\r é]{0,6}", 1..30), quotes: bool,
    ) {
        let mut writer = csv::WriterBuilder::new()
            .quote_style(if quotes { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary })
            .from_writer(Vec::new());
        writer.write_record(["label", "text"]).unwrap();
        for (k, text) in texts.iter().enumerate() {
            writer.write_record([&k.to_string(), text]).unwrap();
        }
        let options = options(Format::Csv);
        let rows = rows(writer.into_inner().unwrap(), &options);
        prop_assert_eq!(rows.len(), texts.len());
        // Blanks around a field that is not quoted are dropped: the writer quotes no blanks.
        let meant = |text: &String| match text.contains(['"', ',', '\n', '\r']) || quotes {
            true => text.clone(),
            false => text.trim_matches(' ').to_string(),
        };
        for (a, x) in std::iter::zip(&rows, &texts) {
            prop_assert_eq!(a.features.len(), 1);
            for (b, y) in std::iter::zip(&rows, &texts) {
                prop_assert_eq!(a.features == b.features, meant(x) == meant(y), "{:?} {:?}", x, y);
            }
        }
    }
}
