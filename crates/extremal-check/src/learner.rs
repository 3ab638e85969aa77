//! The laws of learners.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use extremal::learner::{Learner, Record};
use extremal::set::{
    Atom, Facts, Geometry, Inspector, Minimum, Oracle, Projection, Set, SharedSet, SmoothConstraint,
};
use extremal::{Error, Gradient, Row};

use crate::kit::{bits, centre, distance, dot, hard_directions, norm, rng, uniform, written};
use crate::report::{Broken, Failures, Law, Verdict, ensure, run, show};
use crate::script::{self, Given, record_text};

/// The number of rounds that [`LearnerCheck::run`] plays, and how often it saves the state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearnerCheck {
    /// The number of rounds of a run. The default is 40.
    pub rounds: usize,
    /// The number of rounds between two tests of saving and loading. The default is 1, which tests
    /// every round.
    pub every: usize,
}

impl Default for LearnerCheck {
    fn default() -> Self {
        Self {
            rounds: 40,
            every: 1,
        }
    }
}

impl LearnerCheck {
    /// Checks all laws of learners on the learners that `build` makes on a set.
    pub fn run(
        &self,
        set: &SharedSet,
        build: impl Fn(&SharedSet) -> extremal::Result<Box<dyn Learner>>,
    ) -> Result<(), Failures> {
        let subject = format!("a learner on set {} in dimension {}", set.name(), set.dim());
        let prepare = || Sample::draw(*self, set, &build);
        run(subject, FIRST, prepare, laws())
    }
}

const FIRST: &str = "the learner can be built, and plays";

fn laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("every decision is feasible", feasible),
        (
            "within a round, every call returns the same decision",
            one_decision,
        ),
        ("the record describes the round", records),
        ("a run gives the same bits every time", same_bits),
        (
            "a run that is saved and loaded continues with the same bits",
            resume,
        ),
        (
            "planning and discarding a round changes nothing, and planning and committing a round equals observing it",
            plans,
        ),
        (
            "while a round is planned, any other call is an error",
            out_of_turn,
        ),
        (
            "a bad gradient is an error that changes nothing",
            bad_gradients,
        ),
        (
            "loading bytes that are not a state of the learner fails and changes nothing",
            bad_bytes,
        ),
        (
            "a failure of the oracle changes nothing in the learner",
            failing_oracle,
        ),
    ]
}

type Build<'a> = dyn Fn(&SharedSet) -> extremal::Result<Box<dyn Learner>> + 'a;

struct Sample<'a> {
    check: LearnerCheck,
    set: &'a SharedSet,
    build: &'a Build<'a>,
    script: Vec<Given>,
    /// The rounds of the first run, with which other runs are compared.
    played: Vec<Played>,
    last: Vec<u8>,
}

/// The decision and the record of a round.
struct Played {
    x: Vec<f64>,
    record: Record,
}

impl PartialEq for Played {
    fn eq(&self, other: &Self) -> bool {
        bits(&self.x) == bits(&other.x) && record_text(&self.record) == record_text(&other.record)
    }
}

impl<'a> Sample<'a> {
    fn draw(check: LearnerCheck, set: &'a SharedSet, build: &'a Build<'a>) -> Verdict<Self> {
        let mut learner = build(set)?;
        ensure!(
            learner.dim() == set.dim() && learner.rounds() == 0,
            "a new learner has dimension {} and {} rounds; the set has dimension {}",
            learner.dim(),
            learner.rounds(),
            set.dim()
        );
        let script = script::mixed(1, set.dim(), check.rounds);
        let played = play(&mut *learner, &script)?;
        Ok(Self {
            check,
            set,
            build,
            script,
            played,
            last: learner.save()?,
        })
    }

    fn learner(&self) -> Verdict<Box<dyn Learner>> {
        Ok((self.build)(self.set)?)
    }

