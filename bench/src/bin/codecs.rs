//! From a provider's bytes to events and a reply: `provider-adapters` against rig and genai, on the
//! same recorded streams in one run.
//!
//! *In memory*: our decoder and rig, which reads through a transport of ours that has the bytes
//! already. genai cannot be had without HTTP, so all three also read *over loopback*, through one
//! and the same reqwest; `reqwest alone` reads and throws away, and is the part no one can save. The
//! server runs on threads of its own, whose time does not count.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use bench::allocations::Counted;
use bench::contest::{Contest, Plan};
use bench::cpu_time::cpu_time;
use bench::model_stream::{self, ModelStream};
use bench::table::{Table, number};
use bytes::Bytes;
use futures::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{ModelIden, ServiceTarget};
use provider_adapters::{Conversation, Expected, HttpModel, Model as _, Reply, Request};
use rig_core::completion::CompletionRequest;
use rig_core::http_client::{self, HttpClientExt, LazyBody, MultipartForm, StreamingResponse};
use tokio::runtime::Runtime;

#[global_allocator]
static HEAP: Counted = Counted;

/// What one read from a socket brings.
const CHUNK: usize = 1400;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for stream in model_stream::all() {
        in_memory(&stream, &runtime);
        over_loopback(&stream, &runtime);
    }
    scaling();
}

fn in_memory(stream: &ModelStream, runtime: &Runtime) {
    let chunks = stream
        .bytes
        .chunks(CHUNK)
        .map(Bytes::copy_from_slice)
        .collect();
    let rig = rig(stream, Transport::Memory(Arc::new(chunks)));
    contest(stream, "in memory")
        .entrant("provider-adapters", || ours(stream, CHUNK))
        .entrant("rig-core 0.46", || runtime.block_on(rig()))
        .run(Plan::default());
}

fn over_loopback(stream: &ModelStream, runtime: &Runtime) {
    let url = serve(stream.bytes.clone());
    let model = HttpModel::with_client(stream.adapter.clone(), client())
        .unwrap()
        .with_key("k")
        .with_base_url(&url);
    let client = client().build().unwrap();
    let mut conversation = Conversation::new();
    conversation.ask("x");
    let request = Request::new("m", conversation);
    let genai = genai_client(&url, stream.wire, client.clone());
    let rig = rig(stream, Transport::Net(client.clone(), url.clone()));
    contest(stream, "over loopback")
        .entrant("provider-adapters, HttpModel", || {
            runtime.block_on(async {
                let mut reply = model.start(&request).await.unwrap();
                while let Some(event) = reply.next().await {
                    std::hint::black_box(event);
                }
                checked(reply.finish())
            })
        })
        .entrant("genai 0.7.2", || runtime.block_on(read_genai(&genai)))
        .entrant("rig-core 0.46", || runtime.block_on(rig()))
        .entrant("reqwest alone", || {
            runtime.block_on(async {
                let mut reply = client.post(&url).body("{}").send().await.unwrap();
                while let Some(chunk) = reply.chunk().await.unwrap() {
                    std::hint::black_box(chunk);
                }
            })
        })
        .run(Plan::default());
}

fn contest<'a>(stream: &ModelStream, place: &str) -> Contest<'a> {
    let ModelStream { wire, bytes, frames, .. } = stream;
    Contest::new(format!("{wire} {place}, {} bytes, {frames} events", bytes.len()))
        .rate("million events/s", *frames as f64 / 1e6)
        .rate("MB/s", bytes.len() as f64 / 1e6)
}

/// Long arguments in chunks of one byte: twice as long must take twice as long.
fn scaling() {
    let mut table = Table::new("linear? one tool call, chunks of one byte", &["ms", "ns a byte"]);
    for (name, make) in [
        (
            "arguments in one event",
            model_stream::long_arguments as fn(usize) -> ModelStream,
        ),
        ("one byte an event", model_stream::long_arguments_in_events),
    ] {
        for kibibytes in [256, 512, 1024] {
            let stream = make(kibibytes << 10);
            let mut times: Vec<f64> = (0..5)
                .map(|_| {
                    let start = cpu_time();
                    ours(&stream, 1);
                    (cpu_time() - start).as_secs_f64()
                })
                .collect();
            times.sort_by(f64::total_cmp);
            let time = times[times.len() / 2];
            let each = time * 1e9 / stream.bytes.len() as f64;
            table.row(format!("{name}, {kibibytes} KiB"), [number(time * 1e3), number(each)]);
        }
    }
    table.print();
}

fn ours(stream: &ModelStream, chunk: usize) -> Reply {
    let mut decoder = stream.adapter.decoder(Expected::default());
    let mut events = Vec::new();
    for piece in stream.bytes.chunks(chunk) {
        decoder.push(piece, &mut events);
        for event in events.drain(..) {
            std::hint::black_box(event);
        }
    }
    checked(decoder.finish(&mut events))
}

fn checked(reply: Reply) -> Reply {
    assert_eq!((reply.error.as_ref(), reply.calls().count()), (None, 1));
    reply
}

/// Reads the stream once with rig.
type RigRead = Box<dyn Fn() -> futures::future::BoxFuture<'static, usize>>;

