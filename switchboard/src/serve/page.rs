//! The web page, in the binary.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Redirect, Response};

const HTML: &str = "text/html; charset=utf-8";
const PICTURE: &str = "image/svg+xml";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// A file of the page: its path, its type, its bytes.
type File = (&'static str, &'static str, &'static [u8]);

macro_rules! asset {
    ($name:literal, $kind:ident) => {
        (
            concat!("/", $name),
            $kind,
            include_bytes!(concat!("../../web/", $name)),
        )
    };
}

/// The files of the page. They hold no data, so they need no token.
const FILES: &[File] = &[
    ("/", HTML, include_bytes!("../../web/index.html")),
    asset!("api.js", SCRIPT),
    asset!("approval.js", SCRIPT),
    asset!("approvals.js", SCRIPT),
    asset!("assistants.js", SCRIPT),
    asset!("base.css", STYLE),
    asset!("call.js", SCRIPT),
    asset!("chat-head.js", SCRIPT),
    asset!("chat.css", STYLE),
    asset!("chat.js", SCRIPT),
    asset!("composer.js", SCRIPT),
    asset!("controls.css", STYLE),
    asset!("conversation.js", SCRIPT),
    asset!("dialog.js", SCRIPT),
    asset!("dom.js", SCRIPT),
    asset!("elicitation.js", SCRIPT),
    asset!("fields.js", SCRIPT),
    asset!("form-values.js", SCRIPT),
    asset!("form.js", SCRIPT),
    asset!("format.js", SCRIPT),
    asset!("frame.js", SCRIPT),
    asset!("gate.js", SCRIPT),
    asset!("gateway.js", SCRIPT),
    asset!("history.js", SCRIPT),
    asset!("icon.svg", PICTURE),
    asset!("inline.js", SCRIPT),
    asset!("layout.css", STYLE),
    asset!("live.js", SCRIPT),
    asset!("log.js", SCRIPT),
    asset!("main.js", SCRIPT),
    asset!("markdown.js", SCRIPT),
    asset!("menu.js", SCRIPT),
    asset!("message.js", SCRIPT),
    asset!("notices.js", SCRIPT),
    asset!("prose.js", SCRIPT),
    asset!("result.js", SCRIPT),
    asset!("router.js", SCRIPT),
    asset!("segments.js", SCRIPT),
    asset!("server-actions.js", SCRIPT),
    asset!("server-add.js", SCRIPT),
    asset!("server-edit.js", SCRIPT),
    asset!("server.js", SCRIPT),
    asset!("servers.js", SCRIPT),
    asset!("settings.js", SCRIPT),
    asset!("sse.js", SCRIPT),
    asset!("store.js", SCRIPT),
    asset!("stream.js", SCRIPT),
    asset!("text.css", STYLE),
    asset!("tool-list.js", SCRIPT),
    asset!("tools.js", SCRIPT),
    asset!("views.css", STYLE),
    asset!("welcome.js", SCRIPT),
];

/// Serves the page.
pub(crate) async fn file(uri: Uri) -> Response {
    let path = match uri.path() {
        "/index.html" => "/",
        path => path,
    };
    match FILES.iter().find(|(name, ..)| *name == path) {
        Some((_, kind, bytes)) => {
            let headers = [
                (header::CONTENT_TYPE, *kind),
                (header::CACHE_CONTROL, "no-cache"),
            ];
            (headers, *bytes).into_response()
        }
        // The page's views are in the fragment: a path without it redirects there.
        None if is_view(path) => {
            let place = format!("/#{}", path.trim_end_matches('/'));
            Redirect::temporary(&place).into_response()
        }
        None => (StatusCode::NOT_FOUND, "there is no such page\n").into_response(),
    }
}

/// Whether a path can be a view of the page: words, no file.
fn is_view(path: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '/' | '-' | '_');
    path.len() <= 200
        && path.chars().all(sign)
        && !path.starts_with("//")
        && !path.starts_with("/api/")
        && path != "/api"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_are_views() {
        for path in ["/settings/mcp", "/servers/0d9c-1/logs", "/tools/"] {
            assert!(is_view(path), "{path}");
        }
        for path in [
            "/favicon.ico",
            "//evil.example",
            "/api/none",
            "/api",
            "/a%0d%0ab",
            "/a b",
        ] {
            assert!(!is_view(path), "{path}");
        }
    }

    #[test]
    fn every_file_of_the_page_is_in_the_binary() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| format!("/{}", file.unwrap().file_name().to_string_lossy()))
            .map(|path| path.replace("/index.html", "/"))
            // Only for Node, which runs the tests.
            .filter(|path| path != "/package.json")
            .collect();
        there.sort();
        let mut served: Vec<&str> = FILES.iter().map(|(path, ..)| *path).collect();
        served.sort_unstable();
        assert_eq!(there, served);
    }
}
