use std::path::PathBuf;

use super::*;
use crate::fixed::Fixed;

fn data(name: &str) -> RowSource {
    RowSource {
        from: RowsFrom::Data(name.into()),
        labels: true,
        shuffle: false,
        unit_columns: false,
        unit_rows: false,
        intercept: false,
    }
}

fn load(source: &RowSource) -> Rows {
    source.load(Path::new("")).unwrap()
}

/// Every round of a stream, as (entries, label, weight).
fn rounds(rows: &Rows, seed: u64, dim: usize) -> Vec<(Vec<f64>, f64, f64)> {
    let mut stream = rows.stream(seed, dim).unwrap();
    let mut all = Vec::new();
    while let Some(round) = stream.next(&Fixed::zero(dim)).unwrap() {
        let mut x = vec![0.0; dim];
        round.row.add_to(1.0, &mut x);
        all.push((x, round.label, round.weight));
    }
    assert!(stream.next(&Fixed::zero(dim)).unwrap().is_none());
    all
}

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("extremal-rows-{test}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn load(&self, name: &str, format: Option<&str>, text: &str) -> Result<Rows> {
        self.load_as(name, format, text, |_| {})
    }

    fn load_as(
        &self,
        name: &str,
        format: Option<&str>,
        text: &str,
        change: impl FnOnce(&mut RowSource),
    ) -> Result<Rows> {
        fs::write(self.0.join(name), text).unwrap();
        let mut source = data("");
        source.from = RowsFrom::File {
            path: name.into(),
            format: format.map(Into::into),
            label: None,
        };
        change(&mut source);
        source.load(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_data_set_is_as_it_says() {
    let mut total = 0;
    for set in datasets() {
        let rows = load(&data(set.name));
        assert_eq!(
            (rows.len(), rows.dim()),
            (set.rows, set.columns),
            "{}",
            set.name
        );
        assert_eq!(rows.sha256().len(), 64);
        assert!(rows.notes().is_empty(), "{}: {:?}", set.name, rows.notes());
        assert!(rows.row_bound().is_finite() && rows.row_bound() > 0.0);
        assert_eq!(rows.weight_bound(), 1.0);
        let sparse = matches!(rows.0.entries, Entries::Sparse { .. });
        assert_eq!(sparse, set.name == "mushroom", "{}", set.name);
        let rounds = rounds(&rows, 0, rows.dim());
        assert_eq!(rounds.len(), set.rows);
        for (x, label, weight) in &rounds {
            assert!(x.iter().all(|v| v.is_finite()) && *weight == 1.0);
            match set.task {
                Task::Binary => assert!(label.abs() == 1.0),
                Task::Regression => assert!(label.abs() <= 1.0 && *label != 0.0),
                Task::Portfolio => assert!(*label == 0.0 && x.iter().all(|v| *v > 0.0)),
            }
        }
        total += set.bytes.len();
    }
    assert!(total < 300_000);
}

#[test]
fn classes_are_as_often_as_published() {
    for (name, positive) in [
        ("breast-cancer", 212),
        ("mushroom", 2156),
        ("phishing", 548),
    ] {
        let rows = load(&data(name));
        let found = rows.0.labels.iter().filter(|label| **label == 1.0).count();
        assert_eq!(found, positive, "{name}");
    }
    // one mark of each kind
    let rows = load(&data("mushroom"));
    for k in 0..rows.len() {
        assert_eq!(rows.row(k).stored(), 22);
    }
}

#[test]
fn the_dow_jones_comes_to_what_was_published() {
    let rows = load(&data("djia"));
    let mut each = vec![1.0; 30];
    let mut even = 1.0;
    for (x, ..) in rounds(&rows, 0, 30) {
        even *= x.iter().sum::<f64>() / 30.0;
        each.iter_mut().zip(&x).for_each(|(wealth, v)| *wealth *= v);
    }
    let market = each.iter().sum::<f64>() / 30.0;
    let best = each.iter().copied().fold(0.0, f64::max);
    // the first two as the OLPS toolbox has them, the last from its unrounded figures
    for (found, published) in [(market, 0.7644), (best, 1.1884), (even, 0.8127)] {
        assert!((found - published).abs() < 5e-5, "{found} {published}");
    }
    let (low, high) = rows.entry_range();
    assert!((low, high) == (0.402664693, 1.201228879), "{low} {high}");
}

#[test]
fn a_seed_chooses_an_order_of_all_rows() {
    let mut source = data("trump-approval");
    let plain = rounds(&load(&source), 1, 6);
    assert_eq!(plain, rounds(&load(&source), 2, 6));
    assert!(plain.windows(2).all(|two| two[0].0[0] < two[1].0[0]));
    source.shuffle = true;
    let rows = load(&source);
    let [one, again, two] = [1, 1, 2].map(|seed| rounds(&rows, seed, 6));
    assert_eq!(one, again);
    assert!(one != two && one != plain);
    for mut order in [one, two] {
        // the day is in the first column, and grows
        order.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
        assert_eq!(order, plain);
    }
}

#[test]
fn orders_are_the_ones_they_always_were_and_have_even_chances() {
    let folder = Folder::new("order");
    let text: String = (0..4).map(|k| format!("{k} 1:1\n")).collect();
    let rows = folder
        .load_as("a.svm", None, &text, |source| source.shuffle = true)
        .unwrap();
    let order = |seed| -> Vec<u64> {
        let rounds = rounds(&rows, seed, 1);
        rounds.iter().map(|(_, label, _)| *label as u64).collect()
    };
    assert_eq!(
        [0, 1, 2].map(order),
        [[0, 1, 3, 2], [0, 3, 1, 2], [3, 1, 2, 0]]
    );
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..2400 {
        *counts.entry(order(seed)).or_insert(0) += 1;
    }
    // 100 expected of each, with a deviation of 10
    assert_eq!(counts.len(), 24);
    assert!(counts.values().all(|n| (60..140).contains(n)), "{counts:?}");
}

#[test]
fn columns_rows_and_ones_are_prepared_in_this_order() {
    let folder = Folder::new("prepared");
    let text = "a,b,zero,label\n3,-4,0,1\n6,0,0,-1\n0,0,0,1\n";
    let with = |unit_columns, unit_rows, intercept| {
        let rows = folder
            .load_as("a.csv", None, text, |source| {
                source.unit_columns = unit_columns;
                source.unit_rows = unit_rows;
                source.intercept = intercept;
            })
            .unwrap();
        let dim = rows.dim();
        let all: Vec<Vec<f64>> = rounds(&rows, 0, dim).into_iter().map(|r| r.0).collect();
        all
    };
    assert_eq!(
        with(false, false, false),
        [[3.0, -4.0, 0.0], [6.0, 0.0, 0.0], [0.0; 3]]
    );
    assert_eq!(
        with(true, false, false),
        [[0.5, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]]
    );
    let both = with(true, false, true);
    assert_eq!(both[0], [1.0, 0.5, -1.0, 0.0]);
    assert_eq!(both[2], [1.0, 0.0, 0.0, 0.0]);
    let unit = with(false, true, false);
    assert!((unit[0][0] - 0.6).abs() < 1e-15 && (unit[0][1] + 0.8).abs() < 1e-15);
    assert_eq!(unit[2], [0.0; 3], "a row of zeros has no direction");
    let all = with(true, true, true);
    let norm = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!(all.iter().all(|row| (norm(row) - 1.0).abs() < 1e-15));
    assert_eq!(all[2], [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn unit_rows_have_norm_one_and_bounds_hold() {
    for name in ["breast-cancer", "mushroom"] {
        let mut source = data(name);
        (source.unit_columns, source.unit_rows) = (true, true);
        let rows = load(&source);
        for (x, label, _) in rounds(&rows, 0, rows.dim()) {
            let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!((norm - 1.0).abs() < 1e-14 && norm <= rows.row_bound());
            assert!(label.abs() <= rows.label_bound());
        }
        assert!(rows.row_bound() < 1.0 + 1e-11);
        let stream = rows.stream(0, rows.dim()).unwrap();
        assert_eq!(stream.row_bound(), rows.row_bound());
        assert_eq!(stream.label_bound(), 1.0);
        assert!(!stream.is_adaptive());
    }
}

#[test]
fn rows_of_extreme_size_have_norm_one_too() {
    let folder = Folder::new("extreme");
    let text = "1 1:3e300 2:4e300\n1 1:3e-300 2:4e-300\n";
    let unit = |source: &mut RowSource| source.unit_rows = true;
    let rows = folder.load_as("a.svm", None, text, unit).unwrap();
    for (x, ..) in rounds(&rows, 0, 2) {
        assert!((x[0] - 0.6).abs() < 1e-15 && (x[1] - 0.8).abs() < 1e-15);
    }
}

#[test]
fn rows_fit_a_set_of_higher_dimension() {
    for name in ["phishing", "mushroom"] {
        let rows = load(&data(name));
        let dim = rows.dim();
        let (own, more) = (rounds(&rows, 0, dim), rounds(&rows, 0, dim + 3));
        for (a, b) in own.iter().zip(&more) {
            assert_eq!(a.0, b.0[..dim]);
            assert_eq!(b.0[dim..], [0.0; 3]);
        }
        let error = rows.stream(0, dim - 1).err().unwrap().to_string();
        let said = format!("the examples have {dim} features");
        assert!(error.contains(&said), "{error}");
    }
}

#[test]
fn a_file_is_found_from_the_experiments_folder() {
    let folder = Folder::new("base");
    let rows = folder.load("a.svm", None, "1 1:2\n-1 3:0.5\n").unwrap();
    assert_eq!((rows.len(), rows.dim()), (2, 3));
    assert_eq!(
        rows.sha256(),
        hexadecimal(&Sha256::digest(b"1 1:2\n-1 3:0.5\n"))
    );
    let rows = folder
        .load("any.txt", Some("csv"), "label,a\n2,1\n-3,5\n")
        .unwrap();
    assert_eq!((rows.dim(), rows.label_bound()), (1, 3.0));
    // a weight, which tables have only where one is named
    let rows = folder.load("a.vw", None, "1 2.5 | 0:1\n").unwrap();
    assert_eq!(rows.weight_bound(), 2.5);
    let guessed = folder.load("b.csv", None, "price,a\n2,1\n").unwrap();
    assert!(guessed.notes()[0].contains("price"));
    let named = |column: &'static str| {
        folder.load_as("c.csv", None, "a,price\n1,7\n2,-9\n", move |source| {
            if let RowsFrom::File { label, .. } = &mut source.from {
                *label = Some(column.into());
            }
        })
    };
    let rows = named("price").unwrap();
    assert!(rows.notes().is_empty() && rows.label_bound() == 9.0);
    let said = named("prize").unwrap_err().to_string();
    assert!(said.contains("no column is called `prize`"), "{said}");
}

#[test]
fn a_bad_file_is_an_error_with_its_line() {
    let folder = Folder::new("bad");
    let error = |name: &str, format: Option<&str>, text: &str| {
        folder.load(name, format, text).unwrap_err().to_string()
    };
    let at = |name: &str| folder.0.join(name).display().to_string();
    let said = error("a.svm", None, "1 1:2\n1 1:nan\n");
    assert!(said.starts_with(&format!("{}:2: ", at("a.svm"))), "{said}");
    let said = error("a.csv", None, "label,a,b\n1,2,3\n1,2\n");
    assert!(said.starts_with(&format!("{}:3: ", at("a.csv"))), "{said}");
    let said = error("c.csv", None, "label,a\n,2\n");
    assert!(said.contains(":2: ") && said.contains("label"), "{said}");
    let said = error("empty.csv", None, "label,a\n");
    assert!(said.contains("no examples"), "{said}");
    let said = error("none.svm", None, "1\n-1\n");
    assert!(said.contains("no features"), "{said}");
    let said = error("a.svm", Some("xml"), "");
    assert!(said.contains("expected libsvm, vw, csv"), "{said}");
    let mut source = data("");
    source.from = RowsFrom::File {
        path: "missing.csv".into(),
        format: None,
        label: None,
    };
    let said = source.load(&folder.0).unwrap_err().to_string();
    assert!(said.contains(&at("missing.csv")), "{said}");
}

#[test]
fn an_unknown_data_set_is_an_error_that_lists_those_there_are() {
    let said = data("iris").load(Path::new("")).unwrap_err().to_string();
    for set in datasets() {
        assert!(said.contains("`iris`") && said.contains(set.name), "{said}");
    }
}

#[test]
fn clones_share_their_memory_and_go_to_other_threads() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let rows = load(&data("diabetes"));
    is_shared(&rows);
    assert!(Arc::ptr_eq(&rows.0, &rows.clone().0));
}
