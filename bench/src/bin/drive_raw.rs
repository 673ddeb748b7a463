//! No client, driven by the topic `client`.

fn main() {
    bench::drive::main(bench::drive::raw::drive);
}
