//! The Rust code of the README and of the guide's first pages: what they show is compiled and run here.
//! The README shows `shares.rs`; the guide's tests compare the pages with the other files.

mod shares {
    include!("shares.rs");

    #[test]
    fn the_readme_s_example_runs() {
        main().unwrap();
    }
}

mod first {
    include!("first.rs");

    #[test]
    fn the_guide_s_first_example_runs() {
        main().unwrap();
    }
}

mod own_oracle {
    include!("own_oracle.rs");

    #[test]
    fn the_example_with_an_oracle_of_ones_own_runs() {
        main().unwrap();
    }
}

#[test]
fn the_readme_shows_this_example_and_no_other() {
    let shown = include_str!("../../../../README.md");
    let blocks: Vec<&str> = shown
        .split("```rust\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert_eq!(
        blocks,
        [include_str!("shares.rs")],
        "copy it into tests/readme"
    );
}

#[test]
fn the_readme_takes_three_minutes() {
    let shown = include_str!("../../../../README.md");
    assert!(shown.len() <= 8 * 1024, "{} bytes", shown.len());
}
