//! A user's oracle is not taken at its word. One that maximises, or whose points are too long, is
//! refused by every learner, by the meters and by the solver, wherever the set stands. An oracle
//! that is right is never refused.

use extremal_check::kit::dot;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::common::{self, DIMS, all_sets, bits, learners, normals, rng, sets, telling_directions};
use extremal::hindsight::{Dynamic, Intervals, Meter, Method, Options, Sum, solve};
use extremal::learner::{Learner, LearnerSpec};
use extremal::loss::{LossSpec, Objective};
use extremal::set::affine::AffineSet;
use extremal::set::product::ProductSet;
use extremal::set::sum::SumSet;
use extremal::set::{
    Answers, Atom, CustomSet, Facts, Geometry, Minimum, Oracle, Set, SetSpec, SharedSet,
};
use extremal::{Error, Result};
use extremal::{
    Gradient, Row,
    surrogate::{DenseSurrogate, Move, Surrogate, Update},
};

const DIM: usize = 4;

/// What an oracle answers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(u8)]
enum Answer {
    Minimum,
    Maximum,
    /// The minimum, 173 times as long.
    Long,
    /// The centre of the set, whatever the direction.
    Centre,
    /// The minimum with NaN for its first entry.
    NaN,
    /// An entry at an index that the set does not have.
    Outside,
    /// The minimum, with a false ⟨direction, v⟩.
    FalseValue,
    /// The minimum, with a floor above it.
    FalseFloor,
    /// A point between the minimum and the centre, with the minimum as the floor.
    Rough,
}

const WRONG: [Answer; 2] = [Answer::Maximum, Answer::Long];

/// What an oracle is to answer from now on, and how often it was asked.
#[derive(Default)]
struct Switch {
    answer: AtomicU8,
    calls: AtomicU64,
}

impl Switch {
    fn turn(&self, answer: Answer) {
        self.answer.store(answer as u8, Ordering::Relaxed);
    }

    fn is(&self, answer: Answer) -> bool {
        self.answer.load(Ordering::Relaxed) == answer as u8
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

/// A set of one's own, by `impl Set`: one of the library's with the oracle in between.
struct Own {
    inner: SharedSet,
    switch: Arc<Switch>,
}

impl Set for Own {
    fn name(&self) -> &str {
        "mine"
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn geometry(&self) -> Geometry {
        self.inner.geometry()
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(OwnOracle {
            set: self.inner.clone(),
            inner: self.inner.oracle(),
            switch: self.switch.clone(),
        })
    }

    fn centre(&self, out: &mut [f64]) {
        self.inner.centre(out);
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        self.inner.violation(x)
    }

    fn facts(&self) -> Facts {
        Facts {
            polytope: self.inner.polytope(),
            curvature: self.inner.curvature(),
            ..Facts::default()
        }
    }
}

struct OwnOracle {
    set: SharedSet,
    inner: Box<dyn Oracle>,
    switch: Arc<Switch>,
}

impl Oracle for OwnOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        self.switch.calls.fetch_add(1, Ordering::Relaxed);
        let is = |answer| self.switch.is(answer);
        if is(Answer::Maximum) {
            let back: Vec<f64> = direction.iter().map(|d| -d).collect();
            return Ok(Minimum::exact(-self.inner.minimise(&back, atom)?.value));
        }
        let found = self.inner.minimise(direction, atom)?;
        if is(Answer::Long) {
            atom.scale(173.0);
            return Ok(Minimum::exact(173.0 * found.value));
        }
        if is(Answer::Centre) {
            self.set.centre(atom.dense_mut(direction.len()));
            return Ok(Minimum::exact(atom.dot(direction)));
        }
        if is(Answer::NaN) {
            let mut v = vec![0.0; direction.len()];
            atom.write(&mut v);
            v[0] = f64::NAN;
            atom.dense_mut(direction.len()).copy_from_slice(&v);
        }
        if is(Answer::Outside) {
            atom.set_coordinate(direction.len(), 0.5);
        }
        if is(Answer::FalseValue) {
            return Ok(Minimum::exact(found.value - 1.0));
        }
        if is(Answer::FalseFloor) {
            let floor = found.value + 1.0;
            return Ok(Minimum { floor, ..found });
        }
        if is(Answer::Rough) {
            let mut v = vec![0.0; direction.len()];
            self.set.centre(&mut v);
            v.iter_mut().for_each(|v| *v *= 0.25);
            atom.add_to(0.75, &mut v);
            atom.dense_mut(v.len()).copy_from_slice(&v);
            let (value, floor) = (atom.dot(direction), found.value);
            return Ok(Minimum { value, floor });
        }
        Ok(found)
    }
}

fn built(text: &str) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(Some(DIM)).unwrap()
}

