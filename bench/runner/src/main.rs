//! Our side of a benchmark: plays a stream held in memory through the library's own loop, and
//! answers on stdin and stdout as `bench/README.md` describes.

mod api;
mod calls;
mod progressive;
mod quality;
mod rivals;

use std::io::{BufRead, Read, Write};
use std::sync::Arc;
use std::time::Instant;

use extremal::game::Game;
use extremal::hindsight::{self, Method, Options, Sum};
use extremal::learner::frank_wolfe::ofw_line_search::OfwLs;
use extremal::learner::frank_wolfe::sc_ofw::ScOfw;
use extremal::learner::{
    Acting, Known, Learner, LearnerSpec, OnSurrogate, Rule, Storage, on_surrogate,
};
use extremal::loss::logistic::Logistic;
use extremal::loss::squared::Squared;
use extremal::loss::{Loss, Objective};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::{Round, Stream};
use extremal::{
    Point, Row,
    surrogate::{DenseSurrogate, Surrogate},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A longer stream of sparse rows meets them again.
const DISTINCT_ROWS: usize = 200_000;

type Failure = Box<dyn std::error::Error>;

const USAGE: &str = "usage: extremal-bench ALGO SET LOSS D T LAMBDA DATAFILE
       extremal-bench sparse STORAGE ALGO SET D T NONZEROS SEED
       extremal-bench best METHOD SET LOSS D T GAP DATAFILE
       extremal-bench rounds LEARNER SETSPEC D T DATAFILE
       extremal-bench oracle D T DATAFILE
       extremal-bench play LEARNER STORAGE SETSPEC LOSSSPEC D T DATAFILE
       extremal-bench quality SET LOSS D T LAMBDA DATAFILE LEARNER...
       extremal-bench progressive LOSS SET FILE.svm LEARNER...
       extremal-bench rivals D T
       extremal-bench api D T NONZEROS [LEARNER PROGRAM]";

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["best", method, set, loss, d, t, gap, file] => {
            let (dim, rounds) = (d.parse::<usize>()?, t.parse::<usize>()?);
            let data = read_doubles(file, rounds * (dim + 1))?;
            let data = &data[data.len() - rounds * (dim + 1)..];
            let (rows, labels) = data.split_at(rounds * dim);
            let set = set_of(set, dim)?;
            let loss: Arc<dyn Loss> = match loss {
                "logistic" => Arc::new(Logistic {}),
                "ridge" => Arc::new(Squared {}),
                _ => return Err(USAGE.into()),
            };
            let mut sum = Sum::new(dim, &Objective::new(loss, 0.0)?)?;
            for (row, label) in rows.chunks_exact(dim).zip(labels) {
                sum.push(Row::Dense(row), *label, 1.0)?;
            }
            let options = Options {
                method: method_of(method)?,
                relative_gap: gap.parse()?,
                ..Options::default()
            };
            answer(|| {
                let start = Instant::now();
                let best = hindsight::solve(&sum, &*set, &options)?;
                let seconds = start.elapsed().as_secs_f64();
                Ok([seconds, best.value / rounds as f64, best.relative_gap()])
            })
        }
        ["rounds", learner, set, d, t, file] => calls::rounds(learner, set, [d, t, file]),
        ["oracle", d, t, file] => calls::oracle([d, t, file]),
        ["play", learner, storage, set, loss, d, t, file] => {
            calls::play([learner, storage, set, loss], [d, t, file])
        }
        ["api", d, t, nonzeros, ref rest @ ..] => {
            let rows = SparseRows::draw(d.parse()?, t.parse()?, nonzeros.parse()?, 0);
            match *rest {
                [] => api::report(&rows),
                [learner, program] => {
                    let (loss, seconds) = api::play(learner, program, &rows)?;
                    println!("{seconds:.9} {loss:e}");
                    Ok(())
                }
                _ => Err(USAGE.into()),
            }
        }
        ["rivals", d, t] => rivals::report(d.parse()?, t.parse()?),
        ["progressive", loss, set, file, ref learners @ ..] => {
            progressive::report(loss, set, file, learners)
        }
        ["sparse", storage, algo, set, d, t, nonzeros, seed] => {
            let rounds: usize = t.parse()?;
            let distinct = rounds.min(DISTINCT_ROWS);
            let rows = SparseRows::draw(d.parse()?, distinct, nonzeros.parse()?, seed.parse()?);
            let set = set_of(set, rows.dim)?;
            let objective = Objective::new(Arc::new(Logistic {}), 0.0)?;
            let storage = match storage {
                "lazy" => Storage::Lazy,
                "sparse" => Storage::Sparse,
                "dense" => Storage::Dense,
                _ => return Err(USAGE.into()),
            };
            let spec: LearnerSpec = match algo {
                "ofw-ls" => format!("ofw-ls:horizon={rounds},gradient-bound=1").parse()?,
                "gauge-ftrl" | "ogd" | "dual-averaging" => algo.parse()?,
                _ => return Err(USAGE.into()),
            };
            let stream = || SparseStream {
                rows: &rows,
                next: 0,
            };
            serve_with(
                || Ok(spec.build_stored(&set, storage)?),
                stream,
                &objective,
                rounds,
                |decision| {
                    let mut x = vec![0.0; decision.dim()];
                    decision.write(&mut x);
                    x.iter().filter(|v| **v != 0.0).count() as f64
                },
            )
        }
        ["quality", set, loss, d, t, lambda, file, ref learners @ ..] => quality::report(
            set_of(set, d.parse()?)?,
            loss,
            t.parse()?,
            lambda.parse()?,
            file,
            learners,
        ),
        [algo, set, loss, d, t, lambda, file] => {
            let (dim, rounds) = (d.parse::<usize>()?, t.parse::<usize>()?);
            let lambda = lambda.parse::<f64>()?;
            let data = read_doubles(file, rounds * (dim + 1))?;
            let data = &data[data.len() - rounds * (dim + 1)..];
            let (rows, labels) = data.split_at(rounds * dim);
            let set = set_of(set, dim)?;
            let ridge = if loss == "ridge" { lambda } else { 0.0 };
            let bound = gradient_bound(rows, labels, ridge, set.geometry().norm_bound);
            let stream = || DenseStream {
                rows,
                labels,
                dim,
                next: 0,
            };
            let known = Known {
                horizon: Some(rounds as u64),
                gradient_bound: Some(bound),
                ..Known::default()
            };
            let line_search = OfwLs(known);
            let strongly_convex = ScOfw {
                lambda: Some(lambda),
                warm: 0.0,
                gradient_bound: None,
                start: None,
            };
            let geometry = set.geometry();
            // As a program would that knows its learner and its loss when it is compiled.
            let pair = || Ok::<_, Failure>(DenseSurrogate::new(set.clone(), None)?);
            let ofw_ls = || {
                let rule = line_search.rule(&geometry)?;
                Ok(on_surrogate("ofw-ls", rule, pair()?, geometry))
            };
            let sc_ofw = || {
                let rule = strongly_convex.rule()?;
                Ok(on_surrogate("sc-ofw", rule, pair()?, geometry))
            };
            let logistic = Objective::new(Arc::new(Logistic {}), 0.0)?;
            let squared = Objective::new(Arc::new(Squared {}), ridge)?;
            match (algo, loss) {
                ("ofw-ls", "logistic") => serve(ofw_ls, stream, &logistic, rounds),
                ("ofw-ls", "ridge") => serve(ofw_ls, stream, &squared, rounds),
                ("sc-ofw", "ridge") => serve(sc_ofw, stream, &squared, rounds),
                _ => Err(USAGE.into()),
            }
        }
        _ => Err(USAGE.into()),
    }
}

