//! What the program prints, kept as data in `cmd/` and in the guide. After a wanted change:
//! `TRYCMD=overwrite cargo test -p extremal-cli`, then read the difference.

#[test]
fn the_program_prints_what_it_always_printed() {
    trycmd::TestCases::new()
        .case("tests/cmd/*.toml")
        .case("tests/cmd/*.trycmd")
        .case("../../docs/src/first-steps.md");
}
