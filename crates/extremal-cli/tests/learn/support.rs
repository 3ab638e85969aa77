//! Streams to learn from, and the program to run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use extremal::learner::{LearnerSpec, Storage};
use extremal::set::SetSpec;

/// A folder that goes away with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("extremal-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.file(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

#[cfg(unix)]
impl Folder {
    /// A named pipe.
    pub fn pipe(&self, name: &str) -> PathBuf {
        let path = self.file(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The program.
pub fn extremal() -> Command {
    Command::new(env!("CARGO_BIN_EXE_extremal"))
}

pub fn run(arguments: &[&str]) -> Output {
    extremal().args(arguments).output().unwrap()
}

/// Runs and succeeds.
pub fn done(arguments: &[&str]) -> Output {
    let output = run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// What was said on stderr.
pub fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Waits until something has happened, half a minute at most.
pub fn wait_for(happened: impl Fn() -> bool) {
    for _ in 0..3000 {
        if happened() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it did not happen");
}

#[cfg(unix)]
pub fn signal(child: &std::process::Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &pid]).status();
    assert!(sent.unwrap().success());
}

/// The chosen games and the registered ones.
pub fn all_games(dim: usize) -> Vec<Vec<String>> {
    let chosen = GAMES
        .iter()
        .map(|game| game.iter().map(|w| w.to_string()).collect());
    chosen.chain(registered_games(dim)).collect()
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// One example: a label and its features, from 0.
pub struct Example {
    pub label: f64,
    pub features: Vec<(u32, f64)>,
}

/// Sparse examples of a noisy rule, over features that go on appearing.
pub fn examples(count: usize, seed: u64) -> Vec<Example> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut draw = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count)
        .map(|t| {
            let reach = 5.0 + t as f64 / 4.0;
            let mut features: Vec<(u32, f64)> = (0..6)
                .map(|_| ((draw() * draw() * reach) as u32, draw() * 2.0 - 1.0))
                .collect();
            features.sort_by_key(|(i, _)| *i);
            features.dedup_by_key(|(i, _)| *i);
            let score: f64 = features
                .iter()
                .map(|(i, v)| v * f64::from(i * 7919 % 13) / 6.0 - v)
                .sum();
            let label = if score + 0.5 * (draw() - 0.5) > 0.0 {
                1.0
            } else {
                -1.0
            };
            Example { label, features }
        })
        .collect()
}

/// As libsvm text.
pub fn libsvm(examples: &[Example]) -> String {
    let mut out = String::new();
    for example in examples {
        write!(out, "{}", example.label).unwrap();
        for (i, v) in &example.features {
            write!(out, " {}:{v:?}", i + 1).unwrap();
        }
        out.push('\n');
    }
    out
}

/// Sets of all kinds, to find one for a learner.
const SETS: [&str; 8] = [
    "l2:radius=3",
    "l1:radius=3",
    "lp:p=1.5,radius=3",
    "lp:p=4,radius=3",
    "simplex:total=3",
    "capped-simplex:total=3",
    "hypercube:radius=1,centred=true",
    "unit-free:radius=1024",
];

/// Every learner that is registered, in every storage that it can play in, on the first set that
/// it plays, in this dimension.
pub fn registered_games(dim: usize) -> Vec<Vec<String>> {
    let mut games = Vec::new();
    for entry in LearnerSpec::ENTRIES {
        let before = games.len();
        let learner = entry.examples[0];
        let spec: LearnerSpec = learner.parse().unwrap();
        for (storage, name) in [
            (Storage::Dense, "dense"),
            (Storage::Lazy, "lazy"),
            (Storage::Sparse, "sparse"),
        ] {
            let plays = |set: &&String| {
                let set = set.parse::<SetSpec>().unwrap().build(None).unwrap();
                spec.build_stored(&set, storage).is_ok()
            };
            let sets = SETS.map(|set| format!("{set},dim={dim}"));
            if let Some(set) = sets.iter().find(plays) {
                let words = ["--set", set, "--learner", learner, "--storage", name];
                games.push(words.map(str::to_string).to_vec());
            }
        }
        assert!(games.len() > before, "{learner} plays no set");
    }
    games
}

/// Games with and without this and that.
pub const GAMES: &[&[&str]] = &[
    &[],
    &["--set", "l2:radius=3", "--learner", "ofw"],
    &["--set", "l2:radius=3", "--learner", "ofw-weibel"],
    &["--set", "l2:radius=3", "--learner", "ofw-ls"],
    &[
        "--set",
        "l2:radius=3",
        "--learner",
        "ofw-ls",
        "--horizon",
        "400",
        "--gradient-bound",
        "2",
    ],
    &["--set", "l2:radius=3", "--learner", "ofw-ls:doubling=true"],
    &[
        "--set",
        "l2:radius=3",
        "--learner",
        "sc-ofw",
        "--l2",
        "0.01",
    ],
    &["--set", "l2:radius=3", "--learner", "gauge-ftrl"],
    &["--set", "l2:radius=3", "--learner", "ogd"],
    &["--set", "l2:radius=3", "--learner", "ofw-free"],
    &["--set", "l2:radius=3", "--learner", "coin-ftrl:stake=0.01"],
    &["--set", "l1:radius=3", "--learner", "ofw-ls"],
    &[
        "--set",
        "l1:radius=3",
        "--learner",
        "sc-ofw",
        "--l2",
        "0.01",
    ],
    &["--set", "l1:radius=3"],
    &["--set", "lp:p=1.5,radius=3", "--learner", "ofw-ls"],
    &["--set", "lp:p=1.5,radius=3", "--learner", "gauge-ftrl"],
    &["--set", "simplex:dim=200", "--learner", "ofw-ls"],
    &["--set", "box:lower=-1,upper=1,dim=200", "--learner", "ogd"],
    &[
        "--set",
        "l2:radius=3",
        "--learner",
        "ofw-ls",
        "--storage",
        "dense",
    ],
];
