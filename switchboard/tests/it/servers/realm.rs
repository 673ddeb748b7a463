//! An MCP server without tools that wants a login, and its authorization server, on one port.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use serde_json::{Value, json};

/// The token that opens the server.
const TOKEN: &str = "geheim-7";

/// Starts it; gives back its address, without a path.
pub(crate) async fn start() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let base = address.clone();
    let site = Router::new().fallback(move |request: Request| {
        let base = base.clone();
        async move { answer(&base, request).await }
    });
    tokio::spawn(async move { axum::serve(listener, site).await.unwrap() });
    address
}

async fn answer(base: &str, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let key = request.headers().get("authorization").cloned();
    let body = to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
    match path.as_str() {
        "/.well-known/oauth-protected-resource/mcp" => {
            page(json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]}))
        }
        "/.well-known/oauth-authorization-server" => page(json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "token_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
        })),
        "/register" => {
            let mut client: Value = serde_json::from_slice(&body).unwrap();
            client["client_id"] = json!("client-1");
            let mut answer = page(client);
            *answer.status_mut() = 201.try_into().unwrap();
            answer
        }
        "/authorize" => {
            let get = |name: &str| {
                let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
                pairs.find(|(key, _)| *key == name).unwrap().1.to_owned()
            };
            let back = get("redirect_uri").replace("%3A", ":").replace("%2F", "/");
            let place = format!("{back}?code=code-1&state={}", get("state"));
            let redirect = Response::builder().status(302).header("location", place);
            redirect.body(Body::empty()).unwrap()
        }
        "/token" => {
            page(json!({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600}))
        }
        "/mcp" if key.is_some_and(|key| key == format!("Bearer {TOKEN}").as_str()) => mcp(&body),
        "/mcp" => {
            let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
            let refusal = Response::builder()
                .status(401)
                .header("www-authenticate", challenge);
            refusal.body(Body::empty()).unwrap()
        }
        _ => Response::builder().status(404).body(Body::empty()).unwrap(),
    }
}

/// The least an MCP server can be.
fn mcp(body: &[u8]) -> Response {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(id) = message.get("id") else {
        return Response::builder().status(202).body(Body::empty()).unwrap();
    };
    page(match message["method"].as_str() {
        Some("initialize") => json!({"jsonrpc": "2.0", "id": id, "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "realm", "version": "1"},
        }}),
        Some("tools/list") => json!({"jsonrpc": "2.0", "id": id, "result": {"tools": []}}),
        _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}),
    })
}

fn page(value: Value) -> Response {
    let page = Response::builder().header("content-type", "application/json");
    page.body(Body::from(value.to_string())).unwrap()
}
