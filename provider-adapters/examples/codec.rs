//! Encodes requests to, and decodes replies from, model providers. A filter:
//!
//! ```sh
//! codec decode WIRE [--chunk N | --chunk-seed S] [--oracle] [--dialect NAME] [--tools a,b] < reply
//! codec encode WIRE [--dialect NAME] [--version DATE] [--strict] < conversation.json
//! ```
//!
//! `WIRE` is `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `vertex` or `prompt`.
//!
//! `decode` reads a reply, streamed or not, and prints one JSON event per line and finally the whole reply. `--chunk`
//! feeds it in pieces of N bytes, `--chunk-seed` in pieces of random size, which does not change the output. `--oracle`
//! prints one object instead, in the form that we make the vendors' SDKs print.
//!
//! `encode` reads a conversation, such as `examples/conversation.json`, and prints the request's
//! body. `NEUTRAL.md` documents the neutral JSON, with an example of every part.

#[path = "codec/neutral.rs"]
mod neutral;
#[path = "codec/oracle.rs"]
mod oracle;

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

use mcp_jsonrpc::RawObject;
use provider_adapters::{
    Adapter, Anthropic, AnthropicVersion, Bedrock, Decoder, Dialect, Expected, Gemini, OpenAiChat,
    OpenAiResponses, PromptMode, ToolSpec, Wire, text_decoder,
};
use tool_schema::Target;

const USAGE: &str = "\
usage: codec decode WIRE [--chunk N | --chunk-seed S] [--oracle] [--dialect NAME] [--tools a,b] < reply
       codec encode WIRE [--dialect NAME] [--version DATE] [--strict] < conversation.json
wires: openai-chat openai-responses anthropic gemini vertex prompt";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [verb, wire, options @ ..] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let options = Options::read(options)?;
    let wire: Wire = wire.parse()?;
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let out = match verb.as_str() {
        "decode" => decode(wire, &input, &options)?,
        "encode" => encode(wire, &input, &options)?,
        _ => return Err(USAGE.into()),
    };
    std::io::stdout().write_all(&out)?;
    Ok(())
}

#[derive(Default)]
struct Options {
    chunk: Option<usize>,
    chunk_seed: Option<u64>,
    oracle: bool,
    strict: bool,
    dialect: Option<Dialect>,
    version: AnthropicVersion,
    tools: Vec<String>,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(flag) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or_else(|| format!("{flag} needs a value"))
            };
            match flag.as_str() {
                "--oracle" => options.oracle = true,
                "--strict" => options.strict = true,
                "--chunk-seed" => options.chunk_seed = Some(value()?.parse()?),
                "--chunk" => options.chunk = Some(value()?.parse::<usize>()?.max(1)),
                "--tools" => options.tools = value()?.split(',').map(str::to_owned).collect(),
                "--dialect" => {
                    let name = value()?;
                    let dialect = Dialect::named(name);
                    options.dialect = Some(dialect.ok_or_else(|| format!("no dialect {name:?}"))?);
                }
                "--version" => {
                    options.version = match value()?.as_str() {
                        "2023-06-01" => AnthropicVersion::V2023_06_01,
                        "2026-10-21" => AnthropicVersion::V2026_10_21,
                        other => return Err(format!("no version {other:?}").into()),
                    };
                }
                _ => return Err(format!("what is {flag}?\n{USAGE}").into()),
            }
        }
        Ok(options)
    }
}

fn adapter(wire: Wire, options: &Options) -> Box<dyn Adapter> {
    let strict = |target, adapter_target| {
        if options.strict {
            target
        } else {
            adapter_target
        }
    };
    let dialect = options.dialect.unwrap_or(Dialect::OPENAI);
    let chat = OpenAiChat::new(dialect).with_target(strict(Target::OPENAI_STRICT, dialect.target));
    match wire {
        Wire::OpenAiResponses => {
            let target = strict(Target::OPENAI_STRICT, Target::OPENAI);
            Box::new(OpenAiResponses::default().with_target(target))
        }
        Wire::Anthropic => {
            let target = strict(Target::ANTHROPIC_STRICT, Target::ANTHROPIC);
            Box::new(Anthropic::new(options.version).with_target(target))
        }
        Wire::Gemini if options.strict => Box::new(Gemini::developer().with_validated_calls()),
        Wire::Gemini => Box::new(Gemini::developer()),
        Wire::Vertex => Box::new(Gemini::vertex("project", "us-central1")),
        Wire::Bedrock => Box::new(Bedrock::new("us-east-1")),
        Wire::Prompt => Box::new(PromptMode::new(chat)),
        _ => Box::new(chat),
    }
}

fn decode(wire: Wire, input: &[u8], options: &Options) -> Result<Vec<u8>, Box<dyn Error>> {
    let adapter = adapter(wire, options);
    let specs: Vec<ToolSpec> = options
        .tools
        .iter()
        .map(|name| ToolSpec::new(name, RawObject::empty()))
        .collect();
    let expected = Expected::new(Arc::new(adapter.tools(&specs)));
    let mut decoder: Box<dyn Decoder> = match wire {
        Wire::Prompt if is_bare(input) => text_decoder(expected),
        _ => adapter.decoder(expected),
    };
    let mut events = Vec::new();
    for piece in pieces(input, options) {
        decoder.push(piece, &mut events);
    }
    let reply = decoder.finish(&mut events);
    let mut out = Vec::new();
    if options.oracle {
        writeln!(
            out,
            "{}",
            serde_json::to_string(&oracle::oracle(wire, &reply))?
        )?;
        return Ok(out);
    }
    for event in &events {
        writeln!(out, "{}", serde_json::to_string(event)?)?;
    }
    writeln!(out, "{}", serde_json::to_string(&reply)?)?;
    Ok(out)
}

/// The input in pieces: all of one size, or of a random size from one to forty bytes.
fn pieces<'a>(input: &'a [u8], options: &Options) -> Vec<&'a [u8]> {
    let Some(mut state) = options.chunk_seed else {
        return input
            .chunks(options.chunk.unwrap_or(input.len()).max(1))
            .collect();
    };
    let mut rest = input;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let size = usize::try_from((state >> 33) % 40).unwrap_or_default() + 1;
        let (piece, after) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Whether the input is a model's plain text without a wire around it.
fn is_bare(input: &[u8]) -> bool {
    let start = input.trim_ascii_start();
    let framed = [&b"data:"[..], b"event:", b":"]
        .iter()
        .any(|mark| start.starts_with(mark));
    let json = serde_json::from_slice::<serde_json::Value>(start);
    !framed && !json.is_ok_and(|body| body.get("choices").is_some() || body.get("error").is_some())
}

fn encode(wire: Wire, input: &[u8], options: &Options) -> Result<Vec<u8>, Box<dyn Error>> {
    let adapter = adapter(wire, options);
    let mut request = neutral::read(input, adapter.as_ref())?;
    if wire == Wire::Bedrock {
        // With everything that Bedrock supports for a model.
        request.model = format!("anthropic.{}", request.model);
    }
    let mut body = adapter.encode(&request)?.request.body;
    body.push(b'\n');
    Ok(body)
}
