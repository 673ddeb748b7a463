//! The web page, in the binary.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};

const HTML: &str = "text/html; charset=utf-8";

/// A file of the page: its path, its type, its bytes.
type File = (&'static str, &'static str, &'static [u8]);

/// The files of the page. They hold no data, so they need no token.
const FILES: &[File] = &[("/", HTML, include_bytes!("../../web/index.html"))];

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
        None => (StatusCode::NOT_FOUND, "there is no such page\n").into_response(),
    }
}
