//! Where one piece meets another: states of other sets, turns left open, assumptions, far points.

use extremal_check::kit::{learner, set};
use std::sync::Arc;

use extremal::game::Game;
use extremal::hindsight::Meter;
use extremal::learner::LearnerSpec;
use extremal::loss::{LossSpec, Objective, linear::Linear};
use extremal::set::{CustomSet, Geometry, SetSpec, SharedSet};
use extremal::stream::{Round, Stream, StreamSpec};
use extremal::theory::LossFacts;
use extremal::{Error, Result};
use extremal::{Gradient, Point, Row};

#[test]
fn a_gradient_bound_out_of_range_is_refused() {
    for name in ["ofw", "ofw-weibel", "ofw-ls"] {
        let spec: LearnerSpec = format!("{name}:horizon=10,gradient-bound=1e-300")
            .parse()
            .unwrap();
        let error = spec.build(&set("l2:radius=1e10", 2)).err().unwrap();
        assert!(error.to_string().contains("gradient-bound"), "{error}");
    }
}

#[test]
fn points_from_very_far_away_are_projected_onto_the_set() {
    for text in [
        "l2:radius=1.3e-20",
        "lp:p=1.5,radius=1e-10",
        "lp:p=3,radius=1e-10",
    ] {
        let set = set(text, 3);
        let mut x = [1e100, -1e99, 0.0];
        set.projection().unwrap().project(&mut x).unwrap();
        let violation = set.violation(&x).unwrap();
        assert!(violation <= 1e-9, "{text}: {x:?}, violation {violation:e}");
        assert!(x[0] > 0.0 && x[1] < 0.0, "{text}: {x:?}");
    }
}

#[test]
fn a_state_goes_back_only_to_the_set_it_is_of() {
    for text in ["ofw-ls:horizon=10,gradient-bound=1", "ogd"] {
        let mut wide = learner(text, &set("l2:radius=10", 3));
        for _ in 0..5 {
            wide.decide().unwrap();
            wide.observe(&Gradient::dense(&[1.0, 0.0, 0.0])).unwrap();
        }
        let saved = wide.save().unwrap();
        let mut narrow = learner(text, &set("l2:radius=1", 3));
        let before = narrow.save().unwrap();
        assert!(
            matches!(narrow.load(&saved), Err(Error::State(_))),
            "{text}"
        );
        assert_eq!(narrow.save().unwrap(), before);
        learner(text, &set("l2:radius=10", 3)).load(&saved).unwrap();
    }
}

#[test]
fn a_gradient_above_g_is_told_of_gauge_ftrl_with_adagrad() {
    let mut player = learner(
        "gauge-ftrl:balance=adagrad,gradient-bound=0.5",
        &set("l2", 2),
    );
    player.decide().unwrap();
    player.observe(&Gradient::dense(&[1.0, 0.0])).unwrap();
    let guarantee = player.guarantee().unwrap();
    let checks = guarantee.check(player.seen(), &LossFacts::default());
    assert!(checks.iter().any(|c| !c.holds), "{checks:?}");
}

/// Rows of a list, then the end.
struct Rows(Vec<([f64; 2], f64)>, usize);

