//! The guide in `docs/` says what the code says. Its reference pages are written from the registry
//! and from the learners' own documentation; after a change of those:
//! `GUIDE=overwrite cargo test -p extremal-lab --test guide`, then read the difference.
//!
//! The pages are kept in the repository, where they can be read and searched without building
//! anything and a change of them is seen in review; what a learner's file says is then held
//! against them here, at the cost of a string comparison.

mod markdown;
mod pages;
mod pasted;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The files with this extension below a directory, in order.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_reference_pages_are_what_the_code_says() {
    let source = root().join("docs/src");
    let overwrite = std::env::var_os("GUIDE").is_some_and(|v| v == "overwrite");
    let mut pages = pages::all(&root().join("crates/extremal/src"));
    let summary = pages::summary(&read(&source.join("SUMMARY.md")));
    pages.push(("SUMMARY.md".into(), summary));
    for (name, text) in &pages {
        let path = source.join(name);
        if overwrite {
            std::fs::write(&path, text).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        let line = found.lines().zip(text.lines()).position(|(a, b)| a != b);
        assert!(
            found == *text,
            "docs/src/{name} is out of date, from line {}: run `GUIDE=overwrite cargo test -p extremal-lab --test guide`",
            line.unwrap_or(found.lines().count()) + 1
        );
    }
    // and no page of a learner that is gone
    for path in files(&source.join("learners"), "md") {
        let name = format!("learners/{}", path.file_name().unwrap().to_string_lossy());
        assert!(pages.iter().any(|(page, _)| *page == name), "{name}");
    }
}

#[test]
fn the_crate_s_root_page_lists_every_learner() {
    let page = read(&root().join("crates/extremal/src/lib.rs"));
    for entry in extremal::LearnerSpec::ENTRIES {
        let row = format!("//! | [`{}`](learner::", entry.name);
        assert!(page.contains(&row), "{} is not in lib.rs", entry.name);
    }
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let source = root().join("docs/src");
    let summary = read(&source.join("SUMMARY.md"));
    for path in files(&source, "md") {
        let name = path.strip_prefix(&source).unwrap().to_string_lossy();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name} is not in docs/src/SUMMARY.md"
        );
    }
}

/// A block after "From `path`:" or "In `path`:" is in that file, but for lines of "…" that stand
/// for what was left out.
#[test]
fn code_that_the_guide_quotes_is_in_the_file_it_names() {
    let mut quoted = 0;
    for path in files(&root().join("docs/src"), "md") {
        let text = read(&path);
        for (before, block) in markdown::blocks(&text) {
            let Some(named) = before
                .strip_suffix("`:")
                .and_then(|line| line.split('`').next_back())
                .filter(|named| named.ends_with(".rs"))
            else {
                continue;
            };
            quoted += 1;
            let file = read(&root().join(named));
            let mut rest = file.as_str();
            for part in block.split("…\n").map(str::trim_end) {
                // what is left out may be indented
                let part = part.trim_end_matches(['\n', ' ']);
                let Some(at) = rest.find(part) else {
                    panic!("{}: not in {named}:\n{part}", path.display());
                };
                rest = &rest[at + part.len()..];
            }
        }
    }
    assert!(quoted > 5, "{quoted} quotations");
}

/// The page that walks through the code names files that are there, each of them once.
#[test]
fn the_walk_through_the_code_names_every_file_once() {
    let page = read(&root().join("docs/src/inside.md"));
    let named = page.split('`').filter(|text| text.starts_with("crates/"));
    let mut seen = std::collections::HashSet::new();
    for file in named {
        assert!(seen.insert(file), "{file} is named twice");
        let its_crate = file.split('/').take(2).collect::<PathBuf>();
        if root().join(its_crate).exists() {
            assert!(root().join(file).exists(), "there is no {file}");
        }
    }
    assert!(seen.len() > 60, "{} files", seen.len());
}

#[test]
fn links_between_the_repository_s_documents_lead_somewhere() {
    let root = root();
    let mut documents = files(&root.join("docs/src"), "md");
    for name in [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "bench/README.md",
    ] {
        documents.push(root.join(name));
    }
    let mut followed = 0;
    for path in documents {
        for target in markdown::links(&read(&path)) {
            if target.starts_with('#') || target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = path.parent().unwrap().join(file);
            assert!(file.exists(), "{}: {target}", path.display());
            if !anchor.is_empty() {
                let anchors = markdown::anchors(&read(&file));
                assert!(
                    anchors.iter().any(|a| a == anchor),
                    "{}: {target}",
                    path.display()
                );
            }
            followed += 1;
        }
    }
    assert!(followed > 50, "{followed} links");
}
