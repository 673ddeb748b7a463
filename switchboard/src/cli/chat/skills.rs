//! Skills of servers, attached to the next message.

use mcp_jsonrpc::model::Skill;
use mcp_manager::{ManagerError, ServerName};
use tool_policy::ScanResponse;

use super::{ChatLoop, refused};
use crate::chat::Line;
use crate::conversation::Attachment;
use crate::display::summary::summary;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::lang::t;
use crate::servers::{load_skill, skill_file, skills};

impl ChatLoop {
    pub(super) async fn list_skills(&mut self) {
        let all = self.all_skills().await;
        if all.is_empty() {
            self.dim(&t!("No server has skills."));
        }
        for (server, skill) in all {
            let about = summary(skill.description().unwrap_or_default(), 80);
            let line = format!("{server}/{}  {about}", skill.name().unwrap_or(&skill.uri));
            self.console.out.say(untrusted::line(&line));
        }
    }

    /// Every skill with its server.
    async fn all_skills(&mut self) -> Vec<(ServerName, Skill)> {
        let (all, failed) = skills(&self.setup.manager).await;
        for (server, error) in failed {
            let text = format!("! {server}: {}", unread(error).chain());
            self.dim(&untrusted::line(&text));
        }
        all
    }

    /// Attaches a skill, named `NAME` or `SERVER/NAME`, unless it has signs of an attack and the user
    /// does not want it then.
    pub(super) async fn attach_skill(&mut self, name: &str) -> Result<(), Failure> {
        let all = self.all_skills().await;
        let means = |(server, skill): &&(ServerName, Skill)| {
            let its = skill.name().unwrap_or(&skill.uri);
            its == name || format!("{server}/{its}") == name
        };
        let Some((server, skill)) = all.iter().find(means) else {
            let text = t!(
                "There is no skill {name}; /skills lists them.",
                name = untrusted::line(name)
            );
            self.dim(&text);
            return Ok(());
        };
        let policy = self.setup.scan();
        let loaded = load_skill(&self.setup.manager, server, &skill.uri, policy).await;
        let loaded = loaded.map_err(unread)?;
        if !loaded.findings.is_empty() {
            let reason = loaded.reason();
            let text = t!(
                "It has signs of an attack: {reason}",
                reason = untrusted::line(&reason)
            );
            self.dim(&text);
        }
        match loaded.response {
            Some(ScanResponse::Block) => {
                self.dim(&t!("It is not attached: your settings block such texts."));
                return Ok(());
            }
            Some(ScanResponse::Ask) => {
                let question = t!("Attach it all the same? [y/n] ");
                let said = self.console.input.answer(&question, "").await;
                if !matches!(&said, Line::Text(text) if matches!(text.trim(), "y" | "yes")) {
                    return Ok(());
                }
            }
            _ => {}
        }
        let file = Attachment::new(&skill_file(skill), loaded.text.into_bytes());
        self.add(file.map_err(refused)?)
    }
}

fn unread(error: ManagerError) -> Failure {
    Failure::new(Exit::Unreachable, "a skill cannot be read").caused_by(error)
}
