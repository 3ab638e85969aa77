//! What a run says about itself.

use super::support::*;

fn rounds_of(trace: &str) -> Vec<&str> {
    let rows = trace.lines().skip(1);
    rows.map(|row| row.split(',').next().unwrap()).collect()
}

#[test]
fn the_last_round_has_a_row_in_the_trace_and_a_line() {
    let folder = Folder::new("last-row");
    let all = examples(8, 21);
    let good = folder.write("good.svm", libsvm(&all));
    let bad = folder.write("bad.svm", libsvm(&all) + "1 3:oops\n");
    let trace = folder.file("t.csv");
    for (data, code) in [(&good, 0), (&bad, 1)] {
        let words = ["learn", text(data), "--loss", "logistic", "--trace"];
        let rest = [text(&trace), "--trace-every", "3", "-P", "4"];
        let output = run(&[&words[..], &rest].concat());
        assert_eq!(output.status.code(), Some(code));
        let rows = std::fs::read_to_string(&trace).unwrap();
        assert_eq!(rounds_of(&rows), ["3", "6", "8"], "{rows}");
        let rest = ["-P", "5", "--progress", "json"];
        let output = run(&[&words[..4], &rest].concat());
        let lines = errors(&output);
        let rounds = lines.lines().filter(|line| line.contains("\"since_last\""));
        let rounds: Vec<_> = rounds.map(|l| l.split(',').next().unwrap()).collect();
        assert_eq!(rounds, ["{\"round\":5", "{\"round\":8"], "{lines}");
    }
}

#[test]
fn checkpoints_are_at_powers_or_at_multiples_and_go_on_after_a_stop() {
    let folder = Folder::new("checkpoints");
    let all = examples(20, 25);
    let (trace, model) = (folder.file("t.csv"), folder.file("m"));
    let check = |every: &str, from: usize, to: usize, rounds: &[&str]| {
        let data = folder.write("rest.svm", libsvm(&all[from..to]));
        let words = [
            "learn",
            text(&data),
            "-q",
            "--trace",
            text(&trace),
            "-P",
            every,
        ];
        let resumed = ["-i", text(&model)];
        done(&[&words[..], if from > 0 { &resumed } else { &[] }].concat());
        let rows = std::fs::read_to_string(&trace).unwrap();
        assert_eq!(rounds_of(&rows), rounds, "{every}");
    };
    check("2.0", 0, 16, &["1", "2", "4", "8", "16"]);
    check("1.1", 0, 5, &["1", "2", "3", "4", "5"]);
    check("3", 0, 9, &["3", "6", "9"]);
    for (first, every, rounds) in [(5, "2.0", ["8", "16"]), (6, "3", ["9", "12"])] {
        let data = folder.write("first.svm", libsvm(&all[..first]));
        done(&["learn", text(&data), "-qf", text(&model)]);
        let last: usize = rounds[1].parse().unwrap();
        check(every, first, last, &rounds);
    }
}

#[test]
fn the_last_line_for_programs_counts_what_was_skipped() {
    let folder = Folder::new("json-last");
    let all = examples(8, 22);
    let data = folder.write("data.svm", libsvm(&all) + "1 3:oops\n7 1:1\n");
    let words = ["learn", text(&data), "--loss", "logistic"];
    let rest = ["--on-error", "skip", "--progress", "json"];
    let lines = errors(&done(&[&words[..], &rest].concat()));
    let last = lines.lines().last().unwrap();
    assert!(last.contains("\"skipped\":2"), "{last}");
    assert!(
        last.contains("\"notes\":[\"skipped ") && last.contains("data.svm:9: "),
        "{last}"
    );
}

#[test]
fn what_was_skipped_is_counted_though_an_error_ends_the_run() {
    let folder = Folder::new("skip-error");
    let data = folder.write("data.svm", "1 1:x\n1 1:1\n");
    let words = ["learn", text(&data), "--on-error", "skip"];
    let output = run(&[&words[..], &["--trace", "/dev/full"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let said = errors(&output);
    assert!(said.contains("skipped          1\n"), "{said}");
}

#[test]
fn rows_whose_numbers_are_too_large_are_skipped_like_lines_that_can_t_be_read() {
    let folder = Folder::new("skip-large");
    let stream = "1 1:1\n-1 1:1e308 2:1e308\n".to_string() + &"-1 2:1\n".repeat(20);
    let data = folder.write("data.svm", stream);
    for game in [&[][..], &["--set", "l2:radius=50"], &["--classes=-1,1"]] {
        let words = [&["learn", text(&data), "--loss", "logistic"], game].concat();
        assert_eq!(run(&words).status.code(), Some(3));
        let said = errors(&done(&[&words[..], &["--on-error", "skip"]].concat()));
        assert!(said.contains("\nnote: skipped "), "{said}");
        assert!(said.contains("data.svm:2: "), "{said}");
        assert!(said.contains("skipped          1\n"), "{said}");
        assert!(said.contains("rounds           21\n"), "{said}");
    }
}

#[test]
fn examples_of_no_weight_have_no_average() {
    let folder = Folder::new("no-weight");
    let data = folder.write("data.vw", "1 0 | 1:1\n-1 0 | 2:1\n");
    let words = ["learn", text(&data), "--loss", "logistic"];
    let table = errors(&done(&words));
    assert!(table.contains("average loss     —"), "{table}");
    assert!(!table.contains("NaN"), "{table}");
    let json = errors(&done(&[&words[..], &["--progress", "json"]].concat()));
    assert!(json.contains("\"average_loss\":null"), "{json}");
}

#[test]
#[cfg(unix)]
fn predictions_and_trace_are_there_at_a_checkpoint() {
    use std::io::Write;
    let folder = Folder::new("flushed");
    let (model, out, trace) = (folder.file("m"), folder.file("p"), folder.file("t.csv"));
    let mut child = extremal()
        .args(["learn", "--format", "libsvm", "--loss", "logistic"])
        .args(["--set", "l2", "-f", text(&model), "-p", text(&out)])
        .args(["--checkpoint-every", "10", "--trace", text(&trace), "-q"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input
        .write_all(libsvm(&examples(10, 23)).as_bytes())
        .unwrap();
    wait_for(|| model.exists());
    let lines = |path| std::fs::read_to_string(path).unwrap().lines().count();
    assert_eq!(lines(&out), 10);
    // the head, and 1, 2, 4, 8
    assert_eq!(lines(&trace), 5);
    input
        .write_all(libsvm(&examples(3, 24)).as_bytes())
        .unwrap();
    wait_for(|| lines(&out) == 13);
    drop(input);
    assert!(child.wait().unwrap().success());
}
