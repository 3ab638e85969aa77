//! Model files hold what was put into them, and tell every other file apart.

use extremal_data::model::VERSION;
use extremal_data::{ModelFile, Section};
use proptest::prelude::*;

fn small() -> ModelFile {
    ModelFile {
        about: vec![
            ("learner".into(), "ofw-ls:horizon=10".into()),
            ("a = b\\".into(), "two\nlines\t\u{1b}[1m=\\".into()),
        ],
        sections: vec![
            Section {
                name: "state".into(),
                bytes: (0..40).collect(),
            },
            Section {
                name: "none = \n".into(),
                bytes: Vec::new(),
            },
        ],
    }
}

/// What is said of these bytes.
fn complaint(bytes: &[u8]) -> String {
    match ModelFile::from_bytes(bytes, "m.model") {
        Ok(model) => panic!("taken for a model: {model:?}"),
        Err(e) => e.to_string(),
    }
}

/// The small model with its first line and the rest changed, and the checksum right.
fn with_text(change: impl Fn(&str) -> String) -> Vec<u8> {
    let model = ModelFile {
        sections: vec![Section {
            name: "state".into(),
            bytes: b"text".to_vec(),
        }],
        ..small()
    };
    let bytes = model.to_bytes();
    let text = String::from_utf8(bytes[..bytes.len() - 4].to_vec()).expect("all text");
    let mut bytes = change(&text).into_bytes();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

#[test]
fn the_text_of_a_model_can_be_read_with_head() {
    let bytes = small().to_bytes();
    let head = "extremal model 1\n\
                bytes 145\n\
                learner = ofw-ls:horizon=10\n\
                a \\= b\\\\ = two\\nlines\\t\\u1b[1m=\\\\\n\
                section 40 state\n\
                section 0 none \\= \\n\n\
                \n";
    assert_eq!(std::str::from_utf8(&bytes[..head.len()]), Ok(head));
    assert_eq!(bytes[head.len()..][..40], (0..40).collect::<Vec<u8>>());
    assert_eq!(bytes.len(), head.len() + 40 + 4);
}

#[test]
fn keys_and_sections_are_found_by_name() {
    let mut model = small();
    model.about.push(("learner".into(), "again".into()));
    assert_eq!(model.about("learner"), Some("ofw-ls:horizon=10"));
    assert_eq!(model.about("a = b\\"), Some("two\nlines\t\u{1b}[1m=\\"));
    assert_eq!(model.about("a"), None);
    assert_eq!(model.section("state").map(<[u8]>::len), Some(40));
    assert_eq!(model.section("none = \n"), Some(&[][..]));
    assert_eq!(model.section("none"), None);
}

#[test]
fn every_truncation_is_said_to_be_one() {
    let bytes = small().to_bytes();
    for length in 0..bytes.len() {
        let said = complaint(&bytes[..length]);
        assert!(
            said.starts_with("m.model: the model is truncated: "),
            "{length}: {said}"
        );
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = small().to_bytes();
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let said = complaint(&flipped);
        let expected: &[&str] = match bit / 8 {
            0..15 => &["is not an extremal model"],
            // the version, the length and their line ends
            15..27 => &["model", "damaged", "truncated"],
            _ => &["the model is damaged: the checksum does not match"],
        };
        assert!(
            expected.iter().any(|part| said.contains(part)),
            "{bit}: {said}"
        );
    }
}

#[test]
fn bytes_after_the_end_are_noticed() {
    let mut bytes = small().to_bytes();
    bytes.push(0);
    assert_eq!(
        complaint(&bytes),
        "m.model: the model is damaged: the file has more than 172 bytes"
    );
}

#[test]
fn other_versions_are_told_apart() {
    assert_eq!(VERSION, 1);
    assert_eq!(
        complaint(b"extremal model 7\nwhatever comes then"),
        "m.model: the model has version 7, and this program reads version 1: update extremal"
    );
    assert_eq!(
        complaint(b"extremal model 0\n"),
        "m.model: the model has version 0, and this program reads version 1: train the model again"
    );
}

#[test]
fn other_files_are_no_models() {
    for other in [
        &b"+1 1:0.5 3:2\n"[..],
        b"\n",
        b"\x1f\x8b\x08\x00",
        b"extremal experiment",
        b"Extremal model 1\n",
        &[0; 1000],
    ] {
        assert_eq!(
            complaint(other),
            "m.model: the file is not an extremal model"
        );
    }
    for other in [
        &b"extremal model one\n"[..],
        b"extremal model +1\n",
        b"extremal model 01\n",
        b"extremal model \n",
        b"extremal model 99999999999999999999\n",
        b"extremal model \xff\n",
    ] {
        assert_eq!(
            complaint(other),
            "m.model: the file is not an extremal model: the version is missing"
        );
    }
}

#[test]
fn a_heading_that_nobody_wrote_is_refused_although_its_checksum_is_right() {
    assert!(ModelFile::from_bytes(&with_text(str::to_owned), "m").is_ok());
    for (from, to) in [
        ("= two", "- two"),           // no `=`
        ("learner = o", "learner=o"), // no blanks
        ("two\\n", "two\\x"),         // no such escape
        ("two\\n", "two\\u41"),       // an escape that is not needed
        ("two\\n", "two\\="),         // nor this
        ("two\\n", "two\u{1b}"),      // one that is
        ("section 4", "section 3"),
        ("section 4", "section 5"),
        ("section 4", "section 04"),
        ("section 4", "section +4"),
        ("section 4", "section -4"),
        ("section 4", "section 18446744073709551615"),
        ("section 4 state", "section 4"),
        ("section 4 state", "section 4 state\nlate = x"),
        ("section 4 state\n\n", "section 4 state\n"),
        (
            "section 4 state",
            "section 18446744073709551612 a\nsection 8 b",
        ),
    ] {
        let bytes = with_text(|text| {
            let (opening, rest) = text.split_at(text.find("learner").expect("its first key"));
            let rest = rest.replacen(from, to, 1);
            assert!(!text.ends_with(&rest), "{from} is nowhere");
            let first = opening.split('\n').next().expect("a line");
            format!("{first}\nbytes {}\n{rest}", rest.len() + 4)
        });
        let said = complaint(&bytes);
        assert!(
            said.starts_with("m.model: the model is damaged: the "),
            "{to}: {said}"
        );
        assert!(!said.contains("checksum"), "{to}: {said}");
    }
    let empty = with_text(|_| "extremal model 1\nbytes 4\n".into());
    assert!(complaint(&empty).contains("the file is too short"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_put_in_comes_out(
        about in prop::collection::vec((any::<String>(), any::<String>()), 0..5),
        names in prop::collection::vec(any::<String>(), 0..5),
        bytes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 5),
    ) {
        let sections = names.into_iter().zip(bytes);
        let sections = sections.map(|(name, bytes)| Section { name, bytes });
        let model = ModelFile { about, sections: sections.collect() };
        let bytes = model.to_bytes();
        prop_assert_eq!(&bytes, &model.clone().to_bytes());
        prop_assert_eq!(ModelFile::from_bytes(&bytes, "m").expect("its own bytes"), model);
    }

    /// Nasty characters only.
    #[test]
    fn hard_text_comes_out_as_it_was_put_in(
        key in "[=\\\\ \n\rnu0-9a\u{7f}\u{80}]{0,8}",
        value in "[=\\\\ \n\rnu0-9a\u{7f}\u{80}]{0,8}",
    ) {
        let sections = vec![Section { name: format!("section {value}"), bytes: vec![] }];
        let about = vec![(key.clone(), value.clone()), (format!("section 5 {key}"), value)];
        let model = ModelFile { about, sections };
        let bytes = model.to_bytes();
        prop_assert_eq!(ModelFile::from_bytes(&bytes, "m").expect("its own bytes"), model);
    }
}