    /// Reports a broken law unless these rounds equal the rounds of the first run from index `start`
    /// on.
    fn compare(&self, start: usize, rounds: &[Played], about: &str) -> Verdict {
        for (k, round) in rounds.iter().enumerate() {
            let (expected, t) = (&self.played[start + k], start + k + 1);
            ensure!(
                round == expected,
                "round {t}{about}: the decision is {} with {:?}; it should be {} with {:?}",
                show(&round.x),
                round.record,
                show(&expected.x),
                expected.record
            );
        }
        Ok(())
    }

    /// Reports a broken law unless the state after the last round equals the last state of the first
    /// run.
    fn compare_last(&self, learner: &dyn Learner, about: &str) -> Verdict {
        ensure!(
            learner.save()? == self.last,
            "after {} rounds{about} the saved states differ",
            self.script.len()
        );
        Ok(())
    }
}

fn play_round(learner: &mut dyn Learner, given: &Given) -> Verdict<Played> {
    let x = written(learner.decide()?);
    let record = learner.observe(&given.gradient()).map_err(|e| {
        let t = learner.rounds() + 1;
        Broken::by(format!("round {t}: {e}"))
    })?;
    Ok(Played { x, record })
}

fn play(learner: &mut dyn Learner, script: &[Given]) -> Verdict<Vec<Played>> {
    let rounds = script.iter().map(|given| play_round(learner, given));
    rounds.collect()
}

/// Checks the violation of every decision. If the set can't measure violations, the oracle checks the
/// decision: its value in each direction must be at least the oracle's minimum.
fn feasible(sample: &Sample<'_>) -> Verdict {
    let set = &**sample.set;
    let (mut oracle, mut atom) = (set.oracle(), Atom::new());
    let directions = hard_directions(set.dim());
    for (k, Played { x, .. }) in sample.played.iter().enumerate() {
        let t = k + 1;
        if let Some(violation) = set.violation(x) {
            ensure!(
                violation <= 1e-9,
                "round {t}: the decision {} has violation {violation:e}",
                show(x)
            );
            continue;
        }
        let (_, d) = &directions[k % directions.len()];
        let away: Vec<f64> = x.iter().zip(centre(set)).map(|(x, c)| c - x).collect();
        for d in [d, &away] {
            let Ok(found) = oracle.minimise(d, &mut atom) else {
                continue; // the set has no oracle
            };
            let size = norm(x) + set.geometry().norm_bound;
            ensure!(
                dot(d, x) >= found.floor - 1e-8 * norm(d) * size,
                "round {t}: the decision {} is below the oracle's minimum {} for {}",
                show(x),
                found.floor,
                show(d)
            );
        }
    }
    Ok(())
}

fn one_decision(sample: &Sample<'_>) -> Verdict {
    let (mut shown, mut silent) = (sample.learner()?, sample.learner()?);
    for (k, given) in sample.script.iter().enumerate() {
        let t = k + 1;
        let x = written(shown.decide()?);
        let before = shown.save()?;
        for what in ["decide", "decision"] {
            let y = match what {
                "decide" => written(shown.decide()?),
                _ => written(shown.decision()),
            };
            ensure!(
                bits(&x) == bits(&y),
                "round {t}: the decision is {}, but {what} then returns {}",
                show(&x),
                show(&y)
            );
        }
        ensure!(
            shown.save()? == before,
            "round {t}: a second call of decide changes the state"
        );
        shown.observe(&given.gradient())?;
        // a learner whose `decide` is not called must play the same decisions
        let record = silent.observe(&given.gradient())?;
        sample.compare(k, &[Played { x, record }], ", without a call of decide")?;
    }
    sample.compare_last(&*shown, ", after two calls of decide in each round")?;
    sample.compare_last(&*silent, ", without a call of decide")
}

