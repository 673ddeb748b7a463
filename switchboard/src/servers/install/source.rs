//! What a user names to install.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::exit::{Exit, Failure};

/// What a user names to install.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Source {
    /// A server of the registry, by its whole name.
    Registry {
        name: String,
        version: Option<String>,
    },
    /// Words to look for in the registry.
    Words(String),
    /// The text of a `server.json`, made from the reference of a package.
    Package(String),
    /// The file of a bundle.
    Bundle(PathBuf),
    /// A `server.json`.
    Description(PathBuf),
}

impl Source {
    /// What a text names: a file, `npm:NAME@VERSION` and the like, or a server of the registry.
    pub(crate) fn of(text: &str) -> Result<Self, Failure> {
        let ends = |end: &str| text.to_ascii_lowercase().ends_with(end);
        if ends(".mcpb") || ends(".dxt") {
            return Ok(Self::Bundle(text.into()));
        }
        if ends(".json") {
            return Ok(Self::Description(text.into()));
        }
        if let Some((kind @ ("npm" | "pypi" | "oci" | "nuget"), rest)) = text.split_once(':') {
            return package(kind, rest).map(Self::Package);
        }
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let parts: Vec<&str> = name.split('/').collect();
        let legal = |part: &&str| {
            let sign = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            !part.is_empty() && !part.starts_with('.') && part.chars().all(sign)
        };
        match parts.as_slice() {
            [_, _] if name.len() <= 200 && parts.iter().all(legal) => Ok(Self::Registry {
                name: name.to_owned(),
                version: version.filter(|it| !it.is_empty()).map(str::to_owned),
            }),
            _ if Path::new(text).exists() => Err(Failure::new(
                Exit::Other,
                format!("{text:?} is neither a bundle (.mcpb) nor a server.json"),
            )),
            [words] if !words.trim().is_empty() && version.is_none() => {
                Ok(Self::Words(words.trim().to_owned()))
            }
            _ => Err(Failure::new(
                Exit::Other,
                format!("{text:?} names nothing that can be installed"),
            )
            .with_hint(
                "Give a name of the registry (com.example/weather), a package (npm:NAME@VERSION, \
                 pypi:NAME==VERSION, oci:IMAGE:TAG, nuget:NAME@VERSION), a bundle (FILE.mcpb) or a \
                 server.json.",
            )),
        }
    }
}

/// The `server.json` of a package.
fn package(kind: &str, text: &str) -> Result<String, Failure> {
    let mark = match kind {
        "pypi" => "==",
        "oci" => ":",
        _ => "@",
    };
    // The name of an npm package may begin with the same sign.
    let scope = usize::from(text.starts_with('@'));
    let split = text.get(scope..).and_then(|rest| rest.rfind(mark));
    let (name, version) = match split.filter(|_| kind != "oci") {
        Some(at) => text.split_at(at + scope),
        None => (text, ""),
    };
    let version = version.strip_prefix(mark).unwrap_or_default();
    if kind != "oci" && version.is_empty() {
        let failure = Failure::new(Exit::Other, format!("{kind}:{text} names no version"));
        return Err(failure.with_hint(format!(
            "A package is installed in one version, so that it stays the same: {kind}:{name}{mark}1.2.3."
        )));
    }
    let word = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "._-".contains(c) => c,
        _ => '-',
    };
    let last = name.rsplit('/').next().unwrap_or(name);
    let last = last.split([':', '@']).next().unwrap_or(last);
    let short: String = last.chars().map(word).collect();
    let mut package = json!({
        "registryType": kind,
        "identifier": name,
        "transport": {"type": "stdio"},
    });
    let mut file = json!({"name": format!("{kind}/{short}")});
    if let (false, Some(members), Some(whole)) = (
        version.is_empty(),
        package.as_object_mut(),
        file.as_object_mut(),
    ) {
        members.insert("version".to_owned(), version.into());
        whole.insert("version".to_owned(), version.into());
    }
    if let Some(whole) = file.as_object_mut() {
        whole.insert("packages".to_owned(), json!([package]));
    }
    Ok(file.to_string())
}

#[cfg(test)]
mod tests {
    use mcp_config::ServerJson;

    use super::*;

    #[test]
    fn a_text_names_a_file_a_package_or_a_server_of_the_registry() {
        let registry = |name: &str, version: Option<&str>| Source::Registry {
            name: name.to_owned(),
            version: version.map(str::to_owned),
        };
        let of = |text: &str| Source::of(text).unwrap();
        assert_eq!(
            of("a/b/server.json"),
            Source::Description("a/b/server.json".into())
        );
        assert_eq!(of("X.MCPB"), Source::Bundle("X.MCPB".into()));
        assert_eq!(of("com.example/a"), registry("com.example/a", None));
        assert_eq!(
            of("com.example/a@1.0"),
            registry("com.example/a", Some("1.0"))
        );
        assert_eq!(of("weather"), Source::Words("weather".to_owned()));
        for bad in [
            "",
            "a/b/c",
            "../b",
            "a/..",
            "https://example.com/mcp",
            "a b/c",
        ] {
            assert!(Source::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_package_is_named_with_its_version() {
        for (text, want) in [
            ("npm:@a/b@1.0.0", "npx -y @a/b@1.0.0"),
            ("npm:b@1.0.0", "npx -y b@1.0.0"),
            ("pypi:b==1.0", "uvx b==1.0"),
            ("nuget:B@1.0", "dnx B@1.0 --yes"),
            ("oci:ghcr.io/a/b:1.0", "docker run -i --rm ghcr.io/a/b:1.0"),
        ] {
            let Ok(Source::Package(file)) = Source::of(text) else {
                panic!("{text}");
            };
            let file = ServerJson::read(&file).unwrap();
            let config = file.config(0, &|_| 0).unwrap();
            assert_eq!(config.endpoint().to_string(), want);
        }
        for bad in ["npm:b", "npm:@a/b", "pypi:b", "pypi:b@1.0"] {
            let hint = Source::of(bad).unwrap_err();
            assert!(hint.hint().unwrap().contains("1.2.3"), "{bad}");
        }
    }
}
