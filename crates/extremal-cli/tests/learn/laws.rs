//! What `learn` computes, against a plain transcription.

use super::support::*;

/// The paper's Algorithm 1 on the ℓ2 ball, entry by entry; predictions before each update.
fn algorithm_1(examples: &[Example], weights: &[f64], radius: f64, bound: f64) -> Vec<f64> {
    let dim = 1 + examples
        .iter()
        .flat_map(|e| &e.features)
        .map(|(i, _)| *i)
        .max()
        .unwrap();
    let horizon = examples.len() as f64;
    let eta = 2.0 * radius / (2.0 * bound * (horizon + 2.0).powf(2.0 / 3.0));
    let (mut x, mut sum) = (vec![0.0; dim as usize], vec![0.0; dim as usize]);
    let mut predictions = Vec::new();
    for (example, weight) in examples.iter().zip(weights) {
        let z: f64 = example
            .features
            .iter()
            .map(|(i, v)| v * x[*i as usize])
            .sum();
        predictions.push(z);
        let y = example.label;
        let slope = -y * weight / (1.0 + (y * z).exp());
        for (i, v) in &example.features {
            sum[*i as usize] += slope * v;
        }
        let direction: Vec<f64> = sum.iter().zip(&x).map(|(s, x)| eta * s + 2.0 * x).collect();
        let norm = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
        if norm == 0.0 {
            continue;
        }
        let away: Vec<f64> = direction
            .iter()
            .zip(&x)
            .map(|(d, x)| -radius * d / norm - x)
            .collect();
        let slope: f64 = direction.iter().zip(&away).map(|(d, a)| d * a).sum();
        let square: f64 = away.iter().map(|a| a * a).sum();
        let sigma = (-slope / (2.0 * square)).clamp(0.0, 1.0);
        x.iter_mut().zip(&away).for_each(|(x, a)| *x += sigma * a);
    }
    predictions
}

fn numbers(path: &std::path::Path) -> Vec<f64> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn ofw_ls_told_t_and_g_is_the_paper_s_algorithm_1() {
    let folder = Folder::new("algorithm-1");
    let all = examples(300, 10);
    let data = folder.write("data.svm", libsvm(&all));
    let expected = algorithm_1(&all, &[1.0; 300], 4.0, 2.5);
    for storage in ["lazy", "dense"] {
        let out = folder.file(storage);
        done(&[
            "learn",
            text(&data),
            "--loss",
            "logistic",
            "--set",
            "l2:radius=4",
            "--learner",
            "ofw-ls",
            "--horizon",
            "300",
            "--gradient-bound",
            "2.5",
            "--storage",
            storage,
            "--link",
            "identity",
            "-p",
            text(&out),
            "--quiet",
        ]);
        for (t, (a, b)) in numbers(&out).iter().zip(&expected).enumerate() {
            assert!((a - b).abs() < 1e-9, "{storage}, round {}: {a} {b}", t + 1);
        }
        assert!(
            expected.iter().any(|z| z.abs() > 0.05),
            "nothing was learnt"
        );
    }
}

#[test]
fn importance_weights_multiply_the_loss() {
    let folder = Folder::new("importance");
    let all = examples(200, 11);
    let weights: Vec<f64> = (0..200).map(|t| [1.0, 3.0, 0.5, 0.0][t % 4]).collect();
    let mut vw = String::new();
    for (example, weight) in all.iter().zip(&weights) {
        vw += &format!("{} {weight} |", example.label);
        for (i, v) in &example.features {
            vw += &format!(" {i}:{v:?}");
        }
        vw.push('\n');
    }
    let data = folder.write("data.vw", vw);
    let (out, trace) = (folder.file("out"), folder.file("trace.csv"));
    done(&[
        "learn",
        text(&data),
        "--loss",
        "logistic",
        "--set",
        "l2:radius=4",
        "--learner",
        "ofw-ls",
        "--horizon",
        "200",
        "--gradient-bound",
        "5",
        "--link",
        "identity",
        "-p",
        text(&out),
        "--trace",
        text(&trace),
        "--quiet",
    ]);
    let expected = algorithm_1(&all, &weights, 4.0, 5.0);
    let found = numbers(&out);
    for (t, (a, b)) in found.iter().zip(&expected).enumerate() {
        assert!((a - b).abs() < 1e-9, "round {}: {a} {b}", t + 1);
    }
    // the average is per unit of weight
    let loss = |(z, example): (&f64, &Example)| (1.0 + (-example.label * z).exp()).ln();
    let sum: f64 = found
        .iter()
        .zip(&all)
        .map(loss)
        .zip(&weights)
        .map(|(l, w)| l * w)
        .sum();
    let average = sum / weights.iter().sum::<f64>();
    let trace = std::fs::read_to_string(&trace).unwrap();
    let last: Vec<&str> = trace.lines().last().unwrap().split(',').collect();
    assert_eq!(last[0], "200");
    assert!(
        (last[2].parse::<f64>().unwrap() - average).abs() < 1e-9,
        "{last:?} {average}"
    );
}

