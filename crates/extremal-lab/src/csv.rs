//! Every run as a line of CSV.

use crate::run::{Plan, Run};

/// The header and one line per run. The bound is empty where none is proven or an assumption was
/// not kept; numbers are written so that reading them gives the same bits.
pub fn render(plan: &Plan, runs: &[Run]) -> String {
    let mut out = String::from(
        "problem,learner,T,seed,regret_lower,regret_upper,level,bound,oracle_calls,seconds,vacuous,certificate,violation\n",
    );
    for run in runs {
        let problem = &plan.problems[run.problem];
        let verdict = run.verdict.as_ref().filter(|v| v.applies());
        let fields = [
            escape(problem.key),
            escape(problem.learners[run.learner]),
            run.horizon.to_string(),
            run.seed.to_string(),
            run.regret.lower.to_string(),
            run.regret.upper.to_string(),
            run.regret.level.to_string(),
            verdict.map_or(String::new(), |v| v.bound.to_string()),
            run.oracle_calls.to_string(),
            format!("{:.9}", run.seconds),
            verdict.map_or(String::new(), |v| v.vacuous.to_string()),
            run.certificate.to_string(),
            format!("{:e}", run.violation),
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

/// Quotes a field where it needs quoting (RFC 4180).
fn escape(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(escape("ofw"), "ofw");
        assert_eq!(escape("a:b=1,c=2"), "\"a:b=1,c=2\"");
        assert_eq!(escape("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(escape("two\nlines"), "\"two\nlines\"");
    }

    #[test]
    fn every_line_has_as_many_fields_as_the_header() {
        let mut plan = crate::demo::plan(0, Some(1_000)).unwrap();
        plan.problems.truncate(1);
        let runs = crate::run::run(&plan, 1, &|| 0.0, &|_| {}).unwrap();
        let text = render(&plan, &runs);
        assert_eq!(text.lines().count(), 1 + runs.len());
        for line in text.lines() {
            assert_eq!(line.split(',').count(), 13, "{line}");
        }
        assert!(text.contains("\nl2-drift,ogd,1000,0,"));
    }
}
