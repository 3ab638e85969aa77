//! Pictures of learners in the plane.

use extremal::learner::{Learner, LearnerSpec};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{SetSpec, SharedSet};
use extremal_lab::picture::draw;
use extremal_lab::results::Picture;

fn objective(loss: &str, ridge: f64) -> Objective {
    Objective::new(loss.parse::<LossSpec>().unwrap().build().unwrap(), ridge).unwrap()
}

/// A learner that knows its constants, as far as it has keys for them.
fn build(
    learner: &str,
    lambda: f64,
    set: &SharedSet,
    gradient: f64,
    rounds: u64,
) -> extremal::Result<Box<dyn Learner>> {
    let mut spec: LearnerSpec = learner.parse()?;
    for (key, value) in [
        ("horizon", rounds as f64),
        ("gradient-bound", gradient),
        ("lambda", lambda),
    ] {
        if value > 0.0 && spec.entry().parameters.iter().any(|p| p.name == key) {
            spec = spec.with(key, value)?;
        }
    }
    spec.build(set)
}

fn drawn(set: &str, loss: &str, ridge: f64, stream: &str, learner: &str) -> Option<Picture> {
    draw(
        &set.parse().unwrap(),
        &objective(loss, ridge),
        &stream.parse().unwrap(),
        &|set, gradient, rounds| build(learner, ridge, set, gradient, rounds),
        60,
        3,
    )
    .unwrap()
}

/// How far a point is outside of a polygon whose points are anticlockwise; below 0 inside.
fn outside(outline: &[[f64; 2]], x: [f64; 2]) -> f64 {
    let mut most = f64::NEG_INFINITY;
    for (k, a) in outline.iter().enumerate() {
        let b = outline[(k + 1) % outline.len()];
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let out = (dy * (x[0] - a[0]) - dx * (x[1] - a[1])) / dx.hypot(dy);
        most = most.max(out);
    }
    most
}

fn check(drawn: &Picture) {
    let first = drawn.outline[0];
    let reach = |p: &[f64; 2]| (p[0] - first[0]).hypot(p[1] - first[1]);
    // the diameter is at most twice as far as the farthest from one point
    let near = 2e-4 * 2.0 * drawn.outline.iter().map(reach).fold(0.0, f64::max);
    assert!(drawn.outline.len() >= 3, "{}", drawn.set);
    for step in &drawn.steps {
        let points = [step.x, step.gradient, drawn.best];
        let atoms = step.atoms.iter().flatten();
        assert!(points.iter().flatten().chain(atoms).all(|v| v.is_finite()));
        assert!(step.regret.is_finite());
        for x in step.atoms.iter().chain([&step.x, &drawn.best]) {
            assert!(outside(&drawn.outline, *x) <= near, "{}: {x:?}", drawn.set);
        }
        for atom in &step.atoms {
            // an extreme point is on the boundary
            assert!(outside(&drawn.outline, *atom) >= -near, "{}", drawn.set);
        }
    }
}

#[test]
fn every_set_of_the_registry_is_drawn_or_left_out() {
    let mut seen = std::collections::BTreeMap::new();
    for entry in SetSpec::ENTRIES {
        for set in entry.examples {
            let picture = drawn(set, "linear", 0.0, "drift", "ofw-ls");
            *seen.entry(entry.name).or_insert(0) += usize::from(picture.is_some());
            if let Some(picture) = picture {
                assert_eq!(picture.steps.len(), 60);
                assert!(picture.steps.iter().all(|s| s.atoms.len() == 1), "{set}");
                check(&picture);
            }
        }
    }
    // the product's parts would be intervals and points, whatever they are
    let left_out = ["product"];
    for (name, count) in &seen {
        assert_eq!(*count == 0, left_out.contains(name), "{name}: {seen:?}");
    }
}

