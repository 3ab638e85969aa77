//! The reference pages, from the registry and the learners' files.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use extremal::learner::LearnerSpec;
use extremal::loss::LossSpec;
use extremal::references;
use extremal::set::SetSpec;
use extremal::spec::Entry;
use extremal::stream::StreamSpec;

/// The pages' names, and what is on them.
pub fn all(library: &Path) -> Vec<(String, String)> {
    let mut pages = vec![
        ("learners/index.md".into(), learners()),
        (
            "reference/sets.md".into(),
            list(
                "Sets",
                "A decision lies in a set, and the learner reaches it through the set's oracle. D is the diameter, d the \
                 dimension. A set without `dim` takes the dimension of the data. [Choosing a set](../choosing-a-set.md) \
                 says which one to take.",
                SetSpec::ENTRIES,
            ),
        ),
        (
            "reference/losses.md".into(),
            list(
                "Losses",
                "A loss is a function of the prediction z = ⟨a, x⟩ and, mostly, a label y. Each may have a ridge term \
                 (λ/2)‖x‖² besides (`--l2`). [Choosing a loss](../choosing-a-loss.md) says which one to take.",
                LossSpec::ENTRIES,
            ),
        ),
        (
            "reference/streams.md".into(),
            list(
                "Streams",
                "Synthetic opponents, for experiments and tests. The same seed gives the same stream.",
                StreamSpec::ENTRIES,
            ),
        ),
    ];
    for entry in LearnerSpec::ENTRIES {
        let source = source(library, entry.name);
        pages.push((
            format!("learners/{}.md", entry.name),
            learner(entry, library, &source),
        ));
    }
    pages
}

/// The table of contents with the learners' pages in it as they are registered; all else is written
/// by hand.
pub fn summary(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("  - [`")) {
        let _ = writeln!(out, "{line}");
        if line == "- [Learners](learners/index.md)" {
            for entry in LearnerSpec::ENTRIES {
                let _ = writeln!(out, "  - [`{0}`](learners/{0}.md)", entry.name);
            }
        }
    }
    out
}

const WRITTEN: &str =
    "<!-- Written by crates/extremal-lab/tests/guide from the code. Change it there. -->\n\n";

/// The file that a learner is in, by the path in its line of the registry.
fn source(library: &Path, name: &str) -> PathBuf {
    let registry = super::read(&library.join("learner/mod.rs"));
    let line = format!("\"{name}\" => ");
    let (_, rest) = registry
        .split_once(&line)
        .unwrap_or_else(|| panic!("no line of the registry has `{name}`"));
    let path = rest.split(['(', ')']).nth(1).unwrap_or_default();
    let mut parts: Vec<&str> = path.split("::").collect();
    parts.pop(); // the type
    let module = library.join("learner").join(parts.join("/"));
    let file = module.with_extension("rs");
    if file.exists() {
        file
    } else {
        module.join("mod.rs")
    }
}

fn learners() -> String {
    let mut out = format!(
        "{WRITTEN}# Learners\n\n{}\n\n| learner | | cost |\n|---|---|---|\n",
        "One page each, written from the learner's own file. `extremal list learners` prints their keys, and \
         `extremal cite` their papers. [Choosing a learner](../choosing-a-learner.md) says which one to take."
    );
    for e in LearnerSpec::ENTRIES {
        let _ = writeln!(
            out,
            "| [`{0}`]({0}.md) | {1} | {2} |",
            e.name,
            cell(e.summary),
            cell(e.cost)
        );
    }
    out
}

fn learner(entry: &Entry, library: &Path, source: &Path) -> String {
    let (documentation, example) = documentation(&super::read(source));
    let (abstract_, rest) = documentation
        .split_once("\n\n")
        .unwrap_or((&documentation, ""));
    let mut out = format!("{WRITTEN}# `{}`\n\n{abstract_}\n\n", entry.name);
    facts(entry, "regret", &mut out);
    keys(entry, &mut out);
    examples(entry, "## Specs to copy", &mut out);
    let _ = write!(out, "## How it works\n\n{}\n\n", rest.trim());
    if !example.is_empty() {
        let _ = write!(out, "## In Rust\n\n```rust\n{example}```\n\n");
    }
    let _ = write!(
        out,
        "## To cite\n\n`extremal cite {}` prints this.\n\n```bibtex\n",
        entry.name
    );
    let records = entry
        .citations
        .iter()
        .filter_map(|key| references::record(key));
    out.push_str(&records.collect::<Vec<_>>().join("\n\n"));
    let file = source.strip_prefix(library).unwrap().display();
    let _ = write!(
        out,
        "\n```\n\nThe code is in `crates/extremal/src/{file}`.\n"
    );
    out
}

