//! The README's Rust code: what it shows is what is compiled and run here.

mod first {
    include!("first.rs");

    #[test]
    fn the_first_example_runs() {
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
fn the_readme_shows_these_examples_and_no_others() {
    let shown = include_str!("../../../../README.md");
    let blocks: Vec<&str> = shown
        .split("```rust\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    let kept = [include_str!("first.rs"), include_str!("own_oracle.rs")];
    assert_eq!(blocks, kept, "copy them into tests/readme");
}
