//! From a profile to rules.

use std::path::{Path, PathBuf};

use mcp_sandbox::{
    FileAccess, FileRule, PathKind, Profile, ProgramFiles, Suggestion, file_rules, suggest,
};
use mcp_transport::ServerCommand;
use proptest::prelude::*;

const HOME: &str = "/home/me";
const OWN: &str = "/home/me/.local/share/switchboard/servers/x";

fn rules(profile: &Profile, program: &[&str]) -> Vec<FileRule> {
    let mut files = ProgramFiles::default();
    files.files = program.iter().map(PathBuf::from).collect();
    // Whatever is around them looks like an installation.
    let prefixes = files
        .files
        .iter()
        .filter_map(|file| file.ancestors().nth(2));
    files.installations = prefixes.map(Path::to_path_buf).collect();
    file_rules(profile, &files, Some(Path::new(HOME)), Path::new(OWN))
}

fn allows(rules: &[FileRule], path: &str, access: FileAccess) -> bool {
    let covers = |rule: &&FileRule| Path::new(path).starts_with(&rule.path);
    rules
        .iter()
        .filter(covers)
        .any(|rule| rule.access >= access)
}

#[test]
fn an_interpreter_in_the_home_opens_its_own_folder_and_nothing_else() {
    let node = "/home/me/.nvm/versions/node/v22/bin/node";
    let found = rules(&Profile::new(), &[node]);
    assert!(allows(
        &found,
        "/home/me/.nvm/versions/node/v22/lib/x.js",
        FileAccess::Read
    ));
    assert!(!allows(&found, "/home/me/.nvm/alias", FileAccess::Read));
    assert!(!allows(&found, node, FileAccess::Write));
}

#[test]
fn a_shim_opens_the_versions_that_it_chooses_from() {
    let found = rules(&Profile::new(), &["/home/me/.pyenv/shims/python3"]);
    assert!(allows(
        &found,
        "/home/me/.pyenv/versions/3.13/bin/python3",
        FileAccess::Read
    ));
    assert!(!allows(&found, "/home/me/.profile", FileAccess::Read));
}

#[test]
fn a_program_beside_much_else_opens_itself_alone() {
    for program in [
        "/home/me/.local/bin/uvx",
        "/home/me/bin/x",
        "/home/bin/x",
        "/bin/x",
        "/opt/bin/x",
    ] {
        let found = rules(&Profile::new(), &[program]);
        assert!(allows(&found, program, FileAccess::Read), "{program}");
        assert!(!allows(
            &found,
            "/home/me/.local/share/keyrings/login",
            FileAccess::Read
        ));
        assert!(
            !allows(&found, "/home/me/notes", FileAccess::Read),
            "{program}"
        );
        assert!(
            !allows(&found, "/opt/other/data", FileAccess::Read),
            "{program}"
        );
    }
}

#[test]
fn what_is_no_installation_is_not_opened_with_its_program() {
    let mut files = ProgramFiles::default();
    files.files = vec!["/home/me/.cargo/bin/x".into()];
    let found = file_rules(
        &Profile::new(),
        &files,
        Some(Path::new(HOME)),
        Path::new(OWN),
    );
    assert!(allows(&found, "/home/me/.cargo/bin/x", FileAccess::Read));
    assert!(!allows(
        &found,
        "/home/me/.cargo/credentials.toml",
        FileAccess::Read
    ));
}

#[test]
fn a_home_is_not_opened_even_if_it_is_not_known_to_be_one() {
    for program in [
        "/home/me/bin/x",
        "/root/bin/x",
        "/Users/me/bin/x",
        "/var/home/me/bin/x",
    ] {
        let mut files = ProgramFiles::default();
        files.files = vec![program.into()];
        let home = Path::new(program).ancestors().nth(2).unwrap();
        files.installations = vec![home.to_path_buf()];
        let found = file_rules(&Profile::new(), &files, None, Path::new("/own"));
        let key = home.join(".ssh/id_rsa");
        assert!(
            !allows(&found, key.to_str().unwrap(), FileAccess::Read),
            "{program}"
        );
    }
}

