//! Databases on the PostgreSQL server that tests may use.
//!
//! `SWITCHBOARD_TEST_POSTGRES` is the address of a server on which databases may be made, such as
//! `postgres://postgres@127.0.0.1:5432/postgres`; `cargo xtask ci` starts one. Without it the tests
//! that need one are skipped, except where `CI` is `true`. `SWITCHBOARD_TEST_PGBOUNCER` is the address
//! of the same server behind a pool.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::NoTls;

/// The address of the server, if there is one.
pub(crate) fn server() -> Option<String> {
    address("SWITCHBOARD_TEST_POSTGRES")
}

/// The address of the server behind PgBouncer, if there is one.
pub(crate) fn pool() -> Option<String> {
    address("SWITCHBOARD_TEST_PGBOUNCER")
}

fn address(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    let in_ci = std::env::var("CI").as_deref() == Ok("true") && cfg!(target_os = "linux");
    assert!(
        found.is_some() || !in_ci,
        "{variable} is not set, and with CI=true nothing is skipped: `cargo xtask ci` starts a server"
    );
    if found.is_none() {
        eprintln!("SKIPPED: {variable} is not set");
    }
    found
}

/// A new, empty database, which is removed with its value.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    pub(crate) fn make(server: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("switchboard_{}_{number}", std::process::id());
        execute(
            server,
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        )
        .unwrap();
        execute(server, format!("CREATE DATABASE {name}")).unwrap();
        let server = server.to_owned();
        Self { server, name }
    }

    /// A database for a user of the program, where `SWITCHBOARD_TEST_STORE` is `postgres`: the tests of
    /// `rest` and `serve` hold on both back ends.
    pub(crate) fn of_user() -> Option<Self> {
        match std::env::var("SWITCHBOARD_TEST_STORE").as_deref() {
            Ok("postgres") => Some(Self::make(&server().expect("a server"))),
            _ => None,
        }
    }

    /// What makes `serve` hand over at once, and take over soon.
    pub(crate) const SWIFT: [&str; 4] = ["--drain-time", "0", "--lease-timeout", "1"];

    pub(crate) fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        if let Err(error) = execute(&self.server, sql) {
            eprintln!("{} is left: {error}", self.name);
        }
    }
}

/// Executes a statement, within a runtime or without.
fn execute(server: &str, sql: String) -> Result<(), tokio_postgres::Error> {
    let server = server.to_owned();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&server, NoTls).await?;
            tokio::spawn(connection);
            client.batch_execute(&sql).await
        })
    });
    thread.join().unwrap()
}
