//! Tables in memory. They are written as CSV text and read as `extremal learn` reads a file, so that
//! their features are the same.

use std::fmt::Write;
use std::sync::Arc;

use extremal_data::{Column, Features, Format, Holds, Labels, ReadOptions, Reader};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::raise;

/// A column: a float64 array in which NaN is missing, or a list of texts in which None is missing.
#[derive(FromPyObject)]
pub enum Cells<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Texts(Vec<Option<Bound<'py, PyString>>>),
}

/// The columns of a table and the names of its features, after the rows read so far.
#[pyclass(frozen, module = "extremal._core", name = "Columns")]
pub struct Columns {
    columns: Arc<[Column]>,
    features: Features,
}

#[pymethods]
impl Columns {
    /// Restores the result of `save`.
    #[new]
    fn new(saved: &str) -> PyResult<Self> {
        let (columns, features): (Vec<Column>, Features) =
            serde_json::from_str(saved).map_err(|e| raise(&e))?;
        Ok(Self {
            columns: columns.into(),
            features,
        })
    }

    /// The columns as text.
    fn save(&self) -> PyResult<String> {
        let columns: &[Column] = &self.columns;
        serde_json::to_string(&(columns, &self.features)).map_err(|e| raise(&e))
    }

    /// The kinds of the columns: pairs of a name and label, weight, numbers, text, date or ignored.
    #[getter]
    fn kinds(&self) -> Vec<(String, &'static str)> {
        kinds(&self.columns)
    }

    /// The names of the features.
    #[getter]
    fn features(&self) -> Vec<String> {
        self.features.to_vec()
    }

    /// The number of features.
    #[getter]
    fn width(&self) -> usize {
        self.features.len()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, pyo3::types::PyType>, (String,))> {
        Ok((slf.get_type(), (slf.get().save()?,)))
    }
}

/// The names and the kinds of columns.
pub fn kinds(columns: &[Column]) -> Vec<(String, &'static str)> {
    let kind = |column: &Column| {
        let kind = match column.holds {
            Holds::Label => "label",
            Holds::Weight => "weight",
            Holds::Numbers => "numbers",
            Holds::Text => "text",
            Holds::Date => "date",
            Holds::Ignored => "ignored",
        };
        (column.name.clone(), kind)
    };
    columns.iter().map(kind).collect()
}

