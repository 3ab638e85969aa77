//! Plans and the values of flags.

use extremal_learn::{Config, Every, Plan};

fn asked(learner: &str, l2: f64, gradient_bound: Option<f64>) -> Config {
    Config {
        learner: Some(learner.parse().unwrap()),
        l2: Some(l2),
        gradient_bound,
        ..Config::default()
    }
}

#[test]
fn a_configuration_is_read_back_and_empty_keys_can_be_left_out() {
    let asked = Config {
        loss: Some("logistic".parse().unwrap()),
        horizon: Some(7),
        ..asked("ofw-ls", 0.5, Some(0.1))
    };
    let plan = Plan::choose(&asked, 2.0 / 3.0).unwrap();
    for config in [&asked, &plan.config] {
        let mut value = serde_json::to_value(config).unwrap();
        let keys = value.as_object_mut().unwrap();
        keys.retain(|_, value| !value.is_null());
        let read: Config = serde_json::from_value(value).unwrap();
        assert_eq!(&read, config);
    }
    // A complete configuration chooses the same plan.
    assert_eq!(Plan::choose(&plan.config, 1.0).unwrap(), plan);
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    Plan::choose(&asked("ofw-ls", 0.5, None), 1.0).unwrap();
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(Plan::choose(&asked("ofw-ls", 0.5, Some(bad)), 1.0).is_err());
        assert!(Plan::choose(&asked("ofw-ls", bad, None), 1.0).is_err());
    }
}

#[test]
fn a_number_with_a_point_is_a_factor() {
    assert_eq!("2.0".parse(), Ok(Every::Factor(2.0)));
    assert_eq!("1000".parse(), Ok(Every::Rounds(1000)));
    for bad in ["0", "1.0", "-3", "nan", "x", ""] {
        assert!(bad.parse::<Every>().is_err(), "{bad}");
    }
}
