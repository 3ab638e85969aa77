//! Flags that don't go together, and ends that must not hide each other.

use super::support::*;

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(
        output.status.code(),
        Some(2),
        "{arguments:?}: {}",
        errors(&output)
    );
    errors(&output)
}

#[test]
#[cfg(unix)]
fn several_passes_need_a_regular_file() {
    let folder = Folder::new("passes");
    let pipe = folder.pipe("data.svm");
    refused(&["learn", text(&pipe), "--passes", "2"]);
    refused(&["learn", "/dev/null", "--format", "libsvm", "--passes", "2"]);
}

#[test]
fn a_file_that_is_written_to_has_one_purpose() {
    let folder = Folder::new("same-file");
    let stream = libsvm(&examples(20, 31));
    let data = folder.write("data.svm", &stream);
    let other = folder.write("other.svm", &stream);
    let (model, new) = (folder.file("m"), folder.file("new"));
    done(&["learn", text(&data), "-qf", text(&model)]);
    let kept = std::fs::read(&model).unwrap();
    let dotted = folder.file("./x/../data.svm");
    std::fs::create_dir(folder.file("x")).unwrap();
    let (d, o, m, n) = (text(&data), text(&other), text(&model), text(&new));
    for words in [
        &["learn", d, "-f", d][..],
        &["learn", d, "-p", d],
        &["learn", d, "--trace", text(&dotted)],
        &["learn", d, "--test", o, "-p", o],
        &["learn", d, "--test", o, "-f", o],
        &["learn", d, "-i", m, "-p", m],
        &["learn", d, "-i", m, "--trace", m],
        &["learn", d, "-f", n, "-p", n],
        &["learn", d, "-f", n, "--trace", n],
        &["learn", d, "-p", n, "--trace", n],
        &["learn", d, "-p", "-", "--trace", "-"],
        &["predict", "-i", m, d, "-p", d],
        &["predict", "-i", m, d, "-p", m],
    ] {
        refused(words);
        assert!(std::fs::read_to_string(&data).unwrap() == stream);
        assert!(std::fs::read_to_string(&other).unwrap() == stream);
        assert!(std::fs::read(&model).unwrap() == kept);
        assert!(!new.exists(), "{words:?}");
    }
    done(&["learn", d, "-i", m, "-f", m, "--test", d, "-q"]);
}