fn own(text: &str) -> (SharedSet, Arc<Switch>) {
    let switch = Arc::new(Switch::default());
    let (inner, told) = (built(text), switch.clone());
    let set = Own {
        inner,
        switch: told,
    };
    (Arc::new(set), switch)
}

/// The same by a closure.
fn closure(text: &str) -> (SharedSet, Arc<Switch>) {
    let switch = Arc::new(Switch::default());
    let (inner, told) = (built(text), switch.clone());
    let minimise = move |direction: &[f64], v: &mut [f64]| {
        let mut oracle = OwnOracle {
            set: inner.clone(),
            inner: inner.oracle(),
            switch: told.clone(),
        };
        let mut atom = Atom::new();
        oracle
            .minimise(direction, &mut atom)
            .map_err(|e| e.to_string())?;
        atom.write(v);
        Ok(())
    };
    let inner = built(text);
    let set = CustomSet::new("mine", DIM, inner.geometry(), minimise).unwrap();
    let set = set.with_centre(&common::centre(&*inner)).unwrap();
    (Arc::new(set), switch)
}

type Compose = fn(SharedSet) -> Result<SharedSet>;

/// Where a user's set may stand.
const PLACES: [(&str, Compose); 6] = [
    ("alone", Ok),
    ("product", |set| {
        Ok(Arc::new(ProductSet::new(vec![
            built("simplex:dim=4"),
            set,
        ])?))
    }),
    ("translate", |set| {
        Ok(Arc::new(AffineSet::translated(
            set,
            &[0.5, 0.0, -1.0, 2.0],
        )?))
    }),
    ("scale", |set| Ok(Arc::new(AffineSet::scaled(set, 3.0)?))),
    ("sum", |set| {
        Ok(Arc::new(SumSet::new(vec![set, built("l2:dim=4")])?))
    }),
    ("image", |set| {
        let mut matrix = [0.0; DIM * DIM];
        for i in 0..DIM {
            matrix[i * DIM + (i + 1) % DIM] = 1.0 + i as f64;
        }
        Ok(Arc::new(AffineSet::image(set, &matrix)?))
    }),
];

/// Every user's set in every place, with its name and its switch.
fn users_sets() -> Vec<(String, SharedSet, Arc<Switch>)> {
    let mut all = Vec::new();
    for text in ["l2", "simplex", "box:lower=-1,upper=1"] {
        for (kind, make) in [
            ("closure", closure as fn(&str) -> _),
            ("impl Set", own as fn(&str) -> _),
        ] {
            for (place, compose) in PLACES {
                let (set, switch) = make(text);
                let name = format!("{text} by {kind}, {place}");
                all.push((name, compose(set).unwrap(), switch));
            }
        }
    }
    all
}

/// Plays until an error.
fn play(learner: &mut dyn Learner, rounds: usize, seed: u64) -> Result<()> {
    let mut r = rng(seed);
    for _ in 0..rounds {
        let mut g = normals(&mut r, learner.dim());
        g.iter_mut().for_each(|g| *g = 0.3 * *g + 0.5);
        learner.decide()?;
        learner.observe(&Gradient::dense(&g))?;
    }
    Ok(())
}

fn decision(learner: &mut dyn Learner) -> Vec<f64> {
    let mut x = vec![0.0; learner.dim()];
    learner.decide().unwrap().write(&mut x);
    x
}