/// G over the set, as the other programs compute it.
fn gradient_bound(rows: &[f64], labels: &[f64], ridge: f64, reach: f64) -> f64 {
    let of_row = |(row, y): (&[f64], &f64)| {
        let a = extremal::kernel::norm(row);
        if ridge > 0.0 {
            a * (y.abs() + reach * a) + ridge * reach
        } else {
            a
        }
    };
    let dim = rows.len() / labels.len();
    rows.chunks_exact(dim)
        .zip(labels)
        .map(of_row)
        .fold(0.0, f64::max)
}

fn method_of(name: &str) -> Result<Method, Failure> {
    let all = [
        Method::Auto,
        Method::Spectral,
        Method::Accelerated,
        Method::FrankWolfe,
        Method::Pairwise,
    ];
    let named = all.into_iter().find(|m| m.to_string() == name);
    named.ok_or_else(|| USAGE.into())
}

/// `l2:RADIUS`, `l1:RADIUS` or `lp:P:RADIUS`.
fn set_of(text: &str, dim: usize) -> Result<SharedSet, Failure> {
    let spec = match text.split(':').collect::<Vec<_>>()[..] {
        [name @ ("l2" | "l1"), radius] => format!("{name}:radius={radius}"),
        ["lp", p, radius] => format!("lp:p={p},radius={radius}"),
        _ => return Err(USAGE.into()),
    };
    Ok(spec.parse::<SetSpec>()?.build(Some(dim))?)
}

/// Says `ready`, then plays the whole stream once for every line `go`; the third figure is the
/// last decision's norm.
fn serve<L, S, F>(
    learner: impl Fn() -> Result<L, Failure>,
    stream: impl Fn() -> S,
    objective: &Objective<F>,
    rounds: usize,
) -> Result<(), Failure>
where
    L: Borrowed,
    S: Stream,
    F: Loss,
{
    serve_with(learner, stream, objective, rounds, |decision| {
        decision.norm_squared().sqrt()
    })
}

