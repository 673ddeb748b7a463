//! The same waves on SQLite and on PostgreSQL, with one replica and with three, and with a thousand readers.

use std::time::Instant;

use tokio_postgres::{Client, NoTls};

use crate::folder;
use crate::readers::Readers;
use crate::server::{Server, cpu};
use crate::wave::Wave;

/// How many conversations there are at once, unless other numbers are given; readers hear of the first number.
const SIZES: [usize; 2] = [200, 2_000];
const READERS: usize = 1_000;
/// A user has at most 256 readers at one replica.
const USERS: [&str; 4] = ["ann", "bob", "cid", "dan"];
/// Files that may be open: each reader is one.
const FILES: u64 = 4_096;

/// Where everything is kept.
#[derive(Clone, Copy, PartialEq)]
enum Store {
    Sqlite,
    Postgres,
}

/// Prints a table; what is in it holds only if nothing was lost or doubled, or the program panics.
///
/// The words are `[CONVERSATIONS… [readers=NUMBER]]`.
pub(super) fn compare(words: impl Iterator<Item = String>) {
    let (mut sizes, mut readers) = (Vec::new(), READERS);
    for word in words {
        match word.strip_prefix("readers=") {
            Some(number) => readers = number.parse().unwrap(),
            None => sizes.push(word.parse().unwrap()),
        }
    }
    if sizes.is_empty() {
        sizes.extend(SIZES);
    }
    open_more_files();
    println!(
        "| store | replicas | conversations | readers | seconds | said to answered: median, slowest | CPU s of \
         the replicas | CPU s of PostgreSQL | peak MiB of the replicas | statements a conversation |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    let server = std::env::var("SWITCHBOARD_TEST_POSTGRES").ok();
    let mut set_ups = vec![(Store::Sqlite, 1)];
    match &server {
        Some(_) => set_ups.extend([(Store::Postgres, 1), (Store::Postgres, 3)]),
        None => println!("SKIPPED: PostgreSQL, which is not installed"),
    }
    for (store, replicas) in set_ups {
        for &conversations in &sizes {
            row(store, replicas, conversations, 0, server.as_deref());
        }
        row(store, replicas, sizes[0], readers, server.as_deref());
    }
}

fn row(store: Store, replicas: usize, conversations: usize, readers: usize, url: Option<&str>) {
    let (folder, runtime) = (folder(), tokio::runtime::Runtime::new().unwrap());
    let database = url.filter(|_| store == Store::Postgres);
    let database = database.map(|url| runtime.block_on(Database::make(url)));
    let mut args = vec!["--limit-requests", "100000"];
    for user in USERS {
        args.extend(["--user", user, "--trust-user", user]);
    }
    if let Some(database) = &database {
        args.extend(["--database", &database.url]);
    }
    let started = (0..replicas).map(|_| Server::start(folder.path(), &args));
    let servers: Vec<Server> = started.collect();
    // The servers of all users run at all replicas from here on.
    let users = USERS.len();
    let first = Wave {
        servers: &servers,
        conversations: users * replicas,
    };
    first.run();
    let heard = Readers::open(&servers, readers, conversations);
    let used = || -> f64 { servers.iter().map(Server::cpu).sum() };
    let stored = || database.as_ref().map_or(0.0, Database::cpu);
    let ran = || -> u64 { servers.iter().map(statements).sum() };
    let (before, of_database, statements) = (used(), stored(), ran());
    let began = Instant::now();
    let waits = Wave {
        servers: &servers,
        conversations,
    }
    .run();
    heard.join();
    let took = began.elapsed();
    let peak: u64 = servers.iter().map(Server::peak_memory).sum();
    let name = match store {
        Store::Sqlite => "SQLite",
        Store::Postgres => "PostgreSQL",
    };
    println!(
        "| {name} | {replicas} | {conversations} | {readers} | {:.1} | {:.2?}, {:.2?} | {:.1} | {:.1} | {} | {:.0} |",
        took.as_secs_f64(),
        waits[waits.len() / 2],
        waits[waits.len() - 1],
        used() - before,
        stored() - of_database,
        peak >> 10,
        (ran() - statements) as f64 / conversations as f64,
    );
}

/// How many statements a replica has sent to its store.
fn statements(server: &Server) -> u64 {
    let (_, text) = server.door().text("GET", "/metrics", None);
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("switchboard_store_statements_total "));
    line.unwrap().parse().unwrap()
}

/// A new database.
struct Database {
    url: String,
    /// The process whose children serve its connections.
    process: u32,
}

impl Database {
    async fn make(server: &str) -> Self {
        let client = connect(server).await;
        let row = client
            .query_one("SELECT pg_backend_pid()", &[])
            .await
            .unwrap();
        let backend: i32 = row.get(0);
        let stat = std::fs::read_to_string(format!("/proc/{backend}/stat")).unwrap_or_default();
        let parent = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(1));
        let process = parent.and_then(|parent| parent.parse().ok()).unwrap_or(0);
        let name = format!("load_{}", std::process::id());
        let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        client.batch_execute(&drop).await.unwrap();
        client
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .await
            .unwrap();
        let (server, _) = server.rsplit_once('/').unwrap();
        Self {
            url: format!("{server}/{name}"),
            process,
        }
    }

    /// The seconds of CPU of all its processes, also those that have ended.
    fn cpu(&self) -> f64 {
        let path = format!("/proc/{0}/task/{0}/children", self.process);
        let children = std::fs::read_to_string(path).unwrap_or_default();
        let children = children
            .split_whitespace()
            .filter_map(|child| child.parse().ok());
        cpu(self.process, 4) + children.map(|child| cpu(child, 4)).sum::<f64>()
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn open_more_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut files = getrlimit(Resource::Nofile);
        let wanted = files.maximum.map_or(FILES, |most| most.min(FILES));
        if files.current.is_some_and(|current| current < wanted) {
            files.current = Some(wanted);
            setrlimit(Resource::Nofile, files).unwrap();
        }
    }
}
