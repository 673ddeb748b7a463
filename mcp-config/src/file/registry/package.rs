//! The command of a package: which program runs it, and that it is pinned to one version.

use mcp_transport::{EnvPolicy, ServerCommand};

use super::value::{Asked, arguments, variables};
use crate::file::document::{Kind, Node};
use crate::file::field::{self, Fault, Fields};

/// A registry of packages: what runs its packages, and where those programs look for them.
struct Registry {
    kind: &'static str,
    /// The usual one first.
    runtimes: &'static [&'static str],
    hosts: &'static [&'static str],
    /// What is between a name and its version.
    mark: &'static str,
}

const REGISTRIES: [Registry; 4] = [
    Registry {
        kind: "npm",
        runtimes: &["npx", "bunx"],
        hosts: &["registry.npmjs.org"],
        mark: "@",
    },
    Registry {
        kind: "pypi",
        runtimes: &["uvx"],
        hosts: &["pypi.org"],
        mark: "==",
    },
    Registry {
        kind: "oci",
        runtimes: &["docker", "podman"],
        hosts: &["docker.io"],
        mark: ":",
    },
    Registry {
        kind: "nuget",
        runtimes: &["dnx"],
        hosts: &["api.nuget.org", "www.nuget.org", "nuget.org"],
        mark: "@",
    },
];

/// Converts a package to the command that runs it.
pub(super) fn package(node: &Node, asked: &mut Asked<'_>) -> Result<ServerCommand, Fault> {
    let mut fields = Fields::of(node)?;
    let text = |fields: &mut Fields<'_>, name| fields.take(&[name], field::text);
    let fault = |why: String| Err(Fault::new(node.at, why));
    let kind = text(&mut fields, "registryType")?.unwrap_or_default();
    let identifier = text(&mut fields, "identifier")?;
    let identifier = identifier.ok_or_else(|| Fault::new(node.at, "has no \"identifier\""))?;
    if kind == "mcpb" {
        return fault("is a bundle: download it and import its manifest.json".to_owned());
    }
    let Some(registry) = REGISTRIES.iter().find(|registry| registry.kind == kind) else {
        return fault(format!("a package of {kind:?} cannot be started"));
    };
    let version = text(&mut fields, "version")?;
    let package = match pinned(registry, &identifier, version.as_deref()) {
        Ok(package) => package,
        Err(why) => return fault(why),
    };
    let is_known = |base: &str| {
        // An image names its host itself.
        registry.hosts.contains(&host(base))
            || kind == "oci" && identifier.starts_with(&format!("{}/", host(base)))
    };
    if let Some(base) = text(&mut fields, "registryBaseUrl")?
        && !is_known(&base)
    {
        return fault(format!(
            "is a package of {base:?}, where the program that runs it would not look"
        ));
    }
    let runtime = text(&mut fields, "runtimeHint")?;
    let usual = registry.runtimes.first().copied().unwrap_or_default();
    let program = match runtime.as_deref() {
        None | Some("") => usual,
        Some(hint) => match registry.runtimes.iter().find(|known| **known == hint) {
            Some(known) => known,
            None => {
                let known = registry.runtimes.join(" and ");
                return fault(format!(
                    "wants {hint:?} to run it: {kind} packages are run by {known}"
                ));
            }
        },
    };
    let transport = node.get("transport").and_then(|it| it.get("type"));
    if !matches!(transport.map(|kind| &kind.kind), Some(Kind::Text(kind)) if kind == "stdio") {
        return fault("its transport is not \"stdio\"".to_owned());
    }
    let env = variables(node.get("environmentVariables"), asked)?;
    let before = arguments(node.get("runtimeArguments"), asked)?;
    let after = arguments(node.get("packageArguments"), asked)?;
    let mut args = Vec::new();
    match program {
        "npx" if !before.iter().any(|arg| arg == "-y" || arg == "--yes") => {
            args.push("-y".to_owned());
        }
        "docker" | "podman" => {
            args.extend(["run", "-i", "--rm"].map(str::to_owned));
            for (name, _) in &env {
                args.extend(["-e".to_owned(), name.clone()]);
            }
        }
        _ => {}
    }
    args.extend(before);
    args.push(package);
    if program == "dnx" {
        args.push("--yes".to_owned());
        if !after.is_empty() {
            args.push("--".to_owned());
        }
    }
    args.extend(after);
    // As in every entry, the program gets only the variables it needs.
    let mut command = ServerCommand::new(program)
        .with_args(args)
        .with_env_policy(EnvPolicy::Safe);
    for (name, value) in env {
        command = command.with_env(name, value);
    }
    Ok(command)
}

/// A package by its name and one version, as its runtime takes it; or why it is none. A name could be an option, an
/// address or a folder, and a version could name another package.
fn pinned(registry: &Registry, name: &str, version: Option<&str>) -> Result<String, String> {
    let version = version.filter(|version| !version.is_empty());
    if registry.kind == "oci" {
        return image(name, version);
    }
    let parts: Vec<&str> = match (registry.kind, name.strip_prefix('@')) {
        ("npm", Some(scoped)) => match scoped.split_once('/') {
            Some((scope, name)) => vec![scope, name],
            None => vec![""],
        },
        _ => vec![name],
    };
    if !parts.iter().all(|part| is_word(part, "-._~")) {
        return Err(format!("its \"identifier\" {name:?} is not a package name"));
    }
    let Some(version) = version else {
        return Err(format!(
            "has no \"version\": {name} could be another program at every start"
        ));
    };
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && is_word(version, "-._+!");
    if !is_version || version.split(['.', '-']).any(|part| part == "x") {
        return Err(format!("its \"version\" {version:?} is not one version"));
    }
    Ok(format!("{name}{}{version}", registry.mark))
}

/// An image by its tag or its digest.
fn image(name: &str, version: Option<&str>) -> Result<String, String> {
    let last = name.rsplit('/').next().unwrap_or(name);
    let image = match (last.contains([':', '@']), version) {
        (true, _) => name.to_owned(),
        (false, Some(version)) => format!("{name}:{version}"),
        (false, None) => {
            return Err(format!(
                "has no \"version\": {name} could be another image at every start"
            ));
        }
    };
    let is_image = is_word(&image, "-._/:@") && !image.contains("//");
    match is_image && !image.ends_with(":latest") {
        true => Ok(image),
        false => Err(format!("{image:?} is no image of one version")),
    }
}

/// Whether a text consists of letters, digits and these signs, with a letter or a digit at both ends.
fn is_word(text: &str, signs: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(plain)
        && text.ends_with(plain)
        && text.len() <= 300
        && text.chars().all(|c| plain(c) || signs.contains(c))
}

/// The host of a URL, without the port.
fn host(url: &str) -> &str {
    let rest = url.strip_prefix("https://").unwrap_or_default();
    rest.split(['/', ':', '?', '#']).next().unwrap_or_default()
}
