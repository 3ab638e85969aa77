//! One problem of an experiment together with its results.

use crate::experiment::{LearnerConfig, ProblemConfig, Source};
use crate::format;
use crate::results::{Results, SummaryRow, TimingRow};

/// A problem, with access to its rows in the results of the experiment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub results: &'a Results,
    /// The problem's name in the experiment.
    pub name: &'a str,
    pub config: &'a ProblemConfig,
}

impl<'a> View<'a> {
    /// All problems of an experiment, in the file's order.
    pub fn all(results: &'a Results) -> Vec<Self> {
        let problems = results.experiment.problems.iter();
        problems
            .map(|(name, config)| Self {
                results,
                name,
                config,
            })
            .collect()
    }

    /// The names of the problem's learners, numbered in their order.
    pub fn learners(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        self.config.learners.iter().map(String::as_str).enumerate()
    }

    pub fn learner(&self, name: &str) -> Option<&'a LearnerConfig> {
        self.results.experiment.learners.get(name)
    }

    /// The factor on the step size whose runs represent the learner: 1 if it was tried, otherwise the
    /// first factor.
    pub fn scale(&self, learner: &str) -> f64 {
        self.learner(learner)
            .map_or(1.0, LearnerConfig::plain_scale)
    }

    /// A learner's rows for one factor on the step size, ordered by horizon.
    pub fn rows(&self, learner: &str, scale: f64) -> Vec<&'a SummaryRow> {
        let mine = |r: &&SummaryRow| r.problem == self.name && r.learner == learner;
        let summary = self.results.summary.iter().filter(mine);
        let mut rows: Vec<_> = summary.filter(|r| r.scale == scale).collect();
        rows.sort_by_key(|r| r.horizon);
        rows
    }

    /// A learner's row for one factor at the longest horizon.
    pub fn last(&self, learner: &str, scale: f64) -> Option<&'a SummaryRow> {
        self.rows(learner, scale).pop()
    }

    /// A learner's rows for all factors at the longest horizon, ordered by factor.
    pub fn grid(&self, learner: &str) -> Vec<&'a SummaryRow> {
        let Some(config) = self.learner(learner) else {
            return Vec::new();
        };
        let scales = config.scales.iter();
        let mut rows: Vec<_> = scales.filter_map(|s| self.last(learner, *s)).collect();
        rows.sort_by(|a, b| a.scale.total_cmp(&b.scale));
        rows
    }

    /// The seconds per round of the timed run. `None` if the run was not timed.
    pub fn seconds_per_round(&self, learner: &str, scale: f64) -> Option<f64> {
        let mine = |r: &&TimingRow| {
            r.problem == self.name && r.learner == learner && r.scale == scale && r.round > 0
        };
        let timing = self.results.timing.iter().filter(mine);
        let end = timing.max_by_key(|r| (r.horizon, r.round))?;
        Some(end.seconds / end.round as f64)
    }

    /// The conditions of the problem, each as a phrase: the set, the loss, the stream, the constants that
    /// learners know, and the number of runs.
    pub fn conditions(&self) -> Vec<String> {
        let config = self.config;
        let ridge = if config.l2 > 0.0 {
            format!(" + {}/2·‖x‖²", config.l2)
        } else {
            String::new()
        };
        let stream = match &config.stream {
            Source::Synthetic(spec) => spec.to_string(),
            Source::Rows(rows) => {
                let mut text = rows
                    .data
                    .iter()
                    .chain(&rows.file)
                    .cloned()
                    .collect::<String>();
                for (is, what) in [
                    (rows.shuffle, ", shuffled"),
                    (rows.intercept, ", with an intercept"),
                    (rows.unit_columns, ", unit columns"),
                    (rows.unit_rows, ", unit rows"),
                ] {
                    text.push_str(if is { what } else { "" });
                }
                text
            }
        };
        let known = match (config.constants_are_known(), config.l2 > 0.0) {
            (true, false) => "T and G known",
            (true, true) => "T, G and λ known",
            (false, true) => "λ known, T and G unknown",
            (false, false) => "T and G unknown",
        };
        let seeds = match config.seeds.len() {
            1 => "one seed".into(),
            n => format!("{n} seeds"),
        };
        vec![
            format!("set {}", config.set),
            format!("loss {}{ridge}", config.loss),
            format!("stream {stream}"),
            known.into(),
            format!("T = {}, {seeds}", format::count(config.horizon())),
        ]
    }
}
