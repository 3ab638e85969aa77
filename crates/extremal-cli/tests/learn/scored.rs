//! `--test`, and predictions that can't be used.

use std::path::PathBuf;

use super::certified::number;
use super::support::*;

/// A stream whose model has large weights of both signs.
fn steep(folder: &Folder) -> PathBuf {
    folder.write("steep.svm", "1 1:1\n-1 2:1\n".repeat(200))
}

const STEEP: [&str; 5] = ["--loss", "logistic", "--set", "l2:radius=50", "--quiet"];

/// ∞ − ∞ in the second line.
const HUGE: &str = "1 1:1\n1 1:1e308 2:1e308\n-1 2:1\n";

#[test]
fn a_prediction_that_is_no_number_is_a_numerical_failure() {
    let folder = Folder::new("not-finite");
    let (data, huge) = (steep(&folder), folder.write("huge.svm", HUGE));
    let model = folder.file("m");
    let words = ["learn", text(&data), "-f", text(&model), "--test"];
    let output = run(&[&words[..], &[text(&huge)], &STEEP].concat());
    assert_eq!(output.status.code(), Some(3));
    let message = errors(&output);
    assert!(message.contains("huge.svm:2: "), "{message}");
    let output = run(&["predict", "-i", text(&model), text(&huge)]);
    assert_eq!(output.status.code(), Some(3));
    let message = errors(&output);
    assert!(message.contains("huge.svm:2: "), "{message}");
    // what came before is right
    assert_eq!(output.stdout.iter().filter(|b| **b == b'\n').count(), 1);
}

