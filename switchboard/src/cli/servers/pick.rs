//! Asks which server to add.

use crate::chat::{Input, Line};
use crate::cli::Global;
use crate::demo::this_program;
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::lang::t;
use crate::servers::import::line;
use crate::servers::is_url;
use crate::store::UserId;

/// How often a wrong answer is asked about again.
const TRIES: u32 = 5;

/// A server that was chosen.
pub(super) struct Picked {
    pub(super) name: String,
    pub(super) url: Option<String>,
    pub(super) command: Vec<String>,
}

/// Asks for a command or an address, and for a name.
pub(super) async fn pick(global: &Global, out: &Out) -> Result<Picked, Failure> {
    if !out.is_interactive() {
        let failure = Failure::new(Exit::Other, "a name and a command or a URL are needed");
        return Err(failure.with_hint(
            "As in `switchboard servers add files -- npx -y some-server .` or `switchboard \
             servers add web https://example.com/mcp`.",
        ));
    }
    let store = global.store().await?;
    let rows = store.servers(&UserId::local()).await?;
    store.close().await?;
    let input = Input::answers(*out);
    let lines = [
        t!("Which server? Write one of these:"),
        t!("  its command, as in npx -y some-server ."),
        t!("  its address, as in https://example.com/mcp"),
        t!("  demo, the built-in server to try things with"),
        t!("`switchboard import` takes over the servers of other programs."),
    ];
    for text in lines {
        out.say(text);
    }
    for _ in 0..TRIES {
        let text = ask(&input, &t!("Command or address: ")).await?;
        let (words, config) = match (line::words(&text), line::read(&text)) {
            _ if text == "demo" => {
                let program = this_program()?.display().to_string();
                (vec![program, "demo-server".to_owned()], None)
            }
            (Ok(words), Some(Ok(config))) => (words, Some(config)),
            (Err(why), _) | (_, Some(Err(why))) => {
                out.say(out.paint(Style::Bad, &untrusted::line(&why)));
                continue;
            }
            _ => continue,
        };
        let mut usual = match &config {
            Some(config) => config.name().to_string(),
            None => "demo".to_owned(),
        };
        let taken = |name: &str| rows.iter().any(|row| row.name == name);
        if taken(&usual) {
            let numbers = (2..100).map(|number| format!("{usual}-{number}"));
            usual = numbers
                .into_iter()
                .find(|name| !taken(name))
                .unwrap_or(usual);
        }
        let name = ask(&input, &t!("Its name (Enter: {name}): ", name = usual)).await?;
        let name = if name.is_empty() { usual } else { name };
        return Ok(match words.first().filter(|word| is_url(word)) {
            Some(url) => Picked {
                name,
                url: Some(url.clone()),
                command: Vec::new(),
            },
            None => Picked {
                name,
                url: None,
                command: words,
            },
        });
    }
    Err(Failure::new(Exit::Other, "no server was chosen"))
}

async fn ask(input: &Input, prompt: &str) -> Result<String, Failure> {
    match input.answer(prompt, "").await {
        Line::Text(text) => Ok(text.trim().to_owned()),
        Line::Interrupted | Line::End => Err(Failure::new(Exit::Cancelled, "cancelled")),
    }
}
