//! Many conversations at once with `switchboard serve`, each with an approval: none may be lost,
//! none doubled, and the memory is to be as flat after the last wave as after the first. Then the
//! CPU time that many readers of the events cost, the pages of a very long conversation, what a long
//! reply that comes in small pieces writes to the store, and a server that floods its log. With `team`,
//! instead: more conversations, on SQLite and on PostgreSQL, with one replica and with three. `cargo xtask
//! load` builds and runs it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "an example that measures"
)]

mod door;
mod flood;
mod model;
mod readers;
mod server;
mod sizes;
mod team;
mod wave;

use std::time::Instant;

use readers::Readers;
use server::Server;
use wave::Wave;

const WAVES: usize = 3;
const AT_ONCE: usize = 200;
/// How many read the live events at a time.
const READERS: [usize; 3] = [1, 64, 256];

fn main() {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("team") => team::compare(words),
        _ => one_machine(),
    }
}

/// An empty folder beside the program, not in a file system in memory: what is written is to be counted.
fn folder() -> tempfile::TempDir {
    let example = std::env::current_exe().unwrap();
    tempfile::tempdir_in(example.parent().unwrap()).unwrap()
}

fn one_machine() {
    let folder = folder();
    let server = Server::start(folder.path(), &[]);
    let servers = [server];
    let wave = Wave {
        servers: &servers,
        conversations: AT_ONCE,
    };
    let [server] = &servers;
    let mut memory = Vec::new();
    for number in 1..=WAVES {
        let began = Instant::now();
        let waits = wave.run();
        let took = began.elapsed();
        server.settle();
        memory.push(server.memory());
        let (median, last) = (waits[waits.len() / 2], waits[waits.len() - 1]);
        println!(
            "wave {number}: {AT_ONCE} conversations with an approval each in {took:.2?}; said to \
             answered: median {median:.2?}, slowest {last:.2?}; memory after it {} KiB",
            memory[number - 1]
        );
    }
    let bound = memory[0] + memory[0] / 10 + 4096;
    assert!(
        memory.iter().all(|size| *size <= bound),
        "the memory grows: {memory:?} KiB"
    );
    for readers in READERS {
        let (began, cpu) = (Instant::now(), server.cpu());
        // The wave itself is read by one.
        let others = Readers::open(&servers, readers - 1, AT_ONCE);
        wave.run();
        others.join();
        let (took, cpu) = (began.elapsed(), server.cpu() - cpu);
        println!("{AT_ONCE} conversations, {readers} readers: {cpu:.2} s of CPU in {took:.2?}");
    }
    server.long_conversation(folder.path());
    server.long_reply();
    server.log_flood(folder.path());
}
