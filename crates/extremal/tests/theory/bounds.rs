//! Every bound against a number worked out by hand.

use extremal::theory::BOUNDS;

/// ln of this is 2.
const E2: f64 = 7.389_056_098_930_65;
/// ρ² = 2 for local linear optimisation.
const RHO: f64 = std::f64::consts::SQRT_2;

#[rustfmt::skip]
const BY_HAND: &[(&str, &[f64], f64)] = &[
    // 8·2·3·10000^(3/4) = 48·1000
    ("ofw", &[2.0, 3.0, 1e4], 48_000.0),
    // 2·3²·2/√25, and while 2/√t is beyond 1
    ("ofw_lemma", &[3.0, 25.0], 7.2),
    ("ofw_lemma", &[3.0, 2.0], 18.0),
    // 4/3^(3/4)·6·1000, and 5 for 4
    ("ofw_weibel", &[2.0, 3.0, 1e4], 10_528.592_103_619_94),
    ("ofw_weibel_anytime", &[2.0, 3.0, 1e4], 13_160.740_129_524_925),
    // α = 1: 4096/3 beats 4·2²; α = 2, D = 40: 4·1600 beats 4096/12
    ("ofw_ls_constant", &[2.0, 1.0], 1_365.333_333_333_333_3),
    ("ofw_ls_constant", &[40.0, 2.0], 6_400.0),
    // (11/4)·√(4096/3)·1000^(2/3), and (11/4)·3·80·64^(2/3)
    ("ofw_ls", &[1.0, 2.0, 1.0, 998.0], 10_161.364_737_737_413),
    ("ofw_ls", &[3.0, 40.0, 2.0, 62.0], 10_560.0),
    // (4096/3)/27^(2/3)
    ("ofw_ls_lemma", &[2.0, 1.0, 25.0], 151.703_703_703_703_7),
    // λ = ½, D = 2: 4·(1+1)²/½ = 32 against 288·½ = 144; with G = 5: 4·36/½ = 288
    ("sc_ofw_constant", &[1.0, 0.5, 2.0, 1.0], 144.0),
    ("sc_ofw_constant", &[5.0, 0.5, 2.0, 1.0], 288.0),
    // 144·√10000 + 72·ln 5000 + 2
    ("sc_ofw_curved", &[1.0, 0.5, 2.0, 1.0, 5000.0], 15_015.237_909_781_969),
    // C = 16·4/½ = 128: (3√2/8)·128·8000^(2/3) + 16·ln 8000 + 2, and 128·27^(1/3)
    ("sc_ofw_general", &[1.0, 0.5, 2.0, 8000.0], 27_298.695_546_694_017),
    ("sc_ofw_general_lemma", &[1.0, 0.5, 2.0, 28.0], 384.0),
    // 3 + 5 against ½·2·4·T: 8 + 4 with σ = 1, and 2√(8·400)
    ("dynamic_ofw", &[3.0, 5.0, 2.0, 2.0, 1.0], 12.0),
    ("dynamic_ofw", &[3.0, 5.0, 2.0, 2.0, 100.0], 113.137_084_989_847_6),
    // G√(2LT) = 2·√40000 at β = G√(LT/2) = 2·100
    ("gauge_ftrl", &[2.0, 4.0, 200.0, 5000.0], 400.0),
    // p = 3, r = 2, T = 1000: β = 2·(√2·1000/3)^(2/3); 3^(1/3)·2^(1/3)·2·100
    ("gauge_ftrl_uniform", &[1.0, 1.0, 1.5, 2.0, 121.141_372_855_475_98, 1000.0], 363.424_118_566_427_9),
    ("gauge_ftrl_uniform", &[0.5, 2.0, 1.5, 2.0, 121.141_372_855_475_98, 1000.0], 363.424_118_566_427_9),
    // S = K = 1: 2 + √(ln 2)
    ("coin_betting", &[1.0, 1.0, 1.0, 0.0], 2.832_554_611_157_698),
    ("coin_ftrl", &[3.0, 4.0, 0.0], 10.0),
    // 2·3 + 4 + 2·0.5 + 7 + 0.25
    ("unit_free", &[3.0, 4.0, 0.5, 7.0, 0.25, 0.0], 18.25),
    // √2·(2 + ½)·3·2
    ("gauge_wrapper", &[2.0, 3.0, 2.0, 0.0], 21.213_203_435_596_427),
    // 2·9/½ + (½·½·4 + 0.1·3·2)·10
    ("so_ogd", &[0.5, 0.1, 2.0, 3.0, 10.0], 52.0),
    // 3·(√2·(2.5·4 + 6/2) + 5)
    ("so_ogd_adaptive", &[2.0, 3.0, 4.0, 6.0, 5.0, 0.0], 70.154_328_932_550_7),
    // 1.5·2·3·√10000
    ("ogd_convex", &[2.0, 3.0, 1e4], 900.0),
    // 4·(1 + ln 1000)/(2·½)
    ("ogd_strongly_convex", &[2.0, 0.5, 1000.0], 31.631_021_115_928_548),
    ("ogd_adagrad", &[3.0, 2.0, 0.0], 8.485_281_374_238_57),
    // GD√T after T rounds, and half of it spent on the regulariser before the first
    ("dual_averaging", &[2.0, 3.0, 1e4, 1e4], 600.0),
    ("dual_averaging", &[2.0, 3.0, 1e4, 0.0], 300.0),
    ("dual_averaging_anytime", &[2.0, 3.0, 1e4], 900.0),
    ("dual_averaging_adaptive", &[3.0, 2.0, 0.0], 12.708_203_932_499_37),
    // γGD = 1, γ = ½, d = T = 4: 2·(½ + 2·ln 2) + 3
    ("ons", &[0.5, 0.5, 2.0, 1.0, 4.0, 3.0, 4.0], 6.772_588_722_239_781),
    // κ = 1 + 2·½·3 = 4: (2 + 1)·2·3·10
    ("fast_ogd_kappa", &[0.5, 3.0], 4.0),
    ("fast_ogd", &[2.0, 3.0, 0.5, 100.0], 180.0),
    // √(2·4)·10 = 28.28 against 4·2 = 8: 3·28.28; and against 4·10: 1.5·(40 + 28.28)
    ("fast_ogd_adaptive", &[3.0, 0.5, 10.0, 2.0, 0.0], 84.852_813_742_385_7),
    ("fast_ogd_adaptive", &[3.0, 0.5, 10.0, 10.0, 0.0], 102.426_406_871_192_85),
    // ½·2·9 + 4·4/(2·0.1)·min(1 + ln 100, ln(1 + 0.1·100/2)) = 9 + 80·ln 6
    ("fast_ogd_strongly_convex", &[2.0, 0.1, 3.0, 0.5, 100.0], 152.340_757_538_244_4),
    ("fast_ogd_strongly_convex", &[0.0, 0.1, 3.0, 0.5, 100.0], 0.0),
    ("adahedge", &[1.0, 10.0], 20.0),
    ("hedge", &[3.0, 0.75, 4.0, 0.0], 7.0),
    // 2·3·√(½·2)·(10 + 10); half of one part and twice the other
    ("eg", &[2.0, 1.0, 3.0, E2, 1.0, 100.0, 100.0], 120.0),
    ("eg", &[2.0, 1.0, 3.0, E2, 2.0, 100.0, 100.0], 150.0),
    // 2·3·√(50·2)·(½ + 2)
    ("eg_anytime", &[2.0, 1.0, 3.0, E2, 2.0, 50.0], 150.0),
    ("eg_adaptive", &[2.0, 4.0, 0.0], 6.0),
    // 8·4·(1 + 2)/(4·½), and 2·(1 + ½·2)²·(1 + 2)/½
    ("ftl", &[2.0, 4.0, 0.5, E2], 48.0),
    ("ftl_strongly_convex", &[1.0, 0.5, 2.0, E2], 48.0),
    // √(16/π), and d where it is smaller
    ("perturbation_smoothness", &[7.0], 2.256_758_334_191_025),
    ("perturbation_smoothness", &[1.0], 1.0),
    // R = 2, δ = ½, L = 1, k = 3, G = 5, T = 100: 2·(2 + ½·½·25·3·100) + 3·5·4 + 0.1·100
    ("perturbed", &[5.0, 2.0, 4.0, 1.0, 0.5, 3.0, 0.1, 100.0], 3_824.0),
    // c = 3, L = 1, R = 2: a = 3, D = 4: 10·(2/3 + 3 + 5) + 1
    ("perturbed_adaptive", &[2.0, 4.0, 1.0, 3.0, 10.0, 1.0, 0.0], 87.666_666_666_666_67),
    // κ = 8.25; 2·3·5·√(8.25·100), and twice the step: half of one part, twice the other
    ("lloo", &[3.0, 5.0, RHO, 1.0, 100.0, 100.0], 861.684_396_980_704_3),
    ("lloo", &[3.0, 5.0, RHO, 2.0, 100.0, 100.0], 1_077.105_496_225_880_3),
    // ρ = 1: κ = 4.75, τ = 76; T = 24: √4.75(√2·10 + (1/√2 + 1/4)(20 − 2√76 + 1/√76))
    ("lloo_anytime", &[1.0, 1.0, 1.0, 1.0, 24.0], 36.410_606_398_749_28),
    // ρ = 1, λ = ½, D = 2, G = 1, T = 17: 2·2·(12(1/16 + ln 2) + ln(33/16)) + 16
    ("lloo_strongly_convex", &[1.0, 0.5, 2.0, 1.0, 17.0], 55.166_740_023_784_165),
    // 2·9/½ + ½·½·5·4·10 + √1·3·2·10 + 2·5·2·4; on a single point 0
    ("loo_bogd", &[0.5, 2.0, 3.0, 4.0, 1.0 / 3.0, 5.0, 10.0], 226.0),
    ("loo_bogd", &[0.5, 2.0, 3.0, 0.0, 1.0 / 3.0, 5.0, 10.0], 0.0),
    // √2·2·3·2 + 4
    ("loo_bogd_adaptive", &[1.0, 3.0, 2.0, 4.0, 0.0], 20.970_562_748_477_143),
    ("loo_ogd", &[7.0, 1.0, 0.0], 7.0),
    ("trivial_regret", &[0.5, 2.0, 100.0, 60.0], 60.0),
];

