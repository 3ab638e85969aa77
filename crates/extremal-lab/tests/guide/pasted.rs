//! Tables that the documents show are those that the program prints. A table has the command that
//! printed it in a comment above it, `<!-- output of: extremal compare FILE -->`; here the runs of
//! its problems are played again. `make figures` writes such tables anew.

use extremal_lab::demo;
use extremal_lab::experiment::Experiment;
use extremal_lab::table::{self, Paint};

use crate::{files, markdown, read, root};

/// The columns of a table that are compared only where all horizons are played, or not at all.
const EXPONENT: usize = 4;
const TIME: usize = 8;
const COLUMNS: usize = 9;

/// Learners that are played by `make soak` alone: a projection in 5,000 dimensions takes 1 ms.
const SLOW: [(&str, &[&str]); 1] = [("oracle-calls.toml", &["dual-averaging", "ogd"])];

fn soak() -> bool {
    std::env::var_os("EXTREMAL_SOAK").is_some()
}

/// The experiment of a command. One that is no file is the last TOML block before it.
fn experiment(command: &str, toml: Option<&str>) -> Experiment {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["extremal", "compare", file] => {
            let path = root().join(file);
            let text = match path.exists() {
                true => read(&path),
                false => toml.expect("an experiment on the page").to_string(),
            };
            Experiment::parse(&text, &path).unwrap()
        }
        ["extremal", "demo", "--max-rounds", rounds] => {
            demo::experiment(0, Some(rounds.parse().unwrap())).unwrap()
        }
        ["extremal", "demo"] => demo::experiment(0, None).unwrap(),
        _ => panic!("no test runs `{command}`"),
    }
}

/// The problems with these titles, at their longest horizon.
fn shortened(mut experiment: Experiment, titles: &[&str], command: &str) -> Experiment {
    experiment.timing = false;
    experiment.pictures = false;
    experiment.problems.retain(|name, problem| {
        titles.contains(&problem.title.as_str()) || titles.contains(&name.as_str())
    });
    if !soak() {
        let slow = SLOW.iter().find(|(file, _)| command.ends_with(file));
        let slow = slow.map_or(&[][..], |(_, learners)| learners);
        for problem in experiment.problems.values_mut() {
            problem.horizons.drain(..problem.horizons.len() - 1);
            problem.learners.retain(|l| !slow.contains(&l.as_str()));
        }
    }
    let played = |name: &String| {
        let mut problems = experiment.problems.values();
        problems.any(|problem| problem.learners.contains(name))
    };
    let learners = experiment.learners.keys().cloned();
    let idle: Vec<String> = learners.filter(|name| !played(name)).collect();
    experiment.learners.retain(|name, _| !idle.contains(name));
    experiment
}

fn cells(line: &str) -> Vec<&str> {
    let cells = line.split("  ").map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

/// The rows of a table, each after the title of its problem and the learner it belongs to: the row
/// of a best factor comes below its learner's.
fn rows(table: &str) -> Vec<((&str, &str), Vec<&str>)> {
    let mut rows: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    for paragraph in table.split("\n\n").skip(1) {
        let mut lines = paragraph.lines();
        let Some(title) = lines.next().and_then(|line| line.split_once("  ")) else {
            continue;
        };
        let table = lines.map(cells).filter(|cells| cells.len() == COLUMNS);
        let mut learner = "";
        for cells in table {
            if !cells[0].starts_with("best ") {
                learner = cells[0];
            }
            rows.push(((title.0, learner), cells));
        }
    }
    rows
}

/// Whether two cells are the same, but for what another kind of processor rounds otherwise.
fn same(one: &str, other: &str) -> bool {
    let parts = |cell: &str| -> Vec<String> {
        let parts = cell.split(|c: char| c.is_whitespace() || "[]".contains(c));
        parts.map(|part| part.replace(',', "")).collect()
    };
    let (one, other) = (parts(one), parts(other));
    let near = |(a, b): (&String, &String)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 2e-3 * a.abs().max(b.abs()),
        _ => a == b,
    };
    one.len() == other.len() && one.iter().zip(&other).all(near)
}

/// Compares a block of a document with what the program prints today; how many rows it has.
fn check(place: &str, command: &str, block: &str, toml: Option<&str>) -> usize {
    let shown = rows(block);
    let mut titles: Vec<&str> = shown.iter().map(|((title, _), _)| *title).collect();
    titles.dedup();
    let whole = experiment(command, toml);
    let results = shortened(whole, &titles, command).play(2).unwrap();
    let text = table::render(&results, Paint::Plain);
    let printed = rows(&text);
    let slow = SLOW.iter().find(|(file, _)| command.ends_with(file));
    for (title, row) in &shown {
        let name = title.1.split(' ').next().unwrap();
        if !soak() && slow.is_some_and(|(_, learners)| learners.contains(&name)) {
            continue;
        }
        let found = printed.iter().find(|(t, r)| t == title && r[0] == row[0]);
        let agree = |(column, (one, other)): (usize, (&&str, &&str))| {
            column == TIME || column == EXPONENT && !soak() || same(one, other)
        };
        assert!(
            found.is_some_and(|(_, other)| row.iter().zip(other).enumerate().all(agree)),
            "{place}: the table of `{command}` is stale; run `make figures`.\n{title:?}: {row:?}\nis now {found:?}"
        );
    }
    let missing = printed.iter().find(|(title, row)| {
        let mut of_title = shown.iter().filter(|(t, _)| t == title);
        !of_title.any(|(_, other)| other[0] == row[0])
    });
    assert!(missing.is_none(), "{place}: `{command}`: {missing:?}");
    shown.len()
}

#[test]
fn tables_in_documents_are_what_the_program_prints() {
    let root = root();
    let mut documents = files(&root.join("docs/src"), "md");
    documents.push(root.join("README.md"));
    let mut compared = 0;
    for path in documents {
        let place = path.strip_prefix(&root).unwrap().display().to_string();
        let text = read(&path);
        let mut toml = None;
        for (before, block) in markdown::blocks(&text) {
            let command = before.strip_prefix("<!-- output of: ");
            let command = command.and_then(|rest| rest.strip_suffix(" -->"));
            if let Some(command) = command {
                compared += check(&place, command, &block, toml.as_deref());
            } else if place != "README.md" && block.contains("exponent  exponent") {
                // What Python code prints is compared by the Python tests.
                let python = block.contains("<Comparison of");
                assert!(
                    python,
                    "{place}: a table without `<!-- output of: … -->` above it:\n{block}"
                );
            } else if block.contains("[problem.") {
                toml = Some(block);
            }
        }
    }
    assert!(compared > 100, "{compared} rows");
}
