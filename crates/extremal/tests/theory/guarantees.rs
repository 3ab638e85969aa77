//! The theorems' constants against numbers worked out by hand, and the assumptions, which a run
//! must be held against.

use crate::support::{self, *};
use extremal::learner::LearnerSpec;
use extremal::pair::Gradient;
use extremal::theory::{self, Assumption, Guarantee, LossFacts, Seen, Trivial, Watched};

#[test]
fn the_constants_are_those_worked_out_by_hand() {
    let close = |found: f64, expected: f64| {
        assert!(
            (found / expected - 1.0).abs() < 1e-14,
            "{found}, not {expected}"
        );
    };
    // 8·2·3·10000^(3/4) = 48·1000
    close(theory::ofw(2.0, 3.0, 1e4), 48_000.0);
    // 4/3^(3/4)·6·1000
    close(theory::ofw_weibel(2.0, 3.0, 1e4), 10_528.592_103_619_94);
    // α = 1: 4096/3 beats 4·2²; α = 2, D = 40: 4·1600 beats 4096/12
    close(theory::ofw_ls_constant(2.0, 1.0), 1_365.333_333_333_333_3);
    close(theory::ofw_ls_constant(40.0, 2.0), 6_400.0);
    // (11/4)·√(4096/3)·1000^(2/3), and (11/4)·3·80·64^(2/3)
    close(theory::ofw_ls(1.0, 2.0, 1.0, 998.0), 10_161.364_737_737_413);
    close(theory::ofw_ls(3.0, 40.0, 2.0, 62.0), 10_560.0);
    // (4096/3)/27^(2/3)
    close(theory::ofw_ls_lemma(2.0, 1.0, 25.0), 151.703_703_703_703_7);
    // λ = ½, D = 2: 4·(1+1)²/½ = 32 against 288·½ = 144; with G = 5: 4·36/½ = 288
    close(theory::sc_ofw_constant(1.0, 0.5, 2.0, 1.0), 144.0);
    close(theory::sc_ofw_constant(5.0, 0.5, 2.0, 1.0), 288.0);
    // 144·√10000 + 72·ln 5000 + 2
    let curved = theory::sc_ofw_curved(1.0, 0.5, 2.0, 1.0, 5000.0);
    close(curved, 15_015.237_909_781_969);
    // C = 16·4/½ = 128: (3√2/8)·128·8000^(2/3) + 16·ln 8000 + 2
    let general = theory::sc_ofw_general(1.0, 0.5, 2.0, 8000.0);
    close(general, 27_298.695_546_694_017);
    // G√(2LT) = 2·√40000 at β = G√(LT/2) = 2·100
    close(theory::gauge_ftrl(2.0, 4.0, 200.0, 5000.0), 400.0);
    // p = 3, r = 2, T = 1000: β = 2·(√2·1000/3)^(2/3); 3^(1/3)·2^(1/3)·2·100
    let uniform = theory::gauge_ftrl_uniform(1.0, 1.5, 2.0, 121.141_372_855_475_98, 1000.0);
    close(uniform, 363.424_118_566_427_9);
    // 1.5·2·3·√10000
    close(theory::ogd_convex(2.0, 3.0, 1e4), 900.0);
    // 4·(1 + ln 1000)/(2·½)
    let logarithmic = theory::ogd_strongly_convex(2.0, 0.5, 1000.0);
    close(logarithmic, 31.631_021_115_928_548);
    // GD√T after T rounds, and half of it spent on the regulariser before the first
    close(theory::dual_averaging(2.0, 3.0, 1e4, 1e4), 600.0);
    close(theory::dual_averaging(2.0, 3.0, 1e4, 0.0), 300.0);
    close(theory::dual_averaging_anytime(2.0, 3.0, 1e4), 900.0);
    close(
        theory::dual_averaging_adaptive(3.0, 2.0),
        12.708_203_932_499_37,
    );
    // 2·3²·2/√25, and while 2/√t is beyond 1
    close(theory::ofw_lemma(3.0, 25.0), 7.2);
    close(theory::ofw_lemma(3.0, 2.0), 18.0);
    // C = 128 as above, times 27^(1/3)
    close(theory::sc_ofw_general_lemma(1.0, 0.5, 2.0, 28.0), 384.0);
}