#[test]
fn a_class_is_not_guessed_where_the_numbers_broke_down() {
    let folder = Folder::new("no-class");
    let (data, huge) = (steep(&folder), folder.write("huge.svm", HUGE));
    let model = folder.file("m");
    let words = ["learn", text(&data), "-f", text(&model)];
    done(&[&words[..], &["--classes=-1,1"], &STEEP].concat());
    let output = run(&["predict", "-i", text(&model), text(&huge)]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
    assert_eq!(output.stdout, b"1\n");
}

#[test]
#[cfg(unix)]
fn a_signal_ends_the_scoring_and_the_model_is_saved() {
    let folder = Folder::new("stop-scoring");
    let (data, model) = (steep(&folder), folder.file("m"));
    let pipe = folder.pipe("test.svm");
    let words = ["learn", text(&data), "-f", text(&model), "--test"];
    let child = extremal()
        .args([&words[..], &[text(&pipe)], &STEEP].concat())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // opens when the other side does
    let writer = std::fs::File::create(&pipe).unwrap();
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    drop(writer);
    assert_eq!(output.status.code(), Some(130));
    let message = errors(&output);
    assert!(message.contains("the model is saved in"), "{message}");
    assert!(model.exists());
}

#[test]
#[cfg(unix)]
fn a_signal_ends_the_wait_for_a_test_file_too() {
    use std::io::{BufRead, BufReader};
    let folder = Folder::new("stop-waiting");
    let (data, model) = (steep(&folder), folder.file("m"));
    let pipe = folder.pipe("test.svm");
    let words = ["learn", text(&data), "-f", text(&model), "--test"];
    let mut child = extremal()
        .args([&words[..], &[text(&pipe)], &STEEP[..4]].concat())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // the block at the end comes before the score
    assert!(lines.any(|line| line.unwrap().starts_with("features ")));
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(model.exists());
}

#[test]
fn a_score_is_shown_in_every_form() {
    let folder = Folder::new("score-forms");
    let data = steep(&folder);
    let words = ["learn", text(&data), "--test", text(&data)];
    let quiet = errors(&done(&[&words[..], &STEEP].concat()));
    assert!(
        quiet.starts_with("test ") && quiet.contains("AUC 1.0"),
        "{quiet}"
    );
    let json = done(&[&words[..], &STEEP[..4], &["--progress", "json"]].concat());
    let json = errors(&json);
    let last = json.lines().last().unwrap();
    assert!(
        last.contains("\"test\":{") && last.contains("\"auc\":1.0"),
        "{json}"
    );
    assert!(last.contains("\"end\":\"done\""), "{json}");
}

/// The score as JSON, of a model with one positive weight.
fn score(folder: &Folder, stream: &str) -> String {
    let data = folder.write("rise.vw", "1 | 0:1\n-1 | 0:-1\n".repeat(50));
    let test = folder.write("test.vw", stream);
    let model = folder.file("rise");
    done(&[&["learn", text(&data), "-f", text(&model)], &STEEP[..]].concat());
    let words = ["learn", "/dev/null", "--format", "vw", "-i", text(&model)];
    let rest = ["--test", text(&test), "--progress", "json"];
    let lines = errors(&done(&[&words[..], &rest].concat()));
    lines[lines.rfind("\"test\":").unwrap()..].into()
}

#[test]
fn the_auc_is_the_share_of_pairs_in_order_and_weights_are_repetitions() {
    let folder = Folder::new("auc");
    let label = |i: i32| if i * 5 % 11 > 5 { 1 } else { -1 };
    let data: Vec<(i32, i32)> = (0..60).map(|i| (i * 7 % 13, label(i))).collect();
    let lines = |weight| {
        data.iter()
            .map(move |(z, y)| format!("{y} {weight} | 0:{z}\n"))
    };
    let (mut won, mut pairs) = (0.0, 0.0);
    for (a, _) in data.iter().filter(|(_, y)| *y > 0) {
        for (b, _) in data.iter().filter(|(_, y)| *y < 0) {
            pairs += 1.0;
            won += 0.5 * (f64::from(a > b) + f64::from(a >= b));
        }
    }
    let once = score(&folder, &lines(1).collect::<String>());
    let auc = number(&once, "auc");
    assert!((auc - won / pairs).abs() < 1e-12, "{auc}");
    let (weighted, repeated) = (lines(2).collect::<String>(), lines(1).collect::<String>());
    let weighted = score(&folder, &weighted);
    let repeated = score(&folder, &repeated.repeat(2));
    for key in ["weight", "loss", "error_rate", "auc"] {
        let (a, b) = (number(&weighted, key), number(&repeated, key));
        assert!((a - b).abs() <= 1e-12 * a, "{key}: {a} {b}");
    }
    assert_eq!(number(&weighted, "auc"), auc);
    let one_sided = score(&folder, "1 | 0:1\n");
    assert!(one_sided.contains("\"auc\":null"), "{one_sided}");
}

#[test]
fn a_test_file_that_is_missing_is_noticed_before_the_first_round() {
    let folder = Folder::new("no-test");
    let data = steep(&folder);
    let (model, missing) = (folder.file("m"), folder.file("missing.svm"));
    let words = ["learn", text(&data), "-f", text(&model), "--test"];
    let output = run(&[&words[..], &[text(&missing)], &STEEP].concat());
    assert_eq!(output.status.code(), Some(1));
    let message = errors(&output);
    assert!(message.contains("missing.svm"), "{message}");
    assert!(!model.exists());
}

#[test]
fn standard_input_is_not_both_stream_and_test() {
    for test in ["-", "/dev/stdin"] {
        let output = run(&["learn", "--set", "l2", "--format", "libsvm", "--test", test]);
        assert_eq!(output.status.code(), Some(2), "{test}");
    }
}

#[test]
fn labels_of_a_test_file_may_be_skipped_too() {
    let folder = Folder::new("skip-test");
    let data = steep(&folder);
    let test = folder.write("test.svm", "1 1:1\n7 1:1\n-1 2:1\n1 1:x\n");
    let words = ["learn", text(&data), "--test", text(&test)];
    let output = run(&[&words[..], &STEEP].concat());
    assert_eq!(output.status.code(), Some(1));
    let message = errors(&output);
    assert!(message.contains("test.svm:2: "), "{message}");
    let output = done(&[&words[..], &STEEP, &["--on-error", "skip"]].concat());
    let message = errors(&output);
    assert!(message.contains("error rate 0.00 %"), "{message}");
    assert!(message.contains("2 skipped"), "{message}");
}
