//! The files of `deploy`: what they start serves, and is found healthy by their own checks. Their linters are
//! `cargo xtask deploy`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::openid::Provider;
use crate::cli::Desk;
use crate::program::{path, run};

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Arguments that are read one after the other: help is for those that were all understood.
#[track_caller]
fn is_understood(arguments: &[String]) {
    assert!(arguments.len() > 5, "{arguments:?}");
    let mut all: Vec<&str> = arguments.iter().map(String::as_str).collect();
    all.push("--help");
    let output = run(&all);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
}

#[test]
fn the_unit_is_one_of_systemd_and_its_command_is_understood() {
    let unit = file("switchboard.service");
    let line = |name: &str| {
        let found = unit.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    let command: Vec<String> = line("ExecStart=").split(' ').map(str::to_owned).collect();
    is_understood(&command[1..]);
    // Servers are ended by the program, not by systemd, and have a folder for what they load.
    assert_eq!(line("KillMode="), "mixed");
    assert!(line("Environment=").contains("HOME=/var/lib/switchboard "));
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("switchboard.service");
    std::fs::write(&copy, unit.replace("/usr/local/bin/switchboard", path())).unwrap();
    let verify = Command::new("systemd-analyze")
        .arg("verify")
        .arg(&copy)
        .output();
    let Ok(verified) = verify else {
        return eprintln!("SKIPPED: there is no systemd-analyze");
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    let about_it: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("switchboard.service"))
        .collect();
    assert!(about_it.is_empty(), "{about_it:?}");
}

/// A port of this machine that was free a moment ago.
fn free_port() -> u16 {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

/// Has the program serve with these arguments, does something meanwhile, and ends it as a service manager does.
fn while_served(desk: &Desk, arguments: &[String], meanwhile: impl FnOnce()) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = desk.command(&arguments);
    command.env("OIDC_SECRET", "hush").stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert!(line.contains("example"), "where it is reached: {line:?}");
    meanwhile();
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_unit_starts_serves_and_ends_when_it_is_asked_to() {
    let Some(desk) = Desk::new().on_postgres() else {
        return;
    };
    let (provider, port) = (Provider::start(None).await, free_port());
    let unit = file("switchboard.service");
    let command = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/serve/tls");
    let arguments = command.unwrap().split(' ').skip(1).map(|word| match word {
        "0.0.0.0:7443" => format!("127.0.0.1:{port}"),
        "/etc/switchboard/cert.pem" => tls.join("one.pem").display().to_string(),
        "/etc/switchboard/key.pem" => tls.join("one.key").display().to_string(),
        "https://id.example" => provider.url(),
        word => word.to_owned(),
    });
    let arguments: Vec<String> = arguments.collect();
    tokio::task::block_in_place(|| while_served(&desk, &arguments, || {}));
}

/// The command of the compose file, with a value for each variable.
fn compose_command(compose: &str, value: impl Fn(&str) -> String) -> Vec<String> {
    let (_, command) = compose.split_once("    command:\n").unwrap();
    let words = command
        .lines()
        .map_while(|line| line.trim().strip_prefix("- "));
    words.map(|word| filled(word, &value)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_compose_file_starts_is_healthy_by_its_own_check() {
    let Some(desk) = Desk::new().on_postgres() else {
        return;
    };
    let (provider, port) = (Provider::start(None).await, free_port());
    let compose = file("compose.yaml");
    let command = compose_command(&compose, |name| match name {
        "OIDC_ISSUER" => provider.url(),
        "OWNER" => "ann@team.example".to_owned(),
        _ => "team.example".to_owned(),
    });
    let listen = format!("--listen=127.0.0.1:{port}");
    let command: Vec<String> = command
        .into_iter()
        .map(|word| word.replace("--listen=0.0.0.0:7080", &listen))
        .collect();
    assert!(command.contains(&listen));
    let checks = compose
        .lines()
        .filter_map(|line| line.trim().strip_prefix("test: "));
    let check = checks.map(|check| serde_json::from_str::<Vec<String>>(check).unwrap());
    let check = { check }.find(|check| check[1] == "bash").unwrap();
    let script = check[3]
        .replace("$$", "$")
        .replace("/7080 ", &format!("/{port} "));
    let healthy = || {
        let mut bash = Command::new("bash");
        let status = bash.args(["-c", &script]).stderr(Stdio::null()).status();
        status.unwrap().success()
    };
    tokio::task::block_in_place(|| {
        assert!(!healthy(), "nothing is served yet");
        while_served(&desk, &command, || assert!(healthy()));
    });
}

#[test]
fn the_commands_of_the_containers_are_understood() {
    let compose = file("compose.yaml");
    let words = compose_command(&compose, |_| "some.example".to_owned());
    is_understood(&words);
    let proxies = words
        .iter()
        .find_map(|it| it.strip_prefix("--trust-proxy="));
    let subnet = format!("- subnet: {}\n", proxies.unwrap());
    assert!(compose.contains(&subnet), "the proxy is in that network");
    let image = file("Dockerfile");
    assert!(image.contains("--features postgres,telemetry"));
}

/// With a value for every variable, `${NAME:?why}`.
fn filled(word: &str, value: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("${") {
        let (variable, after) = after.split_once('}').unwrap();
        filled.push_str(before);
        filled.push_str(&value(variable.split(':').next().unwrap()));
        rest = after;
    }
    filled + rest
}
