//! The list of a server's skills (SEP-2640).

use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{
    GetSkillParams, GetSkillResult, ListSkillsResult, Skill, SkillsGet, SkillsList, extension,
};

use crate::call::error::CallError;
use crate::call::request::Call;
use crate::client::Client;
use crate::features::listing::Listed;

impl Client {
    /// Lists the skills: all pages, within [`ClientLimits`](crate::ClientLimits). Reads none of their files.
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server has no skills; else as for any call.
    pub async fn list_skills(&self) -> Result<Listed<Skill>, CallError> {
        self.require_skills(SkillsList::NAME)?;
        self.list::<ListSkillsResult>(SkillsList::NAME).await
    }

    /// Gets one skill by the URI of its `SKILL.md`. Reads none of its files.
    ///
    /// # Errors
    ///
    /// As [`list_skills`](Self::list_skills).
    pub async fn get_skill(&self, uri: &str) -> Result<Skill, CallError> {
        self.require_skills(SkillsGet::NAME)?;
        let params = GetSkillParams::new(uri);
        let found: GetSkillResult = self.call(&Call::new(SkillsGet::NAME, &params)).await?;
        Ok(found.skill)
    }

    fn require_skills(&self, method: &str) -> Result<(), CallError> {
        self.require(method, extension::SKILLS, |can| {
            let extensions = can.extensions.as_ref();
            extensions.is_some_and(|extensions| extensions.contains_key(extension::SKILLS))
        })
    }
}
