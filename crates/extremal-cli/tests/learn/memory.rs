//! Dimensions that there is no memory for.

use std::process::{Command, Output};

use extremal_data::ModelFile;

use crate::support::{Folder, GAMES, done, run, text};

/// Runs the program with 4 GB of memory at most.
fn confined(arguments: &[&str]) -> Output {
    confined_to(4_000_000, arguments)
}

fn confined_to(kilobytes: u32, arguments: &[&str]) -> Output {
    let script = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &script])
        .arg(env!("CARGO_BIN_EXE_extremal"))
        .args(arguments)
        .output()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn one_large_index_is_refused_with_its_line_and_what_was_learnt_is_saved() {
    let folder = Folder::new("large-index");
    let rows = "1 1:1\n-1 2:1\n1 1:1\n1 4294967295:1\n".to_string() + &"-1 1:1\n".repeat(7);
    let data = folder.write("a.svm", rows);
    let model = folder.file("m");
    let dense = [
        "--set",
        "l2:radius=3",
        "--learner",
        "ogd",
        "--storage",
        "dense",
    ];
    // The memory of the default follows the features that were seen.
    let coin = ["--learner", "coin-ftrl"];
    let classes = ["--classes=-1,1", "--learner", "coin-ftrl"];
    let fixed =
        |game: &&&[&str]| !game.is_empty() && !game.iter().any(|word| word.contains("dim="));
    let games = GAMES.iter().filter(fixed).copied();
    for game in games.chain([&coin[..], &dense, &classes]) {
        let mut words = vec![
            "learn",
            text(&data),
            "--loss",
            "logistic",
            "-f",
            text(&model),
        ];
        words.extend(game);
        let output = confined(&words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{game:?}: {said}");
        let expected =
            "a.svm:4: not enough memory for 4294967295 features. Use --max-memory to allow more";
        assert!(said.contains(expected), "{game:?}: {said}");
        let inspected = done(&["inspect", text(&model)]).stdout;
        let inspected = String::from_utf8_lossy(&inspected);
        assert!(inspected.contains("rounds             3\n"), "{inspected}");
        // and the others are learnt from where bad ones are skipped
        words.extend(["--on-error", "skip"]);
        let output = confined(&words);
        assert!(output.status.success(), "{game:?}");
        let inspected = done(&["inspect", text(&model)]).stdout;
        let inspected = String::from_utf8_lossy(&inspected);
        assert!(inspected.contains("rounds             10\n"), "{inspected}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn few_features_of_a_large_dimension_take_little_more_than_their_sums() {
    let folder = Folder::new("wide");
    let data = folder.write("a.svm", "1 1:1 20000000:1\n-1 2:1\n1 1:1\n");
    let model = folder.file("m");
    let learnt = confined(&[
        "learn",
        text(&data),
        "--loss",
        "logistic",
        "-f",
        text(&model),
    ]);
    assert!(learnt.status.success());
    let predicted = confined(&["predict", "-i", text(&model), text(&data)]);
    assert!(predicted.status.success());
    assert_eq!(predicted.stdout.iter().filter(|b| **b == b'\n').count(), 3);
    // weights alone take the memory of those that are not 0
    let weights = folder.file("w");
    let resumed = ["learn", "-i", text(&model), "-f", text(&weights)];
    done(&[&resumed[..], &["--drop-resume-state", text(&data)]].concat());
    for words in [
        &["inspect", text(&weights)][..],
        &["inspect", "--weights", text(&weights)],
        &["predict", "-i", text(&weights), text(&data)],
    ] {
        let output = confined_to(120_000, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
    }
}

#[test]
fn a_dimension_that_the_model_does_not_have_is_refused() {
    let folder = Folder::new("patched");
    let data = folder.write("a.svm", "1 1:1\n-1 2:1\n1 1:1\n");
    let path = folder.file("m");
    let coin = ["--learner", "coin-ftrl"];
    done(&[&["learn", text(&data), "-f", text(&path)][..], &coin].concat());
    let mut file = ModelFile::read(&path).unwrap();
    let head = file.sections.iter_mut().find(|s| s.name == "head").unwrap();
    // records, three sums of eight bytes, and then the dimension, seven bits to a byte
    assert_eq!(head.bytes[25], 2);
    let large = [0x80, 0xd0, 0xac, 0xf3, 0x0e];
    head.bytes.splice(25..26, large);
    file.write(&path).unwrap();
    for words in [
        vec!["predict", "-i", text(&path), text(&data)],
        vec!["learn", "-i", text(&path), text(&data)],
        vec!["inspect", text(&path)],
    ] {
        let output = run(&words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        let expected = "head: dimension 4000000000, but the gradient sums have 2";
        assert!(said.contains(expected), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn hindsight_takes_memory_for_the_features_seen_and_not_for_the_largest_index() {
    let folder = Folder::new("wide-hindsight");
    let rows = |index: &str| format!("1 {index}:1\n-1 2:1\n1 1:1 {index}:2\n-1 2:3\n");
    let found = |index: &str| {
        let data = folder.write("a.svm", rows(index));
        let words = ["learn", text(&data), "--loss", "logistic", "--hindsight"];
        let output = confined_to(400_000, &words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let best = said.lines().find(|line| line.starts_with("best weights"));
        best.unwrap().to_string()
    };
    assert_eq!(found("100000000"), found("3"));
}
