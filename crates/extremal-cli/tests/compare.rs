//! `compare` and `report` as a user runs them: killed, interrupted, repeated, refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

const EXPERIMENT: &str = r#"
title = "Small"
horizons = { from = 2000, to = 16000 }
seeds = 3

[problem.curved]
set = "lp:p=1.5,dim=30"
loss = "linear"
stream = "drift"

[problem.ridge]
set = "simplex:dim=10"
loss = "squared"
l2 = 0.1
stream = "regression"
learners = ["paper", "book", "projected"]

[learner.paper]
name = "ofw-ls"

[learner.book]
name = "ofw"

[learner.sampled]
name = "ospf"

[learner.projected]
name = "ogd"
"#;

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("extremal-cmp-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("small.toml"), EXPERIMENT).unwrap();
        Self(path)
    }

    fn compare(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_extremal"));
        command.current_dir(&self.0);
        command.args(["compare", "small.toml", "--quiet", "--out", out]);
        command.args(more);
        command
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    fn tables(&self, out: &str) -> [String; 6] {
        let names = [
            "config.toml",
            "trace.csv",
            "summary.csv",
            "checks.csv",
            "comparators.csv",
            "pictures.json",
        ];
        names.map(|name| self.read(&format!("{out}/{name}")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

fn refused(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{command:?}: {said}");
    said
}

fn strays(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap();
    let names = names.map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|n| n.starts_with('.')).collect()
}

#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_bytes() {
    let folder = Folder::new("killed");
    done(&mut folder.compare("whole", &["--threads", "1"]));
    let expected = folder.tables("whole");
    done(&mut folder.compare("two", &["--threads", "2"]));
    assert_eq!(folder.tables("two"), expected, "two threads");

    let kills = if std::env::var_os("EXTREMAL_SOAK").is_some() {
        50
    } else {
        5
    };
    // Early and late: what there is to do takes a second or so in all.
    let mut wait = 13;
    for _ in 0..kills {
        let mut child = folder.compare("pieces", &[]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        wait = wait * 7 % 211 + 5;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    done(&mut folder.compare("pieces", &[]));
    assert_eq!(folder.tables("pieces"), expected, "{kills} kills");
    let out = folder.0.join("pieces");
    assert_eq!(strays(&out), Vec::<String>::new());
    assert_eq!(strays(&out.join("cells")), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn interrupted_it_says_how_to_go_on_and_keeps_what_is_finished() {
    let folder = Folder::new("interrupted");
    done(&mut folder.compare("whole", &[]));
    let text = EXPERIMENT.replace("to = 16000", "to = 1024000");
    fs::write(folder.0.join("small.toml"), &text).unwrap();
    let child = folder
        .compare("long", &["--threads", "1"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("repeat the command"), "{said}");
    assert!(folder.read("long/run.json").contains("\"running\""));
}

#[test]
fn a_folder_of_another_experiment_is_left_alone() {
    let folder = Folder::new("other");
    done(&mut folder.compare("out", &[]));
    let before = folder.tables("out");
    fs::write(
        folder.0.join("small.toml"),
        EXPERIMENT.replace("seeds = 3", "seeds = 2"),
    )
    .unwrap();
    let said = refused(&mut folder.compare("out", &[]), 2);
    assert!(said.contains("holds a different experiment"), "{said}");
    assert_eq!(folder.tables("out"), before);
    // asked to, it runs there, and takes over what is the same
    done(&mut folder.compare("out", &["--update"]));
    assert_ne!(folder.tables("out"), before);
    done(&mut folder.compare("fresh", &[]));
    assert_eq!(folder.tables("out"), folder.tables("fresh"));
}

#[test]
fn what_is_no_experiment_is_never_written_over() {
    let folder = Folder::new("mine");
    for (name, text) in [
        ("summary.csv", "mine"),
        ("report.html", "mine"),
        ("timing.csv", "mine"),
        ("config.toml", "[database]\n"),
    ] {
        let place = folder.0.join(name.replace('.', "-"));
        fs::create_dir(&place).unwrap();
        fs::write(place.join(name), text).unwrap();
        let out = place.file_name().unwrap().to_str().unwrap();
        for options in [&[][..], &["--update"]] {
            let said = refused(&mut folder.compare(out, options), 2);
            assert!(
                said.contains(&format!("{name} would be overwritten")),
                "{said}"
            );
        }
        assert_eq!(fs::read_to_string(place.join(name)).unwrap(), text);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
    }
}

#[test]
fn what_can_not_run_is_refused_before_anything_is_written() {
    let folder = Folder::new("refused");
    let text = EXPERIMENT.replace("name = \"ofw\"", "name = \"ofv\"");
    fs::write(folder.0.join("small.toml"), text).unwrap();
    let said = refused(&mut folder.compare("out", &[]), 1);
    assert!(
        said.contains("small.toml:22: unknown variant `ofv`"),
        "{said}"
    );
    assert!(!folder.0.join("out").exists());
    let mut missing = folder.compare("out", &[]);
    fs::remove_file(folder.0.join("small.toml")).unwrap();
    let said = refused(&mut missing, 1);
    assert!(said.contains("small.toml: can't be read"), "{said}");
}

#[test]
fn a_report_is_made_again_from_the_tables() {
    let folder = Folder::new("report");
    done(&mut folder.compare("out", &["--svg"]));
    let page = folder.read("out/report.html");
    assert!(page.contains("Small"));
    let figure = folder.read("out/figures/curved-horizons.svg");
    assert!(figure.starts_with("<svg"));
    fs::remove_file(folder.0.join("out/report.html")).unwrap();
    let report = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_extremal"));
        command.current_dir(&folder.0).arg("report").args(arguments);
        command
    };
    done(&mut report(&["out"]));
    assert_eq!(folder.read("out/report.html"), page);
    // two of them make one page
    done(&mut report(&["out", "out", "--out", "both"]));
    let both = folder.read("both/report.html");
    assert!(both.matches("Small").count() > page.matches("Small").count());
    let said = refused(&mut report(&["nowhere"]), 1);
    assert!(said.contains("config.toml"), "{said}");
}

#[test]
fn the_demo_writes_over_a_demo_and_nothing_else() {
    let folder = Folder::new("demo");
    let demo = |out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_extremal"));
        command.current_dir(&folder.0);
        command.args(["demo", "--quiet", "--max-rounds", "1000", "--out", out]);
        command
    };
    done(&mut demo("demo"));
    done(demo("demo").args(["--seed", "1"]));
    done(&mut folder.compare("out", &[]));
    let before = folder.tables("out");
    let said = refused(&mut demo("out"), 2);
    assert!(said.contains("holds an experiment"), "{said}");
    let said = refused(&mut folder.compare("demo", &[]), 2);
    assert!(said.contains("holds a different experiment"), "{said}");
    assert_eq!(folder.tables("out"), before);
    // nor over somebody's own table
    fs::create_dir(folder.0.join("mine")).unwrap();
    fs::write(folder.0.join("mine/summary.csv"), "my own").unwrap();
    let said = refused(&mut folder.compare("mine", &[]), 2);
    assert!(said.contains("summary.csv would be overwritten"), "{said}");
    assert_eq!(folder.read("mine/summary.csv"), "my own");
}

#[test]
fn an_experiment_that_is_not_complete_has_no_report() {
    let folder = Folder::new("incomplete");
    done(&mut folder.compare("out", &[]));
    let run = folder.read("out/run.json").replace("complete", "running");
    fs::write(folder.0.join("out/run.json"), run).unwrap();
    let mut report = Command::new(env!("CARGO_BIN_EXE_extremal"));
    report.current_dir(&folder.0).args(["report", "out"]);
    let said = refused(&mut report, 1);
    assert!(said.contains("is not complete"), "{said}");
}

#[test]
fn files_are_found_from_the_experiment_and_again_from_its_config() {
    let folder = Folder::new("files");
    fs::create_dir(folder.0.join("deep")).unwrap();
    let rows: String = (0..40)
        .map(|i| format!("{},{}\n", i % 2, f64::from(i) / 40.0))
        .collect();
    fs::write(folder.0.join("deep/data.csv"), format!("label,a\n{rows}")).unwrap();
    let text = "rounds = 30\n[problem.p]\nset = 'l2'\nloss = 'logistic'\nstream = { file = 'data.csv' }\n[learner.ofw-free]\nname = 'ofw-free'\n";
    fs::write(folder.0.join("deep/e.toml"), text).unwrap();
    let compare = |from: &str, out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_extremal"));
        command
            .current_dir(&folder.0)
            .args(["compare", from, "--quiet", "--out", out]);
        command
    };
    done(&mut compare("deep/e.toml", "out"));
    done(&mut compare("out/config.toml", "again"));
    assert_eq!(folder.tables("again"), folder.tables("out"));
    // other numbers under the same name are other cells
    let other = folder.read("deep/data.csv").replace("0.5", "0.75");
    fs::write(folder.0.join("deep/data.csv"), other).unwrap();
    done(&mut compare("deep/e.toml", "out"));
    assert_ne!(folder.tables("again"), folder.tables("out"));
    for (content, why) in [
        ("label,a\n0,1\n1,2\n-1,3\n", "example 3"),
        ("label,a\n0,1\nx,2\n", "data.csv:3"),
        ("", "data.csv"),
    ] {
        let rows = content.to_string() + &"1,1\n".repeat(if content.is_empty() { 0 } else { 40 });
        fs::write(folder.0.join("deep/data.csv"), rows).unwrap();
        let said = refused(&mut compare("deep/e.toml", "out"), 1);
        assert!(
            said.contains("deep/e.toml:5: ") && said.contains(why),
            "{why}: {said}"
        );
    }
}

const OUTSIDE: &str = r#"
rounds = 3000
seeds = 6
pictures = false

[problem.absolute]
set = "box:lower=-1,upper=1,dim=2"
loss = "absolute"
stream = "regression:norm=0.5"
learners = ["fpl"]

[problem.squared]
set = "box:lower=-1,upper=1,dim=2"
loss = "squared"
stream = "regression:norm=0.5"
told = false
learners = ["fpl", "linear"]

[problem.logistic]
set = "box:lower=-5,upper=5,dim=2"
loss = "logistic"
stream = "classification"
told = false
learners = ["fpl", "linear"]

[problem.adaptive]
set = "box:lower=-1,upper=1,dim=2"
loss = "linear"
stream = "adversary"
learners = ["fpl", "linear", "ospf"]

[learner.fpl]
name = "fpl"

[learner.linear]
name = "ospf"
smoothness = 0

[learner.ospf]
name = "ospf"
"#;

#[test]
fn outside_their_theorems_the_perturbed_leaders_do_not_exceed_them() {
    let folder = Folder::new("outside");
    fs::write(folder.0.join("small.toml"), OUTSIDE).unwrap();
    let output = done(&mut folder.compare("out", &[]));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("EXCEEDED"), "{text}");
    assert_eq!(text.matches("  not met  ").count(), 8, "{text}");
    assert!(text.contains(" 8 with an unmet"), "{text}");
    let summary = folder.read("out/summary.csv");
    assert_eq!(summary.matches(",not-met,").count(), 8, "{summary}");
    let checks = folder.read("out/checks.csv");
    let broken: Vec<&str> = checks.lines().filter(|l| l.contains(",false,")).collect();
    let about = |problem: &str, words: &str| {
        let mut lines = broken.iter().filter(|l| l.starts_with(problem));
        lines.clone().count() > 0 && lines.all(|l| l.contains(words))
    };
    for problem in ["absolute", "squared", "logistic"] {
        assert!(about(problem, "needs linear losses"), "{broken:#?}");
    }
    assert!(
        about("adaptive", "needs losses that are fixed"),
        "{broken:#?}"
    );
    let page = folder.read("out/report.html");
    assert_eq!(page.matches(">not met<").count(), 8);
}
