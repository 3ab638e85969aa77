//! What guarantees say of a run: their assumptions, and bounds that are vacuous.

use crate::support::{self, *};
use extremal::Gradient;
use extremal::learner::LearnerSpec;
use extremal::theory::{self, Assumption, LossFacts, Run, RunStatistics, trivial_regret};

#[test]
fn a_guarantee_takes_the_better_theorem() {
    let guarantee = theory::sc_ofw(1.0, 0.5, 2.0, Some(1.0));
    for t in [10.0, 1e3, 1e5] {
        let curved = theory::sc_ofw_curved(1.0, 0.5, 2.0, 1.0).bound(t);
        let general = theory::sc_ofw_general(1.0, 0.5, 2.0).bound(t);
        assert_eq!(guarantee.bound(t), curved.min(general));
    }
}

#[test]
fn a_bound_above_gdt_is_vacuous() {
    // unit ℓ2 ball: Theorem 1 says less than GDT until T = 1.3·10⁵
    let bound = |t: f64| theory::ofw_ls(1.0, 2.0, 1.0, t).bound(t);
    let trivial = |rounds: f64| trivial_regret(1.0, 2.0, rounds, f64::INFINITY);
    assert!(theory::is_vacuous(bound(1.3e5), trivial(1.3e5)));
    assert!(!theory::is_vacuous(bound(1.32e5), trivial(1.32e5)));
    assert!(theory::is_vacuous(f64::NAN, trivial(10.0)));
}

#[test]
fn a_bound_is_vacuous_above_the_gradients_met_and_above_the_total_loss() {
    let theorem = theory::ogd_convex(10.0, 2.0);
    let run = |largest_gradient: f64, above_least: f64| {
        let mut run = Run::new(
            RunStatistics::new(100, largest_gradient),
            LossFacts::default(),
        );
        (run.diameter, run.above_least) = (2.0, above_least);
        run
    };
    // 1.5·G·D·√T = 300 against G·D·T = 2000 for the G of the theorem, 200 for gradients of 1
    for (gradient, total, vacuous) in [
        (10.0, f64::INFINITY, false),
        (1.0, f64::INFINITY, true),
        (1.5, f64::INFINITY, true),
        (1.6, f64::INFINITY, false),
        (10.0, 300.0, true),
        (10.0, 301.0, false),
        (0.0, f64::INFINITY, true),
    ] {
        let report = theorem.report(&run(gradient, total));
        assert_eq!(report.bound, 300.0);
        assert_eq!(report.vacuous, vacuous, "G = {gradient}, loss {total}");
    }
    // a set without a diameter leaves the total loss
    let mut boundless = run(0.0, 301.0);
    boundless.diameter = f64::INFINITY;
    assert!(!theorem.report(&boundless).vacuous);
}

#[test]
fn theorems_of_the_perturbed_leader_need_losses_fixed_beforehand_of_their_kind() {
    use Assumption::{InExpectation, Oblivious, Smooth};
    const LINEAR: Assumption = Smooth(0.0);
    let set = support::set("l2", 3);
    for (text, smoothness, oblivious, expected) in [
        ("fpl", 0.0, true, vec![]),
        ("fpl", 1.0, true, vec![LINEAR]),
        ("fpl", f64::INFINITY, true, vec![LINEAR]),
        ("fpl", 0.0, false, vec![Oblivious]),
        ("fpl", 1.0, false, vec![Oblivious, LINEAR]),
        ("fpl:smoothness=2", 2.0, true, vec![]),
        ("fpl:smoothness=2", 2.1, true, vec![Smooth(2.0)]),
        ("ospf:smoothness=2", f64::INFINITY, true, vec![Smooth(2.0)]),
        ("ospf:smoothness=0", 1.0, true, vec![LINEAR]),
        (
            "ospf:horizon=9,gradient-bound=1",
            f64::INFINITY,
            true,
            vec![],
        ),
        (
            "ospf:horizon=9,gradient-bound=1",
            0.0,
            false,
            vec![Oblivious],
        ),
        ("fpl:horizon=9,gradient-bound=1", 1.0, true, vec![LINEAR]),
    ] {
        let mut learner = learner(text, &set);
        for _ in 0..9 {
            learner.decide().unwrap();
            learner.observe(&Gradient::dense(&[0.5, 0.0, 0.1])).unwrap();
        }
        let losses = LossFacts {
            smoothness,
            oblivious,
            ..LossFacts::default()
        };
        let checks = learner.guarantee().unwrap().check(learner.seen(), &losses);
        let failed = checks.iter().filter(|c| !c.holds).map(|c| c.assumption);
        let failed: Vec<_> = failed.filter(|a| *a != InExpectation).collect();
        assert_eq!(failed, expected, "{text}, β = {smoothness}, {oblivious}");
    }
}

/// Plays gradients of the given norm; what the guarantee then says of its assumptions.
fn broken(text: &str, set: &str, norm: f64, rounds: u64, lambda: f64) -> Vec<Assumption> {
    let set = support::set(set, 4);
    let mut learner = learner(text, &set);
    for t in 0..rounds {
        learner.decide().unwrap();
        let v = if t % 2 == 0 { 0.5 * norm } else { -0.5 * norm };
        learner.observe(&Gradient::dense(&[v; 4])).unwrap();
    }
    let guarantee = learner.guarantee().unwrap();
    let checks = guarantee.check(learner.seen(), &LossFacts::strongly_convex(lambda));
    let assumptions: Vec<_> = checks.iter().map(|c| c.assumption).collect();
    assert_eq!(assumptions, guarantee.assumptions());
    let broken = checks.into_iter().filter(|c| !c.holds);
    broken.map(|c| c.assumption).collect()
}

