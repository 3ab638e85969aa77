//! Tables as people have them: every kind of column, missing values, texts that are new later.

use std::fmt::Write as _;

use crate::support::{Folder, done, errors, run, text};

/// Rows of a table with all kinds of columns. Later rows have more texts.
fn rows(range: std::ops::Range<usize>) -> String {
    let mut table = String::new();
    for k in range {
        let size = match k % 7 {
            3 => ["NA", "?", "", "null", "NaN"][k % 5].to_string(),
            _ => format!("{}", (k * 13 % 17) as f64 / 4.0),
        };
        let city = ["Bath", "\"Oslo, N\"", "Rome", "\"\""][k % 4].to_string();
        let shop = format!("s{}", k / 20);
        let day = format!(
            "20{:02}-{:02}-{:02} {:02}:30",
            k % 30,
            1 + k % 12,
            1 + k % 28,
            k % 24
        );
        let price = (k * k % 23) as f64 / 2.0;
        writeln!(table, "{k},{day},{city},{size},{price},{shop}").unwrap();
    }
    table
}

const HEADER: &str = "id,day,city,size,price,shop\n";
const FLAGS: [&str; 4] = ["--label", "price", "--ignore", "id"];

fn learn(arguments: &[&str]) -> Vec<u8> {
    done(&[&["learn", "-q"], arguments].concat()).stdout
}

#[test]
fn a_table_is_learnt_from_as_the_same_features_in_libsvm() {
    let folder = Folder::new("tables");
    let data = format!("{HEADER}{}", rows(0..100));
    let table = folder.write("a.csv", &data);
    let model = folder.file("m");
    let (table, model) = (text(&table), text(&model));
    let wanted = learn(&[&FLAGS[..], &["-f", model, "-p", "-", table]].concat());
    let shown = String::from_utf8(done(&["inspect", "--weights", model]).stdout).unwrap();
    let about = String::from_utf8(done(&["inspect", model]).stdout).unwrap();
    let kinds = "1 number, 2 texts (city, shop), 1 date (day), 1 ignored (id); label price";
    assert!(about.contains(kinds), "{about}");
    for name in [
        "intercept ",
        "day:trend ",
        "size ",
        "day:year=2007 ",
        "day:month=12 ",
        "day:weekday=Monday ",
        "day:hour=23 ",
        "city=Oslo, N ",
        "city (missing) ",
        "size (missing) ",
        "shop=s4 ",
    ] {
        assert!(
            shown.lines().any(|line| line.starts_with(name)),
            "{name}: {shown}"
        );
    }

    // The same features, numbered by the names.
    let mut names = vec!["day:trend".to_string(), "size".into()];
    let mut index = |name: String| match names.iter().position(|known| *known == name) {
        Some(place) => place + 1,
        None => {
            names.push(name);
            names.len()
        }
    };
    let mut libsvm = String::new();
    for (k, line) in rows(0..100).lines().enumerate() {
        let city = ["Bath", "Oslo, N", "Rome"].get(k % 4);
        let fields: Vec<&str> = line.rsplitn(4, ',').collect();
        let (shop, price, size) = (fields[0], fields[1], fields[2]);
        let (year, month, day) = (k % 30, 1 + k % 12, 1 + k % 28);
        // Zeller's congruence.
        let (m, y) = if month < 3 {
            (month + 12, 1999 + year)
        } else {
            (month, 2000 + year)
        };
        let weekday = (day + 13 * (m + 1) / 5 + y + y / 4 - y / 100 + y / 400) % 7;
        let weekday = ["Satur", "Sun", "Mon", "Tues", "Wednes", "Thurs", "Fri"][weekday];
        let before: usize = (1..month)
            .map(|m| {
                [
                    31,
                    28 + usize::from(year % 4 == 0),
                    31,
                    30,
                    31,
                    30,
                    31,
                    31,
                    30,
                    31,
                    30,
                ][m - 1]
            })
            .sum();
        let days = (365 * year + year.div_ceil(4) + before + day - 1) as f64;
        let trend = (days + (k % 24 * 3600 + 1800) as f64 / 86400.0) / 365.2425;
        let mut pairs = vec![(1, trend)];
        pairs.push((index(format!("day:year={}", 2000 + year)), 1.0));
        pairs.push((index(format!("day:month={month}")), 1.0));
        pairs.push((index(format!("day:weekday={weekday}day")), 1.0));
        pairs.push((index(format!("day:hour={}", k % 24)), 1.0));
        let city = city.map_or("city (missing)".into(), |city| format!("city={city}"));
        pairs.push((index(city), 1.0));
        match size.parse::<f64>() {
            Ok(size) if !size.is_nan() => pairs.push((2, size)),
            _ => pairs.push((index("size (missing)".into()), 1.0)),
        }
        pairs.push((index(format!("shop={shop}")), 1.0));
        write!(libsvm, "{price}").unwrap();
        pairs
            .iter()
            .for_each(|(i, v)| write!(libsvm, " {i}:{v:?}").unwrap());
        libsvm.push('\n');
    }
    let libsvm = folder.write("a.svm", libsvm);
    assert_eq!(learn(&["-p", "-", text(&libsvm)]), wanted);

    // The same table, written in other ways.
    let semicolons = data
        .replace(", N", "# N")
        .replace(',', ";")
        .replace("# N", ", N");
    for (name, other) in [
        ("b.csv", semicolons.clone()),
        ("c.csv", data.replace('\n', "\r\n")),
        ("d.csv", format!("\u{feff}{data}")),
        ("e.tsv", semicolons.replace(';', "\t")),
        ("f.csv", semicolons.replace(';', "|")),
    ] {
        let other = folder.write(name, other);
        let found = learn(&[&FLAGS[..], &["-p", "-", text(&other)]].concat());
        assert_eq!(found, wanted, "{name}");
    }
    let headless = folder.write("g.csv", rows(0..100));
    let flags = ["--no-header", "--label", "5", "--ignore", "1", "-p", "-"];
    let found = learn(&[&flags[..], &[text(&headless)]].concat());
    assert_eq!(found, wanted);
}