/// Errors are to name the set and to say what was expected.
fn check_named(name: &str, answer: Answer, error: &Error) {
    let text = error.to_string();
    assert!(
        matches!(error, Error::Oracle { set, .. } if set == "mine"),
        "{name}, {answer:?}: {text}"
    );
    let expected = match answer {
        Answer::Maximum | Answer::Centre => {
            "must minimise ⟨direction, v⟩ over the set, not maximise"
        }
        Answer::Long => "beyond the set's norm_bound",
        Answer::NaN => "entry 0 of the point that it returned is NaN",
        Answer::Outside => "does not have the set's dimension 4",
        Answer::FalseValue => ", but ⟨direction, v⟩ is",
        Answer::FalseFloor => "it returned the floor",
        Answer::Rough => panic!("{name}: a floor was refused: {text}"),
        Answer::Minimum => panic!("{name}: a right oracle was refused: {text}"),
    };
    assert!(text.contains(expected), "{name}, {answer:?}: {text}");
}

/// Learners that no test here can play: they need a projection, a gauge or a smooth constraint, or
/// ask a ball's own formula, or take examples, and a user's set here has nothing but its oracle.
const WITHOUT_ORACLE: [&str; 8] = [
    "coin-ftrl",
    "dual-averaging",
    "eg",
    "fast-ogd",
    "gauge-wrapper",
    "ogd",
    "so-ogd",
    "unit-free",
];

/// Learners that play answers as they are. They have no decision to compare an answer with.
const WITHOUT_GAP: [&str; 3] = ["fpl", "ftl", "ospf"];

fn names() -> BTreeSet<&'static str> {
    LearnerSpec::ENTRIES.iter().map(|e| e.name).collect()
}

/// The learner, having played some rounds with a right oracle; nothing where it does not go with
/// the set.
fn played(name: &str, spec: &LearnerSpec, set: &SharedSet) -> Option<Box<dyn Learner>> {
    let mut learner = match spec.build(set) {
        Ok(learner) => learner,
        Err(Error::Unsupported(_) | Error::CannotPlay { .. } | Error::Missing { .. }) => {
            return None;
        }
        Err(error) => panic!("{name}: {error}"),
    };
    play(&mut *learner, 150, 1)
        .unwrap_or_else(|e| panic!("{name}: a right oracle was refused: {e}"));
    Some(learner)
}

#[test]
fn every_learner_refuses_a_wrong_oracle_at_its_first_answers() {
    let (mut refused, mut runs) = (BTreeSet::new(), 0);
    for (place, set, switch) in users_sets() {
        for (text, spec) in learners() {
            for answer in WRONG {
                let name = format!("{text} on {place}");
                switch.turn(Answer::Minimum);
                let before = switch.calls();
                if played(&name, &spec, &set).is_none() {
                    continue;
                }
                assert!(switch.calls() > before, "{name}: the oracle was not asked");
                switch.turn(answer);
                let before = switch.calls();
                let outcome = match spec.build(&set) {
                    Err(error) => Err(error),
                    Ok(mut learner) => play(&mut *learner, 150, 1),
                };
                let Err(error) = outcome else {
                    panic!("{name}, {answer:?}: not refused");
                };
                check_named(&name, answer, &error);
                // a direction may be constant on the set, and `ons` asks once for memory alone
                assert!(switch.calls() - before <= 3, "{name}, {answer:?}");
                refused.insert(spec.entry().name);
                runs += 1;
            }
        }
    }
    let without: BTreeSet<&str> = names().difference(&refused).copied().collect();
    assert_eq!(without, WITHOUT_ORACLE.into(), "{} learners", refused.len());
    assert!(runs > 2500, "{runs}");
}

#[test]
fn records_count_the_calls_that_the_oracle_got() {
    let mut counted = BTreeSet::new();
    for (place, set, switch) in users_sets() {
        for (text, spec) in learners() {
            let Ok(mut learner) = spec.build(&set) else {
                continue;
            };
            let before = switch.calls();
            play(&mut *learner, 100, 3).unwrap();
            // rounds without a gradient, in some of which nothing is asked
            for _ in 0..3 {
                learner.decide().unwrap();
                let zero = vec![0.0; set.dim()];
                learner.observe(&Gradient::dense(&zero)).unwrap();
            }
            let calls = switch.calls() - before;
            assert_eq!(learner.seen().oracle_calls, calls, "{text} on {place}");
            counted.insert(spec.entry().name);
        }
    }
    assert!(counted.len() > 14, "{counted:?}");
}