#[test]
fn bounds_are_those_worked_out_by_hand() {
    for (name, numbers, expected) in BY_HAND {
        let bound = BOUNDS.iter().find(|bound| bound.name == *name);
        let found = bound.unwrap_or_else(|| panic!("{name} is not listed"));
        let value = found.value(numbers).unwrap();
        let close = (value - expected).abs() <= 1e-11 * expected;
        assert!(close, "{name}{numbers:?}: {value}, not {expected}");
        assert_eq!(found.value(&numbers[1..]), None, "{name}");
    }
    for bound in BOUNDS {
        assert!(bound.about.ends_with('.'), "{}", bound.name);
        let tried = BY_HAND.iter().any(|(name, ..)| *name == bound.name);
        assert!(tried, "{} has no number worked out by hand", bound.name);
    }
}

#[test]
fn every_function_of_numbers_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/theory");
    let mut found = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for function in text.split("\npub fn ").skip(1) {
            let (name, rest) = function.split_once('(').unwrap();
            let (parameters, rest) = rest.split_once(')').unwrap();
            let parameters = parameters.split(',').map(str::trim);
            let numbers = parameters
                .filter(|p| !p.is_empty())
                .all(|p| p.ends_with(": f64") || p.ends_with(": &Perturbation"));
            let is_bound = rest.starts_with(" -> f64") || rest.starts_with(" -> Guarantee");
            if numbers && is_bound {
                found += 1;
                let listed = BOUNDS.iter().any(|bound| bound.name == name);
                assert!(listed, "{name} is missing from theory/list.rs");
            }
        }
    }
    assert_eq!(found, BOUNDS.len());
}
