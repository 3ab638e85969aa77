//! Experiments and reports.
