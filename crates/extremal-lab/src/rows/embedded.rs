//! Data sets that are built into the program. `data/make.py` makes their files, and `DATA-LICENSES` lists
//! their origins and licences.

use crate::error::{Error, Result};

/// A data set that is built into the program.
#[derive(Debug, Clone, Copy)]
pub struct Dataset {
    /// The name in experiments.
    pub name: &'static str,
    /// A description in a sentence.
    pub summary: &'static str,
    /// The number of examples.
    pub rows: usize,
    /// The number of features.
    pub columns: usize,
    /// The task.
    pub task: Task,
    /// The licence.
    pub licence: &'static str,
    /// The file's name, which determines its format.
    pub(super) file: &'static str,
    /// The compressed file.
    pub(super) bytes: &'static [u8],
}

/// The kind of prediction that a data set is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Binary classification, with labels ±1.
    Binary,
    /// Regression, with labels between −1 and 1.
    Regression,
    /// Portfolio selection. The rows are price relatives for the log-wealth loss, and have no labels.
    Portfolio,
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Binary => "binary",
            Self::Regression => "regression",
            Self::Portfolio => "portfolio",
        })
    }
}

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../data/", $name))
    };
}

const DATASETS: &[Dataset] = &[
    Dataset {
        name: "breast-cancer",
        summary: "30 measurements of the cells of each breast tumour; the label says whether the tumour is malignant (1) or benign (-1)",
        rows: 569,
        columns: 30,
        task: Task::Binary,
        licence: "CC BY 4.0",
        file: "breast-cancer.csv.gz",
        bytes: file!("breast-cancer.csv.gz"),
    },
    Dataset {
        name: "diabetes",
        summary: "10 measurements of each patient; the label is the disease's progress after a year, divided by its maximum (346)",
        rows: 442,
        columns: 10,
        task: Task::Regression,
        licence: "freely published (Efron et al. 2004)",
        file: "diabetes.csv.gz",
        bytes: file!("diabetes.csv.gz"),
    },
    Dataset {
        name: "mushroom",
        summary: "22 categorical features of each mushroom, with one column per value; the label says whether the mushroom is poisonous (1) or edible (-1); rows are sparse",
        rows: 5_644,
        columns: 98,
        task: Task::Binary,
        licence: "CC BY 4.0",
        file: "mushroom.svm.gz",
        bytes: file!("mushroom.svm.gz"),
    },
    Dataset {
        name: "phishing",
        summary: "9 features of each web page; the label says whether the page is a phishing page (1) or not (-1)",
        rows: 1_250,
        columns: 9,
        task: Task::Binary,
        licence: "CC BY 4.0",
        file: "phishing.csv.gz",
        bytes: file!("phishing.csv.gz"),
    },
    Dataset {
        name: "trump-approval",
        summary: "the day and the approval ratings of five polls in per cent; the label is a model's rating as a share; the examples are in time order and drift",
        rows: 1_001,
        columns: 6,
        task: Task::Regression,
        licence: "CC BY 4.0",
        file: "trump-approval.csv.gz",
        bytes: file!("trump-approval.csv.gz"),
    },
    Dataset {
        name: "djia",
        summary: "daily price relatives of the 30 stocks of the Dow Jones index, 2001 to 2003; the examples are in time order",
        rows: 507,
        columns: 30,
        task: Task::Portfolio,
        licence: "Apache-2.0",
        file: "djia.csv.gz",
        bytes: file!("djia.csv.gz"),
    },
];

/// The data sets that are built into the program.
///
/// ```
/// let djia = extremal_lab::rows::datasets().iter().find(|d| d.name == "djia").unwrap();
/// assert_eq!((djia.rows, djia.columns), (507, 30));
/// ```
pub fn datasets() -> &'static [Dataset] {
    DATASETS
}

/// The data set of this name.
pub(super) fn find(name: &str) -> Result<&'static Dataset> {
    DATASETS.iter().find(|set| set.name == name).ok_or_else(|| {
        let names: Vec<&str> = DATASETS.iter().map(|set| set.name).collect();
        Error::Unsupported(format!(
            "there is no data set `{name}`; the data sets are {}",
            names.join(", ")
        ))
    })
}
