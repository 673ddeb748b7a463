//! The servers' scripts: every tool writes the id of its call into its server's record.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcp_testkit::{
    Ask, Called, Edit, Era, Fault, Log, Running, Script, Server, Step, TaskSupport, Tool,
};
use serde_json::{Value, json};

use crate::random::Random;
use crate::role::{Manner, ROLES, Reach, Role};

type Failure = Box<dyn std::error::Error>;

/// The number of events a server keeps.
const LOGGED: usize = 16;
/// The size of a book: more than the model is shown.
const BOOK: usize = 80 << 10;

/// The file a server writes its calls to.
#[derive(Clone)]
struct Recorder(Arc<File>);

impl Recorder {
    fn open(folder: &str, role: Role) -> std::io::Result<Self> {
        let path = Path::new(folder).join(format!("{}.done", role.name));
        let file = File::options().append(true).create(true).open(path)?;
        Ok(Self(Arc::new(file)))
    }

    /// Records the call: one line, in one write.
    fn act(&self, arguments: &Value) {
        let id = arguments.get("id").cloned().unwrap_or_default();
        let _ = (&*self.0).write_all(format!("{id}\n").as_bytes());
    }

    fn answer(&self, called: &Called<'_>) -> Value {
        self.act(called.arguments);
        text(called.arguments.to_string())
    }
}

fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

fn tool(name: &str) -> Tool {
    let number = json!({"type": "integer", "minimum": 0});
    Tool::new(name)
        .taking("Writes a number down.", json!({"id": number, "ms": number}))
        .with_step(Step::PauseArgument {
            name: "ms".to_owned(),
            default: Duration::ZERO,
        })
}

/// `note`, according to the server's behaviour; `look` and `book`, which are read-only.
fn script(role: Role, recorder: &Recorder) -> Script {
    let acts = |tool: Tool| {
        let recorder = recorder.clone();
        tool.answering(move |called| recorder.answer(called))
    };
    let book = recorder.clone();
    let reads = json!({"readOnlyHint": true});
    let script = Script::empty()
        .with_tool(acts(tool("look").declaring("annotations", reads.clone())))
        .with_tool(
            tool("book")
                .declaring("annotations", reads)
                .answering(move |called| {
                    book.act(called.arguments);
                    text("x".repeat(BOOK))
                }),
        );
    let mut note = tool("note");
    note = match role.manner {
        Manner::Storming => (0..20).fold(note, |note, _| {
            note.with_step(Step::ToolsChanged).with_step(Step::Log {
                level: "error".to_owned(),
                data: json!("a storm"),
            })
        }),
        Manner::Chatty => (1..=30).fold(note, |note, step| {
            note.with_step(Step::Progress {
                progress: f64::from(step),
                total: Some(30.0),
                message: None,
            })
        }),
        Manner::Changing => note
            .with_step(Step::Edit(redefine(recorder)))
            .with_step(Step::ToolsChanged),
        Manner::Asking | Manner::AskingLive => {
            let form = json!({"type": "object", "properties": {"name": {"type": "string"}}});
            note.with_step(Step::Ask(Ask::form("name", "Who are you?", form)))
        }
        Manner::Jobs => note.as_task(TaskSupport::Optional),
        Manner::Hanging => {
            // It acts first, through an edit that changes nothing.
            let recorder = recorder.clone();
            let act = Edit::new(move |script, arguments| {
                recorder.act(arguments);
                script
            });
            let hang = note.with_step(Step::Edit(act)).with_step(Step::Hang);
            return script.with_tool(hang);
        }
        _ => note,
    };
    let script = script.with_tool(match role.manner {
        Manner::Crashing => crashing(note, recorder),
        _ => acts(note),
    });
    match role.manner {
        Manner::Legacy | Manner::AskingLive | Manner::Forgetful => script.only(Era::Legacy),
        Manner::Modern | Manner::Asking | Manner::Jobs => script.only(Era::Modern),
        _ => script,
    }
}