/// The same with another third figure.
fn serve_with<L, S, F>(
    learner: impl Fn() -> Result<L, Failure>,
    stream: impl Fn() -> S,
    objective: &Objective<F>,
    rounds: usize,
    figure: impl Fn(&dyn Point) -> f64,
) -> Result<(), Failure>
where
    L: Borrowed,
    S: Stream,
    F: Loss + ?Sized,
{
    answer(|| {
        let mut learner = learner()?;
        let learner = learner.learner();
        let start = Instant::now();
        let summary = Game::default().play(learner, &mut stream(), objective, rounds as u64)?;
        let seconds = start.elapsed().as_secs_f64();
        let loss = summary.total_loss / summary.rounds as f64;
        Ok([seconds, loss, figure(learner.decision())])
    })
}

/// Says `ready`, then prints three figures for every line `go`.
fn answer(mut go: impl FnMut() -> Result<[f64; 3], Failure>) -> Result<(), Failure> {
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        line?;
        let [seconds, loss, third] = go()?;
        println!("{seconds:.9} {loss:e} {third:e}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// A learner of a known type, or one in a box.
trait Borrowed {
    type Learner: Learner + ?Sized;
    fn learner(&mut self) -> &mut Self::Learner;
}

impl<R: Rule + 'static, P: Surrogate + 'static> Borrowed for Acting<OnSurrogate<R, P>> {
    type Learner = Self;
    fn learner(&mut self) -> &mut Self {
        self
    }
}

impl Borrowed for Box<dyn Learner> {
    type Learner = dyn Learner;
    fn learner(&mut self) -> &mut Self::Learner {
        &mut **self
    }
}

/// The last `count` numbers are those of the file, on a cache line's boundary as the peers' are.
fn read_doubles(path: &str, count: usize) -> Result<Vec<f64>, Failure> {
    const LINE: usize = 64;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.read_to_end(&mut bytes)?;
    if bytes.len() != 8 * count {
        return Err(format!(
            "{path}: expected {count} numbers, found {} bytes",
            bytes.len()
        )
        .into());
    }
    let mut numbers = Vec::with_capacity(count + LINE / 8);
    let before = numbers.spare_capacity_mut().as_ptr().align_offset(LINE) % (LINE / 8);
    numbers.resize(before, 0.0);
    let (words, _) = bytes.as_chunks::<8>();
    numbers.extend(words.iter().map(|w| f64::from_le_bytes(*w)));
    Ok(numbers)
}

struct DenseStream<'a> {
    rows: &'a [f64],
    labels: &'a [f64],
    dim: usize,
    next: usize,
}

impl Stream for DenseStream<'_> {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        let Some(&label) = self.labels.get(self.next) else {
            return Ok(None);
        };
        let row = &self.rows[self.next * self.dim..][..self.dim];
        self.next += 1;
        Ok(Some(Round {
            row: Row::Dense(row),
            label,
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        f64::INFINITY
    }
}

/// Rows of norm 1 with evenly drawn features, and labels from weights that are a hash of the
/// feature.
struct SparseRows {
    dim: usize,
    nonzeros: usize,
    indices: Vec<u32>,
    values: Vec<f64>,
    labels: Vec<f64>,
}

impl SparseRows {
    fn draw(dim: usize, rounds: usize, nonzeros: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let size = 1.0 / (nonzeros as f64).sqrt();
        let mut rows = Self {
            dim,
            nonzeros,
            indices: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
        };
        let mut drawn: Vec<(u32, bool)> = Vec::new();
        for _ in 0..rounds {
            let start = rows.indices.len();
            drawn.clear();
            while drawn.len() < nonzeros {
                let index = rng.random_range(0..dim as u32);
                if drawn.iter().all(|(other, _)| *other != index) {
                    drawn.push((index, rng.random::<bool>()));
                }
            }
            drawn.sort_unstable();
            for (index, positive) in &drawn {
                rows.indices.push(*index);
                rows.values.push(if *positive { size } else { -size });
            }
            let clean: f64 = (start..rows.indices.len())
                .map(|k| {
                    rows.values[k]
                        * if rows.indices[k].is_multiple_of(2) {
                            5.0
                        } else {
                            -5.0
                        }
                })
                .sum();
            rows.labels
                .push(if rng.random::<f64>() < 1.0 / (1.0 + (-clean).exp()) {
                    1.0
                } else {
                    -1.0
                });
        }
        rows
    }

    /// Indices, values and label of each row.
    fn iter(&self) -> impl Iterator<Item = (&[u32], &[f64], f64)> {
        let indices = self.indices.chunks_exact(self.nonzeros);
        let rows = indices.zip(self.values.chunks_exact(self.nonzeros));
        rows.zip(&self.labels).map(|((i, v), y)| (i, v, *y))
    }
}

struct SparseStream<'a> {
    rows: &'a SparseRows,
    next: usize,
}

impl Stream for SparseStream<'_> {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        let label = self.rows.labels[self.next];
        let part = self.next * self.rows.nonzeros..(self.next + 1) * self.rows.nonzeros;
        self.next = (self.next + 1) % self.rows.labels.len();
        let row = Row::Sparse {
            indices: &self.rows.indices[part.clone()],
            values: &self.rows.values[part],
        };
        Ok(Some(Round {
            row,
            label,
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }
}
