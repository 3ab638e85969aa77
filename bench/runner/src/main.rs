//! Our side of a benchmark: plays a stream held in memory through the library's own loop, and
//! answers on stdin and stdout as `bench/README.md` describes.

use std::io::{BufRead, Read, Write};
use std::sync::Arc;
use std::time::Instant;

use extremal::game::{self, Round};
use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::loss::{LossSpec, Objective};
use extremal::pair::{Point, Row};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::Stream;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Failure = Box<dyn std::error::Error>;

const USAGE: &str = "usage: extremal-bench ALGO SET LOSS D T LAMBDA DATAFILE
       extremal-bench sparse STORAGE ALGO SET D T NONZEROS SEED";

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["sparse", storage, algo, set, d, t, nonzeros, seed] => {
            let rows = SparseRows::draw(d.parse()?, t.parse()?, nonzeros.parse()?, seed.parse()?);
            let set = set_of(set, rows.dim)?;
            let objective = Objective::new("logistic".parse::<LossSpec>()?.build()?, 0.0)?;
            let storage = match storage {
                "lazy" => Storage::Lazy,
                "dense" => Storage::Dense,
                _ => return Err(USAGE.into()),
            };
            let spec = learner_of(algo, rows.labels.len(), 1.0, 0.0)?;
            serve(&spec, &set, storage, &objective, rows.labels.len(), || {
                SparseStream {
                    rows: &rows,
                    next: 0,
                }
            })
        }
        [algo, set, loss, d, t, lambda, file] => {
            let (dim, rounds, lambda) = (
                d.parse::<usize>()?,
                t.parse::<usize>()?,
                lambda.parse::<f64>()?,
            );
            let data = read_doubles(file, rounds * (dim + 1))?;
            let (rows, labels) = data.split_at(rounds * dim);
            let set = set_of(set, dim)?;
            let (loss, ridge) = match loss {
                "logistic" => ("logistic", 0.0),
                "ridge" => ("squared", lambda),
                _ => return Err(USAGE.into()),
            };
            let objective = Objective::new(loss.parse::<LossSpec>()?.build()?, ridge)?;
            let reach = set.geometry().norm_bound;
            let bound = rows
                .chunks_exact(dim)
                .zip(labels)
                .map(|(row, y)| {
                    let a = extremal::kernel::norm(row);
                    if ridge > 0.0 {
                        a * (y.abs() + reach * a) + ridge * reach
                    } else {
                        a
                    }
                })
                .fold(0.0, f64::max);
            let spec = learner_of(algo, rounds, bound, lambda)?;
            serve(&spec, &set, Storage::Dense, &objective, rounds, || {
                DenseStream {
                    rows,
                    labels,
                    dim,
                    next: 0,
                }
            })
        }
        _ => Err(USAGE.into()),
    }
}

/// `l2:RADIUS` or `lp:P:RADIUS`.
fn set_of(text: &str, dim: usize) -> Result<SharedSet, Failure> {
    let spec = match text.split(':').collect::<Vec<_>>()[..] {
        ["l2", radius] => format!("l2:radius={radius}"),
        ["lp", p, radius] => format!("lp:p={p},radius={radius}"),
        _ => return Err(USAGE.into()),
    };
    Ok(spec.parse::<SetSpec>()?.build(Some(dim))?)
}

fn learner_of(algo: &str, rounds: usize, bound: f64, lambda: f64) -> Result<LearnerSpec, Failure> {
    Ok(match algo {
        "ofw-ls" => format!("ofw-ls:horizon={rounds},gradient-bound={bound}"),
        "ofw" => format!("ofw:horizon={rounds},gradient-bound={bound}"),
        "gauge-ftrl" => "gauge-ftrl".into(),
        "sc-ofw" => format!("sc-ofw:lambda={lambda}"),
        _ => return Err(USAGE.into()),
    }
    .parse()?)
}

/// Says `ready`, then plays the whole stream once for every line `go`.
fn serve<S: Stream>(
    spec: &LearnerSpec,
    set: &SharedSet,
    storage: Storage,
    objective: &Objective,
    rounds: usize,
    stream: impl Fn() -> S,
) -> Result<(), Failure> {
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        line?;
        let mut learner: Box<dyn Learner> = spec.build_stored(&Arc::clone(set), storage)?;
        let start = Instant::now();
        let mut clock = || start.elapsed().as_secs_f64();
        let summary = game::play(
            &mut *learner,
            &mut stream(),
            objective,
            rounds as u64,
            &mut clock,
            None,
            None,
            |_| Ok(()),
        )?;
        let norm = learner.decision().norm_squared().sqrt();
        println!(
            "{:.9} {:e} {norm:e}",
            summary.seconds,
            summary.total_loss / summary.rounds as f64
        );
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn read_doubles(path: &str, count: usize) -> Result<Vec<f64>, Failure> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.read_to_end(&mut bytes)?;
    if bytes.len() != 8 * count {
        return Err(format!(
            "{path}: expected {count} numbers, found {} bytes",
            bytes.len()
        )
        .into());
    }
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().map(|w| f64::from_le_bytes(*w)).collect())
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
        for _ in 0..rounds {
            let start = rows.indices.len();
            while rows.indices.len() < start + nonzeros {
                let index = rng.random_range(0..dim as u32);
                if !rows.indices[start..].contains(&index) {
                    rows.indices.push(index);
                    rows.values
                        .push(if rng.random::<bool>() { size } else { -size });
                }
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
}

struct SparseStream<'a> {
    rows: &'a SparseRows,
    next: usize,
}

impl Stream for SparseStream<'_> {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        let Some(&label) = self.rows.labels.get(self.next) else {
            return Ok(None);
        };
        let part = self.next * self.rows.nonzeros..(self.next + 1) * self.rows.nonzeros;
        self.next += 1;
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