#[test]
fn flags_that_need_another_one_say_which() {
    for (words, what) in [
        (&["--continue"][..], "Add -i MODEL"),
        (&["--checkpoint-every", "9"], "Add -f MODEL"),
        (
            &["--checkpoint-every", "9", "-f", "m", "--drop-resume-state"],
            "Leave out --drop-resume-state",
        ),
    ] {
        let message = refused(&[&["learn", "data.svm"], words].concat());
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn the_intercept_of_a_spec_is_kept_and_does_not_contradict_a_flag() {
    let folder = Folder::new("intercept");
    let data = folder.write("data.svm", libsvm(&examples(20, 34)));
    let (d, model) = (text(&data), folder.file("m"));
    let [bare, whole] = ["unit-free:intercept=false", "unit-free:intercept=true"];
    done(&["learn", d, "--learner", bare, "-qf", text(&model)]);
    let shown = String::from_utf8(done(&["inspect", "--weights", text(&model)]).stdout).unwrap();
    assert!(!shown.contains("intercept"), "{shown}");
    for learner in [bare, "unit-free"] {
        done(&["learn", d, "-i", text(&model), "--learner", learner, "-q"]);
    }
    for words in [
        &["--learner", bare, "--intercept"][..],
        &["--learner", whole, "--no-intercept"],
        &["--learner", whole, "-i", text(&model)],
    ] {
        let message = refused(&[&["learn", d], words].concat());
        assert!(message.contains("contradicts"), "{message}");
    }
}

#[test]
#[cfg(unix)]
fn links_lead_to_the_same_file_and_devices_hold_nothing() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links");
    let data = folder.write("data.svm", libsvm(&examples(20, 32)));
    let (soft, hard) = (folder.file("soft"), folder.file("hard"));
    symlink(&data, &soft).unwrap();
    std::fs::hard_link(&data, &hard).unwrap();
    let (new, later) = (folder.file("new"), folder.file("later"));
    symlink("new", &later).unwrap();
    refused(&["learn", text(&data), "-p", text(&soft)]);
    refused(&["learn", text(&data), "-p", text(&hard)]);
    refused(&["learn", text(&data), "-p", text(&new), "-f", text(&later)]);
    // the shell's files are files too
    let open = || std::fs::File::options().append(true).read(true).open(&data);
    let words = ["learn", "--format", "libsvm", "-p", text(&data), "-q"];
    let output = extremal().args(words).stdin(open().unwrap()).output();
    assert_eq!(output.unwrap().status.code(), Some(2));
    let words = ["learn", text(&data), "-p", "-", "-q"];
    let mut child = extremal();
    child.args(words).stdout(open().unwrap());
    let output = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let null = "/dev/null";
    done(&["learn", text(&data), "-p", null, "--trace", null, "-q"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_failing_save_does_not_hide_what_ended_the_run() {
    let folder = Folder::new("both");
    let data = folder.write("data.svm", libsvm(&examples(20, 33)) + "1 3:oops\n");
    let output = run(&["learn", text(&data), "-q", "-f", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    let message = errors(&output);
    assert!(message.contains("data.svm:21: "), "{message}");
    assert!(message.contains("/dev/full"), "{message}");
    // a full disk is bad luck, numbers that break down are worse
    let data = folder.write("huge.svm", "1 1:1\n1 1:1e308 2:1e308\n1 1:1\n");
    let words = ["learn", text(&data), "--set", "l2:radius=50", "-q", "-f"];
    let output = run(&[&words[..], &["/dev/full"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn exit_codes_hold_where_nothing_can_be_said() {
    let folder = Folder::new("mute");
    let data = folder.write("data.svm", libsvm(&examples(5, 34)));
    let full = || std::fs::File::options().write(true).open("/dev/full");
    for (words, code) in [
        (&["learn", text(&data)][..], 0),
        (&["learn", "missing.svm"], 1),
        (&["learn", text(&data), "--continue"], 2),
    ] {
        let status = extremal().args(words).stderr(full().unwrap()).status();
        assert_eq!(status.unwrap().code(), Some(code), "{words:?}");
    }
}

#[test]
fn labels_may_be_negative_and_must_differ_as_numbers() {
    let folder = Folder::new("negative");
    let data = folder.write("data.svm", libsvm(&examples(20, 35)));
    done(&["learn", text(&data), "-q", "--labels", "-1,1"]);
    done(&["learn", text(&data), "-q", "--classes", "-1,1"]);
    refused(&["learn", text(&data), "-q", "--labels", "1,1.0"]);
    refused(&["learn", text(&data), "-q", "--classes", "1,2,1e0"]);
    refused(&["learn", text(&data), "-q", "--classes", "-0,0"]);
}

#[test]
fn flags_that_contradict_a_model_are_shown_as_they_are_written() {
    let folder = Folder::new("contradict");
    let data = folder.write("data.svm", libsvm(&examples(20, 36)));
    let model = folder.file("m");
    let play = |rest: &[&str]| {
        let words = ["learn", text(&data), "--loss", "logistic", "-q", "-f"];
        done(&[&words[..], &[text(&model)], rest].concat());
    };
    let check = |flag: &[&str], expected: &str| {
        let words = ["learn", text(&data), "-i", text(&model), "-q"];
        let message = refused(&[&words[..], flag].concat());
        assert!(message.contains(expected), "{message}");
    };
    play(&["--learner", "coin-ftrl"]);
    let with = "contradicts the model, which was trained with";
    check(&["--bits", "18"], &format!("--bits 18 {with}out. "));
    check(&["--labels", "a,b"], &format!("--labels a,b {with}out. "));
    check(&["--intercept"], &format!("--intercept {with}out. "));
    check(&["--l2", "nan"], &format!("--l2 NaN {with} 0. "));
    check(
        &["--link", "identity"],
        &format!("--link identity {with} logistic. "),
    );
    check(
        &["--horizon", "3"],
        "--horizon does not apply to the model's learner, coin-ftrl. ",
    );
    play(&["--classes=-1,1"]);
    check(
        &["--classes", "1,2"],
        &format!("--classes 1,2 {with} -1,1. "),
    );
    let given = ["--horizon", "9", "--gradient-bound", "2"];
    play(&[&["--learner", "ofw-ls"], &given[..]].concat());
    check(&["--horizon", "3"], &format!("--horizon 3 {with} ofw-ls:"));
    check(
        &["--gradient-bound", "2.5"],
        &format!("--gradient-bound 2.5 {with} ofw-ls:"),
    );
    done(&[
        "learn",
        text(&data),
        "-i",
        text(&model),
        "-q",
        given[0],
        given[1],
    ]);
}
