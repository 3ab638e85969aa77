//! Every experiment of this repository and the demo: tables, traces and reports mark every bound
//! and certificate that is vacuous. The test decides this again from the files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use extremal_lab::experiment::{Experiment, Source};
use extremal_lab::output::Output;
use extremal_lab::results::{Results, SummaryRow, Verdict};
use extremal_lab::table::{self, Paint};
use extremal_lab::{demo, report};

/// The whole experiments take an hour.
fn soak() -> bool {
    std::env::var_os("EXTREMAL_SOAK").is_some()
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("extremal-vacuous-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn shortened(mut experiment: Experiment) -> Experiment {
    experiment.timing = false;
    experiment.pictures = false;
    if !soak() {
        for problem in experiment.problems.values_mut() {
            problem.horizons = vec![50, 200];
            problem.seeds.truncate(2);
        }
    }
    experiment
}

/// The ℓ2 diameter of each problem's set.
fn diameters(experiment: &Experiment) -> BTreeMap<String, f64> {
    let columns = |source: &Source| match source {
        Source::Synthetic(_) => None,
        Source::Rows(rows) => Some(match rows.data.as_deref().unwrap() {
            "djia" => 30,
            "mushroom" => 98,
            "breast-cancer" => 31,
            "phishing" => 10,
            "trump-approval" => 6,
            other => panic!("{other}: how many columns?"),
        }),
    };
    let problems = experiment.problems.iter();
    problems
        .map(|(name, problem)| {
            let set = problem.set.build(columns(&problem.stream)).unwrap();
            (name.clone(), set.geometry().diameter)
        })
        .collect()
}

type Row = BTreeMap<String, String>;

fn read(folder: &Path, name: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(folder.join(name)).unwrap();
    let rows = reader.deserialize::<Row>();
    rows.map(Result::unwrap).collect()
}

fn number(row: &Row, column: &str) -> Option<f64> {
    let text = row[column].as_str();
    (!text.is_empty()).then(|| text.parse().unwrap())
}

/// min(G·D·T, loss), the latter where no loss is below 0.
fn trivial(experiment: &Experiment, diameters: &BTreeMap<String, f64>, row: &Row) -> f64 {
    let of = |column| number(row, column).unwrap();
    let gdt = of("largest_gradient") * diameters[&row["problem"]] * of("round");
    match experiment.problems[&row["problem"]]
        .loss
        .to_string()
        .as_str()
    {
        "squared" | "logistic" => gdt.min(of("loss")),
        "linear" | "log-wealth" => gdt,
        other => panic!("{other}: has it a least value?"),
    }
}

/// The runs of a row of the summary, at their ends.
fn ends<'a>(trace: &'a [Row], row: &'a Row) -> impl Iterator<Item = &'a Row> {
    let same = ["problem", "learner", "scale", "horizon"];
    trace
        .iter()
        .filter(move |t| same.iter().all(|c| t[*c] == row[*c]) && t["round"] == t["horizon"])
}

/// Checks the files of an experiment. Returns how many bounds are vacuous, and how many are not.
fn check(name: &str, results: &Results) -> (usize, usize) {
    let folder = Folder::new(name);
    results.write(&Output::open(&folder.0).unwrap()).unwrap();
    let experiment = &results.experiment;
    let diameters = diameters(experiment);
    let trace = read(&folder.0, "trace.csv");
    let summary = read(&folder.0, "summary.csv");
    let (mut empty, mut telling) = (0, 0);
    for row in &trace {
        let least = trivial(experiment, &diameters, row);
        let says_nothing = |column: &str| {
            let exact = column == "regret_upper" && row["level"] == "exact";
            number(row, column).is_some_and(|bound| !exact && bound >= least)
        };
        let columns = ["regret_upper", "bound", "certificate"];
        let expected: Vec<&str> = columns.into_iter().filter(|c| says_nothing(c)).collect();
        assert_eq!(row["vacuous"], expected.join(" "), "{name}: {row:?}");
        let (lower, upper) = (number(row, "regret_lower"), number(row, "regret_upper"));
        assert!(
            lower <= upper && lower.unwrap() <= least * (1.0 + 1e-12),
            "{name}: {row:?}"
        );
        empty += expected.len();
        telling += usize::from(number(row, "bound").is_some() && !says_nothing("bound"));
    }
    for row in &summary {
        let runs = || ends(&trace, row).map(|run| (run, trivial(experiment, &diameters, run)));
        assert_eq!(runs().count().to_string(), row["seeds"], "{name}: {row:?}");
        let any = |column: &str| {
            runs().any(|(run, least)| number(run, column).is_some_and(|bound| bound >= least))
        };
        let upper = any("regret_upper") && row["level"] != "exact";
        let columns = [("regret_upper", upper), ("bound", any("bound"))];
        let expected = columns.iter().filter(|c| c.1).map(|c| c.0);
        let expected: Vec<&str> = expected.collect();
        assert_eq!(row["vacuous"], expected.join(" "), "{name}: {row:?}");
        match row["verdict"].as_str() {
            "kept" => {
                assert!(!any("bound"), "{name}: {row:?}");
                for (run, _) in runs() {
                    let below = number(run, "regret_upper") <= number(run, "bound");
                    assert!(below, "{name}: {run:?}");
                }
            }
            "vacuous" => assert!(any("bound"), "{name}: {row:?}"),
            "none-proven" => assert!(row["bound"].is_empty(), "{name}: {row:?}"),
            "not-met" | "few-seeds" | "undecided" => {}
            other => panic!("{name}: {other}, {row:?}"),
        }
    }
    shown(name, results);
    (empty, telling)
}

/// The table of the terminal and that of the page mark what they show.
fn shown(name: &str, results: &Results) {
    let marks = |row: &SummaryRow| {
        let bound = usize::from(row.verdict == Verdict::Vacuous);
        // a bound that is shown as a number says something
        let number = matches!(
            row.verdict,
            Verdict::Kept | Verdict::FewSeeds | Verdict::Undecided
        );
        assert!(!number || !row.vacuous.contains("bound"), "{name}: {row:?}");
        bound + usize::from(row.is_upper_vacuous())
    };
    let rows = table::rows(results);
    let marked = rows.iter().flat_map(|row| &row.cells);
    let marked: usize = marked.map(|cells| marks(cells.summary)).sum();
    let text = table::render(results, Paint::Plain);
    let (rows, _) = text.split_once("Largest violation").unwrap();
    assert_eq!(rows.matches("vacuous").count(), marked, "{name}: {text}");
    let html = report::page(std::slice::from_ref(results));
    assert_eq!(html.matches(">vacuous</i>").count(), marked, "{name}");
}

#[test]
fn every_experiment_marks_what_says_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    let (mut empty, mut telling) = (0, 0);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let experiment = Experiment::parse(&text, &path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let found = check(&name, &shortened(experiment).play(2).unwrap());
        (empty, telling) = (empty + found.0, telling + found.1);
    }
    // short runs have many vacuous bounds, and some that are not
    assert!(empty > 100 && telling > 100, "{empty} and {telling}");
}

#[test]
fn the_demo_marks_what_says_nothing() {
    let longest = if soak() { None } else { Some(1_000) };
    let (empty, telling) = check(
        "demo",
        &demo::experiment(0, longest).unwrap().play(2).unwrap(),
    );
    assert!(empty > 5 && telling > 5, "{empty} and {telling}");
}
