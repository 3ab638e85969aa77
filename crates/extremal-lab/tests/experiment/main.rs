//! Experiments as files: errors with their lines, and runs that can be repeated, interrupted and
//! resumed.

mod comparators;
mod demo;
mod page;
mod picture;
mod rows;
mod surrogate;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use extremal_lab::experiment::{Experiment, Prepared, Progress, compare};
use extremal_lab::output::Output;
use extremal_lab::results::{Results, TraceRow, Verdict};
use extremal_lab::{report, table};

const SMALL: &str = r#"
horizons = [200, 400, 800]
seeds = 3
timing = true

[problem.drift]
set = { name = "l2", dim = 4 }
loss = "linear"
stream = { name = "drift" }

[problem.ridge]
set = "simplex:dim=5"
loss = "squared"
l2 = 0.1
stream = { name = "regression", norm = 1 }
learners = ["paper", "book", "ogd"]

[learner.paper]
name = "ofw-ls"

[learner.book]
name = "ofw"

[learner.lifted]
name = "gauge-ftrl"

[learner.sampled]
name = "ospf"

[learner.ogd]
name = "ogd"
"#;

fn prepared(text: &str) -> Result<Prepared, extremal_lab::Error> {
    Prepared::new(Experiment::parse(text, Path::new("folder/test.toml"))?)
}

fn refusal(text: &str) -> String {
    match prepared(text) {
        Ok(_) => panic!("it was taken: {text}"),
        Err(error) => error.to_string(),
    }
}

/// Replaces the one place where `from` stands.
fn with(from: &str, to: &str) -> String {
    assert_eq!(SMALL.matches(from).count(), 1, "{from}");
    SMALL.replace(from, to)
}

