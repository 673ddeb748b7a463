//! A PostgreSQL server for tests, and a pool in front of it: in a temporary folder, until their value is
//! dropped. What an earlier run left behind, because it was killed, is ended and removed first.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::shell::{self, Outcome, command, exists, in_ci};

/// The variable that tells tests where it is.
pub(crate) const VARIABLE: &str = "SWITCHBOARD_TEST_POSTGRES";
/// The same of the pool.
const POOL_VARIABLE: &str = "SWITCHBOARD_TEST_PGBOUNCER";
/// What the names of the folders begin with; the id of the process follows.
const FOLDER: &str = "switchboard-postgres-";

/// A server that runs.
pub(crate) struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// The port of PgBouncer, where it is installed.
    pool: Option<u16>,
}

impl Server {
    /// Starts a server; installs it first on a Debian machine of CI. Nothing where there is none.
    pub(crate) fn start() -> Result<Option<Self>, String> {
        Self::start_with("-c fsync=off")
    }

    /// The same, of a server that loses no commit if the machine does: for measurements.
    pub(crate) fn start_durable() -> Result<Option<Self>, String> {
        Self::start_with("-c fsync=on")
    }

    fn start_with(more: &str) -> Result<Option<Self>, String> {
        if !cfg!(target_os = "linux") {
            return Ok(None);
        }
        let Some(programs) = programs()? else {
            return Ok(None);
        };
        remove_stale(&programs);
        let folder = std::env::temp_dir().join(format!("{FOLDER}{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut server = Self {
            programs,
            folder,
            port: free_port()?,
            pool: None,
        };
        if is_root() {
            // It refuses to run as root, so it runs as the user that its package made.
            let folder = server.folder.to_string_lossy().into_owned();
            shell::run(command("chown", &["postgres", &folder]))?;
        }
        let data = server.data();
        let mut init = server.program("initdb");
        init.args(["-D", &data, "-U", "postgres", "-A", "trust", "--no-sync"]);
        shell::run(quiet(init))?;
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=400 {more}",
            server.port
        );
        let log = server.folder.join("log").to_string_lossy().into_owned();
        let mut start = server.program("pg_ctl");
        start.args(["-D", &data, "-l", &log, "-w", "-o", &options, "start"]);
        shell::run(quiet(start))?;
        server.pool = server.start_pool()?;
        Ok(Some(server))
    }

    /// Starts PgBouncer in front of it, which gives every transaction another connection.
    fn start_pool(&self) -> Result<Option<u16>, String> {
        let program = || command("pgbouncer", &["--version"]);
        if !exists(program()) && in_ci() && exists(command("apt-get", &["--version"])) {
            shell::apt_install("pgbouncer")?;
        }
        if !exists(program()) {
            return match in_ci() {
                true => Err("no PgBouncer. With CI=true nothing is skipped.".to_owned()),
                false => Ok(None),
            };
        }
        let (port, folder) = (free_port()?, self.folder.display());
        // It takes names of users as they come, and is one of them to the server.
        let settings = format!(
            "[databases]\n* = user=postgres host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             max_client_conn = 1000\nlogfile = {folder}/pool.log\npidfile = {folder}/pool.pid\n",
            self.port
        );
        let file = self.folder.join("pool.ini");
        std::fs::write(&file, settings).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut start = as_postgres("pgbouncer");
        start.arg("--daemon").arg(&file);
        shell::run(quiet(start))?;
        Ok(Some(port))
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        url(self.port)
    }

    /// The words of the command that restarts it.
    pub(crate) fn restart_command(&self) -> String {
        let mut restart = self.program("pg_ctl");
        restart.args(["-D", &self.data(), "-w", "-m", "fast", "restart"]);
        let words = std::iter::once(restart.get_program()).chain(restart.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    fn data(&self) -> String {
        self.folder.join("data").to_string_lossy().into_owned()
    }

    fn program(&self, name: &str) -> Command {
        as_postgres(&self.programs.join(name).to_string_lossy())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        remove(&self.programs, &self.folder);
    }
}

/// Ends what runs in a folder, and removes it.
fn remove(programs: &Path, folder: &Path) {
    if let Ok(id) = std::fs::read_to_string(folder.join("pool.pid")) {
        let _ = shell::run(quiet(command("kill", &["-KILL", id.trim()])));
    }
    let data = folder.join("data");
    if data.join("postmaster.pid").exists() {
        let mut stop = as_postgres(&programs.join("pg_ctl").to_string_lossy());
        stop.arg("-D").arg(&data).args(["-m", "immediate", "stop"]);
        if let Err(error) = shell::run(quiet(stop)) {
            println!("PostgreSQL was not stopped: {error}");
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// Removes what processes have left behind that are no more.
fn remove_stale(programs: &Path) {
    let entries = std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        if let Some(id) = name.strip_prefix(FOLDER)
            && is_folder
            && id.parse::<u32>().is_ok()
            && !Path::new("/proc").join(id).exists()
        {
            remove(programs, &entry.path());
        }
    }
}

fn url(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}

fn free_port() -> Result<u16, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    Ok(free.map_err(|e| format!("a free port: {e}"))?.port())
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

fn as_postgres(program: &str) -> Command {
    match is_root() {
        true => command("runuser", &["-u", "postgres", "--", program]),
        false => command(program, &[]),
    }
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

/// Runs tests while a server runs and its variables are set, and then what is tested on it alone.
pub(crate) fn with_server(mut tests: Command, on_server: Option<Command>) -> Outcome {
    let server = Server::start()?;
    let Some(server) = server else {
        if in_ci() && cfg!(target_os = "linux") {
            return Err("no PostgreSQL. With CI=true nothing is skipped.".to_owned());
        }
        println!("SKIPPED: what needs PostgreSQL, which is not installed");
        return shell::run(tests);
    };
    let tell = |command: &mut Command| {
        command.env(VARIABLE, server.url());
        match server.pool {
            Some(port) => drop(command.env(POOL_VARIABLE, url(port))),
            None => println!("SKIPPED: tests behind PgBouncer, which is not installed"),
        }
    };
    tell(&mut tests);
    let outcome = shell::run(tests);
    let Some(mut on_server) = on_server else {
        return outcome;
    };
    println!("=== the tests of the REST interface, on PostgreSQL");
    tell(&mut on_server);
    outcome.and(shell::run(on_server))
}
