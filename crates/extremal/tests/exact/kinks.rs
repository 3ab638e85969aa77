//! Floors of losses with kinks, in one dimension, where the minimum is known exactly.

use super::*;

/// min over [−r, r] of Σ w|a·x − y| is at an end or where a term vanishes.
fn least(rows: &[(f64, f64, f64)], radius: f64) -> Big {
    let value = |x: &Big| {
        let each = rows.iter().map(|(a, y, w)| {
            let rest = &big(*a) * x - big(*y);
            let size = if rest < big(0.0) { -rest } else { rest };
            size * big(*w)
        });
        each.fold(big(0.0), |sum, v| sum + v)
    };
    let kinks = rows.iter().map(|(a, y, _)| &big(*y) / &big(*a));
    let ends = [big(-radius), big(radius)];
    kinks
        .filter(|x| *x >= ends[0] && *x <= ends[1])
        .chain(ends.clone())
        .map(|x| value(&x))
        .reduce(Big::min)
        .unwrap()
}

#[test]
fn floors_of_absolute_losses_hold() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let objective = Objective::new(
        "absolute".parse::<LossSpec>().unwrap().build().unwrap(),
        0.0,
    )
    .unwrap();
    let mut narrow = 0;
    for k in 0..problems(60) {
        let size = 10f64.powf(10.0 * rng.random::<f64>() - 2.0);
        let radius = pick(&mut rng, &[0.5, 3.0]);
        let rows: Vec<(f64, f64, f64)> = (0..25)
            .map(|_| {
                let a = size * (1.0 + rng.random::<f64>());
                (a, a * noise(&mut rng), 0.1 + rng.random::<f64>())
            })
            .collect();
        let mut sum = Sum::new(1, &objective).unwrap();
        for (a, y, w) in &rows {
            sum.push(Row::Dense(&[*a]), *y, *w).unwrap();
        }
        let set = build(&Shape::Box {
            low: vec![-radius],
            high: vec![radius],
        });
        let best = solve(&sum, &*set, &Options::default()).unwrap();
        let least = least(&rows, radius);
        assert_between(
            best.floor,
            &least,
            best.value,
            &format!("problem {k}, {size:e}"),
        );
        narrow += usize::from(best.relative_gap() < 1e-4);
    }
    assert!(10 * narrow > 9 * problems(60), "{narrow}");
}