fn records(sample: &Sample<'_>) -> Verdict {
    let mut learner = sample.learner()?;
    let size = sample.set.geometry().norm_bound;
    let (mut calls, mut largest) = (0, 0.0_f64);
    for (k, given) in sample.script.iter().enumerate() {
        let Played { x, record } = play_round(&mut *learner, given)?;
        let t = k as u64 + 1;
        let mut g: Vec<f64> = x.iter().map(|x| given.ridge * x).collect();
        given.gradient().row.add_to(given.scale, &mut g);
        let length = norm(&g);
        let reach = if size.is_finite() { size } else { norm(&x) };
        let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-9 * scale;
        ensure!(
            record.round == t && learner.rounds() == t,
            "round {t}: {record:?}, rounds() is {}",
            learner.rounds()
        );
        // if the gradient's ridge part cancels the row, only half of the digits of ‖x‖² are precise
        ensure!(
            (record.gradient_norm - length).abs() <= 1e-9 * length + 1e-6 * reach
                && near(
                    record.gradient_dot,
                    dot(&g, &x),
                    (length + 1e-3) * (reach + 1.0)
                )
                && near(record.norm_squared, dot(&x, &x), 1.0 + reach * reach),
            "round {t}: {record:?}; ‖g‖ = {length}, ⟨g, x⟩ = {}, ‖x‖² = {}",
            dot(&g, &x),
            dot(&x, &x)
        );
        ensure!(
            record.sigma.is_finite() && record.sigma >= 0.0 && !record.gap.is_infinite(),
            "round {t}: {record:?}"
        );
        calls += u64::from(record.oracle_calls);
        largest = largest.max(record.gradient_norm);
        let seen = learner.seen();
        // a learner that combines other learners also counts the gradients at their decisions
        ensure!(
            (seen.rounds, seen.oracle_calls) == (t, calls) && seen.largest_gradient >= largest,
            "round {t}: {seen:?}; the records have {calls} oracle calls in total and gradients of norm \
             up to {largest}"
        );
    }
    Ok(())
}

fn same_bits(sample: &Sample<'_>) -> Verdict {
    let mut again = sample.learner()?;
    let played = play(&mut *again, &sample.script)?;
    sample.compare(0, &played, ", in a second run")?;
    sample.compare_last(&*again, ", in a second run")
}

fn resume(sample: &Sample<'_>) -> Verdict {
    let script = &sample.script;
    let mut first = sample.learner()?;
    // The state is loaded into a new learner, and into a learner that has played other rounds.
    let mut used = sample.learner()?;
    for cut in 0..script.len() {
        if cut % sample.check.every == 0 {
            for decided in [false, true] {
                if decided {
                    first.decide()?;
                }
                let saved = first.save()?;
                for second in [&mut sample.learner()?, &mut used] {
                    let about = format!(", saved and loaded after {cut} rounds");
                    second.load(&saved)?;
                    ensure!(
                        second.save()? == saved,
                        "the state after {cut} rounds is loaded, but the next save returns different bytes"
                    );
                    ensure!(
                        second.rounds() == cut as u64
                            && second.seen() == first.seen()
                            && second.certificate() == first.certificate()
                            && second.guarantee() == first.guarantee(),
                        "the state after {cut} rounds is loaded, but seen(), certificate() or guarantee() differs"
                    );
                    let rest = play(&mut **second, &script[cut..])?;
                    sample.compare(cut, &rest, &about)?;
                    sample.compare_last(&**second, &about)?;
                }
            }
        }
        play_round(&mut *first, &script[cut])?;
    }
    Ok(())
}

fn plans(sample: &Sample<'_>) -> Verdict {
    let others = script::mixed(4, sample.set.dim(), sample.script.len());
    let mut learner = sample.learner()?;
    for (k, (given, other)) in sample.script.iter().zip(&others).enumerate() {
        let t = k + 1;
        let x = written(learner.decide()?);
        let before = learner.save()?;
        learner.plan(&other.gradient())?;
        // lazy storage may store the same point in a different basis
        let planned = written(learner.decision());
        ensure!(
            distance(&planned, &x) <= 1e-12 * norm(&x),
            "round {t}: plan changes the decision from {} to {}",
            show(&x),
            show(&planned)
        );
        learner.discard();
        ensure!(
            learner.save()? == before,
            "round {t}: a plan that is discarded changes the saved state"
        );
        let record = learner.plan(&given.gradient())?;
        learner.commit();
        sample.compare(k, &[Played { x, record }], ", planned and committed")?;
    }
    sample.compare_last(&*learner, ", planned and committed")
}

