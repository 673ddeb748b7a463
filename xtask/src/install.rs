//! Packages that checks need, installed once under `target/` from checked-in pins.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::shell::{self, Outcome, cargo, command};

/// Installs what `pins/package-lock.json` locks; returns the folder that holds `node_modules`.
pub(crate) fn npm(pins: &Path, target: &Path) -> Result<PathBuf, String> {
    once(&pins.join("package-lock.json"), target, |staged, lock| {
        let parsed: Value = serde_json::from_str(lock).map_err(|e| format!("lock file: {e}"))?;
        let mut manifest = parsed["packages"][""].clone();
        manifest["private"] = true.into();
        write(&staged.join("package.json"), &manifest.to_string())?;
        let mut npm = command(
            "npm",
            &["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        );
        npm.args(["--loglevel", "error"]).current_dir(staged);
        shell::run(npm)
    })
}

/// Installs what `pins/requirements.txt` pins into a virtual environment; returns its folder.
pub(crate) fn pip(pins: &Path, target: &Path) -> Result<PathBuf, String> {
    once(&pins.join("requirements.txt"), target, |staged, _| {
        let venv = staged.to_string_lossy();
        shell::run(command("python3", &["-m", "venv", &venv]))?;
        let pip = staged.join("bin/python").to_string_lossy().into_owned();
        let requirements = staged
            .join("requirements.txt")
            .to_string_lossy()
            .into_owned();
        let quiet = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ];
        let mut install = command(&pip, &quiet);
        install.args(["--no-deps", "-r", &requirements]);
        shell::run(install)
    })
}

/// Installs one npm package of this version by itself; its scripts are not run.
pub(crate) fn npm_package(name: &str, version: &str, target: &Path) -> Outcome {
    alone(&format!("{name}@{version}"), target, |staged, package| {
        write(&staged.join("package.json"), r#"{"private": true}"#)?;
        let mut npm = command("npm", &["install", "--ignore-scripts", "--no-audit"]);
        npm.args(["--no-fund", "--loglevel", "error", package]);
        npm.current_dir(staged);
        shell::run(npm)
    })
}

/// Installs one PyPI package of this version into a virtual environment of its own.
pub(crate) fn pip_package(name: &str, version: &str, target: &Path) -> Outcome {
    alone(&format!("{name}=={version}"), target, |staged, package| {
        let venv = staged.to_string_lossy();
        shell::run(command("python3", &["-m", "venv", &venv]))?;
        let pip = staged.join("bin/python").to_string_lossy().into_owned();
        let mut install = command(&pip, &["-m", "pip", "install", "--quiet"]);
        install.args(["--disable-pip-version-check", package]);
        shell::run(install)
    })
}

/// Runs `install` for a package unless it was installed there. The mark is written last.
fn alone(package: &str, target: &Path, install: impl FnOnce(&Path, &str) -> Outcome) -> Outcome {
    let done = target.join("installed");
    if done.exists() {
        return Ok(());
    }
    println!("installing {package}");
    let _ = fs::remove_dir_all(target);
    fs::create_dir_all(target).map_err(|e| format!("{}: {e}", target.display()))?;
    install(target, package)?;
    write(&done, package)
}

/// Builds a cargo tool of this version from its own lock file; returns the program.
pub(crate) fn cargo_tool(name: &str, version: &str) -> Result<PathBuf, String> {
    let root = Path::new("target/tools").join(format!("{name}-{version}"));
    let program = root.join(format!("bin/{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        println!(
            "installing {name} {version} into {}: minutes, once",
            root.display()
        );
        let mut install = cargo(&["install", "--locked", "--quiet", name]);
        install.args(["--version", version, "--root"]).arg(&root);
        shell::run(install)?;
    }
    let folder = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
    Ok(folder.join(program))
}

/// Runs `install` unless `target` already holds what this very pin file asks for. The pin file is
/// written there last, so that an interrupted installation is never taken for a whole one.
fn once(
    pins: &Path,
    target: &Path,
    install: impl FnOnce(&Path, &str) -> Outcome,
) -> Result<PathBuf, String> {
    let text = fs::read_to_string(pins).map_err(|e| format!("{}: {e}", pins.display()))?;
    let name = pins.file_name().unwrap_or_default();
    let done = target.join("installed");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == text) {
        return Ok(target.to_path_buf());
    }
    println!("installing {} into {}", pins.display(), target.display());
    let _ = fs::remove_dir_all(target);
    fs::create_dir_all(target).map_err(|e| format!("{}: {e}", target.display()))?;
    write(&target.join(name), &text)?;
    install(target, &text)?;
    write(&done, &text)?;
    Ok(target.to_path_buf())
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}