#[test]
fn the_certified_regret_is_at_least_the_regret_against_any_point_of_the_ball() {
    let folder = Folder::new("regret");
    let all = examples(500, 12);
    let data = folder.write("data.svm", libsvm(&all));
    let (out, trace, model) = (
        folder.file("out"),
        folder.file("trace.csv"),
        folder.file("m"),
    );
    done(&[
        "learn",
        text(&data),
        "--loss",
        "logistic",
        "--set",
        "l2:radius=3",
        "--link",
        "identity",
        "-p",
        text(&out),
        "--trace",
        text(&trace),
        "-f",
        text(&model),
        "--quiet",
    ]);
    let trace = std::fs::read_to_string(&trace).unwrap();
    let last: Vec<&str> = trace.lines().last().unwrap().split(',').collect();
    let (played, certified): (f64, f64) = (last[1].parse().unwrap(), last[4].parse().unwrap());
    // the final weights, at every length, as comparators
    let shown = String::from_utf8(done(&["inspect", "--weights", text(&model)]).stdout).unwrap();
    let weights: std::collections::HashMap<u32, f64> = shown
        .lines()
        .map(|line| {
            let (i, v) = line.split_once(' ').unwrap();
            (i.parse::<u32>().unwrap() - 1, v.parse().unwrap())
        })
        .collect();
    let norm = weights.values().map(|v| v * v).sum::<f64>().sqrt();
    let mut best = f64::INFINITY;
    for k in 0..=30 {
        let scale = 0.1 * f64::from(k) / norm;
        let loss = |example: &Example| {
            let z: f64 = example
                .features
                .iter()
                .map(|(i, v)| v * scale * weights.get(i).copied().unwrap_or(0.0))
                .sum();
            (1.0 + (-example.label * z).exp()).ln()
        };
        best = best.min(all.iter().map(loss).sum());
    }
    assert!(
        played - best <= certified,
        "{played} − {best} > {certified}"
    );
    assert!(
        certified < played,
        "the certificate says nothing: {certified} of {played}"
    );
}

#[test]
fn predictions_are_the_weights_times_the_features() {
    let folder = Folder::new("predict");
    let all = examples(150, 13);
    let data = folder.write("data.svm", libsvm(&all));
    let model = folder.file("m");
    done(&[
        "learn",
        text(&data),
        "--loss",
        "squared",
        "-f",
        text(&model),
        "--set",
        "l2:radius=1024",
        "--quiet",
    ]);
    let shown = String::from_utf8(done(&["inspect", "--weights", text(&model)]).stdout).unwrap();
    let weight = |i: u32| -> f64 {
        let line = shown
            .lines()
            .find(|l| l.split(' ').next() == Some(&(i + 1).to_string()));
        line.map_or(0.0, |l| l.split(' ').nth(1).unwrap().parse().unwrap())
    };
    let before = std::fs::read(&model).unwrap();
    let out =
        String::from_utf8(done(&["predict", "-i", text(&model), text(&data)]).stdout).unwrap();
    assert_eq!(out.lines().count(), 150);
    for (line, example) in out.lines().zip(&all) {
        let z: f64 = example.features.iter().map(|(i, v)| v * weight(*i)).sum();
        assert!(
            (line.parse::<f64>().unwrap() - z).abs() < 1e-9,
            "{line} {z}"
        );
    }
    assert!(std::fs::read(&model).unwrap() == before);
}

#[test]
fn a_seed_is_the_learner_s_own() {
    let folder = Folder::new("seed");
    let data = folder.write("data.svm", libsvm(&examples(200, 4)));
    let play = |rest: &[&str]| {
        let out = folder.file("out");
        let set = [
            "learn",
            text(&data),
            "--set=l2:radius=3,dim=200",
            "-q",
            "-p",
        ];
        done(&[&set[..], &[text(&out), "--loss=logistic"], rest].concat());
        numbers(&out)
    };
    let one = play(&["--learner=ospf", "--seed=1"]);
    assert_eq!(one, play(&["--learner=ospf:seed=1"]));
    assert_ne!(one, play(&["--learner=ospf", "--seed=2"]));
    // one that draws nothing takes it too
    assert_eq!(
        play(&["--learner=ofw-ls", "--seed=1"]),
        play(&["--learner=ofw-ls"])
    );
}

/// `predict` and `--test` predict what the learner would play next, also from a model without its
/// resume state.
#[test]
fn predictions_are_what_would_be_played_next() {
    let folder = Folder::new("next");
    let plain = examples(60, 8);
    let far = plain.iter().map(|example| Example {
        label: 1000.0 + example.label,
        features: example.features.clone(),
    });
    let far = libsvm(&far.collect::<Vec<_>>());
    for (name, text_of, flags) in [
        ("numbers", &far, &[][..]),
        ("signs", &libsvm(&plain), &["--loss", "logistic"]),
        ("classes", &libsvm(&plain), &["--classes=-1,1"]),
    ] {
        let all = folder.write(name, text_of);
        let flags = &[flags, &["--quiet"]].concat()[..];
        let played = done(&[&["learn", text(&all), "-p", "-"], flags].concat()).stdout;
        let played = String::from_utf8(played).unwrap();
        for rounds in [1, 2, 10, 40] {
            let lines: Vec<&str> = text_of.lines().collect();
            let first = folder.write("first", lines[..rounds].join("\n"));
            let next = folder.write("rest", lines[rounds]);
            let expected = played.lines().nth(rounds).unwrap();
            let model = folder.file("model");
            for more in [&[][..], &["--drop-resume-state"]] {
                let words = ["learn", text(&first), "-f", text(&model)];
                done(&[&words[..], flags, more].concat());
                let found = done(&["predict", "-i", text(&model), text(&next)]).stdout;
                let found = String::from_utf8(found).unwrap();
                assert_eq!(found.trim(), expected, "{name} after {rounds} {more:?}");
            }
        }
    }
}
