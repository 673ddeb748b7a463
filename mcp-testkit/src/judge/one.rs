//! One case from its beginning to its row.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcp_testkit::chaos::{Case, Observed, SECRET, Target};
use mcp_testkit::{Event, TransportKind};

use super::row::Row;
use super::{client, proc};

/// The time a client's descendants may outlive it.
const EXIT_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Runs one case. This process must have no other children.
pub(super) fn run(case: &Case, driver: &str) -> io::Result<Row> {
    proc::adopt_orphans()?;
    let folder = Folder::create()?;
    let log = folder.path.join("log");
    fs::write(&log, "")?;
    let server = Server::start(case, &log)?;
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("exec {driver} \"$@\""), "driver"])
        .arg(case.shape.to_string())
        .args([&case.name, "--"])
        .args(&server.target)
        .env("HOSTILE_PLAN", case.plan.to_string())
        .env("HOSTILE_TIMEOUT_MS", case.timeout.as_millis().to_string())
        .env("HOSTILE_BEARER", SECRET)
        .env("HOSTILE_API_KEY", SECRET)
        // A provider's key in the host's environment must not reach a server.
        .env("ANTHROPIC_API_KEY", SECRET)
        .env("NO_PROXY", "*")
        .env_remove("RUST_BACKTRACE");
    for proxy in [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(proxy);
    }
    let seen = client::run(case, &mut command)?;
    let except: Vec<u32> = server.process.iter().map(Child::id).collect();
    let left = proc::leftovers(&except, EXIT_TIMEOUT);
    drop(server);
    let observed = Observed {
        lines: seen
            .stdout
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(str::to_owned)
            .collect(),
        answered_after: seen.answered_after,
        ended: seen.ended,
        memory_mb: seen.memory_mb,
        left,
        stderr: seen.stderr,
        events: events(&log)?,
    };
    let answered = observed.answered_after.map(|time| time.as_secs_f64());
    let verdict = case.judge(&observed);
    Ok(Row::new(
        case,
        &verdict,
        answered,
        seen.exited_after.as_secs_f64(),
        seen.memory_mb,
    ))
}

/// The server: its address, or the command that starts it.
struct Server {
    target: Vec<String>,
    process: Option<Child>,
}

impl Server {
    fn start(case: &Case, log: &Path) -> io::Result<Self> {
        let own = std::env::current_exe()?.display().to_string();
        let (fault, options) = match &case.target {
            Target::Server { fault, options } => (fault, options),
            Target::ClosedPort => {
                // Bound briefly, to find a free port.
                let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
                return Ok(Self::at(vec![format!("http://{address}/mcp")]));
            }
            _ => return Ok(Self::at(vec!["/nowhere/no-such-command".to_owned()])),
        };
        let mut args = vec![format!("--{}", case.shape)];
        args.extend(["--script", "minimal", "--lifetime", "120", "--era"].map(str::to_owned));
        args.push(case.era.to_string());
        args.extend(["--log".to_owned(), log.display().to_string()]);
        args.extend(
            fault
                .iter()
                .flat_map(|fault| ["--fault".to_owned(), fault.name().to_owned()]),
        );
        args.extend(options.iter().map(|&option| option.to_owned()));
        if case.shape == TransportKind::Stdio {
            args.insert(0, own);
            return Ok(Self::at(args));
        }
        let mut process = Command::new(own)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut url)?;
        }
        Ok(Self {
            target: vec![url.trim().to_owned()],
            process: Some(process),
        })
    }

    fn at(target: Vec<String>) -> Self {
        Self {
            target,
            process: None,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // It ends by itself after its lifetime, whatever happens here.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn events(log: &Path) -> io::Result<Vec<Event>> {
    let text = fs::read_to_string(log)?;
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

/// A folder that is removed on drop.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn create() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("mcp-testkit-chaos-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self { path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that remains is untidy, not wrong.
        let _ = fs::remove_dir_all(&self.path);
    }
}
