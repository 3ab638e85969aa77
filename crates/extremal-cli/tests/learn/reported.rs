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
    let all = examples(18, 22);
    let data = folder.write("data.svm", libsvm(&all) + "1 3:oops\n7 1:1\n");
    let words = ["learn", text(&data), "--loss", "logistic"];
    let rest = ["--on-error", "skip", "--progress", "json"];
    let lines = errors(&done(&[&words[..], &rest].concat()));
    let last = lines.lines().last().unwrap();
    assert!(last.contains("\"skipped\":2"), "{last}");
    assert!(
        last.contains("\"notes\":[\"skipped ") && last.contains("data.svm:19: "),
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
    assert!(table.contains("error rate       —"), "{table}");
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

/// The last line for people that begins with this word, without the word.
fn entry(said: &str, name: &str) -> f64 {
    let mut lines = said.lines().filter_map(|line| line.strip_prefix(name));
    let text = lines
        .next_back()
        .unwrap_or_else(|| panic!("{name}: {said}"));
    let text = text.trim().trim_end_matches(" %");
    text.parse().unwrap()
}

#[test]
fn error_rate_auc_rmse_and_r2_are_those_of_the_predictions_also_after_a_stop() {
    let folder = Folder::new("known-names");
    let all = examples(300, 26);
    let data = folder.write("data.svm", libsvm(&all));
    let half = folder.write("half.svm", libsvm(&all[..150]));
    let (model, out) = (folder.file("m"), folder.file("p"));
    for loss in ["logistic", "squared"] {
        let learn = |words: &[&str]| {
            let start = ["learn", "--loss", loss, "--link", "identity", "--no-clip"];
            errors(&done(&[&start, words].concat()))
        };
        let whole = learn(&[text(&data), "-p", text(&out)]);
        learn(&[text(&half), "-f", text(&model)]);
        let resumed = learn(&[text(&data), "-i", text(&model), "--continue"]);
        let written = std::fs::read_to_string(&out).unwrap();
        let predictions = written.lines().map(|line| line.parse::<f64>().unwrap());
        let pairs: Vec<_> = predictions.zip(all.iter().map(|e| e.label)).collect();
        let n = pairs.len() as f64;
        let names = if loss == "logistic" {
            let wrong = |(z, y): &(f64, f64)| {
                if *z == 0.0 {
                    0.5
                } else {
                    f64::from(z * y <= 0.0)
                }
            };
            let rate = pairs.iter().map(wrong).sum::<f64>() / n;
            assert!(
                (entry(&whole, "error rate") - 100.0 * rate).abs() <= 0.005,
                "{whole}"
            );
            ["error rate", "AUC"]
        } else {
            let mean = pairs.iter().map(|(_, y)| y).sum::<f64>() / n;
            let spread: f64 = pairs.iter().map(|(_, y)| (y - mean).powi(2)).sum();
            let squares: f64 = pairs.iter().map(|(z, y)| (y - z).powi(2)).sum();
            assert!(
                (entry(&whole, "RMSE") - (squares / n).sqrt()).abs() < 1e-6,
                "{whole}"
            );
            assert!(
                (entry(&whole, "R²") - (1.0 - squares / spread)).abs() < 1e-4,
                "{whole}"
            );
            assert!(whole.contains(" (of ½(p−y)²)\n"), "{whole}");
            ["RMSE", "R²"]
        };
        for name in names {
            assert_eq!(entry(&whole, name), entry(&resumed, name), "{name}");
        }
    }
}

#[test]
fn the_progress_table_has_80_columns_for_numbers_of_any_size() {
    let folder = Folder::new("columns-80");
    for size in [1e-9, 1.0, 1e9, 1e30] {
        let row = |k: i32| format!("{} 1:{k} 2:1\n", size * f64::from(k % 7) - 0.1 * size);
        let data = folder.write("data.svm", (0..50).map(row).collect::<String>());
        let said = errors(&done(&["learn", text(&data), "-P", "1"]));
        let mut table = said.split("\n\n").nth(1).unwrap().lines();
        let heads = [table.next().unwrap(), table.next().unwrap()];
        assert!(heads[0].len() == 80 && heads[1].len() < 80, "{said}");
        for line in table {
            assert_eq!(line.chars().count(), 80, "{line}");
            // all columns are there
            assert_eq!(line.split_whitespace().count(), 9, "{line}");
        }
    }
}
