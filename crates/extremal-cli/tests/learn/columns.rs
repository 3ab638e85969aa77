//! What a model remembers of the data it was learnt from: columns, numbers and labels.

use crate::support::{Folder, done, run, text};

fn predictions(model: &str, data: &str) -> String {
    String::from_utf8(done(&["predict", "-i", model, data]).stdout).unwrap()
}

/// Fails as bad input does, and says this.
fn refused(arguments: &[&str], expected: &str) {
    let output = run(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(said.contains(expected), "{arguments:?}: {said}");
}

#[test]
fn a_model_knows_its_columns_by_name() {
    let folder = Folder::new("columns");
    let data = folder.write("a.csv", "p,q,y\n1,2,3\n2,1,0\n1,1,1.5\n");
    let model = folder.file("m");
    let model = text(&model);
    done(&["learn", text(&data), "-f", model]);
    let wanted = predictions(model, text(&data));
    assert_eq!(wanted.lines().count(), 3);
    let unlabelled = folder.write("b.csv", "p,q\n1,2\n2,1\n1,1\n");
    assert_eq!(predictions(model, text(&unlabelled)), wanted);
    let reordered = folder.write("c.csv", "y,q,p\n3,2,1\n0,1,2\n1.5,1,1\n");
    assert_eq!(predictions(model, text(&reordered)), wanted);
    let tabs = folder.write("d.tsv", "q\tp\n2\t1\n1\t2\n1\t1\n");
    assert_eq!(predictions(model, text(&tabs)), wanted);

    let other = folder.write("e.csv", "p,r,y\n1,2,3\n");
    let said = "e.csv:1: the columns differ from those that the model was trained on: missing `q`; unknown `r`";
    refused(&["predict", "-i", model, text(&other)], said);
    refused(&["learn", "-i", model, text(&other)], said);
    refused(&["learn", text(&data), "--test", text(&other)], said);
    refused(&["learn", "-i", model, text(&unlabelled)], "missing `y`");
    let words = folder.write("f.csv", "p,q,y\n1,red,3\n");
    let said =
        "f.csv:2: column `q`: text in a column of numbers. Train the model with --missing red";
    refused(&["predict", "-i", model, text(&words)], said);

    // resumed on the same columns in another order, it goes on as on one file
    let (two, four) = (folder.file("two"), folder.file("four"));
    let twice = folder.write(
        "g.csv",
        "p,q,y\n1,2,3\n2,1,0\n1,1,1.5\n1,2,3\n2,1,0\n1,1,1.5\n",
    );
    let set = ["--set", "l2:radius=3"];
    done(&[&["learn", text(&twice), "-f", text(&two)], &set[..]].concat());
    done(&[&["learn", text(&data), "-f", text(&four)], &set[..]].concat());
    done(&[
        "learn",
        "-i",
        text(&four),
        "-f",
        text(&four),
        text(&reordered),
    ]);
    assert_eq!(std::fs::read(two).unwrap(), std::fs::read(four).unwrap());
}

#[test]
fn a_format_with_other_numbers_is_refused() {
    let folder = Folder::new("numbers");
    let svm = folder.write("a.svm", "1 1:1 2:3\n-1 2:1\n");
    let vw = folder.write("a.vw", "1 | 1:1 2:3\n-1 | 2:1\n");
    let json = folder.write(
        "a.jsonl",
        "{\"label\": 1, \"features\": {\"1\": 1, \"2\": 3}}\n",
    );
    let table = folder.write("a.csv", "y,a\n1,1\n");
    let (one, zero) = (folder.file("one"), folder.file("zero"));
    let (one, zero) = (text(&one), text(&zero));
    done(&["learn", text(&svm), "-f", one]);
    done(&["learn", text(&vw), "-f", zero]);
    let said = "but the model was trained on libsvm, whose features are numbered from 1";
    for other in [&vw, &json, &table] {
        refused(&["predict", "-i", one, text(other)], said);
        refused(&["learn", "-i", one, text(other)], said);
        refused(&["learn", text(&svm), "--test", text(other)], said);
    }
    refused(&["predict", "-i", zero, text(&table)], "trained on vw");
    // where numbers start at 0, those of libsvm are what they say
    assert_eq!(predictions(zero, text(&svm)), predictions(zero, text(&vw)));
    assert_eq!(
        predictions(zero, text(&json)).lines().next(),
        predictions(zero, text(&vw)).lines().next()
    );
}

#[test]
fn labels_of_one_stream_say_no_in_one_way() {
    let folder = Folder::new("signs");
    let [minus, zero, both] = [
        ("a", "-1 1:1\n1 2:1\n"),
        ("b", "0 1:1\n1 2:1\n"),
        (
            "c",
            &*("1 2:1\n0 1:1\n-1 1:1\n".to_string() + &"0 2:1\n".repeat(8)),
        ),
    ]
    .map(|(name, rows)| folder.write(&format!("{name}.svm"), rows));
    let model = folder.file("m");
    let model = text(&model);
    for loss in ["logistic", "hinge", "squared-hinge"] {
        let learn = ["learn", "--loss", loss, "-f", model];
        let said = format!(
            "c.svm:3: label -1 is not allowed for {loss} loss; it must be 0 or +1, like the labels before it: -1"
        );
        refused(&[&learn[..], &[text(&both)]].concat(), &said);
        let skipped = done(&[&learn[..], &[text(&both), "--on-error", "skip"]].concat());
        let said = String::from_utf8_lossy(&skipped.stderr).into_owned();
        assert!(said.contains("skipped          1\n"), "{said}");
        // a model remembers it
        done(&[&learn[..], &[text(&minus)]].concat());
        let said = "b.svm:1: label 0 is not allowed";
        refused(&["learn", "-i", model, text(&zero)], said);
        done(&["learn", "-i", model, text(&minus)]);
        // another file to score on may do it in its own way, but in one
        done(&["learn", "--loss", loss, text(&minus), "--test", text(&zero)]);
        let said = "c.svm:3: label -1 is not allowed";
        refused(
            &["learn", "--loss", loss, text(&zero), "--test", text(&both)],
            said,
        );
    }
    // they are numbers like any others to other losses
    done(&["learn", "--loss", "squared", text(&both)]);
}
