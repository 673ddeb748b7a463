//! A hostile server, run by an unprivileged user: each attempt to get out is stopped.
//!
//! The tests' program is the hostile server: it starts itself with one attempt by name, contained and,
//! to show that the attempt is real, as any other server.

mod attempts;

use std::ffi::CString;
use std::fs;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use mcp_sandbox::{Guarantee, Profile, Sandbox};
use mcp_transport::{
    Incoming, LocalSpawner, ProcessTracker, ServerCommand, Spawner, StdioConnect, Transport,
};

/// The user without rights that every system has.
const UNPRIVILEGED: u32 = 65534;

/// What an unprivileged user may do on every machine: these attempts succeed without a sandbox.
const SUCCEED_UNCONTAINED: [&str; 31] = [
    "read a key",
    "list the folder of keys",
    "read by a symbolic link",
    "read by a hard link",
    "read by a race of links",
    "read by /proc/self/root",
    "move a key",
    "read a file of the system",
    "write outside",
    "cut a file outside",
    "delete outside",
    "run a program outside",
    "change permissions",
    "change times",
    "read another's command line",
    "read another's environment",
    "list processes",
    "connect by TCP",
    "send by UDP",
    "connect to a Unix socket",
    "connect to an abstract socket",
    "send by a datagram pair",
    "send by a raw pair",
    "signal another process",
    "limit another process",
    "slow another process",
    "start a thousand processes",
    "take 8 GiB of memory",
    "write a file of 2 GiB",
    "read an inherited descriptor",
    "read the host's variables",
];

#[test]
fn every_escape_attempt_of_an_unprivileged_server_is_stopped() {
    let containment = Sandbox::new(Profile::new(), "/own").containment();
    let missing: Vec<_> = containment.missing().collect();
    // Root's processes are not limited, but then the attempts are made by another user.
    let is_old = missing
        .iter()
        .any(|(which, _)| *which != Guarantee::Processes);
    if is_old {
        println!("SKIPPED: this kernel cannot contain servers: {missing:?}");
        return;
    }
    let results = results();
    assert!(results.len() >= 30, "{results:?}");
    let escaped: Vec<_> = results
        .iter()
        .filter(|it| it.contained.starts_with("ESCAPED"))
        .collect();
    assert!(escaped.is_empty(), "{escaped:#?}");
    for name in SUCCEED_UNCONTAINED {
        let result = results.iter().find(|it| it.attempt == name).expect(name);
        assert!(result.uncontained.starts_with("ESCAPED"), "{result:?}");
    }
    let rows = results
        .iter()
        .map(|it| format!("{:<34} {}\n", it.attempt, it.contained));
    insta::assert_snapshot!(rows.collect::<String>());
}

#[derive(Debug)]
struct Outcome {
    attempt: String,
    contained: String,
    uncontained: String,
}

/// Runs the attempts in a process of the unprivileged user, from a copy that it may read.
fn results() -> Vec<Outcome> {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    open(folder.path());
    let program = folder.path().join("hostile");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    open(&program);
    let table = folder.path().join("table");
    let mut command = Command::new(&program);
    command
        .args(["escape::host", "--exact", "--ignored", "--nocapture"])
        .env("ESCAPE_FOLDER", folder.path())
        .env("HOME", folder.path().join("home"))
        .current_dir(folder.path());
    // Only root may become another user, and only root has to.
    if attempts::is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let text = fs::read_to_string(table).unwrap();
    let rows = text.lines().map(|line| {
        let mut cells = line.split('|').map(str::to_owned);
        let mut cell = || cells.next().unwrap();
        Outcome {
            attempt: cell(),
            contained: cell(),
            uncontained: cell(),
        }
    });
    rows.collect()
}

