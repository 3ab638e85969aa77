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

    fn tables(&self, out: &str) -> [String; 5] {
        let names = [
            "config.toml",
            "trace.csv",
            "summary.csv",
            "checks.csv",
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
    assert!(said.contains("the same command goes on"), "{said}");
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
    assert!(said.contains("holds another experiment"), "{said}");
    assert_eq!(folder.tables("out"), before);
    // asked to, it runs there, and takes over what is the same
    done(&mut folder.compare("out", &["--update"]));
    assert_ne!(folder.tables("out"), before);
    done(&mut folder.compare("fresh", &[]));
    assert_eq!(folder.tables("out"), folder.tables("fresh"));
}

#[test]
fn what_can_not_run_is_refused_before_anything_is_written() {
    let folder = Folder::new("refused");
    let text = EXPERIMENT.replace("name = \"ofw\"", "name = \"ofv\"");
    fs::write(folder.0.join("small.toml"), text).unwrap();
    let said = refused(&mut folder.compare("out", &[]), 1);
    assert!(
        said.contains("small.toml:21: unknown variant `ofv`"),
        "{said}"
    );
    assert!(!folder.0.join("out").exists());
    let mut missing = folder.compare("out", &[]);
    fs::remove_file(folder.0.join("small.toml")).unwrap();
    let said = refused(&mut missing, 1);
    assert!(said.contains("can't read small.toml"), "{said}");
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
