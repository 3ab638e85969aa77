//! Specs with values out of range: each is an error that names the key and says what is allowed.
//! What is out of range follows from the kind of each key.

use extremal::Error;
use extremal::learner::LearnerSpec;
use extremal::loss::LossSpec;
use extremal::set::boxes::{Bound, BoxSpec};
use extremal::set::{SetSpec, SharedSet, l1::L1, l2::L2, lp::Lp, simplex::Simplex};
use extremal::spec::{Entry, Kind};
use extremal::stream::StreamSpec;
use serde_json::Value;

/// Values that a kind forbids.
fn forbidden(kind: &Kind) -> Vec<String> {
    let text = |values: &[&str]| values.iter().map(|v| v.to_string()).collect::<Vec<_>>();
    match *kind {
        Kind::Number { low, high, open } => {
            let mut values = text(&["nan", "inf", "-inf", "word"]);
            // just outside, farther out, and the end itself where it does not count
            for (end, outwards) in [(low, -1.0), (high, 1.0)] {
                if end.is_finite() {
                    let outside = [
                        outwards * (0.01 * end.abs() + 1e-300),
                        outwards * (10.0 * end.abs() + 1.0),
                    ];
                    values.extend(outside.map(|by| format!("{:e}", end + by)));
                    values.extend(open.then(|| format!("{end:e}")));
                }
            }
            values
        }
        Kind::Whole { low, high } => {
            let mut values = text(&["-1", "1.5", "nan", "word"]);
            values.extend(low.checked_sub(1).map(|v| v.to_string()));
            values.extend(high.checked_add(1).map(|v| v.to_string()));
            values
        }
        Kind::Flag => text(&["2", "yes"]),
        Kind::Choice(_) => text(&["no-such-word", "1"]),
        Kind::List(kind) => {
            let listed = forbidden(kind).into_iter().map(|v| format!("[{v}]"));
            listed.chain(text(&["word", "1"])).collect()
        }
        Kind::Each(kind) => {
            let listed = forbidden(&Kind::List(kind)).into_iter();
            let listed = listed.filter(|v| v != "1");
            listed.chain(forbidden(kind)).collect()
        }
        Kind::Spec(_) => text(&["(no-such-name)", "1"]),
        _ => text(&["1"]),
    }
}

/// `text` with `key` set to `value`.
fn with(text: &str, key: &str, value: &str) -> String {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut depth = 0;
    let others = rest
        .split(|c| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            c == ',' && depth == 0
        })
        .filter(|p| !p.is_empty() && p.split('=').next() != Some(key));
    let mut parts: Vec<String> = others.map(String::from).collect();
    parts.push(format!("{key}={value}"));
    format!("{name}:{}", parts.join(","))
}

/// Every forbidden value of every key of every example; `build` must refuse it.
fn check_ranges(entries: &[Entry], build: impl Fn(&str) -> extremal::Result<()>) -> usize {
    let mut tried = 0;
    for entry in entries {
        for example in entry.examples {
            for parameter in entry.parameters {
                for value in forbidden(&parameter.kind) {
                    let text = with(example, parameter.name, &value);
                    let Err(error) = build(&text) else {
                        panic!("{text} was accepted, allowed is: {}", parameter.kind);
                    };
                    let message = error.to_string();
                    assert!(message.contains(parameter.name), "{text}: {message}");
                    let says = ["must be", "expected"].iter().any(|w| message.contains(w));
                    assert!(says, "{text}: {message}");
                    tried += 1;
                }
            }
        }
    }
    tried
}

#[test]
fn sets_refuse_parameters_out_of_range() {
    let build = |text: &str| {
        // a list has its own length
        let tells = text.contains("dim=") || text.contains('[');
        let given = if tells { None } else { Some(4) };
        text.parse::<SetSpec>()?.build(given).map(|_| ())
    };
    let tried = check_ranges(SetSpec::ENTRIES, build);
    assert!(tried > 50, "{tried}");
}

/// The first set if the learner plays it, else the second.
fn playable(entry: &Entry, sets: &[&str]) -> SharedSet {
    let build = |text: &&str| text.parse::<SetSpec>().unwrap().build(None).unwrap();
    let learner: LearnerSpec = entry.examples[0].parse().unwrap();
    let plays = |set: &SharedSet| !matches!(learner.build(set), Err(Error::CannotPlay { .. }));
    sets.iter().map(build).find(plays).expect(entry.name)
}

#[test]
fn learners_refuse_parameters_out_of_range() {
    let tried = check_ranges(LearnerSpec::ENTRIES, |text| {
        let spec = text.parse::<LearnerSpec>()?;
        let set = playable(
            spec.entry(),
            &["l2:dim=4", "hypercube:dim=4", "simplex:dim=4"],
        );
        spec.build(&set).map(|_| ())
    });
    assert!(tried > 50, "{tried}");
}

