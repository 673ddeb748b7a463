//! Our client, driven by the topic `client`.

fn main() {
    bench::drive::main(bench::drive::ours::drive);
}
