//! The document of the API: a part a resource, joined.

use std::sync::LazyLock;

use axum::Json;
use serde_json::{Map, Value, json};

/// The parts. Each has the members `paths` and `schemas`.
const PARTS: &[&str] = &[
    include_str!("openapi/base.json"),
    include_str!("openapi/servers.json"),
    include_str!("openapi/install.json"),
    include_str!("openapi/tools.json"),
    include_str!("openapi/assistants.json"),
    include_str!("openapi/settings.json"),
    include_str!("openapi/conversations.json"),
    include_str!("openapi/gateway.json"),
    include_str!("openapi/login.json"),
];

static DOCUMENT: LazyLock<Value> = LazyLock::new(join);

/// Serves the document.
pub(crate) async fn document() -> Json<&'static Value> {
    Json(&DOCUMENT)
}

fn join() -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for part in PARTS {
        // The tests read every part.
        let Ok(mut part) = serde_json::from_str::<Value>(part) else {
            continue;
        };
        for (name, all) in [("paths", &mut paths), ("schemas", &mut schemas)] {
            if let Some(Value::Object(members)) = part.get_mut(name).map(Value::take) {
                all.extend(members);
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "switchboard",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Every request needs `Authorization: Bearer TOKEN`, or a session's \
                cookie together with the header `x-switchboard-page`. Everything that is not done \
                is answered with an `Error`.",
        },
        "security": [{ "token": [] }, { "session": [], "page": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "session": { "type": "apiKey", "in": "cookie", "name": "__Host-switchboard" },
                "page": { "type": "apiKey", "in": "header", "name": "x-switchboard-page" },
            },
            "schemas": schemas,
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_part_can_be_read_and_nothing_is_described_twice() {
        let mut reported = BTreeSet::new();
        for part in PARTS {
            let part: Value = serde_json::from_str(part).unwrap();
            for kind in ["paths", "schemas"] {
                for name in part[kind].as_object().unwrap().keys() {
                    assert!(reported.insert((kind, name.clone())), "{kind} {name}");
                }
            }
        }
    }

    #[test]
    fn the_document_has_exactly_the_routes_that_are_served() {
        let routes = crate::serve::api::routes();
        let served: BTreeSet<_> = routes
            .known()
            .iter()
            .map(|(method, path)| ((*path).to_owned(), (*method).to_owned()))
            .collect();
        let mut reported = BTreeSet::new();
        for (path, methods) in DOCUMENT["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                reported.insert((path.clone(), method.clone()));
            }
        }
        let missing: Vec<_> = served.difference(&reported).collect();
        let gone: Vec<_> = reported.difference(&served).collect();
        assert!(
            missing.is_empty() && gone.is_empty(),
            "not in the document: {missing:?}; not served: {gone:?}"
        );
    }
}