#[test]
fn losses_refuse_parameters_out_of_range() {
    let tried = check_ranges(LossSpec::ENTRIES, |text| {
        text.parse::<LossSpec>()?.build().map(|_| ())
    });
    assert!(tried > 20, "{tried}");
}

#[test]
fn streams_refuse_parameters_out_of_range() {
    let tried = check_ranges(StreamSpec::ENTRIES, |text| {
        text.parse::<StreamSpec>()?.build(4, 1).map(|_| ())
    });
    assert!(tried > 10, "{tried}");
    let spec: StreamSpec = "noise".parse().unwrap();
    assert!(spec.build(0, 1).err().unwrap().to_string().contains("dim"));
}

/// Numbers that text can't carry, but Python or TOML can.
#[test]
fn sets_refuse_numbers_that_are_none() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let dim = Some(3);
        for (key, spec) in [
            ("radius", SetSpec::L2(L2 { radius: bad, dim })),
            ("radius", SetSpec::L1(L1 { radius: bad, dim })),
            (
                "radius",
                SetSpec::Lp(Lp {
                    p: 1.5,
                    radius: bad,
                    dim,
                }),
            ),
            (
                "p",
                SetSpec::Lp(Lp {
                    p: bad,
                    radius: 1.0,
                    dim,
                }),
            ),
            (
                "total",
                SetSpec::Simplex(Simplex {
                    total: bad,
                    at_most: false,
                    dim,
                }),
            ),
            (
                "total",
                SetSpec::Simplex(Simplex {
                    total: bad,
                    at_most: true,
                    dim,
                }),
            ),
            (
                "lower",
                SetSpec::Box(BoxSpec {
                    lower: Bound::All(bad),
                    upper: Bound::All(1.0),
                    dim,
                }),
            ),
            (
                "upper",
                SetSpec::Box(BoxSpec {
                    lower: Bound::All(0.0),
                    upper: Bound::Each(vec![1.0, bad, 1.0]),
                    dim,
                }),
            ),
        ] {
            let error = spec.build(None).err().unwrap().to_string();
            assert!(
                error.contains(key) && error.contains("must be"),
                "{spec:?}: {error}"
            );
        }
    }
}

#[test]
fn dimensions_must_be_there_and_agree() {
    let error = |text: &str, dim| {
        let spec: SetSpec = text.parse().unwrap();
        spec.build(dim)
            .err()
            .unwrap_or_else(|| panic!("{text}"))
            .to_string()
    };
    for entry in SetSpec::ENTRIES
        .iter()
        .filter(|e| e.parameters.iter().any(|p| p.name == "dim"))
    {
        let text = entry.examples[0];
        assert!(error(&with(text, "dim", "0"), None).contains("dim"));
        assert!(error(text, Some(0)).contains("dim"));
        assert!(error(text, None).contains("dim"));
        let clash = error(&with(text, "dim", "3"), Some(4));
        assert!(clash.contains('3') && clash.contains('4'), "{clash}");
    }
    for (text, dim) in [
        ("box:lower=[0,1],upper=[2,3,4]", None),
        ("box:lower=[0,1]", Some(3)),
        ("box:lower=[0,1],dim=3", None),
        ("box:lower=[]", None),
    ] {
        let message = error(text, dim);
        assert!(
            message.contains("dim") || message.contains("upper") || message.contains("lower"),
            "{text}: {message}"
        );
    }
    let crossed = error("box:lower=2,upper=1,dim=2", None);
    assert!(crossed.contains("lower ≤ upper"), "{crossed}");
}

#[test]
fn text_where_a_number_belongs_is_told_so() {
    let message = |text: &str| text.parse::<SetSpec>().unwrap_err().to_string();
    let low = message("box:lower=low");
    assert!(low.contains("a number or a list of numbers"), "{low}");
    for value in ["nan", "inf", "-inf", "Infinity", "1e999"] {
        let told = message(&format!("l2:radius={value}"));
        assert!(told.contains(&format!("radius = {value}")), "{told}");
        assert!(told.contains("must be a finite number"), "{told}");
    }
}

#[test]
fn a_start_outside_the_set_is_refused() {
    for entry in LearnerSpec::ENTRIES
        .iter()
        .filter(|e| e.parameters.iter().any(|p| p.name == "start"))
    {
        let set = playable(
            entry,
            &[
                "l1:dim=2",
                "l2:dim=2",
                "hypercube:dim=2,radius=0.5,centred=true",
            ],
        );
        for start in ["[1,1]", "[0.5]", "[0,0,0]", "[1e300,0]"] {
            let text = with(entry.examples[0], "start", start);
            let built = text.parse::<LearnerSpec>().unwrap().build(&set);
            let error = built.err().unwrap_or_else(|| panic!("{text}")).to_string();
            assert!(error.contains("start"), "{text}: {error}");
        }
        let text = with(entry.examples[0], "start", "[0.5,-0.5]");
        let learner = text.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
        let mut x = [0.0; 2];
        learner.decision().write(&mut x);
        assert_eq!(x, [0.5, -0.5], "{text}");
    }
}