#[test]
fn every_learner_that_knows_a_gap_refuses_an_answer_worse_than_its_decision() {
    // no answer is worse than the centre here: only the gap shows that it is wrong
    let mut refused = BTreeSet::new();
    for (place, set, switch) in users_sets() {
        for (text, spec) in learners() {
            let name = format!("{text} on {place}");
            switch.turn(Answer::Minimum);
            let Some(mut learner) = played(&name, &spec, &set) else {
                continue;
            };
            switch.turn(Answer::Centre);
            if let Err(error) = play(&mut *learner, 100, 2) {
                let text = error.to_string();
                assert!(
                    text.contains("above ⟨direction, decision⟩"),
                    "{name}: {text}"
                );
                refused.insert(spec.entry().name);
            }
        }
    }
    let without: BTreeSet<&str> = names().difference(&refused).copied().collect();
    let all = WITHOUT_ORACLE.into_iter().chain(WITHOUT_GAP);
    assert_eq!(without, all.collect());
}

#[test]
fn every_meter_refuses_a_wrong_oracle() {
    for (name, set, switch) in users_sets() {
        let x = common::centre(&*set);
        let g: Vec<f64> = (0..set.dim()).map(|i| 1.0 - 0.3 * i as f64).collect();
        let measure = || -> Result<()> {
            let gradient = Gradient::dense(&g);
            let mut meter = Meter::new(&set, 0.0, true);
            meter.see(&x, &gradient)?;
            meter.certificate(1)?;
            Ok(())
        };
        let dynamic = || Dynamic::new(&set).see(&x, &Gradient::dense(&g));
        let intervals = || -> Result<()> {
            let mut intervals = Intervals::new(&set, 1)?;
            intervals.see(&x, &Gradient::dense(&g))?;
            intervals.worst()?;
            Ok(())
        };
        switch.turn(Answer::Minimum);
        for outcome in [measure(), dynamic(), intervals()] {
            outcome.unwrap();
        }
        for answer in WRONG {
            switch.turn(answer);
            for outcome in [measure(), dynamic(), intervals()] {
                check_named(&name, answer, &outcome.unwrap_err());
            }
        }
    }
}