fn list(title: &str, about: &str, entries: &[Entry]) -> String {
    let mut out = format!("{WRITTEN}# {title}\n\n{about}\n\n");
    for entry in entries {
        let _ = write!(out, "## `{}`\n\n{}\n\n", entry.name, prose(entry.summary));
        facts(entry, "constants", &mut out);
        keys(entry, &mut out);
        examples(entry, "Specs to copy:", &mut out);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn facts(entry: &Entry, guarantee: &str, out: &mut String) {
    let rows = [
        ("cost", entry.cost),
        (guarantee, entry.guarantee),
        ("reference", entry.reference),
    ];
    out.push_str("| | |\n|---|---|\n");
    for (label, text) in rows {
        let _ = writeln!(out, "| {label} | {} |", cell(text));
    }
    out.push('\n');
}

fn keys(entry: &Entry, out: &mut String) {
    if entry.parameters.is_empty() {
        return;
    }
    out.push_str("| key | meaning | allowed | default |\n|---|---|---|---|\n");
    for p in entry.parameters {
        let default = p.default().map_or(String::new(), |d| format!("`{d}`"));
        let (about, allowed) = (cell(p.about), cell(&p.kind.to_string()));
        let _ = writeln!(out, "| `{}` | {about} | {allowed} | {default} |", p.name);
    }
    out.push('\n');
}

fn examples(entry: &Entry, heading: &str, out: &mut String) {
    let _ = write!(out, "{heading}\n\n```text\n");
    for example in entry.examples {
        let _ = writeln!(out, "{example}");
    }
    out.push_str("```\n\n");
}

/// Plain text as Markdown.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '*' | '<' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The same in a table.
fn cell(text: &str) -> String {
    // what stands in backquotes is code there, too
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(i, part)| {
        if i % 2 == 0 {
            prose(part)
        } else {
            format!("`{part}`")
        }
    });
    parts.collect::<String>().replace('|', "\\|")
}

/// A file's documentation as Markdown outside of rustdoc, and the example in it.
fn documentation(file: &str) -> (String, String) {
    let lines = file.lines().map_while(|line| line.strip_prefix("//!"));
    let (mut text, mut example, mut code) = (String::new(), String::new(), false);
    for line in lines.map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        if line.starts_with("```") {
            code = !code;
        } else if code {
            // lines that rustdoc hides
            if line != "#" && !line.starts_with("# ") {
                let _ = writeln!(example, "{line}");
            }
        } else if !(line.starts_with("[`") && line.contains("`]: ")) {
            let _ = writeln!(text, "{line}");
        }
    }
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    (relink(text.trim()), example)
}

/// Links to items become plain, but those to other learners lead to their pages.
fn relink(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let escaped = rest[..open].ends_with('\\');
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let Some(close) = rest.find(']').filter(|_| !escaped) else {
            out.push('[');
            rest = &rest[1..];
            continue;
        };
        let label = &rest[1..close];
        let after = &rest[close + 1..];
        let target = after.strip_prefix('(').and_then(|t| t.split_once(')'));
        match target {
            Some((target, after)) if target.contains("::") => {
                let page = target
                    .rsplit("::")
                    .next()
                    .map(|name| name.replace('_', "-"));
                let page = page.filter(|page| LearnerSpec::ENTRIES.iter().any(|e| e.name == page));
                match page {
                    Some(page) => {
                        let _ = write!(out, "[{label}]({page}.md)");
                    }
                    None => out.push_str(label),
                }
                rest = after;
            }
            None if label.starts_with('`') && label.ends_with('`') => {
                out.push_str(label);
                rest = after;
            }
            _ => {
                out.push('[');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}
