//! The papers behind the components, as BibTeX. [`About::citations`](crate::spec::About::citations)
//! names them by their keys; what is not known for sure of a paper is left out of its record.

/// All records, in the order of their keys, with a blank line between any two.
pub const ALL: &str = include_str!("references.bib");

/// The keys and their records.
pub fn records() -> impl Iterator<Item = (&'static str, &'static str)> {
    let records = ALL.split("\n\n").map(str::trim);
    records.filter_map(|record| {
        let (_, rest) = record.split_once('{')?;
        Some((rest.split_once(',')?.0, record))
    })
}

/// The record of a key.
///
/// ```
/// let record = extremal::references::record("WanZhang2021").unwrap();
/// assert!(record.starts_with("@inproceedings{WanZhang2021,"));
/// ```
pub fn record(key: &str) -> Option<&'static str> {
    records().find(|(k, _)| *k == key).map(|(_, record)| record)
}
