//! What a run says about its regret: vacuous numbers are marked, and what is claimed is true.

use std::io::Write;
use std::process::Stdio;

use super::support::*;

/// The number that a JSON line has for a key.
pub fn number(line: &str, key: &str) -> f64 {
    let from = line.find(&format!("\"{key}\":")).expect(key) + key.len() + 3;
    let end = line[from..].find([',', '}']).unwrap();
    let word = &line[from..from + end];
    word.parse().unwrap_or_else(|_| panic!("{key} is {word}"))
}

/// The last line for programs.
fn last(words: &[&str]) -> String {
    let said = errors(&done(&[words, &["--progress", "json"]].concat()));
    said.lines().last().unwrap().to_string()
}

/// What `--hindsight` found, of the last line for programs.
fn hindsight(line: &str) -> &str {
    line.split("\"hindsight\":").nth(1).expect(line)
}

const LOSSES: [&str; 7] = [
    "logistic",
    "hinge",
    "squared-hinge",
    "squared",
    "absolute",
    "huber:delta=1",
    "quantile:level=0.9",
];

#[test]
fn without_a_set_the_regret_is_marked_vacuous_and_a_radius_is_printed_that_holds() {
    let folder = Folder::new("no-set");
    for seed in 1..=4 {
        let data = folder.write("data.svm", libsvm(&examples(400, seed)));
        for loss in LOSSES {
            let words = ["learn", text(&data), "--loss", loss];
            let coin = [&words[..], &["--learner", "coin-ftrl"]].concat();
            let said = errors(&done(&[&coin[..], &["-P", "100000"]].concat()));
            let line = |key: &str| said.lines().find(|line| line.starts_with(key)).unwrap();
            let vacuous = "regret           vacuous: ≤ ";
            assert!(line("regret").starts_with(vacuous), "{loss}: {said}");
            assert!(line("bound").contains(" vacuous: "), "{loss}: {said}");
            let comparators = line("comparators");
            let radius = comparators.split('≤').nth(1).unwrap();
            let radius: f64 = radius.split_whitespace().next().unwrap().parse().unwrap();
            assert!(radius > 2.0, "{loss}: {comparators}");
            let json = last(&coin);
            assert!(json.contains("\"vacuous\":true"), "{json}");
            let claimed = number(&json, "halving_radius");
            assert!(radius <= claimed && claimed < 1.01 * radius, "{json}");
            // the best weights of that norm, by a solver that looks at the examples
            let total = number(&json, "average_loss") * 400.0;
            let set = format!("l2:radius={claimed:?}");
            let more = ["--set", &set, "--learner", "ogd", "--hindsight"];
            let best = last(&[&words[..], &more].concat());
            let best = number(hindsight(&best), "best_lower");
            assert!(best >= 0.5 * total, "{loss}: {best} of {total}");
        }
    }
}

#[test]
fn vacuous_numbers_are_marked_wherever_they_are_shown() {
    let folder = Folder::new("marked");
    let data = folder.write("data.svm", libsvm(&examples(600, 12)));
    let (trace, model) = (folder.file("t.csv"), folder.file("m"));
    let words = ["learn", text(&data), "--loss", "logistic"];
    // on a small ball the first rounds' certificates say nothing, the last one does
    for (set, vacuous_in_the_end) in [(&["--set", "l2:radius=3"][..], false), (&[], true)] {
        let words = [&words[..], set].concat();
        let more = ["--trace", text(&trace), "-f", text(&model)];
        let said = errors(&done(&[&words[..], &more].concat()));
        let rows = std::fs::read_to_string(&trace).unwrap();
        let mut rows = rows.lines();
        assert!(
            rows.next()
                .unwrap()
                .ends_with(",seconds,vacuous,halving_radius")
        );
        let lines = said.lines().skip_while(|line| !line.contains("calls"));
        let lines: Vec<&str> = lines.skip(1).take_while(|line| !line.is_empty()).collect();
        let mut marks = Vec::new();
        for (row, line) in rows.zip(&lines) {
            let row: Vec<&str> = row.split(',').collect();
            let (loss, regret): (f64, f64) = (row[1].parse().unwrap(), row[4].parse().unwrap());
            let vacuous = row[10] == "true";
            // the losses are never below 0: a regret of all that was lost says nothing
            assert!(vacuous || regret < loss, "{row:?}");
            let column = line.split_whitespace().nth(6).unwrap();
            assert_eq!(column == "vacuous", vacuous, "{line}");
            marks.push(vacuous);
        }
        assert_eq!(lines.len(), marks.len());
        assert_eq!((marks[0], marks.last()), (true, Some(&vacuous_in_the_end)));
        let block = said.split("\n\n").last().unwrap();
        let inspected = String::from_utf8(done(&["inspect", text(&model)]).stdout).unwrap();
        for shown in [block, &inspected] {
            let regret = shown
                .lines()
                .find(|line| line.starts_with("regret"))
                .unwrap();
            assert_eq!(regret.contains("vacuous: "), vacuous_in_the_end, "{shown}");
            assert!(shown.contains("would have halved the loss\n"), "{shown}");
        }
        let json = errors(&done(&[&words[..], &["--progress", "json"]].concat()));
        let mark = |line: &str| line.contains("\"vacuous\":true");
        let found: Vec<bool> = json.lines().map(mark).collect();
        assert_eq!(found, [&marks[..], &[vacuous_in_the_end]].concat());
    }
}

