//! Gauge-FTRL certifies itself: on any sequence whatever, at any scale, regret ≤ its linear
//! certificate ≤ 2β; and β is logarithmic where the losses drift.

use crate::support::{self, *};
use extremal::Gradient;
use extremal::learner::{Learner, Level};

/// What is done to a stream's gradients.
#[derive(Clone, Copy, Debug)]
enum Twist {
    Scaled(f64),
    /// Every third gradient is 0, and the first five are.
    Zeros,
    /// Now and then the scale changes by 10⁸, up or down.
    Jumps,
    /// From 1e-95 to 1e95 within the run.
    Climbing,
}

impl Twist {
    fn factor(self, t: u64, rounds: u64, scale: &mut f64, coin: f64) -> f64 {
        match self {
            Self::Scaled(k) => k,
            Self::Zeros => f64::from(t > 5 && !t.is_multiple_of(3)),
            Self::Jumps => {
                if coin < 0.02 {
                    *scale = if *scale > 1e12 {
                        *scale * 1e-8
                    } else {
                        *scale * 1e8
                    };
                } else if coin > 0.98 {
                    *scale = if *scale < 1e-12 {
                        *scale * 1e8
                    } else {
                        *scale * 1e-8
                    };
                }
                *scale
            }
            Self::Climbing => 10f64.powf(-95.0 + 190.0 * t as f64 / rounds as f64),
        }
    }
}

const TWISTS: [Twist; 8] = [
    Twist::Scaled(1.0),
    Twist::Scaled(1e-3),
    Twist::Scaled(1e3),
    Twist::Scaled(1e-95),
    Twist::Scaled(1e95),
    Twist::Zeros,
    Twist::Jumps,
    Twist::Climbing,
];

const STREAMS: [&str; 6] = [
    "noise",
    "drift",
    "alternating",
    "adversary:kind=along",
    "adversary:kind=sign",
    "adversary:kind=orthogonal",
];

/// Plays a twisted stream and holds regret, certificate and 2β against each other every round;
/// returns the largest share of 2β that the regret took.
fn certified(
    learner: &mut dyn Learner,
    body: &Body,
    stream: &str,
    twist: Twist,
    rounds: u64,
) -> f64 {
    let dim = learner.dim();
    let mut rows = support::stream(stream, dim, 3);
    let mut rng = generator(4);
    let (mut scale, mut closest) = (1.0, 0.0_f64);
    let (mut played, mut size) = (Sum::default(), 0.0);
    let mut sums = vec![Sum::default(); dim];
    for t in 1..=rounds {
        let x = learner.decide().unwrap();
        let row = rows.next(x).unwrap().unwrap().row;
        let factor = twist.factor(t, rounds, &mut scale, uniform(&mut rng));
        let mut g = vec![0.0; dim];
        row.add_to(factor, &mut g);
        let x = decision(x);
        played.add(dot(&g, &x));
        sums.iter_mut().zip(&g).for_each(|(s, g)| s.add(*g));
        size += norm(&g) * body.diameter(dim);
        let record = learner.observe(&Gradient::dense(&g)).unwrap();
        assert!((0.0..=1.0).contains(&record.sigma));

        let s: Vec<f64> = sums.iter().map(Sum::value).collect();
        let low = if norm(&s) == 0.0 {
            0.0
        } else {
            dot(&s, &body.oracle(&s))
        };
        let regret = played.value() - low;
        let certificate = learner.certificate().unwrap();
        assert_eq!(certificate.level, Level::Linear);
        let bound = learner.guarantee().unwrap().bound(t as f64);
        let rounding = 1e-13 * size;
        let place = || format!("{body:?}, d = {dim}, {stream}, {twist:?}, round {t}");
        // the regret itself, up to an allowance for rounding that is never too small
        let gap = certificate.regret - regret;
        assert!(
            (gap - certificate.rounding).abs() <= rounding && gap >= -1e-15 * size,
            "{}: certificate {}, regret {regret}",
            place(),
            certificate.regret
        );
        assert!(
            regret <= bound + rounding,
            "{}: regret {regret} > {bound}",
            place()
        );
        if bound > 0.0 {
            closest = closest.max(regret / bound);
        }
    }
    closest
}

