//! Examples in memory, from files and from the embedded data sets.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use extremal_lab::experiment::{RowSource, Source};
use extremal_lab::rows::{Rows, Task, datasets};

fn load(source: &RowSource) -> Arc<Rows> {
    source.load(Path::new("")).unwrap()
}

/// Every round of a stream, as (entries, label, weight).
fn rounds(rows: &Arc<Rows>, seed: u64, dim: usize) -> Vec<(Vec<f64>, f64, f64)> {
    let mut stream = rows.stream(seed, dim).unwrap();
    let mut all = Vec::new();
    while let Some(round) = stream.next(&vec![0.0; dim]).unwrap() {
        let mut x = vec![0.0; dim];
        round.row.add_to(1.0, &mut x);
        all.push((x, round.label, round.weight));
    }
    assert!(stream.next(&vec![0.0; dim]).unwrap().is_none());
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

    fn load(&self, name: &str, text: &str, change: impl FnOnce(&mut RowSource)) -> Arc<Rows> {
        fs::write(self.0.join(name), text).unwrap();
        let mut source = RowSource {
            file: Some(name.into()),
            ..RowSource::default()
        };
        change(&mut source);
        source.load(&self.0).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_data_set_is_as_described() {
    for set in datasets() {
        let rows = load(&RowSource::embedded(set.name));
        let shape = (rows.len(), rows.dim);
        assert_eq!(shape, (set.rows, set.columns), "{}", set.name);
        assert!(rows.notes.is_empty(), "{}: {:?}", set.name, rows.notes);
        for (x, label, weight) in rounds(&rows, 0, rows.dim) {
            let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!(norm <= rows.row_bound && weight == 1.0, "{}", set.name);
            match set.task {
                Task::Binary => assert!(label.abs() == 1.0),
                Task::Regression => assert!(label.abs() <= 1.0 && label != 0.0),
                Task::Portfolio => assert!(label == 0.0 && x.iter().all(|v| *v > 0.0)),
            }
        }
    }
    let said = RowSource::embedded("iris")
        .load(Path::new(""))
        .unwrap_err()
        .to_string();
    assert!(said.contains("`iris`") && said.contains("djia"), "{said}");
}

#[test]
fn the_dow_jones_has_the_published_returns() {
    let rows = load(&RowSource::embedded("djia"));
    let (mut each, mut even) = (vec![1.0; 30], 1.0);
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
}

#[test]
fn a_seed_chooses_an_order_of_all_rows() {
    let mut source = RowSource::embedded("trump-approval");
    let plain = rounds(&load(&source), 1, 6);
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
    // A seed gives the same order in every version.
    let folder = Folder::new("order");
    let text = "0 1:1\n1 1:1\n2 1:1\n3 1:1\n";
    let rows = folder.load("a.svm", text, |source| source.shuffle = true);
    let labels = |seed| -> Vec<f64> { rounds(&rows, seed, 1).iter().map(|r| r.1).collect() };
    assert_eq!(labels(1), [0.0, 3.0, 1.0, 2.0]);
    assert_eq!(labels(2), [3.0, 1.0, 2.0, 0.0]);
}

#[test]
fn columns_rows_and_ones_are_prepared_in_this_order() {
    let folder = Folder::new("prepared");
    let text = "a,b,zero,label\n3,-4,0,1\n6,0,0,-1\n0,0,0,1\n";
    let with = |unit_columns, unit_rows, intercept| -> Vec<Vec<f64>> {
        let rows = folder.load("a.csv", text, |source| {
            source.unit_columns = unit_columns;
            source.unit_rows = unit_rows;
            source.intercept = intercept;
        });
        let all = rounds(&rows, 0, rows.dim).into_iter();
        all.map(|r| r.0).collect()
    };
    let plain = with(false, false, false);
    assert_eq!(plain, [[3.0, -4.0, 0.0], [6.0, 0.0, 0.0], [0.0; 3]]);
    let columns = with(true, false, false);
    assert_eq!(columns, [[0.5, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]]);
    let both = with(true, false, true);
    assert_eq!(both[0], [1.0, 0.5, -1.0, 0.0]);
    let unit = with(false, true, false);
    assert!((unit[0][0] - 0.6).abs() < 1e-15 && (unit[0][1] + 0.8).abs() < 1e-15);
    assert_eq!(unit[2], [0.0; 3], "a row of zeros has no direction");
    let norm = |row: &Vec<f64>| row.iter().map(|v| v * v).sum::<f64>().sqrt();
    let all = with(true, true, true);
    assert!(all.iter().all(|row| (norm(row) - 1.0).abs() < 1e-15));
}

#[test]
fn rows_fit_a_set_of_higher_dimension() {
    for name in ["phishing", "mushroom"] {
        let rows = load(&RowSource::embedded(name));
        let dim = rows.dim;
        let (own, more) = (rounds(&rows, 0, dim), rounds(&rows, 0, dim + 3));
        for (a, b) in own.iter().zip(&more) {
            assert_eq!([&a.0[..], &[0.0; 3]].concat(), b.0);
        }
        let error = rows.stream(0, dim - 1).err().unwrap().to_string();
        let said = format!("the examples have {dim} features");
        assert!(error.contains(&said), "{error}");
    }
}

/// A table with every kind of column gives the features that `learn` gives it.
#[test]
fn tables_are_read_with_the_options_of_learn() {
    let folder = Folder::new("table");
    let text = "day;city;zip;age;shop;paid\n\
                2024-03-01;Bath;7;31;A;no\n\
                2024-03-02;Rome;7;?;B;yes\n\
                2024-03-03;Bath;9;-1;A;NA\n\
                2024-03-04;;9;40;A;yes\n";
    let rows = folder.load("a.csv", text, |source| {
        let toml = r#"label = "paid"
categorical = ["zip"]
ignore = ["shop"]
missing = ["-1"]"#;
        source.reading = toml::from_str(toml).unwrap();
    });
    assert_eq!(rows.labels, [-1.0, 1.0, 1.0]);
    let notes = rows.notes.join("\n");
    assert!(notes.contains("1 examples without a label"), "{notes}");
    // The numbers are day:trend and age. The rows add 5, 3, 2 and 2 other features.
    let all = rounds(&rows, 0, rows.dim);
    let places =
        |k: usize| -> Vec<usize> { (2..rows.dim).filter(|i| all[k].0[*i] == 1.0).collect() };
    assert_eq!(rows.dim, 14);
    assert_eq!([all[0].0[1], all[1].0[1], all[2].0[1]], [31.0, 0.0, 40.0]);
    assert_eq!(places(0), [2, 3, 4, 5, 6]);
    assert_eq!(places(1), [2, 3, 6, 7, 8, 9]);
    assert_eq!(places(2), [2, 3, 11, 12, 13]);

    let read = |options: &str, text: &str| {
        fs::write(folder.0.join("b.csv"), text).unwrap();
        let path = folder.0.join("b.csv");
        let toml = format!("file = {path:?}\n{options}");
        let source: Source = toml::from_str(&toml).map_err(|e| e.message().to_string())?;
        let Source::Rows(source) = source else {
            unreachable!()
        };
        let read = source.load(Path::new(""));
        read.map(|rows| rows.labels.clone())
            .map_err(|e| e.to_string())
    };
    let ends = "1|2|low\n3|4|high\n";
    let options = "no-header = true\nlabel = \"3\"\nlabels = [\"low\", \"high\"]";
    assert_eq!(read(options, ends).unwrap(), [-1.0, 1.0]);
    let unknown = read("categorial = [\"a\"]", ends).unwrap_err();
    assert!(
        unknown.contains("unknown field `categorial`") && unknown.contains("no-header"),
        "{unknown}"
    );
    let absent = read("", "label,a\n,1\nNA,2\n").unwrap_err();
    assert!(absent.contains("labels = false"), "{absent}");
}