fn out_of_turn(sample: &Sample<'_>) -> Verdict {
    let mut learner = sample.learner()?;
    let given = &sample.script[0];
    learner.plan(&given.gradient())?;
    for (what, outcome) in [
        ("plan", learner.plan(&given.gradient()).map(|_| ())),
        ("observe", learner.observe(&given.gradient()).map(|_| ())),
        ("save", learner.save().map(|_| ())),
    ] {
        ensure!(
            matches!(outcome, Err(Error::OutOfTurn(_))),
            "{what} between plan and commit gives {outcome:?}"
        );
    }
    learner.commit();
    ensure!(learner.rounds() == 1, "{} rounds", learner.rounds());
    let before = learner.save()?;
    learner.commit();
    learner.discard();
    ensure!(
        learner.save()? == before,
        "commit and discard without a plan change the state"
    );
    Ok(())
}

/// Gradients with rows, factors, lengths or indices that every learner must reject.
fn bad_gradients(sample: &Sample<'_>) -> Verdict {
    let dim = sample.set.dim();
    let good = vec![0.5; dim];
    let mut bad: Vec<(String, Given)> = Vec::new();
    let dense = |values: Vec<f64>| Given {
        indices: None,
        values,
        scale: 1.0,
        ridge: 0.0,
    };
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101] {
        for i in [0, dim - 1] {
            let mut values = good.clone();
            values[i] = number;
            bad.push((format!("{number:e} at {i}"), dense(values)));
        }
        let sparse = Given {
            indices: Some(vec![0]),
            ..dense(vec![number])
        };
        bad.push((format!("{number:e} in a sparse row"), sparse));
        let scale = Given {
            scale: number,
            ..dense(good.clone())
        };
        bad.push((format!("the factor {number:e}"), scale));
    }
    let ridge = Given {
        ridge: f64::NAN,
        ..dense(good)
    };
    bad.push(("a ridge of NaN".into(), ridge));
    for length in [0, dim - 1, dim + 1].into_iter().filter(|l| *l != dim) {
        bad.push((format!("{length} entries"), dense(vec![1.0; length])));
    }
    for indices in [vec![dim as u32], vec![0, 0], vec![1, 0]] {
        let given = Given {
            values: vec![1.0; indices.len()],
            indices: Some(indices.clone()),
            ..dense(Vec::new())
        };
        bad.push((format!("the indices {indices:?}"), given));
    }
    let mut learner = sample.learner()?;
    for (k, given) in sample.script.iter().enumerate() {
        let t = k + 1;
        let x = written(learner.decide()?);
        if k % 8 < 2 {
            let before = learner.save()?;
            for (what, gradient) in &bad {
                let outcome = learner.observe(&gradient.gradient());
                ensure!(
                    outcome.is_err(),
                    "round {t}: a gradient with {what} is accepted"
                );
                ensure!(
                    learner.save()? == before,
                    "round {t}: a gradient with {what} changes the state"
                );
            }
            let entries = Gradient {
                row: Row::Entries {
                    width: 1,
                    rows: &[dim as u32],
                    columns: &[0],
                    values: &[1.0],
                },
                ..Gradient::dense(&[])
            };
            let outcome = learner.observe(&entries);
            ensure!(
                outcome.is_err() && learner.save()? == before,
                "round {t}: a gradient with an entry outside the matrix is accepted, or changes the state"
            );
        }
        let record = learner.observe(&given.gradient())?;
        sample.compare(k, &[Played { x, record }], ", after bad gradients")?;
    }
    sample.compare_last(&*learner, ", after bad gradients")
}

