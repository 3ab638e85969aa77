//! Specs as text: they are read and written without loss, and errors say what is allowed.

use extremal::{LearnerSpec, LossSpec, SetSpec, StreamSpec};

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
    assert!(message("l2:radius=big").contains("invalid type"));
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
