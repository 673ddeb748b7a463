//! The web page, in the binary.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};
use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

const HTML: &str = "text/html; charset=utf-8";
const PICTURE: &str = "image/svg+xml";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// What the name of the version's folder begins with.
const FOLDER: &str = "v-";

/// What compressed files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What the frame of diagrams may do: run its own script and what the page hands it, and draw. It has no
/// origin and no network.
static FRAME_POLICY: LazyLock<String> = LazyLock::new(|| {
    let script = include_str!("../../web/diagram-frame.js");
    let digest = ring::digest::digest(&ring::digest::SHA256, script.as_bytes());
    let digest = BASE64_STANDARD.encode(digest);
    format!(
        "default-src 'none'; script-src 'sha256-{digest}' blob:; style-src 'unsafe-inline'; \
         form-action 'none'; frame-ancestors 'self'; base-uri 'none'; sandbox allow-scripts"
    )
});

/// A file of the page: its path, its type, its bytes, which may be compressed already.
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
    asset!("appearance.js", SCRIPT),
    asset!("approval.js", SCRIPT),
    asset!("approvals.js", SCRIPT),
    asset!("assistants.js", SCRIPT),
    asset!("attach.js", SCRIPT),
    asset!("attached.js", SCRIPT),
    asset!("base.css", STYLE),
    asset!("call.js", SCRIPT),
    asset!("chat-head.js", SCRIPT),
    asset!("chat-menu.js", SCRIPT),
    asset!("chat-tools.js", SCRIPT),
    asset!("chat.css", STYLE),
    asset!("chat.js", SCRIPT),
    asset!("code-color.js", SCRIPT),
    asset!("completion.js", SCRIPT),
    asset!("composer-picker.js", SCRIPT),
    asset!("composer.css", STYLE),
    asset!("composer.js", SCRIPT),
    asset!("controls.css", STYLE),
    asset!("conversation.js", SCRIPT),
    asset!("data.js", SCRIPT),
    (
        "/diagram-frame.html",
        HTML,
        concat!(
            "<!doctype html><meta charset=\"utf-8\"><title>Diagrams</title><script>",
            include_str!("../../web/diagram-frame.js"),
            "</script>"
        )
        .as_bytes(),
    ),
    asset!("diagram.js", SCRIPT),
    asset!("dialog.js", SCRIPT),
    asset!("dom.js", SCRIPT),
    asset!("drafts.js", SCRIPT),
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
    asset!("lists.css", STYLE),
    asset!("live.js", SCRIPT),
    asset!("log.js", SCRIPT),
    asset!("login.js", SCRIPT),
    asset!("main.js", SCRIPT),
    asset!("markdown.js", SCRIPT),
    asset!("math.js", SCRIPT),
    asset!("menu.js", SCRIPT),
    asset!("message.js", SCRIPT),
    asset!("model-choose.js", SCRIPT),
    asset!("model-options.js", SCRIPT),
    asset!("notices.js", SCRIPT),
    asset!("notify.js", SCRIPT),
    asset!("palette.js", SCRIPT),
    asset!("prompts.js", SCRIPT),
    asset!("prose.js", SCRIPT),
    asset!("queue.js", SCRIPT),
    asset!("resources.js", SCRIPT),
    asset!("result.js", SCRIPT),
    asset!("router.js", SCRIPT),
    asset!("sandbox.js", SCRIPT),
    asset!("segments.js", SCRIPT),
    asset!("server-actions.js", SCRIPT),
    asset!("server-add.js", SCRIPT),
    asset!("server-edit.js", SCRIPT),
    asset!("server-install.js", SCRIPT),
    asset!("server-review.js", SCRIPT),
    asset!("server.js", SCRIPT),
    asset!("servers.js", SCRIPT),
    asset!("settings.js", SCRIPT),
    asset!("shortcuts.js", SCRIPT),
    asset!("skills.js", SCRIPT),
    asset!("sse.js", SCRIPT),
    asset!("store.js", SCRIPT),
    asset!("stream-share.js", SCRIPT),
    asset!("stream.js", SCRIPT),
    asset!("team.js", SCRIPT),
    asset!("text.css", STYLE),
    asset!("text.js", SCRIPT),
    asset!("text/en.js", SCRIPT),
    asset!("text/languages.js", SCRIPT),
    asset!("text/plural.js", SCRIPT),
    asset!("text/zh.js", SCRIPT),
    asset!("theme.js", SCRIPT),
    asset!("tool-facts.js", SCRIPT),
    asset!("tool-list.js", SCRIPT),
    asset!("tools.js", SCRIPT),
    asset!("uri-template.js", SCRIPT),
    asset!("vendor/highlight-LICENSE.txt", TEXT),
    asset!("vendor/highlight.js", SCRIPT),
    asset!("vendor/mermaid-LICENSE.txt", TEXT),
    (
        "/vendor/mermaid.js",
        SCRIPT,
        include_bytes!("../../web/vendor/mermaid.js.gz"),
    ),
    asset!("vendor/temml-LICENSE.txt", TEXT),
    asset!("vendor/temml.js", SCRIPT),
    asset!("versions.js", SCRIPT),
    asset!("views.css", STYLE),
    asset!("welcome.js", SCRIPT),
];