#[test]
fn the_certificate_by_norm_rises_and_halves_where_the_radius_says() {
    let folder = Folder::new("curve");
    let data = folder.write("data.svm", libsvm(&examples(500, 3)));
    let curve = folder.file("c.csv");
    for set in ["l2:radius=100", "l1:radius=20", "lp:p=1.5,radius=20"] {
        let words = ["learn", text(&data), "--loss", "logistic", "--set", set];
        let json = last(&[&words[..], &["--certificate", text(&curve)]].concat());
        let radius = number(&json, "halving_radius");
        let rows = std::fs::read_to_string(&curve).unwrap();
        assert_eq!(
            rows.lines().next(),
            Some("radius,regret_upper,share_of_loss")
        );
        let rows: Vec<Vec<f64>> = rows
            .lines()
            .skip(1)
            .map(|row| row.split(',').map(|v| v.parse().unwrap()).collect())
            .collect();
        assert_eq!(rows[0][0], 0.0);
        for pair in rows.windows(2) {
            assert!(
                pair[0][0] < pair[1][0] && pair[0][1] < pair[1][1],
                "{pair:?}"
            );
        }
        let total = 500.0 * number(&json, "average_loss");
        for row in &rows {
            assert!(
                (row[2] - row[1] / total).abs() < 1e-9 * row[2].abs(),
                "{row:?}"
            );
            assert_eq!(row[2] <= 0.5, row[0] <= radius, "{row:?} {radius}");
        }
        assert!(rows.last().unwrap()[2] > 1.0);
    }
    let simplex = ["learn", text(&data), "--set", "simplex:dim=200"];
    let output = run(&[&simplex[..], &["--certificate", text(&curve)]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("--certificate needs a norm ball around 0"));
}

/// Numbers to predict with one weight: y of weight w and feature 1. Among weights in [−r, r] the
/// mean is best, or what is next to it.
fn one_weight(count: usize) -> (String, f64, f64) {
    let mut text = String::new();
    let (mut weights, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for t in 0..count {
        let y = (t * 7 % 11) as f64 / 4.0;
        let w = [1.0, 2.0, 0.5][t % 3];
        text += &format!("{y} {w} | 0:1\n");
        weights += w;
        sum += w * y;
        squares += w * y * y;
    }
    let mean = sum / weights;
    let at = |x: f64| 0.5 * (squares - 2.0 * x * sum + x * x * weights);
    (text, at(mean), at(mean.min(0.5)))
}

#[test]
fn hindsight_finds_the_best_weights_of_the_set_that_was_played() {
    let folder = Folder::new("hindsight");
    let (rows, free, bound) = one_weight(60);
    // a line that can't be read, and one whose label the reader refuses
    let rows = rows.replacen("\n0.25", "\n1 1 | 0:inf\nno | 0:1\n0.25", 1);
    let data = folder.write("data.vw", &rows);
    let words = ["learn", text(&data), "--loss", "squared", "--on-error=skip"];
    for (set, best) in [("l2:radius=50", free), ("l2:radius=0.5", bound)] {
        for passes in ["1", "3"] {
            let more = ["--set", set, "--hindsight", "--passes", passes];
            let line = last(&[&words[..], &more].concat());
            let times: f64 = passes.parse().unwrap();
            let found = hindsight(&line);
            let ends = ["best_lower", "best_upper"].map(|key| number(found, key));
            assert!(ends[0] <= times * best && times * best <= ends[1] + 1e-9);
            assert!(ends[1] - ends[0] <= 1e-5 * ends[1], "{line}");
            let total = number(&line, "average_loss") * 70.0 * times;
            let regret = ["regret_lower", "regret_upper"].map(|key| number(found, key));
            let truth = total - times * best;
            assert!(
                regret[0] <= truth + 1e-9 && truth - 1e-9 <= regret[1],
                "{line}"
            );
        }
    }
    let said = errors(&done(&[&words[..], &["--hindsight"]].concat()));
    assert!(said.contains("best weights     total loss in ["), "{said}");
    assert!(said.contains("] (certified interval)\n"), "{said}");
}

#[test]
fn hindsight_over_a_pipe_is_that_over_the_file() {
    let folder = Folder::new("hindsight-pipe");
    let stream = libsvm(&examples(700, 31)) + "7 1:1\n";
    let data = folder.write("data.svm", &stream);
    for loss in ["logistic", "squared", "hinge"] {
        let more = ["--loss", loss, "--on-error=skip", "--set", "l2:radius=5"];
        let file = last(&[&["learn", text(&data), "--hindsight"], &more[..]].concat());
        let mut child = extremal()
            .args(["learn", "--hindsight", "--format=libsvm", "--progress=json"])
            .args(more)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(stream.as_bytes()).unwrap();
        drop(input);
        let said = errors(&child.wait_with_output().unwrap());
        let pipe = said.lines().last().unwrap();
        let found = |line: &str| hindsight(line).split('}').next().unwrap().to_string();
        assert_eq!(found(&file), found(pipe), "{loss}");
    }
}

#[test]
fn hindsight_of_a_resumed_model_is_about_the_rounds_of_this_run() {
    let folder = Folder::new("hindsight-resumed");
    let all = examples(300, 32);
    let (first, whole) = (libsvm(&all[..100]), libsvm(&all));
    let (first, whole) = (folder.write("a.svm", first), folder.write("b.svm", whole));
    let rest = folder.write("c.svm", libsvm(&all[100..]));
    let model = folder.file("m");
    let loss = ["--loss", "logistic"];
    let learnt = ["learn", text(&first), "--set=l2:radius=5", "-q", "-f"];
    done(&[&learnt[..], &[text(&model)], &loss].concat());
    let resumed = |data, more: &[&str]| {
        let words = ["learn", text(data), "-i", text(&model), "--hindsight"];
        last(&[&words[..], more].concat())
    };
    let (skipping, alone) = (resumed(&whole, &["--continue"]), resumed(&rest, &[]));
    assert_eq!(number(hindsight(&skipping), "rounds"), 200.0);
    for key in ["best_lower", "regret_lower", "regret_upper"] {
        let (a, b) = (
            number(hindsight(&skipping), key),
            number(hindsight(&alone), key),
        );
        assert!((a - b).abs() <= 1e-9 * a.abs(), "{key}: {a} {b}");
    }
    let words = ["learn", text(&rest), "-i", text(&model), "--hindsight"];
    let said = errors(&done(&words));
    assert!(
        said.contains("total loss of the 200 rounds of this run in ["),
        "{said}"
    );
}

#[test]
fn hindsight_refuses_what_it_has_no_answer_for() {
    let folder = Folder::new("hindsight-refused");
    let data = folder.write("data.svm", libsvm(&examples(20, 33)));
    let model = folder.file("m");
    let learn = ["learn", text(&data), "--classes=-1,1", "-q", "-f"];
    done(&[&learn[..], &[text(&model)]].concat());
    let made = ["learn", text(&data), "--classes=-1,1", "--hindsight"];
    let resumed = ["learn", text(&data), "-i", text(&model), "--hindsight"];
    for words in [&made[..], &resumed] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(errors(&output).contains("--classes trains one per class"));
    }
    let passes = ["--continue", "--passes=2"];
    let output = run(&[&resumed[..], &passes].concat());
    assert_eq!(output.status.code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn examples_that_do_not_fit_into_memory_end_hindsight_and_not_the_learning() {
    let folder = Folder::new("hindsight-memory");
    let mut stream = String::new();
    for t in 0..400_000_u32 {
        stream += if t % 2 == 0 { "1" } else { "-1" };
        for k in 1..=8 {
            stream += &format!(" {}:1", 10 * k + t.wrapping_mul(2_654_435_761 + k) / 7 % 9);
        }
        stream.push('\n');
    }
    let data = folder.write("data.svm", stream);
    let model = folder.file("m");
    let script = "ulimit -v 200000; cat \"$1\" | exec \"$0\" learn --format=libsvm --loss=logistic --set=l2:radius=3 --hindsight -q -f \"$2\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_extremal")])
        .args([text(&data), text(&model)])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = errors(&output);
    assert!(
        said.contains("--hindsight keeps the examples in memory"),
        "{said}"
    );
    let inspected = String::from_utf8(done(&["inspect", text(&model)]).stdout).unwrap();
    assert!(
        inspected.contains("rounds             400,000\n"),
        "{inspected}"
    );
}