/// A reader of the rows of a table.
fn open(names: &[String], cells: &[Cells<'_>], mut options: ReadOptions) -> PyResult<Reader> {
    let mut label = None;
    if options.columns.is_none() {
        // A column that the options name shows that the first line has names. No other column is the
        // label then.
        let mut name = "label".to_string();
        while names.contains(&name) {
            name.push('_');
        }
        options.label_column = Some(name.clone());
        label = Some(name);
    }
    let options = ReadOptions {
        format: Some(Format::Csv),
        delimiter: Some(",".parse().map_err(|e: String| raise(&e))?),
        no_header: false,
        labels: Labels::None,
        labels_required: false,
        learnt_from: None,
        ..options
    };
    let text = csv(label, names, cells)?;
    let source = Box::new(std::io::Cursor::new(text));
    Reader::from_read(source, "table", &options).map_err(failed)
}

fn failed(error: extremal_data::Error) -> PyErr {
    let mut text = error.to_string();
    if text.contains(" --") {
        text.push_str(" (in Python, --categorical COL is categorical=[\"COL\"])");
    }
    raise(&text)
}

/// The table as CSV, with a first column for the label if it has a name.
fn csv(label: Option<String>, names: &[String], cells: &[Cells<'_>]) -> PyResult<String> {
    enum Column<'a> {
        Numbers(&'a [f64]),
        Texts(Vec<Option<&'a str>>),
    }
    fn column<'a>(cells: &'a Cells<'_>) -> PyResult<Column<'a>> {
        Ok(match cells {
            Cells::Numbers(numbers) => Column::Numbers(numbers.as_slice()?),
            Cells::Texts(texts) => {
                let texts = texts.iter().map(|text| match text {
                    Some(text) => text.to_str().map(Some),
                    None => Ok(None),
                });
                Column::Texts(texts.collect::<PyResult<_>>()?)
            }
        })
    }
    let columns: Vec<Column<'_>> = cells.iter().map(column).collect::<PyResult<_>>()?;
    let length = |column: &Column<'_>| match column {
        Column::Numbers(numbers) => numbers.len(),
        Column::Texts(texts) => texts.len(),
    };
    let count = columns.first().map_or(0, length);
    if columns.len() != names.len() || columns.iter().any(|column| length(column) != count) {
        return Err(PyValueError::new_err("the columns differ in length"));
    }
    let mut out = String::new();
    let start = |out: &mut String, first: &str| {
        if label.is_some() {
            out.push_str(first);
            out.push(',');
        }
    };
    start(&mut out, label.as_deref().unwrap_or_default());
    let end = |out: &mut String| {
        out.pop();
        out.push('\n');
    };
    for name in names {
        field(&mut out, name);
    }
    end(&mut out);
    for row in 0..count {
        start(&mut out, "0");
        for column in &columns {
            match column {
                Column::Numbers(numbers) if numbers[row].is_nan() => out.push_str("NA,"),
                // A string accepts all text.
                Column::Numbers(numbers) => drop(write!(out, "{:?},", numbers[row])),
                Column::Texts(texts) => field(&mut out, texts[row].unwrap_or_default()),
            }
        }
        end(&mut out);
    }
    Ok(out)
}

/// Writes a field and a comma. As in a file, blanks around a field count only within quotes.
fn field(out: &mut String, text: &str) {
    if text.contains(['"', ',', '\n', '\r']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        let text = text.trim_matches(' ');
        // A line may not be blank.
        out.push_str(if text.is_empty() { "NA" } else { text });
    }
    out.push(',');
}

/// The arrays indptr, indices and data of a CSR matrix.
pub type Csr<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

/// Reads the rows of a table, and the columns and features after them.
pub fn read<'py>(
    py: Python<'py>,
    names: &[String],
    cells: &[Cells<'_>],
    options: ReadOptions,
) -> PyResult<(Csr<'py>, Columns)> {
    let (mut ends, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut known = None;
    let mut reader = open(names, cells, options)?;
    while let Some(batch) = reader.next().map_err(failed)? {
        for example in batch.iter() {
            indices.extend_from_slice(example.indices);
            values.extend_from_slice(example.values);
            ends.push(indices.len() as i64);
        }
        known = batch.columns().cloned().zip(batch.features().cloned());
    }
    let (columns, features) =
        known.ok_or_else(|| PyValueError::new_err("the table has no rows"))?;
    let rows = (
        PyArray1::from_vec(py, ends),
        PyArray1::from_vec(py, indices),
        PyArray1::from_vec(py, values),
    );
    Ok((rows, Columns { columns, features }))
}

/// Reads the rows of a table. The columns and the features are those of `known`, or the first rows decide
/// about the columns. New texts have new features. If `frozen`, they are left out instead.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by Python alone
pub fn read_table<'py>(
    py: Python<'py>,
    names: Vec<String>,
    cells: Vec<Cells<'py>>,
    categorical: Vec<String>,
    numeric: Vec<String>,
    dates: Vec<String>,
    missing: Vec<String>,
    known: Option<&Columns>,
    frozen: bool,
) -> PyResult<(Csr<'py>, Columns)> {
    let options = ReadOptions {
        categorical,
        numeric,
        date: dates,
        missing,
        columns: known.map(|known| known.columns.to_vec()),
        features: known.map(|known| known.features.clone()),
        frozen,
        ..ReadOptions::default()
    };
    read(py, &names, &cells, options)
}