#[test]
fn atoms_are_where_the_steps_lead() {
    for set in ["l2", "lp:p=1.5", "l1", "simplex", "box"] {
        let picture = drawn(set, "linear", 0.0, "drift", "ofw").unwrap();
        for (t, two) in picture.steps.windows(2).enumerate() {
            let sigma = (2.0 / ((t + 1) as f64).sqrt()).min(1.0);
            let [from, to, atom] = [two[0].x, two[1].x, two[0].atoms[0]];
            for k in 0..2 {
                let expected = from[k] + sigma * (atom[k] - from[k]);
                assert!((to[k] - expected).abs() < 1e-9, "{set}, round {}", t + 1);
            }
        }
    }
}

#[test]
fn flat_sets_are_shown_in_their_plane() {
    let name = |set: &str| drawn(set, "linear", 0.0, "drift", "ofw-ls").map(|d| d.set);
    let is = |set, expected: &str| assert_eq!(name(set).as_deref(), Some(expected));
    is("l2:radius=5,dim=700", "l2:radius=5.0,dim=2");
    is("simplex:dim=50", "simplex:dim=3, in its plane");
    is("scale:by=2.0,set=(l1)", "scale:by=2.0,set=(l1:dim=2)");
    assert_eq!(name("hull:points=[[0,0],[2,2]]"), None);
    assert_eq!(name("box:lower=[0,0,0]"), None);
    let none = drawn("simplex", "log-wealth", 0.0, "noise", "ofw");
    assert!(none.is_none(), "there are no prices in the plane");
}

#[test]
fn outlines_have_every_vertex_and_follow_every_curve() {
    let outline = |set: &str| drawn(set, "linear", 0.0, "drift", "ofw").unwrap().outline;
    let corners = outline("box:lower=0,upper=2,dim=8");
    assert_eq!(corners, [[2.0, 2.0], [0.0, 2.0], [0.0, 0.0], [2.0, 0.0]]);
    // a corner so flat that no direction of a grid would meet it
    let flat = outline("hull:points=[[-1,0],[1,0],[0,1e-6],[0,-1],[0,0]]");
    assert_eq!(flat.len(), 4);
    let circle = outline("l2:radius=3");
    assert!((40..400).contains(&circle.len()));
    let on = |p: &[f64; 2]| (p[0].hypot(p[1]) - 3.0).abs() < 1e-12;
    assert!(circle.iter().all(on));
}

#[test]
fn regret_of_linear_losses_is_exact_at_every_step() {
    for (set, stream) in [("l2", "drift"), ("l1", "adversary"), ("simplex", "noise")] {
        let picture = drawn(set, "linear", 0.0, stream, "ofw-ls").unwrap();
        check(&picture);
        let (mut loss, mut sum) = (0.0, [0.0; 2]);
        for step in &picture.steps {
            let [x, g] = [step.x, step.gradient];
            loss += x[0] * g[0] + x[1] * g[1];
            sum = [sum[0] + g[0], sum[1] + g[1]];
            let values = picture
                .outline
                .iter()
                .map(|p| p[0] * sum[0] + p[1] * sum[1]);
            let least = values.fold(f64::INFINITY, f64::min);
            let size = sum[0].hypot(sum[1]).max(1.0);
            assert!((loss - least - step.regret).abs() <= 1e-3 * size, "{set}");
        }
    }
}

#[test]
fn regret_of_other_losses_ends_at_the_regret() {
    for (set, loss, ridge, stream) in [
        ("l2", "squared", 0.1, "regression"),
        ("lp:p=1.5,radius=2", "logistic", 0.0, "classification"),
        ("box", "absolute", 0.0, "regression"),
    ] {
        let learner = if ridge > 0.0 { "sc-ofw" } else { "ofw-ls" };
        let picture = drawn(set, loss, ridge, stream, learner).unwrap();
        check(&picture);
        let last = picture.steps[59].regret;
        assert!(last > -1e-8, "{set}, {loss}: {last}");
        assert!(picture.steps.iter().any(|s| s.regret > 1e-3), "{set}");
    }
}
