//! Cases in which earlier versions certified what is false.

use super::*;

/// Two columns K·(1 … 1.5) + N(0, 1) and y = 3(a − b) + noise, on the segment between (10, −10) and
/// (−10, 10).
fn columns(size: f64) -> (Shape, Vec<(Vec<f64>, f64)>) {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let shape = Shape::Segment {
        a: vec![10.0, -10.0],
        b: vec![-10.0, 10.0],
    };
    (shape, collinear(&mut rng, 2, size, 300))
}

#[test]
fn statistics_of_collinear_columns_certify_no_false_interval() {
    for size in [1e5, 1e7, 1e8, 1e9, 1e10] {
        let (shape, rows) = columns(size);
        let played = check_squares(&format!("K = {size:e}"), &shape, &rows, 0.0, "ofw-free");
        let [rows, statistics] = played.best;
        // kept rows certify something useful far longer than statistics do
        if size <= 1e8 {
            assert!(rows.relative_gap() < 1e-3, "K = {size:e}: {rows:?}");
        }
        assert!(statistics.floor <= rows.value && rows.floor <= statistics.value);
        assert!(
            played.regret <= big(played.total + played.rounding),
            "K = {size:e}"
        );
    }
}

#[test]
fn quadratic_certificates_hold_on_a_ball_far_from_the_origin() {
    for lambda in [1e3, 1e5] {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let shape = Shape::Ball {
            centre: vec![300.0; 3],
            radius: 1.0,
        };
        let rows: Vec<(Vec<f64>, f64)> = (0..1500)
            .map(|_| ((0..3).map(|_| noise(&mut rng)).collect(), noise(&mut rng)))
            .collect();
        let learner = format!("sc-ofw:lambda={lambda:?}");
        check_squares(&format!("λ = {lambda:e}"), &shape, &rows, lambda, &learner);
    }
}

#[test]
fn coin_ftrl_knows_the_sum_that_large_gradients_hid() {
    for dim in [1, 3] {
        let set = build(&Shape::Ball {
            centre: vec![0.0; dim],
            radius: 1.0,
        });
        let mut learner = support::learner("coin-ftrl", &set);
        let mut suffered = 0.0;
        for size in [1.0; 10].into_iter().chain([1e12, -1e12]) {
            let mut g = vec![0.0; dim];
            g[0] = size;
            suffered += size * written(learner.decide().unwrap())[0];
            learner.observe(&Gradient::dense(&g)).unwrap();
        }
        let certificate = learner.certificate().unwrap();
        // the sum of gradients is 10, so that the best decision loses −10
        let regret = suffered + 10.0;
        assert!(certificate.regret >= regret, "{certificate:?}, {regret}");
        assert!(
            certificate.regret <= regret + 1.0,
            "{certificate:?}, {regret}"
        );
    }
}

#[test]
fn a_start_that_lies_outside_by_rounding_is_not_better_than_the_best() {
    // (x − 10)²/2 on [−1, 1]: no less than 40.5
    let mut sum = Sum::new(1, &squared(0.0)).unwrap();
    sum.push(Row::Dense(&[1.0]), 10.0, 1.0).unwrap();
    for spec in ["l2:radius=1,dim=1", "hull:points=[[-1],[1]]"] {
        let set = spec.parse::<SetSpec>().unwrap().build(None).unwrap();
        for outside in [0.0, 1e-14, 1e-13, 1e-12, 9e-10] {
            let options = Options {
                start: Some(vec![1.0 + outside]),
                ..Options::default()
            };
            let best = solve(&sum, &*set, &options).unwrap();
            let what = format!("{spec}, {outside:e}");
            assert_between(best.floor, &big(40.5), best.value, &what);
        }
    }
}

#[test]
fn a_prediction_that_rounds_to_the_label_is_not_taken_for_it() {
    // ⟨a, x⟩ = 1 + 2⁻²⁹ + 2⁻⁶⁰, the label all but the last term
    let a = 1.0 + 2f64.powi(-30);
    let label = 1.0 + 2f64.powi(-29);
    for (loss, truth) in [("absolute", 2f64.powi(-60)), ("squared", 2f64.powi(-121))] {
        let loss = loss.parse::<LossSpec>().unwrap().build().unwrap();
        let mut sum = Sum::new(1, &Objective::new(loss, 0.0).unwrap()).unwrap();
        sum.push(Row::Dense(&[a]), label, 1.0).unwrap();
        let proof = extremal::hindsight::Total::minorant(&sum, 0.0, &[a], 1.0, &mut [0.0]);
        assert!(proof.value >= truth, "{proof:?}");
    }
}
