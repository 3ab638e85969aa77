//! The papers behind the components, as BibTeX records. [`About::citations`](crate::spec::About::citations)
//! lists the keys of a component's papers. A record omits fields that are not known for certain.

/// All records in the order of their keys, separated by blank lines.
pub const ALL: &str = include_str!("references.bib");

/// The key and the record of every paper.
pub fn records() -> impl Iterator<Item = (&'static str, &'static str)> {
    let records = ALL.split("\n\n").map(str::trim);
    records.filter_map(|record| {
        let (_, rest) = record.split_once('{')?;
        Some((rest.split_once(',')?.0, record))
    })
}

/// The record with this key, or `None` if no paper has this key.
///
/// ```
/// let record = extremal::references::record("WanZhang2021").unwrap();
/// assert!(record.starts_with("@inproceedings{WanZhang2021,"));
/// ```
pub fn record(key: &str) -> Option<&'static str> {
    records().find(|(k, _)| *k == key).map(|(_, record)| record)
}