#[test]
fn what_can_not_be_is_refused_with_the_line_and_what_is_allowed() {
    let cases = [
        (with("seeds = 3", "sedes = 3"), 3, "expected one of"),
        (with("seeds = 3", "seeds = 0"), 3, "from 1 to 100000"),
        (with("seeds = 3", "seeds = [1, 1]"), 3, "distinct"),
        (
            with("seeds = 3", "seeds = \"many\""),
            3,
            "a number of seeds",
        ),
        (with("[200, 400, 800]", "[200, 100]"), 2, "must increase"),
        (with("[200, 400, 800]", "[0]"), 2, "at least 1"),
        (
            with("[200, 400, 800]", "{ from = 5, to = 4 }"),
            2,
            "must increase",
        ),
        (with("[200, 400, 800]", "{ from = 5, by = 2 }"), 2, "a list"),
        (
            with("seeds = 3", "seeds = 3\nrounds = 5"),
            2,
            "either rounds or horizons",
        ),
        (with("seeds = 3", "seeds = 3\nscales = []"), 4, "non-empty"),
        (
            with("seeds = 3", "seeds = 3\nscales = [1.0, -1.0]"),
            4,
            "> 0",
        ),
        (
            with("\"l2\", dim", "\"l7\", dim"),
            7,
            "expected one of `l2`",
        ),
        (
            with("dim = 4", "dim = 4, radios = 1"),
            7,
            "expected `radius`",
        ),
        (
            with("{ name = \"drift\" }", "{ name = \"drft\" }"),
            9,
            "expected one of `drift`",
        ),
        (
            with("{ name = \"drift\" }", "{ fiel = \"x\" }"),
            9,
            "expected one of `data`, `file`",
        ),
        (with("{ name = \"drift\" }", "7"), 9, "a table"),
        (
            with("\"squared\"", "\"sqared\""),
            13,
            "did you mean `squared`",
        ),
        (with("l2 = 0.1", "l2 = -0.1"), 14, "≥ 0"),
        (
            with("\"book\", \"ogd\"]", "\"bok\"]"),
            16,
            "paper, book, lifted, sampled, ogd",
        ),
        (
            with("\"ofw-ls\"", "\"ofw-sl\""),
            19,
            "expected one of `ofw`",
        ),
        (
            with("\"ofw-ls\"", "\"ofw-ls\"\nhorizn = 5"),
            20,
            "expected one of `horizon`",
        ),
        (
            with("\"ofw-ls\"", "\"ofw-ls\"\ntune = 3"),
            20,
            "the key to scale",
        ),
        (
            with("\"ofw-ls\"", "\"ofw-ls\"\ntune = \"lambda\""),
            18,
            "no key `lambda`",
        ),
        (
            with("\"ofw-ls\"", "\"ofw-ls\"\nscales = [1.0, 2.0]"),
            22,
            "the same number of scales",
        ),
        (
            with("seeds = 3", "seeds = 3\nscales = [1.0, 2.0]"),
            25,
            "tune = false",
        ),
        (
            with("name = \"gauge-ftrl\"", "balance = \"own\""),
            24,
            "needs a name",
        ),
        (
            with("[problem.ridge]", "[problem.\"a/b\"]"),
            11,
            "each a letter, a digit",
        ),
        (
            with("\"ofw-ls\"", "\"ofw-ls\"\nstorage = \"thin\""),
            20,
            "\"lazy\" or \"sparse\"",
        ),
        // what only shows when it is built
        (
            with("\"ofw-ls\"", "\"ofw-ls\"\nstorage = \"lazy\""),
            18,
            "can't play problem ridge: ofw-ls can't play set simplex: it needs dense storage",
        ),
        (with("\"simplex:dim=5\"", "\"simplex\""), 12, "dim"),
        (
            with("[\"paper\", \"book\", \"ogd\"]", "[\"lifted\"]"),
            24,
            "can't play problem ridge",
        ),
        (
            with("\"l2\", dim", "\"unit-free\", dim").replace("\"ofw\"", "\"unit-free\""),
            21,
            "with `extremal learn`",
        ),
        (
            with("{ name = \"regression\", norm = 1 }", "\"adversary\""),
            15,
            "linear loss alone",
        ),
        (with("\"squared\"", "\"logistic\""), 15, "label"),
        (
            with("{ name = \"drift\" }", "{ file = \"gone.svm\" }"),
            9,
            "gone.svm",
        ),
        (
            with("{ name = \"drift\" }", "{ data = \"mars\" }"),
            9,
            "breast-cancer",
        ),
        (
            with("dim = 4", "dim = 4, radius = nan"),
            7,
            "must be finite",
        ),
        (with("dim = 4", "dim = 4000000000"), 7, "go up to"),
        (
            with("\"ofw-ls\"", "\"ofw-ls\"\neta-scale = inf"),
            20,
            "must be finite",
        ),
        (
            with("{ name = \"regression\", norm = 1 }", "{ data = \"djia\" }")
                .replace("simplex:dim=5", "simplex")
                .replace("[200, 400, 800]", "[200, 400]"),
            15,
            "needs labels",
        ),
        ("x = [".into(), 1, "unclosed array"),
        (String::new(), 1, "[problem.NAME]"),
    ];
    for (text, line, allowed) in cases {
        let said = refusal(&text);
        let place = format!("folder/test.toml:{line}: ");
        assert!(said.starts_with(&place), "{place} {said}");
        assert!(said.contains(allowed), "{allowed}: {said}");
    }
}

