//! A PostgreSQL server for tests, in a folder of its own, that ends with its value.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::browser::root;
use crate::shell::{self, Outcome, command, exists, in_ci};

/// The variable that tells tests where it is.
pub(crate) const VARIABLE: &str = "SWITCHBOARD_TEST_POSTGRES";

/// A server that runs.
pub(crate) struct Server {
    programs: PathBuf,
    data: PathBuf,
    port: u16,
}

impl Server {
    /// Starts a server; installs it first on a Debian machine of CI. Nothing where there is none.
    pub(crate) fn start() -> Result<Option<Self>, String> {
        if !cfg!(target_os = "linux") {
            return Ok(None);
        }
        let Some(programs) = programs()? else {
            return Ok(None);
        };
        let folder = root()?.join(format!("target/postgres/{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let server = Self {
            programs,
            data: folder.join("data"),
            port: free.map_err(|e| format!("a free port: {e}"))?.port(),
        };
        if is_root() {
            // It refuses to run as root, so it runs as the user that its package made.
            shell::run(command("chown", &["postgres", &folder.to_string_lossy()]))?;
        }
        let data = server.data.to_string_lossy().into_owned();
        let mut init = server.program("initdb");
        init.args(["-D", &data, "-U", "postgres", "-A", "trust", "--no-sync"]);
        shell::run(quiet(init))?;
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off",
            server.port
        );
        let log = folder.join("log").to_string_lossy().into_owned();
        let mut start = server.program("pg_ctl");
        start.args(["-D", &data, "-l", &log, "-w", "-o", &options, "start"]);
        shell::run(quiet(start))?;
        Ok(Some(server))
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The words of the command that restarts it.
    pub(crate) fn restart_command(&self) -> String {
        let mut restart = self.program("pg_ctl");
        restart.arg("-D").arg(&self.data);
        restart.args(["-w", "-m", "fast", "restart"]);
        let words = std::iter::once(restart.get_program()).chain(restart.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name).to_string_lossy().into_owned();
        match is_root() {
            true => command("runuser", &["-u", "postgres", "--", &program]),
            false => command(&program, &[]),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        stop.arg("-D").arg(&self.data);
        stop.args(["-m", "immediate", "stop"]);
        if let Err(error) = shell::run(quiet(stop)) {
            println!("PostgreSQL was not stopped: {error}");
        }
        if let Some(folder) = self.data.parent() {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// The folder with the server's programs.
fn programs() -> Result<Option<PathBuf>, String> {
    if let Some(found) = find() {
        return Ok(Some(found));
    }
    if in_ci() && exists(command("apt-get", &["--version"])) {
        shell::apt_install("postgresql")?;
    }
    Ok(find())
}

/// Debian keeps each version in a folder of its own; others have them on the path.
fn find() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql");
    let folders = versions.into_iter().flatten().flatten();
    let folders = folders.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = folders
        .chain(std::env::split_paths(&path))
        .filter(|folder| folder.join("initdb").is_file())
        .collect();
    found.sort();
    found.pop()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| owner(&own) == 0)
}

#[cfg(unix)]
fn owner(file: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(file)
}

#[cfg(not(unix))]
fn owner(_: &std::fs::Metadata) -> u32 {
    1
}

fn quiet(mut command: Command) -> Command {
    command.stdout(Stdio::null()).stdin(Stdio::null());
    command
}

/// Sets the variable for a command, and runs it while the server runs.
pub(crate) fn with_server(mut tests: Command) -> Outcome {
    let server = Server::start()?;
    match &server {
        Some(server) => {
            tests.env(VARIABLE, server.url());
        }
        None if in_ci() && cfg!(target_os = "linux") => {
            return Err("no PostgreSQL. With CI=true nothing is skipped.".to_owned());
        }
        None => println!("SKIPPED: tests of the store in PostgreSQL, which is not installed"),
    }
    let outcome = shell::run(tests);
    drop(server);
    outcome
}
