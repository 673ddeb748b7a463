//! Random conversations, compacted: one a line, in the neutral JSON of `provider-adapters`. The vendors'
//! SDKs judge them (`cargo xtask oracles`): `compacted SEED COUNT`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;

use agent_loop::{Compaction, Run, Strategy};
use provider_adapters::{AssistantTurn, Conversation, Media, Usage, UserPart, UserTurn};
use serde_json::{Value, json};

/// Numbers that depend on the seed alone.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn words(&mut self) -> String {
        (0..=self.below(300))
            .map(|n| format!("word {n} "))
            .collect()
    }
}

/// A turn with a signature of Anthropic's, which goes back to it as it came.
fn signed(id: &str, result: &str) -> Value {
    json!({
        "parts": [
            {"type": "reasoning", "text": "Hm."},
            {"type": "tool_call", "id": id, "name": "read", "arguments": {"path": "file"}},
        ],
        "results": [{"id": id, "content": [{"type": "text", "text": result}]}],
        "native": {"wire": "anthropic", "items": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "tool_use", "id": id, "name": "read", "input": {"path": "file"}},
        ]},
    })
}

/// Questions, pictures, answers, and calls with their results.
fn conversation(chance: &mut Chance) -> Result<Conversation, serde_json::Error> {
    let mut conversation = Conversation::new().with_system("Be brief.");
    for at in 0..2 + chance.below(20) {
        match chance.below(6) {
            0 => conversation.ask(chance.words()),
            1 => conversation.push(AssistantTurn::from_text(chance.words())),
            2 => {
                let picture = UserPart::Image(Media::data("image/png", "aGk="));
                let parts = vec![UserPart::text(chance.words()), picture];
                conversation.push(UserTurn::new(parts));
            }
            3 => {
                let turn = signed(&format!("call_{at}_0"), &chance.words());
                conversation.push(serde_json::from_value::<AssistantTurn>(turn)?);
            }
            _ => {
                let ids = (0..=chance.below(3)).map(|n| format!("call_{at}_{n}"));
                let (mut parts, mut results) = (Vec::new(), Vec::new());
                for id in ids {
                    let arguments = json!({"path": format!("file {}", chance.below(9))});
                    parts.push(json!({"type": "tool_call", "id": id, "name": "read", "arguments": arguments}));
                    let content = json!([{"type": "text", "text": chance.words()}]);
                    results.push(
                        json!({"id": id, "content": content, "is_error": chance.below(5) == 0}),
                    );
                }
                let turn = json!({"parts": parts, "results": results});
                conversation.push(serde_json::from_value::<AssistantTurn>(turn)?);
            }
        }
    }
    conversation.ask("And now?");
    Ok(conversation)
}

fn compacted(chance: &mut Chance) -> Result<Value, Box<dyn Error>> {
    let strategy = match chance.below(2) {
        0 => Strategy::DropResults,
        _ => Strategy::Summarise,
    };
    let keep = usize::try_from(chance.below(8))?;
    let settings = Compaction::when_full().keep_turns(keep).strategy(strategy);
    let mut run =
        Run::new(conversation(chance)?).with_compaction(settings.target(chance.below(3_000)));
    if chance.below(3) == 0 {
        run.pin(usize::try_from(chance.below(20))?);
    }
    // A pinned turn may be too long: then all of it stays.
    if run.compact().unwrap_or(false) {
        // Without effect where no summary is needed.
        run.summarised("They spoke of files.", Usage::default(), None);
    }
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let mut conversation = serde_json::to_value(run.conversation())?;
    let turns = conversation.get_mut("turns").map(Value::take);
    Ok(json!({
        "model": "a-model",
        "system": run.conversation().system(),
        "turns": turns,
        "tools": [{"name": "read", "description": "Reads a file.", "input_schema": schema}],
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let (Some(seed), Some(count)) = (numbers.next(), numbers.next()) else {
        return Err("usage: compacted SEED COUNT".into());
    };
    let (mut chance, count) = (Chance(seed?), count?);
    for _ in 0..count {
        println!("{}", compacted(&mut chance)?);
    }
    Ok(())
}
