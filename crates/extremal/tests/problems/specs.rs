//! Specs with values out of range: each is an error that names the key and says what is allowed.
//! What is out of range follows from the kind of each key.

use extremal::Error;
use extremal::learner::LearnerSpec;
use extremal::loss::LossSpec;
use extremal::set::boxes::{Bound, BoxSpec};
use extremal::set::{SetSpec, SharedSet, l1::L1, l2::L2, lp::Lp, simplex::Simplex};
use extremal::spec::{Entry, Kind};
use extremal::stream::StreamSpec;

/// Values that a kind forbids.
fn forbidden(kind: &Kind) -> Vec<String> {
    let text = |values: &[&str]| values.iter().map(|v| v.to_string()).collect::<Vec<_>>();
    match *kind {
        Kind::Number(limits) => {
            let mut values = text(&["nan", "inf", "-inf", "word"]);
            // just outside, farther out, and the end itself where it does not count
            for (end, outwards) in [(limits.low, -1.0), (limits.high, 1.0)] {
                if end.is_finite() {
                    let outside = [outwards * (0.01 * end.abs() + 1e-300), outwards * 1e60];
                    values.extend(outside.map(|by| format!("{:e}", end + by)));
                    values.extend(limits.open.then(|| format!("{end:e}")));
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
