//! One model per class: what several threads learn is what one does, and a number that breaks one
//! class leaves none of them ahead.

use super::support::*;

/// Examples of three classes, as libsvm text.
fn three_classes(count: usize, seed: u64) -> String {
    let mut all = examples(count, seed);
    for (k, example) in all.iter_mut().enumerate() {
        example.label = f64::from((example.label > 0.0) as u32 + (k % 2) as u32) + 1.0;
    }
    libsvm(&all)
}

#[test]
fn any_number_of_threads_learns_the_same() {
    let folder = Folder::new("threads");
    // a label that is no class, and one that is missing its features
    let mut stream = three_classes(700, 5);
    stream.push_str("9 1:1\n2\n");
    stream.push_str(&three_classes(300, 6));
    let data = folder.write("data.svm", stream);
    let learnt = |threads: &str, every: &str| {
        let [model, predictions, trace] =
            ["model", "predictions", "trace"].map(|name| folder.file(&format!("{name}-{threads}")));
        let arguments = [
            "learn",
            text(&data),
            "--classes=3",
            "--on-error=skip",
            "--checkpoint-every=90",
            "--quiet",
            "--threads",
            threads,
            "--every",
            every,
            "-f",
            text(&model),
            "-p",
            text(&predictions),
            "--trace",
            text(&trace),
        ];
        done(&arguments);
        let trace = std::fs::read_to_string(trace).unwrap();
        let without_seconds = |line: &str| {
            let mut row: Vec<String> = line.split(',').map(str::to_string).collect();
            row.remove(9);
            row
        };
        (
            std::fs::read(model).unwrap(),
            std::fs::read_to_string(predictions).unwrap(),
            trace.lines().map(without_seconds).collect::<Vec<_>>(),
        )
    };
    for every in ["2.0", "7"] {
        let alone = learnt("1", every);
        assert_eq!(alone.1.lines().count(), 1002);
        assert!(alone.2.len() > 10, "{:?}", alone.2);
        for threads in ["2", "3", "16"] {
            assert!(learnt(threads, every) == alone, "{threads} threads");
        }
    }
}

#[test]
fn a_gradient_out_of_range_for_one_class_leaves_all_of_them_where_they_were() {
    let folder = Folder::new("range");
    let good = "1 | f:1\n".repeat(200);
    // the hinge of the third class is at rest here, those of the others are not
    let data = folder.write("data.vw", format!("{good}2 1e300 | f:1e10\n1 | f:1\n"));
    let first = folder.write("first.vw", good);
    let game = ["--classes=3", "--loss=hinge", "--set=l2:radius=10"];
    let learn = |data, model: &std::path::Path, threads: &str| {
        let rest = ["--learner=ogd", "--quiet", threads, "-f", text(model)];
        run(&[&["learn", text(data)], &game[..], &rest].concat())
    };
    let expected = folder.file("expected");
    assert!(learn(&first, &expected, "--threads=1").status.success());
    for threads in ["--threads=1", "--threads=2"] {
        let model = folder.file("model");
        let output = learn(&data, &model, threads);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(
            message.contains("data.vw:201") && message.contains("too large"),
            "{message}"
        );
        assert!(std::fs::read(&model).unwrap() == std::fs::read(&expected).unwrap());
    }
}