#[test]
fn a_guarantee_takes_the_better_theorem() {
    let guarantee = Guarantee::from(theory::ScOfw {
        gradient: 1.0,
        lambda: 0.5,
        diameter: 2.0,
        alpha: Some(1.0),
    });
    for t in [10.0, 1e3, 1e5] {
        let curved = theory::sc_ofw_curved(1.0, 0.5, 2.0, 1.0, t);
        let general = theory::sc_ofw_general(1.0, 0.5, 2.0, t);
        assert_eq!(guarantee.bound(t), curved.min(general));
    }
}

#[test]
fn a_bound_above_gdt_is_vacuous() {
    // unit ℓ2 ball: Theorem 1 says less than GDT until T = 1.3·10⁵
    let bound = |t: f64| theory::ofw_ls(1.0, 2.0, 1.0, t);
    let trivial = |rounds: f64| Trivial {
        gradient: 1.0,
        diameter: 2.0,
        rounds,
        above_least: f64::INFINITY,
    };
    assert!(theory::is_vacuous(bound(1.3e5), trivial(1.3e5).regret()));
    assert!(!theory::is_vacuous(bound(1.32e5), trivial(1.32e5).regret()));
    assert!(theory::is_vacuous(f64::NAN, trivial(10.0).regret()));
}

#[test]
fn a_bound_is_vacuous_above_the_gradients_met_and_above_the_total_loss() {
    let theorem = Guarantee::from(theory::OgdConvex {
        gradient: 10.0,
        diameter: 2.0,
    });
    let run = |largest_gradient: f64, above_least: f64| Watched {
        seen: Seen {
            rounds: 100,
            largest_gradient,
            oracle_calls: 0,
        },
        losses: LossFacts::default(),
        violation: None,
        diameter: 2.0,
        above_least,
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
    let boundless = Watched {
        diameter: f64::INFINITY,
        ..run(0.0, 301.0)
    };
    assert!(!theorem.report(&boundless).vacuous);
}

#[test]
fn theorems_of_the_perturbed_leader_need_losses_fixed_beforehand_of_their_kind() {
    use Assumption::{InExpectation, Linear, Oblivious, Smooth};
    let set = support::set("l2", 3);
    for (text, smoothness, oblivious, expected) in [
        ("fpl", 0.0, true, vec![]),
        ("fpl", 1.0, true, vec![Linear]),
        ("fpl", f64::INFINITY, true, vec![Linear]),
        ("fpl", 0.0, false, vec![Oblivious]),
        ("fpl", 1.0, false, vec![Linear, Oblivious]),
        ("fpl:smoothness=2", 2.0, true, vec![]),
        ("fpl:smoothness=2", 2.1, true, vec![Smooth(2.0)]),
        ("ospf:smoothness=2", f64::INFINITY, true, vec![Smooth(2.0)]),
        ("ospf:smoothness=0", 1.0, true, vec![Linear]),
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
        ("fpl:horizon=9,gradient-bound=1", 1.0, true, vec![Linear]),
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
    let theorem = Guarantee::from(theory::OfwLs {
        horizon: 20.0,
        gradient: 1.0,
        diameter: 2.0,
        alpha: 1.0,
    });
    let run = Watched {
        seen: Seen {
            rounds: 20,
            largest_gradient: 1.0,
            oracle_calls: 20,
        },
        losses: LossFacts::default(),
        violation: Some(1e-10),
        diameter: 2.0,
        above_least: f64::INFINITY,
    };
    let report = theorem.report(&run);
    assert_eq!(report.failed().count(), 0);
    assert_eq!(report.checks.len(), 3);
    assert!(report.vacuous && report.bound == theorem.bound(20.0));
    let infeasible = Watched {
        violation: Some(1e-8),
        ..run
    };
    let report = theorem.report(&infeasible);
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