fn bad_bytes(sample: &Sample<'_>) -> Verdict {
    let mut learner = sample.learner()?;
    play(&mut *learner, &sample.script[..sample.script.len() / 2])?;
    let before = learner.save()?;
    let mut refuse = |what: &str, bytes: &[u8]| -> Verdict {
        ensure!(learner.load(bytes).is_err(), "{what} is loaded");
        ensure!(learner.save()? == before, "{what} changes the state");
        Ok(())
    };
    let own = &sample.last;
    for length in (0..own.len()).step_by(1 + own.len() / 50) {
        refuse(&format!("its state cut to {length} bytes"), &own[..length])?;
    }
    refuse("its state with one more byte", &[own, &[0][..]].concat())?;
    let mut r = rng(4);
    for length in [1, 10, own.len(), 10_000] {
        let noise: Vec<u8> = (0..length)
            .map(|_| (256.0 * uniform(&mut r)) as u8)
            .collect();
        refuse("noise", &noise)?;
    }
    for _ in 0..60 {
        let mut changed = own.clone();
        let at = (uniform(&mut r) * own.len() as f64) as usize;
        changed[at] ^= 1 << (uniform(&mut r) * 8.0) as u32;
        refuse(
            &format!("its state with a flipped bit in byte {at}"),
            &changed,
        )?;
    }
    Ok(())
}

fn failing_oracle(sample: &Sample<'_>) -> Verdict {
    let calls = Arc::new(AtomicU64::new(BUILDING));
    let faulty: SharedSet = Arc::new(Faulty {
        inner: sample.set.clone(),
        calls: calls.clone(),
    });
    let mut learner = (sample.build)(&faulty)?;
    calls.store(0, Ordering::Relaxed);
    for (t, given) in (1..).zip(&sample.script) {
        let x = written(learner.decide()?);
        let mut failed = 0;
        let record = loop {
            let before = learner.save()?;
            match learner.observe(&given.gradient()) {
                Ok(record) => break record,
                Err(_) => failed += 1,
            }
            ensure!(
                learner.save()? == before,
                "round {t}: a failed call changes the state"
            );
            ensure!(failed < 1000, "round {t} failed 1000 times");
        };
        sample.compare(t - 1, &[Played { x, record }], ", after failed calls")?;
    }
    sample.compare_last(&*learner, ", after failed calls")
}

/// The value of the counter `calls` while the learner is built. During this time, no call fails.
const BUILDING: u64 = u64::MAX;

/// A set whose oracle sometimes fails.
struct Faulty {
    inner: SharedSet,
    calls: Arc<AtomicU64>,
}

struct FaultyOracle(Box<dyn Oracle>, Arc<AtomicU64>);

impl Oracle for FaultyOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> extremal::Result<Minimum> {
        let found = self.0.minimise(direction, atom)?;
        if self.1.load(Ordering::Relaxed) == BUILDING {
            return Ok(found);
        }
        let call = self.1.fetch_add(1, Ordering::Relaxed);
        // Many calls fail at first. Later, failures are so rare that a round with many calls can
        // succeed.
        if call % 1000 < 100 && call % 5 == 3 {
            return Err(Error::other("a deliberate failure"));
        }
        Ok(found)
    }
}

impl Set for Faulty {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn geometry(&self) -> Geometry {
        self.inner.geometry()
    }
    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(FaultyOracle(self.inner.oracle(), self.calls.clone()))
    }
    fn facts(&self) -> Facts {
        self.inner.facts()
    }
    fn centre(&self, out: &mut [f64]) {
        self.inner.centre(out);
    }
    fn violation(&self, x: &[f64]) -> Option<f64> {
        self.inner.violation(x)
    }
    fn inspector(&self) -> Option<Inspector> {
        self.inner.inspector()
    }
    fn gauge(&self, x: &[f64]) -> Option<f64> {
        self.inner.gauge(x)
    }
    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        self.inner.gauge_gradient(x, out)
    }
    fn projection(&self) -> Option<Box<dyn Projection>> {
        self.inner.projection()
    }
    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        self.inner.smooth()
    }
    fn fingerprint(&self) -> u64 {
        self.inner.fingerprint()
    }
}
