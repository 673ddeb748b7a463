//! The registry of servers: <https://registry.modelcontextprotocol.io>, or another one with the same API.
//! What it answers is checked: it may be broken, and it may lie.

use mcp_config::ServerJson;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::fetch::Fetch;
use crate::exit::{Exit, Failure};
use crate::home;

const OFFICIAL: &str = "https://registry.modelcontextprotocol.io";
/// Names another registry.
const VARIABLE: &str = "SWITCHBOARD_REGISTRY";
/// The largest answer.
const ANSWER: u64 = 4 << 20;
/// The most pages of a search.
const PAGES: usize = 5;
/// The most servers that a search names.
const NAMED: usize = 20;

/// A registry.
#[derive(Debug)]
pub(crate) struct Registry {
    base: String,
}

/// A server of the registry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) file: ServerJson,
    /// What the registry says about it: that it is deprecated.
    pub(super) notes: Vec<String>,
}

/// A server that a search found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Hit {
    pub(super) name: String,
    pub(super) description: String,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    server: &'a RawValue,
    #[serde(default, rename = "_meta")]
    meta: Meta,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(default, rename = "io.modelcontextprotocol.registry/official")]
    official: Official,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Official {
    status: Option<String>,
    status_message: Option<String>,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    servers: Vec<Listed>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Listed {
    server: Described,
}

#[derive(Deserialize)]
struct Described {
    name: String,
    #[serde(default)]
    description: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    next_cursor: Option<String>,
}

impl Registry {
    /// The registry at an address, or the one that the environment names, or the official one.
    pub(crate) fn at(base: Option<&str>) -> Self {
        let named = base
            .map(str::to_owned)
            .or_else(|| home::environment(VARIABLE));
        let base = named.unwrap_or_else(|| OFFICIAL.to_owned());
        Self {
            base: base.trim_end_matches('/').to_owned(),
        }
    }

    /// Its address.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// A server in this version, or in the latest; nothing if there is none.
    pub(super) async fn entry(
        &self,
        fetch: &Fetch,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<Entry>, Failure> {
        let (path, wanted) = (escaped(name), escaped(version.unwrap_or("latest")));
        let url = format!("{}/v0.1/servers/{path}/versions/{wanted}", self.base);
        match fetch.document(&url, ANSWER).await? {
            Some(body) => self.read(name, version, &body),
            None => Ok(None),
        }
    }

    fn read(
        &self,
        name: &str,
        version: Option<&str>,
        body: &[u8],
    ) -> Result<Option<Entry>, Failure> {
        let answer: Answer<'_> =
            serde_json::from_slice(body).map_err(|why| self.odd(&why.to_string()))?;
        let file = ServerJson::read(answer.server.get());
        let file = file.map_err(|why| self.odd(&why.to_string()))?;
        if file.name() != name {
            return Err(self.odd(&format!("asked for {name}, it gave {}", file.name())));
        }
        if let Some(version) = version.filter(|it| file.version() != Some(it)) {
            let given = file.version().unwrap_or("none");
            return Err(self.odd(&format!("asked for version {version}, it gave {given}")));
        }
        let official = answer.meta.official;
        let said = official
            .status_message
            .map(|it| format!(": {it}"))
            .unwrap_or_default();
        let mut notes = Vec::new();
        match official.status.as_deref() {
            Some("deleted") => return Ok(None),
            Some("deprecated") => notes.push(format!("the registry calls it deprecated{said}")),
            _ => {}
        }
        Ok(Some(Entry { file, notes }))
    }

    /// Servers whose names have this in them.
    pub(super) async fn search(&self, fetch: &Fetch, words: &str) -> Result<Vec<Hit>, Failure> {
        let mut hits: Vec<Hit> = Vec::new();
        let mut cursor = String::new();
        for _ in 0..PAGES {
            let mut url = format!(
                "{}/v0.1/servers?search={}&version=latest&limit=100",
                self.base,
                escaped(words)
            );
            if !cursor.is_empty() {
                url.push_str(&format!("&cursor={}", escaped(&cursor)));
            }
            let body = fetch.document(&url, ANSWER).await?;
            let body = body.ok_or_else(|| self.odd("it has no list of servers"))?;
            let list: List =
                serde_json::from_slice(&body).map_err(|why| self.odd(&why.to_string()))?;
            for Listed { server } in list.servers {
                let is_new = hits.iter().all(|hit| hit.name != server.name);
                if is_new && hits.len() < NAMED {
                    hits.push(Hit {
                        name: server.name,
                        description: server.description,
                    });
                }
            }
            cursor = list.metadata.next_cursor.unwrap_or_default();
            if cursor.is_empty() || hits.len() == NAMED {
                break;
            }
        }
        Ok(hits)
    }

    /// An answer that makes no sense.
    fn odd(&self, why: &str) -> Failure {
        Failure::new(
            Exit::Other,
            format!("the registry {} cannot be believed: {why}", self.base),
        )
    }
}

/// A text as a part of a path or of a query.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, version: Option<&str>) -> Result<Option<Entry>, Failure> {
        Registry::at(Some("https://r.example/")).read("com.example/a", version, body.as_bytes())
    }

    #[test]
    fn an_answer_about_another_server_or_version_is_not_believed() {
        for (body, version, why) in [
            (
                r#"{"server": {"name": "com.example/b"}}"#,
                None,
                "it gave com.example/b",
            ),
            (
                r#"{"server": {"name": "com.example/a", "version": "2"}}"#,
                Some("1"),
                "asked for version 1, it gave 2",
            ),
            (r#"{"servers": []}"#, None, "missing field"),
            (r#"{"server": [1]}"#, None, "name of the server"),
            ("<html>", None, "expected value"),
        ] {
            let failure = read(body, version).unwrap_err();
            assert!(failure.chain().contains(why), "{}", failure.chain());
        }
    }

    #[test]
    fn what_was_deleted_is_not_there_and_what_is_deprecated_is_marked() {
        let body = |status: &str| {
            format!(
                r#"{{"server": {{"name": "com.example/a", "version": "1"}}, "_meta":
                {{"io.modelcontextprotocol.registry/official":
                {{"status": "{status}", "statusMessage": "use b"}}}}}}"#
            )
        };
        assert!(read(&body("deleted"), None).unwrap().is_none());
        let entry = read(&body("deprecated"), Some("1")).unwrap().unwrap();
        assert_eq!(entry.notes, ["the registry calls it deprecated: use b"]);
        assert_eq!(read(&body("active"), None).unwrap().unwrap().notes, [""; 0]);
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert_eq!(escaped("com.example/a b?#"), "com.example%2Fa%20b%3F%23");
    }
}
