//! Numbers for people.

use extremal_learn::format::{at_least, at_most, count, interval, significant};

#[test]
fn a_number_rounded_up_is_never_below() {
    for x in [
        12.3454,
        12.3456,
        -12.3456,
        192_258.4,
        9.99996,
        0.000_012_34,
        0.0,
        1e-9,
        99_999.6,
    ] {
        for digits in [3, 4, 5] {
            let text = at_least(x, digits);
            let shown: f64 = text.replace(',', "").replace('−', "-").parse().unwrap();
            assert!(shown >= x, "{x}: {text}");
            assert!(shown - x <= 2e-2 * x.abs().max(1e-300), "{x}: {text}");
        }
    }
}

#[test]
fn digits_are_significant_and_thousands_are_separated() {
    for (x, text) in [
        (12345.6, "12,346"),
        (1234567.0, "1,234,567"),
        (999.0, "999.0"),
        (25.3104, "25.31"),
        (9.99979, "10.00"),
        (-0.123456, "−0.1235"),
        (0.0, "0.000"),
        (2.2e-16, "2.20e-16"),
        (f64::NAN, "NaN"),
    ] {
        assert_eq!(significant(x, 4), text);
    }
    assert_eq!(count(256_000), "256,000");
    for (x, text) in [
        (24.0999, "24.0"),
        (24.0, "24.0"),
        (12345.6, "12,345"),
        (0.09996, "0.099"),
        (1.2399e-7, "1.23e-7"),
        (9.999, "9.99"),
    ] {
        assert_eq!(at_most(x, 3), text);
    }
    assert_eq!(count(42), "42");
}

#[test]
fn intervals_are_rounded_outwards() {
    assert_eq!(interval(25.31041, 25.31041), "[25.310, 25.311]");
    assert_eq!(interval(-0.5, 0.5), "[−0.50000, 0.50000]");
    assert_eq!(interval(1234.56, 1234.57), "[1,234.5, 1,234.6]");
}