#[test]
fn regret_never_exceeds_the_certificate_nor_twice_beta() {
    let rounds = rounds(300, 10_000);
    for p in [2.0, 1.5, 1.1, 3.0, 6.0] {
        let body = Body::Lp { p, radius: 1.5 };
        let mut closest = 0.0_f64;
        for dim in [1, 2, 10] {
            let set = set(&body.spec(), dim);
            for stream in STREAMS {
                for twist in TWISTS {
                    let mut learner = learner("gauge-ftrl", &set);
                    closest = closest.max(certified(&mut *learner, &body, stream, twist, rounds));
                }
            }
        }
        println!("p = {p}: regret ≤ {closest:.3}·2β");
    }
}

#[test]
fn the_same_holds_on_ellipsoids_groups_and_elastic_nets() {
    let rounds = rounds(200, 10_000);
    let axes = &[1.0, 0.3, 2.0, 0.05, 1.0];
    for body in [
        Body::Ellipsoid { axes, centre: 0.0 },
        Body::Ellipsoid { axes, centre: 0.4 },
        Body::Group {
            s: 1.5,
            p: 1.2,
            radius: 1.5,
            size: 2,
        },
        Body::Group {
            s: 2.0,
            p: 1.5,
            radius: 1.0,
            size: 3,
        },
        Body::ElasticNet {
            omega: 0.5,
            tau: 2.0,
        },
        Body::ElasticNet {
            omega: 20.0,
            tau: 1.0,
        },
    ] {
        let set = set(&body.spec(), 5);
        let mut closest = 0.0_f64;
        for stream in STREAMS {
            for twist in TWISTS {
                let mut learner = learner("gauge-ftrl", &set);
                closest = closest.max(certified(&mut *learner, &body, stream, twist, rounds));
            }
        }
        println!("{body:?}: regret ≤ {closest:.3}·2β");
    }
}

#[test]
fn adagrad_balance_keeps_to_its_bound_whatever_the_scale() {
    let rounds = rounds(300, 10_000);
    for p in [2.0, 1.5, 1.1] {
        let body = Body::Lp { p, radius: 1.5 };
        let set = set(&body.spec(), 5);
        for stream in STREAMS {
            for (twist, bound) in [
                (Twist::Scaled(1.0), "1"),
                (Twist::Scaled(1e-3), "0.001"),
                (Twist::Scaled(1e3), "1000"),
                (Twist::Scaled(1e95), "1e95"),
                (Twist::Zeros, "1"),
            ] {
                let text = format!("gauge-ftrl:balance=adagrad,gradient-bound={bound}");
                certified(&mut *learner(&text, &set), &body, stream, twist, rounds);
            }
        }
    }
}

#[test]
fn zero_gradients_leave_it_at_the_centre_with_nothing_to_certify() {
    let set = set("lp:p=1.5", 3);
    let mut learner = learner("gauge-ftrl", &set);
    for _ in 0..10 {
        assert_eq!(decision(learner.decide().unwrap()), [0.0; 3]);
        learner.observe(&Gradient::dense(&[0.0; 3])).unwrap();
        assert_eq!(learner.certificate().unwrap().regret, 0.0);
        assert_eq!(learner.guarantee().unwrap().bound(1.0), 0.0);
    }
}

#[test]
fn beta_is_logarithmic_where_losses_drift_and_a_square_root_where_they_do_not() {
    let set = set("l2", 10);
    let short = rounds(1000, 10_000);
    let beta_after = |stream: &str| {
        let mut learner = learner("gauge-ftrl", &set);
        let mut stream = support::stream(stream, 10, 1);
        let mut betas = Vec::new();
        for t in 1..=100 * short {
            let row = stream.next(learner.decide().unwrap()).unwrap().unwrap().row;
            let mut g = [0.0; 10];
            row.add_to(1.0, &mut g);
            learner.observe(&Gradient::dense(&g)).unwrap();
            if [short, 10 * short, 100 * short].contains(&t) {
                betas.push(0.5 * learner.guarantee().unwrap().bound(t as f64));
            }
        }
        betas
    };
    // T, 10T, 100T: equal differences
    let b = beta_after("drift");
    let ratio = (b[2] - b[1]) / (b[1] - b[0]);
    println!("drift: β = {b:.3?}, ratio of differences {ratio:.3}");
    assert!((0.9..1.1).contains(&ratio), "{b:?}");
    // equal ratios √10
    let b = beta_after("adversary:kind=orthogonal");
    println!("orthogonal: β = {b:.3?}");
    for k in 0..2 {
        assert!((b[k + 1] / b[k] / 10f64.sqrt() - 1.0).abs() < 0.02, "{b:?}");
    }
}
