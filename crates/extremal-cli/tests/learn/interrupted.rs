//! Whatever ends a run, the model on disk is whole, and going on from it loses nothing.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::support::*;

fn kills() -> u32 {
    if std::env::var_os("EXTREMAL_SOAK").is_some() {
        50
    } else {
        3
    }
}

/// Starts `learn`, kills it after a while, goes on from what is there, so many times.
fn killed(data: &Path, model: &Path, game: &[&str], every: &str, kills: u32) {
    let _ = std::fs::remove_file(model);
    let mut wait = 3;
    for k in 0..=kills {
        let mut words = vec!["learn", text(data), "--loss", "logistic", "--quiet"];
        words.extend_from_slice(&["-f", text(model), "--checkpoint-every", every]);
        words.extend_from_slice(game);
        if model.exists() {
            words.extend_from_slice(&["-i", text(model), "--continue"]);
        }
        if k == kills {
            done(&words);
            return;
        }
        let mut child = extremal().args(&words).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        wait = wait * 7 % 31 + 2;
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Kills the game again and again, and compares with one that nobody disturbed.
fn check_killed(folder: &Folder, data: &Path, game: &[&str], every: &str) {
    let (whole, pieces) = (folder.file("whole"), folder.file("pieces"));
    let mut words = vec!["learn", text(data), "--loss", "logistic", "--quiet"];
    words.extend_from_slice(&["-f", text(&whole)]);
    words.extend_from_slice(game);
    done(&words);
    killed(data, &pieces, game, every, kills());
    assert!(
        std::fs::read(&whole).unwrap() == std::fs::read(&pieces).unwrap(),
        "{game:?}"
    );
    let strays = std::fs::read_dir(whole.parent().unwrap()).unwrap();
    let strays: Vec<_> = strays.map(|f| f.unwrap().file_name()).collect();
    assert_eq!(strays.len(), 3, "{strays:?}");
}

#[test]
fn a_killed_run_goes_on_to_the_very_same_model() {
    let folder = Folder::new("killed");
    let data = folder.write("data.svm", libsvm(&examples(20_000, 6)));
    let growing = GAMES
        .iter()
        .filter(|game| !game.iter().any(|w| w.contains("dim=")));
    for game in growing {
        check_killed(&folder, &data, game, "500");
    }
}

#[test]
fn a_killed_run_of_any_learner_goes_on_to_the_very_same_model() {
    let folder = Folder::new("killed-any");
    let data = folder.write("data.svm", libsvm(&examples(1_500, 6)));
    for game in registered_games(400) {
        let game: Vec<&str> = game.iter().map(String::as_str).collect();
        check_killed(&folder, &data, &game, "50");
    }
}

#[test]
#[cfg(unix)]
fn a_signal_saves_and_says_so_even_while_the_input_is_silent() {
    let folder = Folder::new("signal");
    let all = examples(40, 7);
    let model = folder.file("m");
    for signal in ["INT", "TERM", "HUP"] {
        let mut child = extremal()
            .args([
                "learn",
                "--format",
                "libsvm",
                "--loss",
                "logistic",
                "-f",
                text(&model),
            ])
            .args(["-P", "1", "--progress", "json", "--set", "l2:radius=3"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(libsvm(&all).as_bytes()).unwrap();
        input.flush().unwrap();
        // Its own report tells when the examples have arrived: a pause in the input shows them.
        let mut lines =
            std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
        let mut seen = 0;
        while seen < 40 {
            let line = lines.next().unwrap().unwrap();
            seen += u32::from(line.contains("\"round\""));
        }
        super::support::signal(&child, signal);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{signal}");
        drop(input);
        let shown = String::from_utf8(done(&["inspect", text(&model)]).stdout).unwrap();
        assert!(shown.contains("rounds") && shown.contains("40"), "{shown}");
        std::fs::remove_file(&model).unwrap();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_signal_before_the_first_round_claims_nothing() {
    let folder = Folder::new("unstarted");
    let model = folder.write("m", "of another time");
    let mut child = extremal()
        .args(["learn", "--format", "libsvm", "-f", text(&model)])
        // This learner chooses a ball from the first 100 examples.
        .args(["--learner", "coin-ftrl"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input
        .write_all(libsvm(&examples(5, 19)).as_bytes())
        .unwrap();
    // once it listens, to INT last
    let status = format!("/proc/{}/status", child.id());
    wait_for(|| {
        let status = std::fs::read_to_string(&status).unwrap();
        let caught = status.lines().find_map(|l| l.strip_prefix("SigCgt:"));
        u64::from_str_radix(caught.unwrap().trim(), 16).unwrap() & (1 << 1) != 0
    });
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(130));
    let said = errors(&output);
    assert!(said.contains("no model was saved"), "{said}");
    assert!(!said.contains("the model is saved in"), "{said}");
    assert_eq!(std::fs::read(&model).unwrap(), b"of another time");
}

#[test]
fn a_bad_line_stops_the_run_after_saving_the_round_before() {
    let folder = Folder::new("bad-line");
    let all = examples(30, 8);
    let good = folder.write("good.svm", libsvm(&all[..20]));
    let bad = folder.write(
        "bad.svm",
        libsvm(&all[..20]) + "1 3:oops\n" + &libsvm(&all[20..]),
    );
    let (a, b) = (folder.file("a"), folder.file("b"));
    done(&[
        "learn",
        text(&good),
        "--loss",
        "logistic",
        "-f",
        text(&a),
        "--quiet",
    ]);
    let output = run(&[
        "learn",
        text(&bad),
        "--loss",
        "logistic",
        "-f",
        text(&b),
        "--quiet",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("bad.svm:21: "), "{message}");
    assert!(message.contains("oops"), "{message}");
    assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap());
}

/// A label that can be read, but not by this loss, among features that nothing else has.
const REFUSED: &str = "7 1:1 5000:1\n";

#[test]
fn a_label_that_the_loss_refuses_leaves_no_trace_of_its_features() {
    let folder = Folder::new("refused");
    let all = examples(150, 16);
    let good = folder.write("good.svm", libsvm(&all));
    let bad = folder.write("bad.svm", libsvm(&all) + REFUSED);
    let (a, b) = (folder.file("a"), folder.file("b"));
    let learn = |data: &Path, model: &Path| {
        let words = [
            "learn",
            text(data),
            "--loss",
            "logistic",
            "-f",
            text(model),
            "--quiet",
        ];
        run(&words).status.code()
    };
    assert_eq!(learn(&good, &a), Some(0));
    assert_eq!(learn(&bad, &b), Some(1));
    assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap());
}

#[test]
fn examples_that_were_passed_over_are_not_learnt_twice_after_a_stop() {
    let folder = Folder::new("passed-over");
    let all = examples(300, 17);
    let part = |from: usize, to: usize| libsvm(&all[from..to]) + REFUSED;
    let first = folder.write("first.svm", part(0, 120) + &part(120, 150));
    let whole = folder.write(
        "whole.svm",
        part(0, 120) + &part(120, 150) + &part(150, 300),
    );
    let (a, b) = (folder.file("a"), folder.file("b"));
    let learn = |data: &Path, rest: &[&str]| {
        let words = [
            "learn",
            text(data),
            "--loss",
            "logistic",
            "--on-error",
            "skip",
            "--quiet",
        ];
        done(&[&words[..], rest].concat());
    };
    learn(&whole, &["-f", text(&a)]);
    learn(&first, &["-f", text(&b)]);
    learn(&whole, &["-i", text(&b), "--continue", "-f", text(&b)]);
    assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap());
}

#[test]
fn a_model_that_can_t_be_written_is_told_before_the_first_round() {
    let folder = Folder::new("unwritable");
    let data = folder.write("data.svm", libsvm(&examples(5, 9)));
    let below = folder.file("data.svm/model");
    let output = run(&["learn", text(&data), "-f", text(&below)]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("data.svm/model"), "{message}");
    assert!(!message.contains("rounds"), "{message}");
}
