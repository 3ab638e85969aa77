//! Specs as text: they are read and written without loss, and errors say what is allowed.

use extremal::{Error, LearnerSpec, LossSpec, SetSpec, StreamSpec};

#[test]
fn every_entry_has_examples_that_can_be_read_and_bear_its_name() {
    macro_rules! check {
        ($($spec:ident),*) => {$(
            for entry in $spec::ENTRIES {
                assert!(!entry.examples.is_empty(), "{}", entry.name);
                for text in entry.examples {
                    let spec = text.parse::<$spec>().unwrap();
                    assert_eq!(spec.entry().name, entry.name);
                    assert_eq!(spec.to_string().parse::<$spec>().unwrap(), spec);
                    let start = text.split(':').next().unwrap();
                    assert_eq!(start, entry.name);
                }
            }
        )*};
    }
    check!(SetSpec, LossSpec, LearnerSpec, StreamSpec);
}

#[test]
fn specs_survive_text_and_json() {
    for text in [
        "l2:radius=10.0",
        "lp:p=1.5,radius=3.0,dim=4",
        "box:lower=[0.0,1.0],upper=2.0",
        "product:sets=[(l2:dim=3),(box:lower=[0.0,1.0],upper=2.0)]",
        "product:sets=[(scale:by=2.0,set=(simplex)),(l1)]",
    ] {
        let spec: SetSpec = text.parse().unwrap();
        assert_eq!(spec.to_string(), text);
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<SetSpec>(&json).unwrap(), spec);
    }
}

#[test]
fn numbers_keep_every_bit_through_text() {
    for i in 1..=1000_u32 {
        let radius = f64::from(i).sqrt() * 1e-3;
        let spec: SetSpec = format!("l2:radius={radius:?}").parse().unwrap();
        let expected = extremal::set::l2::L2 { radius, dim: None };
        assert_eq!(spec, SetSpec::L2(expected));
    }
}

#[test]
fn errors_list_what_is_allowed() {
    let message = |text: &str| text.parse::<SetSpec>().unwrap_err().to_string();
    assert!(message("l7").contains("no set `l7`; there are l2, lp, l1"));
    assert!(message("simplx").contains("did you mean `simplex`?"));
    assert!(message("scale:by=2,set=(l7)").contains("unknown variant `l7`, expected one of `l2`"));
    assert!(message("l2:radios=1").contains("unknown field `radios`, expected `radius`"));
    assert!(message("l2:radius").contains("key=value"));
    assert!(message("l2:radius=1,radius=2").contains("given twice"));
    assert!(message("l2:radius=big").contains("radius: invalid type"));
    assert!(message("scale:by=2,set=(l2:radius)").contains("key=value"));
    for bracket in ["(scale:set=", "["] {
        let deep = bracket.repeat(100_000) + "(l2)";
        let close = if bracket == "[" { "]" } else { ")" };
        let error = message(&format!("scale:set={deep}{}", close.repeat(100_000)));
        assert!(error.ends_with("brackets are nested more than 32 deep"));
    }
}

#[test]
fn errors_carry_the_key_at_fault() {
    for (text, expected) in [
        ("l7", "name"),
        ("l2:radios=1", "radios"),
        ("l2:radius=big", "radius"),
        ("l2:radius=inf", "radius"),
        ("lp:radius=1", "p"),
        ("scale:by=2,set=(l7)", "set"),
    ] {
        match text.parse::<SetSpec>() {
            Err(Error::Spec { key, .. }) => assert_eq!(key.as_deref(), Some(expected), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn whole_numbers_may_be_written_with_an_exponent() {
    let spec: LearnerSpec = "ofw-ls:horizon=1e6,gradient-bound=1e-3".parse().unwrap();
    assert_eq!(
        spec,
        "ofw-ls:horizon=1000000,gradient-bound=0.001"
            .parse()
            .unwrap()
    );
}