impl Stream for Rows {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        let Some((row, label)) = self.0.get(self.1) else {
            return Ok(None);
        };
        self.1 += 1;
        Ok(Some(Round {
            row: Row::Dense(row),
            label: *label,
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        f64::INFINITY
    }
}

#[test]
fn after_a_round_that_overflows_the_game_goes_on_as_if_it_had_not_been() {
    let squared = "squared".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(squared, 0.0).unwrap();
    let good = vec![([0.6, 0.8], 1.0), ([0.8, -0.6], -1.0)];
    let run = |streams: Vec<Vec<([f64; 2], f64)>>| {
        let set = set("l2", 2);
        let mut player = learner("ofw-ls:horizon=10,gradient-bound=4", &set);
        let mut meter = Meter::new(&set, 0.0, false);
        let mut errors = 0;
        for rows in streams {
            let mut stream = Rows(rows, 0);
            let played = Game::default().with_meter(&mut meter).play(
                &mut *player,
                &mut stream,
                &objective,
                10,
            );
            errors += usize::from(played.is_err());
        }
        let regret = meter.certificate(1).unwrap().regret;
        (
            errors,
            regret,
            player.rounds(),
            player.decision().norm_squared(),
        )
    };
    let bad = vec![([1e200, 0.0], 1e200)];
    let (errors, regret, rounds, square) = run(vec![good.clone(), bad, good.clone()]);
    assert_eq!(errors, 1);
    let clean = run(vec![good.clone(), good]);
    assert_eq!((0, regret, rounds, square), clean);
}

#[test]
fn a_stream_of_another_dimension_is_an_error() {
    let mut stream = "adversary"
        .parse::<StreamSpec>()
        .unwrap()
        .build(10, 0)
        .unwrap();
    let player = learner("gauge-ftrl", &set("l2", 5));
    assert!(matches!(
        stream.next(player.decision()),
        Err(Error::Size { .. })
    ));
}

#[test]
fn a_set_of_ones_own_must_hold_its_centre_and_have_sensible_constants() {
    let geometry = Geometry {
        diameter: 2f64.sqrt(),
        norm_bound: 1.0,
        inner_radius: None,
        strong_convexity: None,
    };
    let oracle = |_: &[f64], v: &mut [f64]| {
        v.copy_from_slice(&[1.0, 0.0]);
        Ok(())
    };
    let off = |x: &[f64]| (x.iter().sum::<f64>() - 1.0).abs();
    let simplex = CustomSet::new("mine", 2, geometry, oracle)
        .unwrap()
        .with_violation(off);
    let spec: LearnerSpec = "ofw-ls:horizon=10,gradient-bound=1".parse().unwrap();
    let at_zero: SharedSet = std::sync::Arc::new(simplex.clone());
    assert!(spec.build(&at_zero).is_err());
    let centred: SharedSet = std::sync::Arc::new(simplex.with_centre(&[0.5, 0.5]).unwrap());
    assert!(spec.build(&centred).is_ok());
    for alpha in [-1.0, 0.0, f64::NAN] {
        let bent = Geometry {
            strong_convexity: Some(alpha),
            ..geometry
        };
        assert!(CustomSet::new("mine", 2, bent, oracle).is_err(), "{alpha}");
    }
}

#[test]
fn the_error_of_an_own_oracle_is_kept_and_printed_once() {
    use std::error::Error as _;
    let geometry = Geometry {
        diameter: 2.0,
        norm_bound: 1.0,
        ..Geometry::default()
    };
    let oracle = |_: &[f64], _: &mut [f64]| {
        "no number".parse::<f64>()?;
        Ok(())
    };
    let set: SharedSet = Arc::new(CustomSet::new("mine", 2, geometry, oracle).unwrap());
    let mut learner = "ofw-free"
        .parse::<LearnerSpec>()
        .unwrap()
        .build(&set)
        .unwrap();
    learner.decide().unwrap();
    let error = learner.observe(&Gradient::dense(&[1.0, 0.0])).unwrap_err();
    let Error::Oracle { set, cause } = &error else {
        panic!("{error}")
    };
    assert!(set == "mine" && cause.is::<std::num::ParseFloatError>());
    // a printed chain shows each error once
    assert_eq!(error.to_string(), format!("oracle of mine: {cause}"));
    assert!(error.source().is_none());
    assert_eq!(error, error.clone());
}

#[test]
fn plain_vectors_are_points() {
    fn check(x: &dyn Point) {
        assert_eq!((x.dim(), x.norm_squared()), (2, 25.0));
        assert_eq!(x.dot(&Row::sparse(&[1], &[2.0])).unwrap(), 8.0);
        assert_eq!(x.as_slice(), Some(&[3.0, 4.0][..]));
        assert!(x.dot(&Row::Dense(&[1.0])).is_err());
    }
    let array = [3.0, 4.0];
    check(&array);
    check(&array.to_vec());
    check(&&array[..]);
    let objective = Objective::new(Arc::new(Linear {}), 0.0).unwrap();
    let row = Row::Dense(&[1.0, 1.0]);
    let of_slice = objective.evaluate(row, 0.0, 1.0, &array[..]).unwrap();
    let of_array = objective.evaluate(row, 0.0, 1.0, &array).unwrap();
    assert_eq!((of_slice.value, of_array.value), (7.0, 7.0));
}

#[test]
fn a_meter_refuses_rows_out_of_order_and_goes_on() {
    let set = "l2:dim=3".parse::<SetSpec>().unwrap().build(None).unwrap();
    let mut meter = Meter::new(&set, 0.0, true);
    let x = [0.5, 0.0, 0.0];
    meter
        .see(&x, &Gradient::sparse(&[0, 2], &[1.0, 1.0]))
        .unwrap();
    let before = meter.save().unwrap();
    for indices in [[1, 1], [2, 0]] {
        let error = meter.see(&x, &Gradient::sparse(&indices, &[1.0, 1.0]));
        assert!(matches!(error, Err(Error::Order { .. })), "{error:?}");
    }
    assert_eq!(meter.save().unwrap(), before);
}
