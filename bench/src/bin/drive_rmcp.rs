//! The official Rust SDK, driven by the topic `client`.

fn main() {
    bench::drive::main(bench::drive::theirs::drive);
}
