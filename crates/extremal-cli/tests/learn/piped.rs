//! Data through pipes and archives.

use std::io::Write;
use std::process::Stdio;

use super::support::*;

#[test]
fn a_pipe_gives_the_model_of_the_file() {
    let folder = Folder::new("pipe");
    let stream = libsvm(&examples(200, 14));
    let data = folder.write("data.svm", &stream);
    let (a, b) = (folder.file("a"), folder.file("b"));
    done(&[
        "learn",
        text(&data),
        "--loss",
        "logistic",
        "-f",
        text(&a),
        "--quiet",
    ]);
    let mut child = extremal()
        .args(["learn", "--loss", "logistic", "-f", text(&b), "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stream.as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap());
    let mut child = extremal()
        .args(["predict", "-i", text(&a)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stream.as_bytes())
        .unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    assert_eq!(
        out.stdout,
        done(&["predict", "-i", text(&a), text(&data)]).stdout
    );
}

#[test]
fn a_reader_of_predictions_may_leave_early() {
    let folder = Folder::new("leave");
    let data = folder.write("data.svm", libsvm(&examples(20_000, 15)));
    let mut child = extremal()
        .args([
            "learn",
            text(&data),
            "--loss",
            "logistic",
            "-p",
            "-",
            "--quiet",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

#[test]
fn standard_input_can_t_be_read_twice() {
    let output = run(&["learn", "--passes", "2"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_model_is_learnt_to_the_end_though_nobody_reads_the_predictions() {
    let folder = Folder::new("leave-model");
    let data = folder.write("data.svm", libsvm(&examples(20_000, 15)));
    let (a, b) = (folder.file("a"), folder.file("b"));
    let words = ["learn", text(&data), "--loss", "logistic", "-f"];
    done(&[&words[..], &[text(&a), "--quiet"]].concat());
    for to in ["-p", "--trace"] {
        let mut child = extremal()
            .args(words)
            .args([text(&b), "-P", "100", to, "-"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        let said = errors(&out);
        assert!(out.status.success(), "{said}");
        assert!(said.contains("closed the pipe"), "{said}");
        assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap());
        std::fs::remove_file(&b).unwrap();
    }
}

#[test]
fn a_prediction_is_written_as_soon_as_its_example_is_there() {
    use std::io::{BufRead, BufReader};
    let folder = Folder::new("answers");
    let data = folder.write("data.svm", libsvm(&examples(20, 18)));
    let model = folder.file("m");
    done(&["learn", text(&data), "-qf", text(&model)]);
    let mut child = extremal()
        .args(["predict", "--format", "libsvm", "-i", text(&model)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        input.write_all(b"1 1:1\n").unwrap();
        assert!(lines.next().unwrap().unwrap().parse::<f64>().is_ok());
    }
    drop(input);
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_model_learnt_from_a_pipe_of_vw_text_predicts_a_libsvm_file_from_another() {
    let folder = Folder::new("vw-then-libsvm");
    let stream = "1 | 3:1 7:0.5\n-1 | 7:1\n1 | 3:0.25\n".repeat(40);
    let model = folder.file("model");
    let feed = |arguments: &[&str], text: &str| {
        let mut child = extremal()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    feed(
        &["learn", "--loss=logistic", "-q", "-f", text(&model)],
        &stream,
    );
    let ask = ["predict", "-i", text(&model)];
    let by_vw = feed(&ask, "1 | 3:1\n1 | 7:1\n");
    let by_libsvm = feed(&ask, "1 3:1\n1 7:1\n");
    assert_eq!(by_vw, by_libsvm);
    let chances: Vec<f64> = by_vw.lines().map(|line| line.parse().unwrap()).collect();
    assert!(chances[0] > 0.6 && chances[1] < 0.5, "{chances:?}");
}
