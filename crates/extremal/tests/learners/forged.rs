//! States with a right checksum and lists of a wrong length: an error, never a panic.

use extremal::Error;
use extremal::learner::Storage;

use crate::common::{Team, teams};
use extremal_check::script::{self, Given};

const DIM: usize = 6;

/// Magic, version and checksum.
const HEAD: usize = 10;

/// The bytes with the checksum that belongs to them.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..6]);
    hasher.update(&bytes[HEAD..]);
    bytes[6..HEAD].copy_from_slice(&hasher.finalize().to_le_bytes());
    bytes
}

/// A length as states write it, and how many bytes that takes.
fn length(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0;
    for (k, byte) in bytes.iter().enumerate().take(4) {
        value |= usize::from(byte & 127) << (7 * k);
        if byte & 128 == 0 {
            return Some((value, k + 1));
        }
    }
    None
}

fn write_length(mut value: usize, out: &mut Vec<u8>) {
    while value > 127 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The bytes with one list of numbers shorter by one or longer by one. Whatever may be the length
/// of a list, or of a state within the state, is taken for it.
fn forgeries(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for at in 0..bytes.len() {
        let Some((n, width)) = length(&bytes[at..]) else {
            continue;
        };
        let (before, rest) = (&bytes[..at], &bytes[at + width..]);
        let mut forge = |n: usize, parts: [&[u8]; 2]| {
            let mut forged = before.to_vec();
            write_length(n, &mut forged);
            parts.iter().for_each(|part| forged.extend(*part));
            all.push(forged);
        };
        if (1..=64).contains(&n) && 8 * n <= rest.len() {
            forge(n - 1, [&rest[8..], &[]]);
            forge(n + 1, [&[0; 8], rest]);
        }
        let Some((inner, after)) = rest.split_at_checked(n) else {
            continue;
        };
        if inner.starts_with(b"XTRS") {
            let forged = forgeries(&inner[HEAD..]).into_iter();
            for content in forged.map(|content| sealed([&inner[..HEAD], &content].concat())) {
                forge(content.len(), [&content, after]);
            }
        } else if n > 8 && after.is_empty() {
            for content in forgeries(inner) {
                forge(content.len(), [&content, after]);
            }
        }
    }
    all
}

/// Whether all lists of the state have lengths that follow from the set. Frank-Wolfe learners also
/// save the atom that their oracle starts from, which may be any.
fn is_rigid(team: &Team) -> bool {
    let methods = [
        "ogd",
        "dual-averaging",
        "ftl",
        "pairwise",
        "fast-ogd",
        "ospf",
        "fpl",
        "eg",
        "ons",
        "loo-bogd",
        "gauge-wrapper",
        "so-ogd",
    ];
    team.storage == Storage::Dense && methods.contains(&team.learner.entry().name)
}

fn check_forgeries(team: &Team, script: &[Given]) {
    let name = &team.name;
    let mut learner = team.build();
    for given in script {
        learner.observe(&given.gradient()).unwrap();
    }
    let own = learner.save().unwrap();
    assert_eq!(sealed(own.clone()), own, "{name}");
    let mut victim = team.build();
    let before = victim.save().unwrap();
    let (mut loaded, mut damaged) = (0, 0);
    for content in forgeries(&own[HEAD..]) {
        match victim.load(&sealed([&own[..HEAD], &content].concat())) {
            Err(Error::State(why)) => {
                damaged += u32::from(why.contains("damaged"));
                assert!(victim.save().unwrap() == before, "{name}: {why}");
            }
            Err(other) => panic!("{name}: {other}"),
            Ok(()) => {
                loaded += 1;
                // a list that may be shorter or longer; numbers may be off, and that is all
                for given in script {
                    let _ = victim.observe(&given.gradient());
                }
                victim = team.build();
            }
        }
    }
    assert!(damaged > 0, "{name}: no forgery was refused");
    assert!(loaded == 0 || !is_rigid(team), "{name}: {loaded} loaded");
}

#[test]
fn a_list_of_a_wrong_length_is_an_error_and_never_a_panic() {
    let script = script::mixed(9, DIM, 12);
    for team in teams(DIM, |_, _| {}) {
        check_forgeries(&team, &script);
    }
}