/// A file as it is sent.
struct Asset {
    path: &'static str,
    kind: &'static str,
    /// Compressed, if that makes it smaller.
    body: Body,
    /// What it is known by: a browser that has it is not sent it again. Weak, for both encodings share it.
    tag: String,
}

enum Body {
    Plain(Cow<'static, [u8]>),
    Gzip(Cow<'static, [u8]>),
}

/// The page: its files, compressed once, below a folder that is named for what is in them.
struct Page {
    version: String,
    assets: Vec<Asset>,
}

static PAGE: LazyLock<Page> = LazyLock::new(|| {
    let version = digest(
        FILES
            .iter()
            .flat_map(|(path, _, bytes)| [path.as_bytes(), bytes]),
    );
    let asset = |&(path, kind, bytes): &File| {
        let bytes = match path {
            "/" => versioned(bytes, &version).into(),
            _ => Cow::Borrowed(bytes),
        };
        let tag = format!("W/\"{}\"", digest([&*bytes]));
        Asset {
            path,
            kind,
            body: smallest(bytes),
            tag,
        }
    };
    let assets = FILES.iter().map(asset).collect();
    Page { version, assets }
});

fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    parts.into_iter().for_each(|part| context.update(part));
    let digest = context.finish();
    let first = digest.as_ref().iter().take(12);
    first.map(|byte| format!("{byte:02x}")).collect()
}

/// The page's HTML with its scripts and styles, and so all they import, in the version's folder.
fn versioned(html: &[u8], version: &str) -> Vec<u8> {
    let html = String::from_utf8_lossy(html);
    let html = html.replace(
        "type=\"module\" src=\"",
        &format!("type=\"module\" src=\"{FOLDER}{version}/"),
    );
    let html = html.replace(
        "\"stylesheet\" href=\"",
        &format!("\"stylesheet\" href=\"{FOLDER}{version}/"),
    );
    html.into_bytes()
}

/// A file in the smaller of its forms.
fn smallest(bytes: Cow<'static, [u8]>) -> Body {
    if bytes.starts_with(&GZIP) {
        return Body::Gzip(bytes);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(&bytes);
    match written.and_then(|()| encoder.finish()) {
        Ok(gzip) if gzip.len() < bytes.len() => Body::Gzip(gzip.into()),
        _ => Body::Plain(bytes),
    }
}

fn unpacked(gzip: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Serves the page.
pub(crate) async fn file(uri: Uri, asked: HeaderMap) -> Response {
    let path = uri.path();
    let in_version = path
        .strip_prefix('/')
        .and_then(|path| path.strip_prefix(FOLDER))
        .and_then(|path| path.strip_prefix(PAGE.version.as_str()));
    let name = match path {
        "/index.html" => "/",
        path => in_version.unwrap_or(path),
    };
    let Some(asset) = PAGE.assets.iter().find(|asset| asset.path == name) else {
        return elsewhere(path);
    };
    // What is named for what is in it never changes.
    let cache = match in_version {
        Some(_) => "public, max-age=31536000, immutable",
        None => "no-cache",
    };
    let mut headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::VARY, HeaderValue::from_static("Accept-Encoding")),
    ]);
    if let Ok(tag) = HeaderValue::from_str(&asset.tag) {
        headers.insert(header::ETAG, tag);
    }
    if name == "/diagram-frame.html"
        && let Ok(policy) = HeaderValue::from_str(&FRAME_POLICY)
    {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let list = |name: HeaderName| {
        let value = asked.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().split(',').map(str::trim)
    };
    let strong = asset.tag.trim_start_matches("W/");
    if list(header::IF_NONE_MATCH).any(|tag| tag.trim_start_matches("W/") == strong) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let takes_gzip = list(header::ACCEPT_ENCODING).any(|coding| coding == "gzip");
    match &asset.body {
        Body::Gzip(gzip) if takes_gzip => {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            (headers, &**gzip).into_response()
        }
        Body::Gzip(gzip) => match unpacked(gzip) {
            Ok(bytes) => (headers, bytes).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        },
        Body::Plain(bytes) => (headers, &**bytes).into_response(),
    }
}

/// The page's views are in the fragment: a path without it redirects there.
fn elsewhere(path: &str) -> Response {
    if is_view(path) {
        let place = format!("/#{}", path.trim_end_matches('/'));
        return Redirect::temporary(&place).into_response();
    }
    (StatusCode::NOT_FOUND, "there is no such page\n").into_response()
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

    async fn ask(path: &str, name: HeaderName, value: &str) -> Response {
        let asked = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
        file(path.parse().unwrap(), asked).await
    }

    async fn body(response: Response) -> Vec<u8> {
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
        body.unwrap().to_vec()
    }

    #[tokio::test]
    async fn a_file_that_the_browser_has_is_not_sent_again() {
        let first = ask("/main.js", header::IF_NONE_MATCH, "").await;
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        let again = ask("/main.js", header::IF_NONE_MATCH, &tag).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        let other = ask("/main.js", header::IF_NONE_MATCH, "\"other\"").await;
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn a_file_is_compressed_for_those_who_take_it() {
        let plain = body(ask("/main.js", header::ACCEPT_ENCODING, "br").await).await;
        let response = ask("/main.js", header::ACCEPT_ENCODING, "gzip, deflate, br").await;
        assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
        assert_eq!(response.headers()[header::VARY], "Accept-Encoding");
        let packed = body(response).await;
        assert!(packed.len() < plain.len());
        assert_eq!(unpacked(&packed).unwrap(), plain);
    }

    #[tokio::test]
    async fn a_library_that_is_kept_compressed_is_unpacked_for_those_who_need_it() {
        let plain = ask("/vendor/mermaid.js", header::ACCEPT_ENCODING, "br").await;
        assert_eq!(plain.headers().get(header::CONTENT_ENCODING), None);
        let plain = axum::body::to_bytes(plain.into_body(), 8 << 20)
            .await
            .unwrap();
        assert!(plain.starts_with(b"\"use strict\""));
    }

    #[tokio::test]
    async fn the_frame_of_diagrams_has_no_origin_even_when_it_is_opened_by_itself() {
        let frame = ask("/diagram-frame.html", header::ACCEPT, "*/*").await;
        let policy = frame.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap();
        assert!(policy.ends_with("sandbox allow-scripts"), "{policy}");
        assert!(!policy.contains("allow-same-origin") && !policy.contains("connect-src"));
        let page = ask("/", header::ACCEPT, "*/*").await;
        assert_eq!(page.headers().get(header::CONTENT_SECURITY_POLICY), None);
    }

    #[tokio::test]
    async fn what_the_page_loads_is_kept_until_it_changes() {
        let page = body(ask("/", header::ACCEPT, "*/*").await).await;
        let page = String::from_utf8(page).unwrap();
        let script = format!("v-{}/main.js", PAGE.version);
        assert!(page.contains(&format!("src=\"{script}\"")), "{page}");
        let kept = ask(&format!("/{script}"), header::ACCEPT, "*/*").await;
        let cache = &kept.headers()[header::CACHE_CONTROL];
        assert!(cache.to_str().unwrap().contains("immutable"));
        let stale = ask("/v-0123/main.js", header::ACCEPT, "*/*").await;
        assert_eq!(stale.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn every_file_of_the_page_is_in_the_binary() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web");
        let files = |folder: &str, path: &str| -> Vec<String> {
            let files = std::fs::read_dir(folder).unwrap().flatten();
            let files = files.filter(|file| file.file_type().unwrap().is_file());
            files
                .map(|file| format!("{path}/{}", file.file_name().to_string_lossy()))
                .collect()
        };
        let mut there = files(folder, "");
        there.extend(files(&format!("{folder}/text"), "/text"));
        there.extend(files(&format!("{folder}/vendor"), "/vendor"));
        let mut there: Vec<String> = there
            .into_iter()
            .map(|path| path.replace("/index.html", "/").replace(".js.gz", ".js"))
            .map(|path| path.replace("-frame.js", "-frame.html"))
            // Only for Node, which runs the tests.
            .filter(|path| path != "/package.json")
            .collect();
        there.sort();
        let mut served: Vec<&str> = FILES.iter().map(|(path, ..)| *path).collect();
        served.sort_unstable();
        assert_eq!(there, served);
    }
}