#[test]
fn every_method_of_the_solver_refuses_a_wrong_oracle() {
    let mut runs = 0;
    for (name, set, switch) in users_sets() {
        for loss in ["linear", "squared", "logistic"] {
            let mut r = rng(5);
            let rows: Vec<Vec<f64>> = (0..20).map(|_| normals(&mut r, set.dim())).collect();
            let loss = loss.parse::<LossSpec>().unwrap().build().unwrap();
            let mut sum = Sum::new(set.dim(), &Objective::new(loss, 0.0).unwrap()).unwrap();
            for (k, row) in rows.iter().enumerate() {
                sum.push(Row::Dense(row), if k % 3 == 0 { -1.0 } else { 1.0 }, 1.0)
                    .unwrap();
            }
            for method in [Method::Auto, Method::FrankWolfe, Method::Pairwise] {
                let options = Options {
                    method,
                    relative_gap: 1e-2,
                    ..Options::default()
                };
                let name = format!("{method} on {name}");
                switch.turn(Answer::Minimum);
                solve(&sum, &*set, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
                for answer in WRONG {
                    switch.turn(answer);
                    let Err(error) = solve(&sum, &*set, &options) else {
                        panic!("{name}, {answer:?}: not refused");
                    };
                    check_named(&name, answer, &error);
                    runs += 1;
                }
            }
        }
    }
    assert_eq!(runs, 36 * 3 * 3 * 2);
}

#[test]
fn an_answer_that_is_no_point_or_has_a_false_value_is_refused() {
    let (set, switch) = own("l2");
    let mut pair = DenseSurrogate::new(set, None).unwrap();
    let gradient = Gradient::dense(&[1.0, 0.0, -2.0, 0.5]);
    let update = Update::new(1.0, &gradient, 2.0);
    for answer in [
        Answer::NaN,
        Answer::Outside,
        Answer::FalseValue,
        Answer::FalseFloor,
        Answer::Maximum,
        Answer::Long,
    ] {
        switch.turn(answer);
        check_named("own", answer, &pair.probe(&update, true).unwrap_err());
    }
    switch.turn(Answer::Minimum);
    pair.probe(&update, true).unwrap();
}

#[test]
fn certificates_and_floors_of_a_rough_oracle_hold() {
    let mut shown = 0;
    for (place, compose) in PLACES {
        for text in ["l2", "simplex", "box:lower=-1,upper=1"] {
            let (mine, switch) = own(text);
            let (set, exact) = (compose(mine).unwrap(), compose(built(text)).unwrap());
            switch.turn(Answer::Rough);
            let loss = "linear".parse::<LossSpec>().unwrap().build().unwrap();
            let objective = Objective::new(loss, 0.0).unwrap();
            for spec in ["sc-ofw:lambda=0.1", "gauge-ftrl:gradient-bound=9", "ofw"] {
                let name = format!("{spec} on {text}, {place}");
                let spec = spec.parse::<LearnerSpec>().unwrap();
                let Ok(mut learner) = spec.build(&set) else {
                    continue;
                };
                let (mut r, mut played) = (rng(8), 0.0);
                let mut sum = vec![0.0; set.dim()];
                let mut kept = Sum::new(set.dim(), &objective).unwrap();
                let mut decisions = Vec::new();
                let mut meter = Meter::new(&set, 0.0, true);
                let (mut dynamic, mut lowest) = (Dynamic::new(&set), 0.0);
                let low = |direction: &[f64]| {
                    let found = exact.oracle().minimise(direction, &mut Atom::new());
                    found.unwrap().value
                };
                for _ in 0..60 {
                    let mut g = normals(&mut r, set.dim());
                    g.iter_mut().for_each(|g| *g = 0.3 * *g + 0.5);
                    let gradient = Gradient::dense(&g);
                    let x = decision(&mut *learner);
                    played += dot(&x, &g);
                    meter.see(&x, &gradient).unwrap();
                    dynamic.see(&x, &gradient).unwrap();
                    learner.observe(&gradient).unwrap();
                    sum.iter_mut().zip(&g).for_each(|(sum, g)| *sum += g);
                    kept.push(Row::Dense(&g), 0.0, 1.0).unwrap();
                    lowest += low(&g);
                    decisions.push((x, g));
                }
                let regret = played - low(&sum);
                let slack = 1e-9 * regret.abs();
                let proven = meter.certificate(1).unwrap().regret;
                assert!(proven >= regret - slack, "{name}: {proven} < {regret}");
                assert!(dynamic.regret() >= played - lowest - slack, "{name}");
                if let Some(own) = learner.certificate() {
                    // against the best point, and against where the learner is by now
                    let (mut atom, mut u) = (Atom::new(), vec![0.0; set.dim()]);
                    exact.oracle().minimise(&sum, &mut atom).unwrap();
                    atom.write(&mut u);
                    for u in [u, decision(&mut *learner)] {
                        let bend = 0.5 * own.strong_convexity;
                        let truth = decisions.iter().map(|(x, g)| {
                            let way = common::minus(x, &u);
                            dot(g, &way) - bend * dot(&way, &way)
                        });
                        let truth: f64 = truth.sum();
                        assert!(
                            own.regret >= truth - slack,
                            "{name}: {} {truth}",
                            own.regret
                        );
                        shown += 1;
                    }
                }
                let best = solve(&kept, &*set, &Options::default()).unwrap();
                assert!(best.floor <= low(&sum) + slack, "{name}");
                assert!(best.value >= low(&sum) - slack, "{name}");
            }
        }
    }
    assert!(shown > 30, "{shown}");
}

#[test]
fn the_set_may_be_far_from_0_and_small() {
    // at a distance of 10⁷ diameters
    let far = [1e7, 0.0];
    for sign in [1.0, -1.0] {
        let geometry = Geometry {
            diameter: 1.0,
            norm_bound: 1e7 + 0.5,
            inner_radius: Some(0.5),
            strong_convexity: Some(2.0),
        };
        let ball = CustomSet::new("mine", 2, geometry, move |c, v| {
            let norm = c[0].hypot(c[1]);
            v[0] = far[0] - sign * 0.5 * c[0] / norm;
            v[1] = -sign * 0.5 * c[1] / norm;
            Ok(())
        });
        let ball = ball.unwrap().with_centre(&far).unwrap();
        let outcome = ball.oracle().minimise(&[3.0, 4.0], &mut Atom::new());
        match outcome {
            Ok(_) => assert_eq!(sign, 1.0),
            Err(error) => check_named("far", Answer::Maximum, &error),
        }
    }
}

/// Directions of every kind, times these.
const SCALES: [f64; 5] = [1e-130, 1e-100, 1.0, 1e100, 1e130];

#[test]
fn a_right_oracle_is_never_refused() {
    let mut asked = 0;
    for named in all_sets() {
        // the library's own sets are not checked at every call, which would take time
        assert_eq!(named.set.facts().oracle, Answers::Trusted, "{}", named.name);
        let set = Own {
            inner: named.set.clone(),
            switch: Arc::default(),
        };
        let product = ProductSet::new(vec![Arc::new(set)]).unwrap();
        let (mut direct, mut checked) = (named.set.oracle(), product.oracle());
        let (mut one, mut other) = (Atom::new(), Atom::new());
        let dim = named.set.dim();
        let mut directions = telling_directions(&mut rng(3), dim, 5);
        directions.push(vec![0.0; dim]);
        for direction in directions {
            for scale in SCALES {
                let direction: Vec<f64> = direction.iter().map(|d| scale * d).collect();
                let Ok(expected) = direct.minimise(&direction, &mut one) else {
                    continue;
                };
                let found = checked.minimise(&direction, &mut other);
                let found = found.unwrap_or_else(|e| panic!("{}, {scale:e}: {e}", named.name));
                let (mut v, mut w) = (vec![0.0; dim], vec![0.0; dim]);
                one.write(&mut v);
                other.write(&mut w);
                assert_eq!(bits(&v), bits(&w));
                // the product adds up the value of the same point once more
                let size = extremal::kernel::norm(&direction) * named.set.geometry().norm_bound;
                assert!((expected.value - found.value).abs() <= 1e-13 * size);
                assert!((expected.slack() - found.slack()).abs() <= 1e-13 * size);
                asked += 1;
            }
        }
    }
    assert!(asked > 10_000, "{asked}");
}

#[test]
fn decisions_at_the_minimum_never_look_better_than_it() {
    // F is the same every round, so that the decision comes to its minimum and stays
    let mut probes = 0u64;
    for dim in DIMS {
        for named in sets(dim) {
            let dim = named.set.dim();
            let tied = vec![1.0; dim];
            let mut r = rng(4);
            for direction in [tied, normals(&mut r, dim), common::spike(dim, 0, -1.0)] {
                for scale in [1e-95, 1.0, 1e95] {
                    for beta in [0.0, 1e-3 * scale, scale] {
                        let mut pair = DenseSurrogate::new(named.set.clone(), None).unwrap();
                        let g: Vec<f64> = direction.iter().map(|d| scale * d).collect();
                        let (first, none) = (Gradient::dense(&g), vec![0.0; dim]);
                        let rest = Gradient::dense(&none);
                        for round in 0..40 {
                            let gradient = if round == 0 { &first } else { &rest };
                            let update = Update::new(1.0, gradient, beta);
                            let probe = pair.probe(&update, true);
                            let probe =
                                probe.unwrap_or_else(|e| panic!("{}, {scale:e}: {e}", named.name));
                            let sigma = match round % 3 {
                                0 => 1.0,
                                _ => probe.line_search(),
                            };
                            pair.commit(Move::Towards(sigma));
                            probes += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(probes > 100_000, "{probes}");
}