#[test]
fn an_idle_learner_is_refused() {
    let said = refusal(&with("horizons = [", "horizons = [ # \n").replace(
        "stream = { name = \"drift\" }",
        "stream = { name = \"drift\" }\nlearners = [\"paper\"]",
    ));
    assert!(said.contains("lifted plays no problem"), "{said}");
}

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("extremal-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs it; `budget` cells may end before it is stopped.
fn run(text: &str, directory: &Directory, threads: usize, budget: u64) -> Option<Results> {
    let ended = AtomicU64::new(0);
    let prepared = prepared(text).unwrap();
    let output = Output::open(&directory.0).unwrap();
    let progress = Progress {
        threads,
        clock: &|| 0.0,
        expect: &|_| {},
        done: &|_| {
            ended.fetch_add(1, Ordering::Relaxed);
        },
        stopped: &|| ended.load(Ordering::Relaxed) >= budget,
    };
    let results = compare(&prepared, "1", "test", Some(&output), &progress).unwrap();
    if let Some(results) = &results {
        results.write(&output).unwrap();
    }
    results
}

fn tables(directory: &Directory) -> Vec<String> {
    let read = |name| fs::read_to_string(directory.0.join(name)).unwrap();
    [
        "config.toml",
        "trace.csv",
        "summary.csv",
        "checks.csv",
        "comparators.csv",
        "pictures.json",
    ]
    .map(read)
    .to_vec()
}

#[test]
fn stopped_and_gone_on_with_gives_the_same_bytes_on_any_number_of_threads() {
    let whole = Directory::new("whole");
    let results = run(SMALL, &whole, 1, u64::MAX).unwrap();
    let expected = tables(&whole);
    assert_eq!(results.summary.len(), (5 + 3) * 3);
    assert!(
        results
            .summary
            .iter()
            .all(|r| r.verdict != Verdict::Exceeded)
    );

    let pieces = Directory::new("pieces");
    let mut stops = 0;
    while run(SMALL, &pieces, 2, 7).is_none() {
        stops += 1;
        assert!(stops < 100, "it does not go on");
        let status = fs::read_to_string(pieces.0.join("run.json")).unwrap();
        assert!(status.contains("\"running\""), "{status}");
    }
    assert!(stops > 3);
    assert_eq!(tables(&pieces), expected);

    // once more: nothing is left to run, so that no budget is needed
    let again = AtomicU64::new(0);
    let prepared = prepared(SMALL).unwrap();
    let output = Output::open(&pieces.0).unwrap();
    let progress = Progress {
        threads: 2,
        clock: &|| 0.0,
        expect: &|rounds| {
            again.store(rounds, Ordering::Relaxed);
        },
        done: &|_| {},
        stopped: &|| false,
    };
    compare(&prepared, "1", "test", Some(&output), &progress)
        .unwrap()
        .unwrap();
    assert_eq!(again.load(Ordering::Relaxed), 0);
    // another version makes them all again
    compare(&prepared, "2", "test", Some(&output), &progress)
        .unwrap()
        .unwrap();
    assert!(again.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_damaged_cell_is_run_again() {
    let whole = Directory::new("damaged");
    run(SMALL, &whole, 2, u64::MAX).unwrap();
    let expected = tables(&whole);
    for (i, cell) in fs::read_dir(whole.0.join("cells")).unwrap().enumerate() {
        let path = cell.unwrap().path();
        match i % 5 {
            0 => fs::write(path, "").unwrap(),
            1 => fs::write(path, "{\"checkpoints\":[").unwrap(),
            // valid JSON without content
            2 => fs::write(path, "[]").unwrap(),
            3 => {
                let nothing =
                    r#"{"checkpoints":[],"verdict":null,"violation":0.0,"oracle_calls":1}"#;
                fs::write(path, nothing).unwrap();
            }
            _ => {}
        }
    }
    run(SMALL, &whole, 2, u64::MAX).unwrap();
    assert_eq!(tables(&whole), expected);
}

#[test]
fn what_was_written_reads_as_the_same_results() {
    let directory = Directory::new("read");
    let results = run(SMALL, &directory, 2, u64::MAX).unwrap();
    let read = Results::read(&directory.0).unwrap();
    assert_eq!(read.trace, results.trace);
    assert_eq!(read.summary, results.summary);
    assert_eq!(read.checks, results.checks);
    assert_eq!(read.timing, results.timing);
    assert_eq!(read.pictures, results.pictures);
    assert_eq!(read.run, results.run);
    assert_eq!(read.experiment.problems, results.experiment.problems);
    fs::write(directory.0.join("trace.csv"), "problem,learner\na").unwrap();
    let error = Results::read(&directory.0).unwrap_err().to_string();
    assert!(error.contains("trace.csv"), "{error}");
}

#[test]
fn a_grid_scales_the_step_size_and_nothing_else() {
    let text = with("seeds = 3", "seeds = 3\nscales = [1.0, 10.0]")
        .replace("\"gauge-ftrl\"", "\"gauge-ftrl\"\ntune = false");
    let directory = Directory::new("grid");
    let results = run(&text, &directory, 2, u64::MAX).unwrap();
    let plain = run(SMALL, &Directory::new("plain"), 2, u64::MAX).unwrap();
    let scales = |learner: &str| {
        let mut all: Vec<f64> = results
            .summary
            .iter()
            .filter(|r| r.learner == learner)
            .map(|r| r.scale)
            .collect();
        all.dedup();
        all
    };
    assert_eq!(scales("lifted"), [1.0]);
    assert!(scales("paper").contains(&10.0));
    for row in &plain.summary {
        assert!(results.summary.contains(row), "{row:?}");
    }
    let paper = |scale: f64| {
        let mine = |r: &&extremal_lab::results::SummaryRow| {
            r.problem == "drift" && r.learner == "paper" && r.scale == scale && r.horizon == 800
        };
        results.summary.iter().find(mine).unwrap().regret
    };
    // theory's step is too careful on a drift
    assert!(paper(10.0) < 0.5 * paper(1.0));
}

/// The tables against the game played by hand: a loss counted twice, a checkpoint one round late or a
/// learner given another T would show.
#[test]
fn a_trace_is_what_the_rounds_add_up_to() {
    use extremal::learner::LearnerSpec;
    use extremal::set::SetSpec;
    use extremal::stream::StreamSpec;
    use extremal::{Gradient, Row};

    let results = run(SMALL, &Directory::new("by-hand"), 2, u64::MAX).unwrap();
    let set = "l2:dim=4".parse::<SetSpec>().unwrap().build(None).unwrap();
    for seed in 0..3 {
        // G as the stream gives it, to the last place: inside the ball steps magnify what differs
        let spec = "ofw-ls:horizon=800,gradient-bound=1.000000000001";
        let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
        let drift = "drift".parse::<StreamSpec>().unwrap();
        let mut stream = drift.build(4, seed).unwrap();
        let (mut loss, mut sum) = (0.0, [0.0; 4]);
        let mut looks = 0;
        for t in 1..=800 {
            let mut x = [0.0; 4];
            learner.decide().unwrap().write(&mut x);
            let mut g = [0.0; 4];
            match stream.next(learner.decision()).unwrap().unwrap().row {
                Row::Dense(row) => g.copy_from_slice(row),
                other => panic!("{other:?}"),
            }
            learner.observe(&Gradient::dense(&g)).unwrap();
            loss += g.iter().zip(x).map(|(g, x)| g * x).sum::<f64>();
            sum.iter_mut().zip(g).for_each(|(s, g)| *s += g);
            let row = results.trace.iter().find(|r| {
                let cell = (r.problem.as_str(), r.learner.as_str(), r.horizon, r.seed);
                cell == ("drift", "paper", 800, seed) && r.round == t
            });
            let Some(row) = row else {
                continue;
            };
            // over the unit ball ⟨Σg, x⟩ is least at −‖Σg‖
            let regret = loss + sum.iter().map(|s| s * s).sum::<f64>().sqrt();
            assert!((row.loss - loss).abs() <= 1e-9, "{row:?}: {loss}");
            assert!(
                (row.regret_lower - regret).abs() <= 1e-9,
                "{row:?}: {regret}"
            );
            assert!(
                (row.regret_lower - regret).abs() <= 1e-9,
                "{row:?}: {regret}"
            );
            assert_eq!(row.oracle_calls, t);
            looks += 1;
        }
        // 16, 32, …, 512 and the end
        assert_eq!(looks, 7, "seed {seed}");
    }
}

#[test]
fn comparators_by_norm_are_in_the_files_and_the_report_where_they_say_something() {
    let logistic = r#"
horizons = [200, 400]
seeds = [7, 3]
[problem.ball]
set = "l2:radius=3,dim=4"
loss = "logistic"
stream = { name = "classification" }
[problem.simplex]
set = "simplex:dim=4"
loss = "logistic"
stream = { name = "classification" }
learners = ["book"]
[problem.linear]
set = "l2:radius=3,dim=4"
loss = "linear"
stream = { name = "drift" }
[learner.book]
name = "ofw"
[learner.lifted]
name = "gauge-ftrl"
"#;
    let directory = Directory::new("comparators");
    run(logistic, &directory, 1, u64::MAX).unwrap();
    let mut results = Results::read(&directory.0).unwrap();
    for row in &results.trace {
        assert_eq!(
            row.halving_radius.is_some(),
            row.problem == "ball",
            "{row:?}"
        );
    }
    // the longest run with the first seed, of each learner on the ball
    assert_eq!(results.comparators.len(), 2 * 46);
    for row in &results.comparators {
        assert_eq!((&*row.problem, row.horizon, row.seed), ("ball", 400, 7));
        let same = |r: &&TraceRow| {
            (&r.problem, &r.learner, r.seed, r.round) == (&row.problem, &row.learner, 7, 400)
        };
        let radius = results.trace.iter().find(same).unwrap().halving_radius;
        assert_eq!(row.share_of_loss <= 0.5, row.radius <= radius.unwrap());
    }
    let tabs = |results: &Results| {
        let plots = report::plots(std::slice::from_ref(results));
        let names = plots.into_iter().map(|plot| plot.name);
        names
            .filter(|n| n.contains("comparators"))
            .collect::<Vec<_>>()
    };
    assert_eq!(tabs(&results), ["ball-comparators"]);
    let page = report::page(std::slice::from_ref(&results));
    assert_eq!(page.matches("would have halved the loss").count(), 1);
    // a folder that an earlier version has left
    fs::remove_file(directory.0.join("comparators.csv")).unwrap();
    let trace = fs::read_to_string(directory.0.join("trace.csv")).unwrap();
    let cut: Vec<&str> = trace
        .lines()
        .map(|l| l.rsplit_once(',').unwrap().0)
        .collect();
    fs::write(directory.0.join("trace.csv"), cut.join("\n")).unwrap();
    let earlier = Results::read(&directory.0).unwrap();
    assert_eq!(tabs(&earlier), [""; 0]);
    for row in &mut results.trace {
        row.halving_radius = None;
    }
    assert_eq!(earlier.trace, results.trace);
}

/// The same learners in dense storage and in that of the set, on sparse rows.
#[test]
fn lazy_and_sparse_storage_give_the_results_of_dense_storage_up_to_rounding() {
    let text = |storage: &str| {
        format!(
            r#"
horizons = [100, 200, 400]
seeds = 2
pictures = false
[problem.rows]
set = "{}:radius=2,dim=400"
loss = "logistic"
stream = {{ name = "zipf", nonzeros = 8 }}
[learner.paper]
name = "ofw-ls"
storage = "{storage}"
[learner.book]
name = "ofw"
storage = "{storage}"
"#,
            if storage == "sparse" { "l1" } else { "l2" }
        )
    };
    for storage in ["lazy", "sparse"] {
        let directory = Directory::new(storage);
        let results = run(&text(storage), &directory, 2, u64::MAX).unwrap();
        let written = Experiment::parse(&results.experiment.to_toml(), Path::new("a.toml"));
        assert_eq!(written.unwrap().learners, results.experiment.learners);
        assert_eq!(
            Results::read(&directory.0).unwrap().summary,
            results.summary
        );
        let shown = format!("paper, {storage} storage");
        let table = table::render(&results, table::Paint::Plain);
        assert!(table.contains(&shown), "{table}");
        let page = report::page(std::slice::from_ref(&results));
        assert!(page.contains(&format!("{storage} storage</small>")));
        let dense = text(storage).replace(&format!("\"{storage}\""), "\"dense\"");
        let dense = run(&dense, &Directory::new("dense"), 2, u64::MAX).unwrap();
        assert!(!table::render(&dense, table::Paint::Plain).contains("storage"));
        results.trace.iter().zip(&dense.trace).for_each(|(a, b)| {
            for (a, b) in [
                (a.loss, b.loss),
                (a.regret_lower, b.regret_lower),
                (a.regret_upper, b.regret_upper),
            ] {
                assert!((a - b).abs() <= 1e-7 * b.abs().max(1.0), "{a} {b}");
            }
            assert_eq!((a.round, a.oracle_calls), (b.round, b.oracle_calls));
        });
        assert_eq!(results.trace.len(), dense.trace.len());
        for row in &results.summary {
            assert!(row.violation.unwrap() <= 1e-9, "{row:?}");
        }
    }
}