/// The host of the hostile server: what it attacks, and the runs.
#[test]
#[ignore = "run by `every_escape_attempt_of_an_unprivileged_server_is_stopped`"]
fn host() {
    let folder = PathBuf::from(std::env::var_os("ESCAPE_FOLDER").unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let table = runtime.block_on(async {
        let mut table = String::new();
        for (name, _) in attempts::ALL {
            let contained = run(&folder, name, true).await;
            let uncontained = run(&folder, name, false).await;
            table.push_str(&format!("{name}|{contained}|{uncontained}\n"));
        }
        table
    });
    fs::write(folder.join("table"), table).unwrap();
}

async fn run(folder: &Path, attempt: &str, is_contained: bool) -> String {
    let world = World::new(folder);
    let mut command = ServerCommand::new(folder.join("hostile").to_str().unwrap())
        .with_args([
            "escape::hostile_server",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .with_env("ATTEMPT", attempt);
    for (name, value) in world.variables() {
        command = command.with_env(name, value);
    }
    let profile = Profile::for_command(&command);
    let own = folder.join("own");
    fs::create_dir_all(&own).unwrap();
    let spawner: Arc<dyn Spawner> = match is_contained {
        true => Arc::new(Sandbox::new(profile, own)),
        false => Arc::new(LocalSpawner::new()),
    };
    let connect = StdioConnect::new(command, spawner).with_tracker(ProcessTracker::new());
    let transport = connect.start().await.unwrap();
    let said = match transport.recv().await {
        Incoming::Message { body, .. } => {
            let said: serde_json::Value = serde_json::from_slice(&body).unwrap();
            said["result"].as_str().unwrap().to_owned()
        }
        _ => {
            transport.close().await;
            match transport.exit().and_then(|exit| exit.signal) {
                Some(signal) => format!("killed by signal {signal}"),
                None => format!("ended: {:?}", transport.exit()),
            }
        }
    };
    transport.close().await;
    said
}

/// One attempt.
#[test]
#[ignore = "run by `host`"]
fn hostile_server() {
    let wanted = std::env::var("ATTEMPT").unwrap();
    let (_, attempt) = attempts::ALL
        .iter()
        .find(|(name, _)| *name == wanted)
        .unwrap();
    let result = match attempt() {
        Ok(what) => format!(
            "ESCAPED: {}",
            what.escape_debug().to_string().replace('|', " ")
        ),
        Err(error) => error.to_string(),
    };
    let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": result});
    println!("\n{message}");
    // Until the host has read it.
    let _ = std::io::stdin().read(&mut [0]);
}

/// What a server could attack.
struct World {
    victim: std::process::Child,
    folder: PathBuf,
    tcp: std::net::TcpListener,
    udp: std::net::UdpSocket,
    _unix: std::os::unix::net::UnixListener,
    _datagrams: std::os::unix::net::UnixDatagram,
    _abstract: std::os::unix::net::UnixListener,
    abstract_name: String,
    _inherited: fs::File,
}

impl World {
    fn new(folder: &Path) -> Self {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
        for below in ["home", "world", "own"] {
            let _ = fs::remove_dir_all(folder.join(below));
        }
        let world = folder.join("world");
        fs::create_dir_all(folder.join("home/.ssh")).unwrap();
        fs::create_dir_all(&world).unwrap();
        fs::write(folder.join("home/.ssh/id_rsa"), "the secret key").unwrap();
        fs::write(world.join("precious"), "precious").unwrap();
        fs::copy("/bin/true", world.join("program")).unwrap();
        let victim = Command::new("sleep")
            .arg("1000")
            .arg("1001")
            .env("VICTIM_SECRET", "the secret key")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let abstract_name = format!("escape-{}", victim.id());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let inherited = fs::File::open(folder.join("home/.ssh/id_rsa")).unwrap();
        attempts::make_inheritable(inherited.as_raw_fd());
        Self {
            tcp: std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: std::net::UdpSocket::bind("127.0.0.1:0").unwrap(),
            _unix: UnixListener::bind(world.join("socket")).unwrap(),
            _datagrams: UnixDatagram::bind(world.join("datagrams")).unwrap(),
            _abstract: UnixListener::bind_addr(&address).unwrap(),
            victim,
            folder: folder.to_path_buf(),
            abstract_name,
            _inherited: inherited,
        }
    }

    fn variables(&self) -> [(&'static str, String); 5] {
        let folder = self.folder.to_str().unwrap().to_owned();
        let port = |address: std::net::SocketAddr| address.port().to_string();
        [
            ("WORLD", folder),
            ("VICTIM", self.victim.id().to_string()),
            ("TCP", port(self.tcp.local_addr().unwrap())),
            ("UDP", port(self.udp.local_addr().unwrap())),
            ("ABSTRACT", self.abstract_name.clone()),
        ]
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).unwrap()
}