/// Whether a JSON value follows a schema, as far as [`extremal::spec::schema`] uses the language.
fn follows(root: &Value, schema: &Value, value: &Value) -> bool {
    let all = |key: &str, ok: &dyn Fn(&Value) -> bool| match schema[key].as_array() {
        Some(list) => list.iter().filter(|schema| ok(schema)).count(),
        None => 1,
    };
    let within = |key: &str, ok: fn(f64, f64) -> bool| match (schema[key].as_f64(), value.as_f64())
    {
        (Some(end), Some(value)) => ok(value, end),
        _ => true,
    };
    let type_fits = match schema["type"].as_str() {
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(other) => panic!("type {other}"),
        None => true,
    };
    let reference = match schema["$ref"].as_str() {
        Some(path) => follows(root, root.pointer(&path[1..]).unwrap(), value),
        None => true,
    };
    let items = value.as_array().is_none_or(|list| {
        schema["items"].is_null() || list.iter().all(|v| follows(root, &schema["items"], v))
    });
    let properties = value.as_object().is_none_or(|table| {
        let known = &schema["properties"];
        known.is_null()
            || table
                .iter()
                .all(|(k, v)| !known[k].is_null() && follows(root, &known[k], v))
    });
    let required = schema["required"].as_array().is_none_or(|keys| {
        let given = |key: &Value| !value[key.as_str().unwrap()].is_null();
        keys.iter().all(given)
    });
    type_fits
        && (schema["const"].is_null() || schema["const"] == *value)
        && schema["enum"]
            .as_array()
            .is_none_or(|words| words.contains(value))
        && within("minimum", |v, end| v >= end)
        && within("maximum", |v, end| v <= end)
        && within("exclusiveMinimum", |v, end| v > end)
        && within("exclusiveMaximum", |v, end| v < end)
        && all("anyOf", &|schema| follows(root, schema, value)) >= 1
        && all("oneOf", &|schema| follows(root, schema, value)) == 1
        && reference
        && items
        && properties
        && required
}

#[test]
fn the_schema_takes_every_example_and_refuses_what_the_kinds_forbid() {
    let root: Value = serde_json::from_str(&extremal::spec::schema()).unwrap();
    let json = |text: &str| serde_json::from_str(text).unwrap_or(Value::from(text));
    let example = |kind: &str, text: &str| match kind {
        "set" => serde_json::to_value(text.parse::<SetSpec>().unwrap()),
        "loss" => serde_json::to_value(text.parse::<LossSpec>().unwrap()),
        "learner" => serde_json::to_value(text.parse::<LearnerSpec>().unwrap()),
        _ => serde_json::to_value(text.parse::<StreamSpec>().unwrap()),
    };
    for (kind, entries) in [
        ("set", SetSpec::ENTRIES),
        ("loss", LossSpec::ENTRIES),
        ("learner", LearnerSpec::ENTRIES),
        ("stream", StreamSpec::ENTRIES),
    ] {
        let schema = &root["$defs"][kind];
        for entry in entries {
            for text in entry.examples {
                let good = example(kind, text).unwrap();
                assert!(follows(&root, schema, &good), "{text}: {good}");
                for parameter in entry.parameters {
                    for value in forbidden(&parameter.kind) {
                        let mut bad = good.clone();
                        bad[parameter.name] = json(&value);
                        assert!(!follows(&root, schema, &bad), "{text}: {bad}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_default_that_is_written_out_counts_as_left_out() {
    for (short, long) in [
        ("l2", "l2:radius=1"),
        ("simplex", "simplex:total=1,at-most=false"),
    ] {
        let spec: SetSpec = long.parse().unwrap();
        assert_eq!(spec, short.parse().unwrap());
        assert_eq!(spec.to_string(), short);
    }
    let spec: LearnerSpec = "ofw-ls:eta-scale=1".parse().unwrap();
    assert_eq!(spec.to_string(), "ofw-ls");
    assert_eq!(
        spec.with("eta-scale", 4).unwrap().to_string(),
        "ofw-ls:eta-scale=4.0"
    );
    assert_eq!(
        spec.with("horizon", 10)
            .unwrap()
            .value("horizon")
            .as_deref(),
        Some("10")
    );
    assert!(spec.with("horizon", -1).is_err() && spec.with("horizons", 1).is_err());
}
