//! Skills of servers (SEP-2640): listed, loaded and read on the live connection of their server.

use mcp_client::{CallError, Client, LoadedSkill, SkillError};
use mcp_jsonrpc::model::Skill;

use crate::error::ManagerError;
use crate::manager::Manager;

impl Manager {
    /// The skills of a server, as it lists them now; a server without skills has none. Reads none of
    /// their files.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn skills(&self, server: &str) -> Result<Vec<Skill>, ManagerError> {
        let list = |client: Client| async move {
            match client.list_skills().await {
                Err(CallError::Unsupported { .. }) => Ok(Vec::new()),
                listed => listed.map(|listed| listed.items),
            }
        };
        self.call(server, list).await
    }

    /// A skill by the URI of its `SKILL.md`, which is read and checked against what the server lists.
    /// Its text is from a stranger: look at
    /// [`Catalog::findings_in_instructions`](crate::Catalog::findings_in_instructions) before a model
    /// follows it.
    ///
    /// # Errors
    ///
    /// [`ManagerError::Skill`] if it is not what its server promised; else as
    /// [`call_tool`](Self::call_tool).
    pub async fn load_skill(&self, server: &str, uri: &str) -> Result<LoadedSkill, ManagerError> {
        self.skill(server, |client| async move {
            let skill = client.get_skill(uri).await.map_err(SkillError::Call)?;
            client.load_skill(&skill).await
        })
        .await
    }

    /// A file of a skill, both checked as by [`load_skill`](Self::load_skill).
    ///
    /// # Errors
    ///
    /// [`ManagerError::Skill`] if the skill does not list the file, or one of them is not what its server
    /// promised; else as [`call_tool`](Self::call_tool).
    pub async fn read_skill_file(
        &self,
        server: &str,
        skill: &str,
        file: &str,
    ) -> Result<Vec<u8>, ManagerError> {
        let loaded = self.load_skill(server, skill).await?;
        let loaded = &loaded;
        self.skill(server, |_| async move { loaded.read(file).await })
            .await
    }

    /// A call that also fails if a skill is not what was promised.
    async fn skill<T, F>(&self, server: &str, call: impl Fn(Client) -> F) -> Result<T, ManagerError>
    where
        F: Future<Output = Result<T, SkillError>>,
    {
        let call = &call;
        let answered = self.call(server, |client| async move {
            match call(client).await {
                Err(SkillError::Call(error)) => Err(error),
                answered => Ok(answered),
            }
        });
        answered.await?.map_err(ManagerError::Skill)
    }
}
