//! What is written line by line: one line per row, with its tag, and the same lines after a stop.

use super::support::*;

/// Vowpal Wabbit's text with tags, a bad row and one without a label in every thirty.
fn rows(count: usize) -> String {
    let row = |k: usize| match k % 30 {
        7 => "1 | a:1e999\n".into(),
        20 => format!(" 'only{k} | a:{k}\n"),
        _ => {
            let label = if k.is_multiple_of(3) { 1 } else { -1 };
            format!("{label} 'tag{k} | a:{} b{}\n", k % 5, k % 2)
        }
    };
    (0..count).map(row).collect()
}

#[test]
fn a_continued_run_appends_what_is_missing_and_nothing_else() {
    let folder = Folder::new("appended");
    let whole = folder.write("whole.vw", rows(300));
    let [model, out, trace] = ["m", "p", "t"].map(|name| folder.file(name));
    let learn = |data: &std::path::Path, more: &[&str]| {
        let words = [
            "learn",
            text(data),
            "-q",
            "--loss=logistic",
            "-f",
            text(&model),
        ];
        let files = ["-p", text(&out), "--trace", text(&trace), "--on-error=skip"];
        done(&[&words[..], &files, more].concat());
        let read = |path| std::fs::read(path).unwrap();
        let rows = std::fs::read_to_string(&trace).unwrap();
        // without the time
        let rows: Vec<String> = (rows.lines().map(|row| row.split(',')))
            .map(|row| row.clone().take(9).chain(row.skip(10)).collect())
            .collect();
        (read(&out), rows, read(&model))
    };
    for every in ["7", "3.0"] {
        let more = ["-P", every];
        let expected = learn(&whole, &more);
        // a row that is not played ends the first part, or comes first in the second
        for first in [1, 7, 37, 38, 51, 128, 158, 298] {
            learn(&folder.write("first.vw", rows(first)), &more);
            // as if it had been killed after its last save
            let later = |path| std::fs::OpenOptions::new().append(true).open(path).unwrap();
            std::io::Write::write_all(&mut later(&out), b"0.5\n0.").unwrap();
            let resumed = [&more[..], &["-i", text(&model), "--continue"]].concat();
            let found = learn(&whole, &resumed);
            assert_eq!(
                String::from_utf8_lossy(&found.0),
                String::from_utf8_lossy(&expected.0)
            );
            assert_eq!(found.1, expected.1, "{first}");
            assert!(found.2 == expected.2, "{first}");
        }
    }
    // a file that is not the one that the run had written
    folder.write("p", "short");
    let words = ["learn", text(&whole), "-i", text(&model), "--continue"];
    let output = run(&[&words[..], &["--on-error=skip", "-p", text(&out)]].concat());
    assert_eq!(output.status.code(), Some(1));
    let said = errors(&output);
    assert!(
        said.contains("the file has 5 bytes, but the run that saved"),
        "{said}"
    );
    assert_eq!(std::fs::read(&out).unwrap(), b"short");
}

#[test]
fn every_row_has_a_line_with_its_tag() {
    let folder = Folder::new("lines");
    let data = folder.write("data.vw", rows(60));
    let (model, out) = (folder.file("m"), folder.file("p"));
    let words = ["learn", text(&data), "--on-error=skip", "-f", text(&model)];
    done(&[&words[..], &["-q", "-p", text(&out), "--loss=logistic"]].concat());
    let learnt = std::fs::read_to_string(&out).unwrap();
    let words = [
        "predict",
        text(&data),
        "-i",
        text(&model),
        "--on-error=skip",
    ];
    let predicted = String::from_utf8(done(&words).stdout).unwrap();
    for written in [learnt, predicted] {
        let lines: Vec<_> = written.lines().collect();
        assert_eq!(lines.len(), 60, "{written}");
        assert_eq!((lines[7], lines[37]), ("", ""));
        assert!(lines[8].ends_with(" tag8") && lines[20].ends_with(" only20"));
        let number = lines[20].split(' ').next().unwrap().parse::<f64>();
        assert!(number.unwrap() < 1.0);
    }
}

#[test]
fn the_scores_of_all_classes_stand_in_their_order() {
    let folder = Folder::new("scores");
    let rows = "a,1,0,0\nb,0,1,0\nc,0,0,1\n".repeat(30);
    let data = folder.write("data.csv", format!("label,x,y,z\n{rows}"));
    let model = folder.file("m");
    done(&["learn", text(&data), "--classes=a,b,c", "-qf", text(&model)]);
    let predict = |more: &[&str]| {
        let words = ["predict", text(&data), "-i", text(&model)];
        String::from_utf8(done(&[&words[..], more].concat()).stdout).unwrap()
    };
    let classes = predict(&[]);
    for (link, is_probability) in [("logistic", true), ("identity", false)] {
        let scores = predict(&["--scores", "--link", link]);
        for (line, class) in scores.lines().zip(classes.lines()) {
            let scores: Vec<f64> = line.split(' ').map(|s| s.parse().unwrap()).collect();
            let best = (0..3).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
            assert_eq!(["a", "b", "c"][best.unwrap()], class);
            let sum: f64 = scores.iter().sum();
            assert_eq!((sum - 1.0).abs() < 1e-12, is_probability, "{line}");
        }
    }
    let one = folder.write("one.svm", "1 1:1\n");
    done(&["learn", text(&one), "-qf", text(&model)]);
    let output = run(&["predict", text(&one), "-i", text(&model), "--scores"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_run_that_skips_more_than_one_row_in_ten_fails_with_the_most_frequent_reason() {
    let folder = Folder::new("many-skipped");
    let bad = "1 1:x\n".to_string() + &"1 a:1\n".repeat(2);
    let (model, out) = (folder.file("m"), folder.file("p"));
    for (good, code) in [(26, 1), (27, 0)] {
        let _ = std::fs::remove_file(&model);
        let data = folder.write("data.svm", bad.clone() + &"1 1:1\n".repeat(good));
        let words = ["learn", text(&data), "--on-error=skip", "-f", text(&model)];
        let learnt = run(&words);
        let words = [
            "predict",
            text(&data),
            "--on-error=skip",
            "-i",
            text(&model),
        ];
        let predicted = run(&[&words[..], &["-p", text(&out)]].concat());
        for output in [learnt, predicted] {
            assert_eq!(output.status.code(), Some(code));
            let said = errors(&output);
            let reason = "3 of 29 rows were skipped, which is more than one in ten. The most frequent problem: ";
            assert_eq!(said.contains(reason), code == 1, "{said}");
            assert_eq!(
                said.contains("data.svm:2: the index is not"),
                code == 1,
                "{said}"
            );
        }
        let lines = std::fs::read_to_string(&out).unwrap();
        assert_eq!(lines.lines().count(), 3 + good);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_grows_too_large_is_an_error_like_a_full_disk() {
    let folder = Folder::new("too-large");
    let data = folder.write("data.svm", "1 1:1\n".repeat(5000));
    let (model, out) = (folder.file("m"), folder.file("p"));
    let script = "ulimit -f 8; exec \"$0\" learn \"$1\" -q -f \"$2\" -p \"$3\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_extremal")])
        .args([&data, &model, &out])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = errors(&output);
    assert!(
        said.contains("/p: can't be written: File too large"),
        "{said}"
    );
    assert!(model.exists());
}
