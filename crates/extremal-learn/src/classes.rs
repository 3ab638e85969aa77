//! One model per class, each against the others. They meet the same examples and know nothing of
//! each other, so that several threads can play them: what comes out is the same.

use extremal::loss::Objective;
use extremal_data::Example;

use crate::session::{Round, Track};

/// Rounds of a model that are worth a thread's start.
const WORTH_A_THREAD: usize = 64;

/// A model and its rounds on the examples at hand, each with the whole loss.
#[derive(Default)]
pub(crate) struct Lane {
    rounds: Vec<(Round, f64)>,
    failed: Option<extremal::Error>,
}

/// What the models made of some examples.
pub(crate) struct Played {
    /// How many examples all of them have played.
    pub rounds: usize,
    /// Why the next one was not.
    pub failed: Option<extremal::Error>,
}

/// Plays examples in turn, on up to `threads` threads.
pub(crate) fn play(
    tracks: &mut [Track],
    lanes: &mut Vec<Lane>,
    objective: &Objective,
    examples: &[Example<'_>],
    threads: usize,
) -> Played {
    lanes.resize_with(tracks.len(), Lane::default);
    let worth = tracks.len() * examples.len() / WORTH_A_THREAD;
    let threads = threads.min(worth).clamp(1, tracks.len());
    let share = tracks.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let parts = tracks.chunks_mut(share).zip(lanes.chunks_mut(share));
        for (part, (tracks, lanes)) in parts.enumerate() {
            let first = part * share;
            let run = move || {
                for (k, (track, lane)) in tracks.iter_mut().zip(lanes).enumerate() {
                    lane.play(track, first + k, objective, examples);
                }
            };
            // the last part is this thread's own
            if part + 1 < threads && threads > 1 {
                scope.spawn(run);
            } else {
                run();
            }
        }
    });
    let rounds = lanes
        .iter()
        .map(|lane| lane.rounds.len())
        .min()
        .unwrap_or(0);
    let failed = lanes
        .iter_mut()
        .filter(|lane| lane.rounds.len() == rounds)
        .find_map(|lane| lane.failed.take());
    Played { rounds, failed }
}

impl Lane {
    fn play(
        &mut self,
        track: &mut Track,
        class: usize,
        objective: &Objective,
        examples: &[Example<'_>],
    ) {
        self.rounds.clear();
        self.failed = None;
        for example in examples {
            let sign = match example.label {
                Some(label) if label == class as f64 => 1.0,
                _ => -1.0,
            };
            match track.play(objective, example, sign) {
                Ok(round) => self.rounds.push(round),
                Err(error) => {
                    self.failed = Some(error);
                    return;
                }
            }
        }
    }
}

/// Round `k` of all models as one: the class predicted, whether it was wrong, and the models'
/// whole losses, in their order.
pub(crate) fn together<'a>(
    lanes: &'a [Lane],
    k: usize,
    example: &Example<'_>,
) -> (Round, impl Iterator<Item = f64> + use<'a>) {
    let label = example.label.unwrap_or(f64::NAN);
    let mut best = (f64::NEG_INFINITY, 0);
    let mut shown = Round::default();
    for (class, lane) in lanes.iter().enumerate() {
        let (own, _) = lane.rounds[k];
        if own.prediction > best.0 {
            best = (own.prediction, class);
            shown = own;
        }
    }
    let wrong = f64::from(best.1 as f64 != label);
    let round = Round {
        prediction: best.1 as f64,
        loss: example.weight * wrong,
        label,
        ..shown
    };
    (round, lanes.iter().map(move |lane| lane.rounds[k].1))
}