#[test]
fn a_report_says_what_failed_and_what_says_nothing() {
    let theorem = theory::ofw_ls(1.0, 2.0, 1.0, 20.0);
    let mut run = Run::new(RunStatistics::new(20, 1.0), LossFacts::default());
    (run.diameter, run.violation) = (2.0, Some(1e-10));
    let report = theorem.report(&run);
    assert_eq!(report.failed().count(), 0);
    assert_eq!(report.checks.len(), 3);
    assert!(report.vacuous && report.bound == theorem.bound(20.0));
    run.violation = Some(1e-8);
    let report = theorem.report(&run);
    let failed: Vec<_> = report.failed().map(|c| c.assumption).collect();
    assert_eq!(failed, [Assumption::Feasible(1e-9)]);
    assert!(report.failed().all(|c| c.detail.contains("1e-8")));
}

#[test]
fn broken_assumptions_are_told() {
    use Assumption::{Gradient, Horizon, StronglyConvexLosses};
    for name in ["ofw", "ofw-weibel", "ofw-ls"] {
        let text = format!("{name}:gradient-bound=1,doubling=true");
        assert_eq!(broken(&text, "l2", 1.0, 21, 0.0), []);
        assert_eq!(broken(&text, "l2", 1.001, 20, 0.0), [Gradient(1.0)]);
        let text = format!("{name}:horizon=20,doubling=true");
        assert_eq!(broken(&text, "l2", 1e9, 20, 0.0), []);
        assert_eq!(broken(&text, "l2", 1.0, 21, 0.0), [Horizon(20.0)]);
    }
    let text = "dual-averaging:gradient-bound=1";
    assert_eq!(broken(text, "l2", 1.5, 20, 0.0), [Gradient(1.0)]);
    assert_eq!(broken("dual-averaging", "l2", 1e9, 20, 0.0), []);
    for name in ["ofw", "ofw-weibel", "ofw-ls"] {
        let text = format!("{name}:horizon=20,gradient-bound=1");
        assert_eq!(broken(&text, "l2", 1.0, 20, 0.0), []);
        assert_eq!(broken(&text, "l2", 1.001, 20, 0.0), [Gradient(1.0)]);
        assert_eq!(broken(&text, "l2", 1.0, 21, 0.0), [Horizon(20.0)]);
        assert_eq!(broken(&text, "l2", 1.0, 19, 0.0), [Horizon(20.0)]);
    }
    let text = "sc-ofw:lambda=0.5,gradient-bound=1";
    assert_eq!(broken(text, "l2", 1.0, 20, 0.5), []);
    assert_eq!(
        broken(text, "l2", 1.0, 20, 0.49),
        [StronglyConvexLosses(0.5)]
    );
    assert_eq!(broken(text, "l2", 2.0, 20, 0.5), [Gradient(1.0)]);
    // left out, G is what was seen
    assert_eq!(broken("sc-ofw:lambda=0.5", "l2", 2.0, 20, 0.5), []);
    assert_eq!(
        broken("ogd:lambda=0.5", "l2", 2.0, 20, 0.4),
        [StronglyConvexLosses(0.5)]
    );
    let text = "ogd:gradient-bound=1";
    assert_eq!(broken(text, "l2", 1.5, 20, 0.0), [Gradient(1.0)]);
    assert_eq!(broken("ogd", "l2", 1e9, 20, 0.0), []);
    // fixed β, also where gradients are measured in a norm larger than ℓ2
    let text = "gauge-ftrl:balance=fixed,horizon=20,gradient-bound=1";
    for set in ["l2", "lp:p=1.5", "lp:p=3"] {
        assert_eq!(broken(text, set, 1.0, 20, 0.0), []);
        assert_eq!(broken(text, set, 1.001, 20, 0.0), [Gradient(1.0)]);
    }
    assert_eq!(broken("gauge-ftrl", "lp:p=3", 1e9, 20, 0.0), []);
}

#[test]
fn gradient_descent_with_an_offset_claims_no_theorem() {
    let set = set("l2", 2);
    assert!(learner("ogd:lambda=0.5", &set).guarantee().is_some());
    let text = "ogd:lambda=0.5,offset=0";
    assert!(
        learner(text, &set).guarantee().is_some(),
        "b = 0 is theory's"
    );
    assert!(
        learner("ogd:lambda=0.5,offset=3", &set)
            .guarantee()
            .is_none()
    );
    for (text, reason) in [
        ("ogd:lambda=0.5,offset=-1", "≥ 0"),
        ("ogd:offset=3", "strongly-convex"),
        ("ogd:gradient-bound=1,offset=3", "strongly-convex"),
        (
            "ogd:schedule=adagrad,lambda=0.5,offset=3",
            "strongly-convex",
        ),
    ] {
        let spec: LearnerSpec = text.parse().unwrap();
        let error = spec.build(&set).err().unwrap().to_string();
        assert!(
            error.contains("offset") && error.contains(reason),
            "{error}"
        );
    }
}