fn rig(stream: &ModelStream, transport: Transport) -> RigRead {
    use rig_core::providers::anthropic::AnthropicConfig;
    use rig_core::providers::gemini::GeminiConfig;
    use rig_core::providers::openai::OpenAIConfig;

    macro_rules! reader {
        ($model:expr) => {{
            let model = $model.with_idle_timeout(None);
            Box::new(move || {
                let mut items = model.stream(CompletionRequest::new("x")).unwrap();
                Box::pin(async move {
                    let mut count = 0;
                    while let Some(item) = items.next().await {
                        std::hint::black_box(item.unwrap());
                        count += 1;
                    }
                    std::hint::black_box(items.finish().await.unwrap());
                    count
                })
            })
        }};
    }
    match stream.wire {
        "openai-chat" => reader!(OpenAIConfig::new("k").connect(transport).chat("m")),
        "openai-responses" => reader!(OpenAIConfig::new("k").connect(transport).responses("m")),
        "anthropic" => reader!(
            AnthropicConfig::new("k")
                .connect(transport)
                .completion("claude-sonnet-4-5")
        ),
        _ => reader!(
            GeminiConfig::new("k")
                .connect(transport)
                .completion("gemini-3.5-flash")
        ),
    }
}

/// What carries rig's requests.
#[derive(Clone)]
enum Transport {
    /// The reply is here already.
    Memory(Arc<Vec<Bytes>>),
    /// The reply is behind this URL.
    Net(reqwest::Client, String),
}

impl HttpClientExt for Transport {
    fn send<T, U>(
        &self,
        _: http::Request<T>,
    ) -> impl Future<Output = http_client::Result<http::Response<LazyBody<U>>>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        async { panic!("only streams are read") }
    }

    fn send_multipart<U>(
        &self,
        _: http::Request<MultipartForm>,
    ) -> impl Future<Output = http_client::Result<http::Response<LazyBody<U>>>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        async { panic!("only streams are read") }
    }

    fn send_streaming<T>(
        &self,
        request: http::Request<T>,
    ) -> impl Future<Output = http_client::Result<StreamingResponse>> + Send
    where
        T: Into<Bytes> + Send,
    {
        let transport = self.clone();
        let given: Bytes = request.into_body().into();
        async move {
            let body: http_client::BoxedStream = match transport {
                Self::Memory(chunks) => {
                    let chunks: Vec<http_client::Result<Bytes>> =
                        chunks.iter().cloned().map(Ok).collect();
                    Box::pin(futures::stream::iter(chunks))
                }
                Self::Net(client, url) => {
                    let reply = client.post(url).body(given).send().await.unwrap();
                    Box::pin(reply.bytes_stream().map(|chunk| Ok(chunk.unwrap())))
                }
            };
            let response = http::Response::builder().header("content-type", "text/event-stream");
            Ok(response.body(body).unwrap())
        }
    }
}

/// The one reqwest that all read through.
fn client() -> reqwest::ClientBuilder {
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_root_certificates(rustls::RootCertStore::empty())
    .with_no_client_auth();
    reqwest::Client::builder().tls_backend_preconfigured(tls)
}

fn genai_client(url: &str, wire: &str, client: reqwest::Client) -> genai::Client {
    let url = format!("{url}/");
    let kind = match wire {
        "openai-chat" => AdapterKind::OpenAI,
        "openai-responses" => AdapterKind::OpenAIResp,
        "anthropic" => AdapterKind::Anthropic,
        _ => AdapterKind::Gemini,
    };
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            let model = ModelIden::new(kind, target.model.model_name);
            let endpoint = Endpoint::from_owned(url.clone());
            Ok(ServiceTarget {
                endpoint,
                auth: AuthData::from_single("k"),
                model,
            })
        },
    );
    genai::Client::builder()
        .with_reqwest(client)
        .with_service_target_resolver(resolver)
        .build()
        .unwrap()
}

async fn read_genai(client: &genai::Client) -> usize {
    let options = ChatOptions::default()
        .with_capture_content(true)
        .with_capture_tool_calls(true)
        .with_capture_usage(true);
    let request = ChatRequest::from_user("x");
    let mut stream = client
        .exec_chat_stream("m", request, Some(&options))
        .await
        .unwrap()
        .stream;
    let mut count = 0;
    let mut calls = 0;
    while let Some(event) = stream.next().await {
        if let ChatStreamEvent::End(end) = std::hint::black_box(event.unwrap()) {
            calls = end.captured_tool_calls().map_or(0, |calls| calls.len());
        }
        count += 1;
    }
    assert_eq!(calls, 1);
    count
}

/// Answers every request with the stream.
fn serve(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            let bytes = bytes.clone();
            std::thread::spawn(move || {
                let mut buffer = vec![0; 64 << 10];
                let mut seen = Vec::new();
                while let Ok(count) = socket.read(&mut buffer) {
                    if count == 0 {
                        return;
                    }
                    seen.extend_from_slice(&buffer[..count]);
                    let text = String::from_utf8_lossy(&seen).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else {
                        continue;
                    };
                    let length = head.lines().find_map(|line| {
                        line.to_ascii_lowercase()
                            .strip_prefix("content-length: ")?
                            .parse()
                            .ok()
                    });
                    if body.len() < length.unwrap_or(0) {
                        continue;
                    }
                    seen.clear();
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
                        bytes.len()
                    );
                    if socket
                        .write_all(head.as_bytes())
                        .and_then(|()| socket.write_all(&bytes))
                        .is_err()
                    {
                        return;
                    }
                }
            });
        }
    });
    url
}