#[test]
fn a_package_of_node_is_read_with_the_packages_that_it_needs_and_nothing_beside_them() {
    let link = "/home/me/app/node_modules/.bin/server";
    let script = "/home/me/app/node_modules/@some/server/dist/index.js";
    let found = rules(&Profile::new(), &[link, script]);
    for needed in [
        "/home/me/app/node_modules/@some/sdk/index.js",
        "/home/me/app/node_modules/@some/server/node_modules/zod/index.js",
    ] {
        assert!(allows(&found, needed, FileAccess::Read), "{needed}");
        assert!(!allows(&found, needed, FileAccess::Write), "{needed}");
    }
    assert!(!allows(&found, "/home/me/app/.env", FileAccess::Read));
}

#[test]
fn a_tilde_is_the_users_home() {
    let found = rules(
        &Profile::new().with_read("~/notes").with_write("~/out"),
        &[],
    );
    assert!(allows(&found, "/home/me/notes/a", FileAccess::Read));
    assert!(!allows(&found, "/home/me/notes/a", FileAccess::Write));
    assert!(allows(&found, "/home/me/out/a", FileAccess::Write));
}

#[test]
fn suggestions_follow_the_arguments() {
    let files = |path: &Path| match path.to_str().unwrap() {
        "/srv/a/node_modules/s/index.js" | "/data/db/app.sqlite" | "/usr/lib/web/browser" => {
            PathKind::File
        }
        "/data/db" | "/home/me/work" | "/" | "/tmp" | "/usr/lib/web" | "/usr/src" => {
            PathKind::Folder
        }
        _ => PathKind::Missing,
    };
    let command = ServerCommand::new("node").with_args([
        "/srv/a/node_modules/s/index.js",
        "/home/me/work",
        "--db=/data/db/app.sqlite",
        "--port",
        "80",
        "/no/such/folder/file",
        "/",
        "--browser=/usr/lib/web/browser",
        "/usr/src",
    ]);
    let (profile, why) = suggest(&command, files);
    let paths = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|it| it.display().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(&profile.read), ["/srv/a/node_modules"]);
    assert_eq!(
        paths(&profile.write),
        ["/home/me/work", "/data/db/app.sqlite"]
    );
    let reasons: Vec<String> = why
        .into_iter()
        .map(|Suggestion { reason, .. }| reason)
        .collect();
    assert_eq!(
        reasons[0],
        "the arguments name the script /srv/a/node_modules/s/index.js"
    );
}

#[test]
fn a_launcher_may_download_what_it_runs() {
    let (profile, _) = suggest(&ServerCommand::new("/usr/bin/npx"), |_| PathKind::Missing);
    let text = serde_json::to_string(&profile.network).unwrap();
    assert_eq!(text, r#""all""#);
}

proptest! {
    #[test]
    fn whatever_the_program_the_home_and_keys_stay_closed(
        parts in prop::collection::vec("[a-z.]{1,6}|bin|home|me|local|usr", 1..7),
    ) {
        let program = format!("/{}", parts.join("/"));
// A folder is no program.
        let closed = ["/home/me", "/home/me/.ssh/id_rsa", "/home", "/", "/etc/shadow", "/proc/1/environ"];
        prop_assume!(!closed.iter().any(|it| Path::new(it).starts_with(&program)));
        let found = rules(&Profile::new(), &[&program]);
        for closed in closed {
            prop_assert!(!allows(&found, closed, FileAccess::Read), "{closed} by {program}");
        }
        let written: Vec<_> = found.iter().filter(|it| it.access == FileAccess::Write).collect();
        prop_assert_eq!(written.len(), 1);
        prop_assert_eq!(&written[0].path, Path::new(OWN));
    }

    #[test]
    fn more_in_the_profile_never_allows_less(
        paths in prop::collection::vec("/[a-z]{1,3}(/[a-z]{1,3}){0,2}", 0..6),
    ) {
        let strict = rules(&Profile::new(), &["/usr/bin/node"]);
        let looser = paths.into_iter().fold(Profile::new(), Profile::with_read);
        let looser = rules(&looser, &["/usr/bin/node"]);
        prop_assert!(strict.iter().all(|rule| looser.contains(rule)));
    }
}