#[test]
fn a_model_resumes_when_new_texts_appear_and_predicts_without_unknown_ones() {
    let folder = Folder::new("new-texts");
    let [first, second, both] =
        [("a", 0..60), ("b", 60..130), ("c", 0..130)].map(|(name, range)| {
            folder.write(&format!("{name}.csv"), HEADER.to_string() + &rows(range))
        });
    let (one, two) = (folder.file("one"), folder.file("two"));
    let (one, two) = (text(&one), text(&two));
    learn(&[&FLAGS[..], &["-f", one, text(&both)]].concat());
    learn(&[&FLAGS[..], &["-f", two, text(&first)]].concat());
    learn(&["-i", two, "-f", two, text(&second)]);
    assert_eq!(std::fs::read(one).unwrap(), std::fs::read(two).unwrap());

    let predict = |city: &str, shop: &str| {
        let rows = format!("{HEADER}1,2024-01-01,{city},2,0,{shop}\n");
        let rows = folder.write("p.csv", rows);
        done(&["predict", "-i", two, text(&rows)]).stdout
    };
    assert_eq!(predict("Paris", "s1"), predict("London", "s1"));
    assert_ne!(predict("Bath", "s1"), predict("London", "s1"));
}

#[test]
fn errors_about_tables_name_the_flag_that_helps() {
    let folder = Folder::new("table-errors");
    for (content, flags, expected) in [
        (
            "a,y\n1,2\n3,4\n",
            "--label z",
            "no column is called `z`; the columns are a, y",
        ),
        (
            "price,y\n1,2\n",
            "--ignore prise",
            "no column is called `prise`; did you mean `price`?",
        ),
        ("1,2\n3,4\n", "", "use --no-header"),
        ("1,2\n3,4\n", "", "--label N"),
        (
            "a,a\nx,4\n",
            "",
            "two columns are called `a`. Use --no-header",
        ),
        ("5,2,x\n1,2,3,4\n3,4,5,6\n", "", "remove it by tail -n +2"),
        (
            "y,a\n1,x\n",
            "--numeric a",
            "--missing x if it means a missing value, or --categorical a",
        ),
        (
            "y,a\n1,x\n",
            "--date a",
            "text in a column of dates. Use --missing x",
        ),
        (
            "y,a\n1,x\n",
            "--date a --ignore a",
            "column `a` is both in --date and in --ignore",
        ),
        (
            "y,a\n1,x\n",
            "--ignore y",
            "column `a`: all labels so far are the text `x`. Use --labels",
        ),
        (
            "y,a\n1,x\n",
            "--label y --ignore y",
            "column `y` is the label, but also in --ignore",
        ),
        (
            "y,a\n1,x\n",
            "--delimiter xy",
            "expected one character such as ; or |",
        ),
    ] {
        let data = folder.write("a.csv", content);
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let output = run(&[&["learn", "-q", text(&data)], &flags[..]].concat());
        let said = errors(&output);
        assert!(
            !output.status.success() && said.contains(expected),
            "{flags:?}: {said}"
        );
    }
}

#[test]
fn two_usual_labels_or_two_texts_make_a_classification() {
    let folder = Folder::new("auto-loss");
    for (labels, flags, loss, note) in [
        (
            ["0", "1"],
            "",
            "logistic (chosen)",
            "0 and 1, so the loss is logistic",
        ),
        (
            ["-1", "1"],
            "",
            "logistic (chosen)",
            "-1 and 1, so the loss is logistic",
        ),
        (
            ["no", "yes"],
            "",
            "logistic (chosen)",
            "no (-1) and yes (+1), so the loss is logistic",
        ),
        (
            ["no", "yes"],
            "--loss hinge",
            "hinge",
            "no (-1) and yes (+1)",
        ),
        (
            ["1", "2"],
            "",
            "squared (chosen)",
            "Use --labels 1,2 if they are two classes",
        ),
        (["0", "1"], "--loss squared", "squared", ""),
    ] {
        let [a, b] = labels;
        let rows = format!("y,x\n{b},1\n{a},2\n{b},3\n");
        let data = folder.write("a.csv", rows);
        let model = folder.file("m");
        let words = ["learn", text(&data), "-f", text(&model)];
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let said = errors(&done(&[&words[..], &flags].concat()));
        assert!(
            said.contains(&format!("\nloss             {loss}\n")),
            "{said}"
        );
        assert_eq!(
            said.starts_with("note: the labels"),
            !note.is_empty(),
            "{said}"
        );
        assert!(said.contains(note), "{said}");
        // a resumed run knows them, from any row
        let one = folder.write("one.csv", format!("y,x\n{b},5\n"));
        done(&["learn", text(&one), "-i", text(&model)]);
    }
}