/// A tool that every call redefines.
fn redefine(recorder: &Recorder) -> Edit {
    let recorder = recorder.clone();
    Edit::new(move |script, arguments| {
        let id = arguments.get("id").unwrap_or(&Value::Null);
        let recorder = recorder.clone();
        let extra = tool("extra")
            .declaring("description", format!("As call {id} left it.").into())
            .answering(move |called| recorder.answer(called));
        script.with_tool(extra)
    })
}

fn crashing(note: Tool, recorder: &Recorder) -> Tool {
    let recorder = recorder.clone();
    note.answering(move |called| {
        let id = called.arguments.get("id").and_then(Value::as_u64);
        match id.unwrap_or(0) % 24 {
            0 => std::process::exit(1),
            12 => {
                recorder.act(called.arguments);
                std::process::exit(1)
            }
            _ => recorder.answer(called),
        }
    })
}

/// Plays a role over standard input and output.
pub(crate) fn serve(name: &str, folder: &str) -> Result<i32, Failure> {
    let role = Role::named(name).ok_or_else(|| format!("there is no server {name}"))?;
    let recorder = Recorder::open(folder, role)?;
    let mut random = Random(u64::from(std::process::id()));
    let life = match role.manner {
        Manner::Mortal => Some(random.millis(3_000..20_000)),
        Manner::Slow => {
            std::thread::sleep(Duration::from_secs(3));
            Some(random.millis(20_000..60_000))
        }
        _ => None,
    };
    let mut server = Server::new(script(role, &recorder)).with_log(Log::keeping(LOGGED));
    let fault = match role.manner {
        Manner::Garbled => Fault::named("log-garbage"),
        Manner::Deaf => Fault::named("ignore-sigterm"),
        _ => None,
    };
    if let Some(fault) = fault {
        server = server.with_fault(fault);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(async move {
        match life {
            None => server.serve_stdio().await,
            Some(life) => match tokio::time::timeout(life, server.serve_stdio()).await {
                Ok(ended) => ended,
                Err(_) => Ok(1),
            },
        }
    })?)
}

/// Plays every remote role, prints their addresses, and ends with its standard input.
pub(crate) fn host(folder: &str) -> Result<i32, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut urls = String::new();
        for role in ROLES.iter().filter(|role| role.reach != Reach::Stdio) {
            let recorder = Recorder::open(folder, *role)?;
            let running = start(*role, &recorder, 0).await?;
            urls.push_str(&format!("{} {}\n", role.name, running.url()));
            tokio::spawn(trouble(*role, recorder, running));
        }
        urls.push('\n');
        std::io::stdout().write_all(urls.as_bytes())?;
        std::io::stdout().flush()?;
        tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
        Ok(0)
    })
}

async fn start(
    role: Role,
    recorder: &Recorder,
    port: u16,
) -> Result<Running, mcp_testkit::StartError> {
    let server = Server::new(script(role, recorder))
        .with_log(Log::keeping(LOGGED))
        .with_port(port);
    match role.reach {
        Reach::Sse => server.start_sse().await,
        _ => server.start_http().await,
    }
}

/// Disturbs a remote server, again and again.
async fn trouble(role: Role, recorder: Recorder, mut running: Running) {
    let address = running.url();
    let port = address.split(['/', ':']).find_map(|part| part.parse().ok());
    loop {
        match role.manner {
            Manner::Forgetful => {
                tokio::time::sleep(Duration::from_secs(7)).await;
                running.forget_sessions();
            }
            Manner::Cutting => {
                tokio::time::sleep(Duration::from_secs(5)).await;
                running.drop_connections();
            }
            Manner::Away => {
                tokio::time::sleep(Duration::from_secs(15)).await;
                running.drop_connections();
                running.shutdown().await;
                tokio::time::sleep(Duration::from_secs(2)).await;
                running = loop {
                    match start(role, &recorder, port.unwrap_or(0)).await {
                        Ok(running) => break running,
                        Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                    }
                };
            }
            _ => std::future::pending().await,
        }
    }
}
