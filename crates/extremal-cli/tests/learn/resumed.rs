//! A model goes on as if it had never stopped.

use super::support::*;

#[test]
fn two_halves_make_the_model_of_the_whole_byte_for_byte() {
    let folder = Folder::new("halves");
    let all = examples(400, 1);
    let whole = folder.write("whole.svm", libsvm(&all));
    let first = folder.write("first.svm", libsvm(&all[..150]));
    let second = folder.write("second.svm", libsvm(&all[150..]));
    for game in all_games(200) {
        let game: Vec<&str> = game.iter().map(String::as_str).collect();
        let (a, b, c) = (folder.file("a"), folder.file("b"), folder.file("c"));
        let learn = |rest: &[&str]| {
            let mut words = vec!["learn", "--loss", "logistic", "--quiet"];
            words.extend_from_slice(rest);
            done(&words);
        };
        learn(&[&[text(&whole), "-f", text(&a)], &game[..]].concat());
        learn(&[&[text(&first), "-f", text(&b)], &game[..]].concat());
        learn(&[&[text(&second), "-i", text(&b), "-f", text(&c)], &game[..]].concat());
        let (a, c) = (std::fs::read(a).unwrap(), std::fs::read(c).unwrap());
        assert!(a == c, "{game:?}");
    }
}

#[test]
fn classes_resume_too() {
    let folder = Folder::new("classes");
    let mut all = examples(300, 2);
    for (k, example) in all.iter_mut().enumerate() {
        example.label = f64::from((example.label > 0.0) as u32 + (k % 2) as u32) + 1.0;
    }
    let whole = folder.write("whole.svm", libsvm(&all));
    let first = folder.write("first.svm", libsvm(&all[..100]));
    let second = folder.write("second.svm", libsvm(&all[100..]));
    let (a, b) = (folder.file("a"), folder.file("b"));
    // The rounding of the ridge term depends on the dimension at each round.
    let ridge = [
        "--set",
        "l2:radius=3",
        "--learner",
        "sc-ofw",
        "--l2",
        "0.01",
    ];
    for game in [&ridge[..], &[]] {
        let learn = |data, model| {
            let words = [
                "learn",
                text(data),
                "--classes",
                "3",
                "-q",
                "-f",
                text(model),
            ];
            done(&[&words[..], game].concat());
        };
        learn(&whole, &a);
        learn(&first, &b);
        let resumed = ["learn", text(&second), "-i", text(&b), "-f", text(&b), "-q"];
        done(&resumed);
        assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap());
    }
    let predicted = done(&["predict", "-i", text(&a), text(&whole)]).stdout;
    let predicted = String::from_utf8(predicted).unwrap();
    assert_eq!(predicted.lines().count(), 300);
    assert!(predicted.lines().all(|l| ["1", "2", "3"].contains(&l)));
}

#[test]
fn two_passes_are_the_file_twice() {
    let folder = Folder::new("passes");
    let stream = libsvm(&examples(120, 3));
    let once = folder.write("once.svm", &stream);
    let twice = folder.write("twice.svm", stream.repeat(2));
    let (a, b) = (folder.file("a"), folder.file("b"));
    done(&[
        "learn",
        text(&once),
        "--passes",
        "2",
        "-f",
        text(&a),
        "--quiet",
    ]);
    done(&["learn", text(&twice), "-f", text(&b), "--quiet"]);
    assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap());
}

#[test]
fn a_flag_that_contradicts_the_model_is_refused_and_one_that_agrees_is_not() {
    let folder = Folder::new("contradict");
    let data = folder.write("data.svm", libsvm(&examples(20, 4)));
    let (data, model) = (text(&data), folder.file("m"));
    let model = text(&model);
    done(&[
        "learn",
        data,
        "--loss",
        "logistic",
        "--set",
        "l2:radius=2",
        "-f",
        model,
        "--quiet",
    ]);
    let before = std::fs::read(model).unwrap();
    for flags in [
        ["--loss", "squared"],
        ["--set", "l2:radius=3"],
        ["--learner", "ogd"],
        ["--l2", "0.5"],
        ["--bits", "9"],
        ["--classes", "4"],
        ["--labels", "a,b"],
        ["--storage", "dense"],
        ["--seed", "3"],
    ] {
        let output = run(&[
            &["learn", data, "-i", model, "-f", model, "--quiet"][..],
            &flags,
        ]
        .concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(flags[0]), "{message}");
        assert!(message.contains("contradicts the model"), "{message}");
        assert!(std::fs::read(model).unwrap() == before);
    }
    done(&[
        "learn",
        data,
        "-i",
        model,
        "--loss",
        "logistic",
        "--set",
        "l2:radius=2.0",
        "--quiet",
    ]);
}

#[test]
fn weights_alone_predict_the_same_and_do_not_go_on() {
    let folder = Folder::new("weights");
    let data = folder.write("data.svm", libsvm(&examples(200, 5)));
    let (data, whole, bare) = (text(&data), folder.file("whole"), folder.file("bare"));
    let (whole, bare) = (text(&whole), text(&bare));
    done(&["learn", data, "--loss", "logistic", "-f", whole, "--quiet"]);
    done(&[
        "learn",
        data,
        "--loss",
        "logistic",
        "-f",
        bare,
        "--drop-resume-state",
        "--quiet",
    ]);
    let numbers = |model: &str| -> Vec<f64> {
        let out = done(&["predict", "-i", model, data]).stdout;
        let out = String::from_utf8(out).unwrap();
        out.lines().map(|line| line.parse().unwrap()).collect()
    };
    let (a, b) = (numbers(whole), numbers(bare));
    assert_eq!(a.len(), 200);
    assert_eq!(a, b);
    assert!(a.iter().all(|p| (0.0..=1.0).contains(p)), "{a:?}");
    let refused = run(&["learn", data, "-i", bare]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        String::from_utf8(refused.stderr)
            .unwrap()
            .contains("--drop-resume-state")
    );
}
