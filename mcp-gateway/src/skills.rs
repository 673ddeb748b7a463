//! Skills of upstream servers (SEP-2640). Their URIs are unchanged.

use std::sync::Arc;

use mcp_client::Client;
use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{
    GetSkillParams, GetSkillResult, ListResourcesResult, ReadDirectory, ReadDirectoryParams, Skill,
    SkillsGet, extension,
};
use mcp_manager::ServerName;
use mcp_server::{Context, Error};

use crate::error;
use crate::gateway::Shared;
use crate::lists::has_extension;
use crate::routes::Merged;

impl Shared {
    /// All skills, as their servers list them now: changes are not announced.
    pub(crate) async fn listed_skills(&self) -> Arc<Merged<Skill>> {
        self.skills.forget();
        self.known(&self.skills).await
    }

    pub(crate) async fn get_skill(
        &self,
        mut params: GetSkillParams,
        cx: &Context,
    ) -> Result<GetSkillResult, Error> {
        params.meta = None;
        let server = self.skill_server(&params.uri, cx).await?;
        self.plain::<SkillsGet>(&server, &params, cx).await
    }

    pub(crate) async fn read_directory(
        &self,
        mut params: ReadDirectoryParams,
        cx: &Context,
    ) -> Result<ListResourcesResult, Error> {
        params.meta = None;
        let server = self.skill_server(&params.uri, cx).await?;
        self.plain::<ReadDirectory>(&server, &params, cx).await
    }

    /// The server of a skill or of one of its files; the only one with skills answers for what no
    /// list has.
    async fn skill_server(&self, uri: &str, cx: &Context) -> Result<ServerName, Error> {
        if let Some(server) = self.skill_keeper(uri).await {
            self.permit(&server, cx)?;
            return Ok(server);
        }
        let mut serving = self.connected_clients().into_iter();
        let has_skills =
            |(_, client): &(ServerName, Client)| has_extension(client, extension::SKILLS);
        let only = serving.find(has_skills);
        let only = only.filter(|_| !serving.any(|it| has_skills(&it)));
        let (server, _) = only.ok_or_else(|| self.unknown("skill", uri, cx))?;
        self.permit(&server, cx)?;
        Ok(server)
    }

    /// The server whose skill has this file or directory.
    pub(crate) async fn skill_keeper(&self, uri: &str) -> Option<ServerName> {
        let skills = self.known(&self.skills).await;
        skills.keeper(uri).cloned()
    }

    /// A request that neither asks nor takes long.
    async fn plain<M: Method>(
        &self,
        server: &ServerName,
        params: &M::Params,
        cx: &Context,
    ) -> Result<M::Output, Error>
    where
        M::Params: Sync,
    {
        let request = |client: Client| async move { client.request::<M>(params).await };
        let answer = self.manager.call(server.as_str(), request).await;
        answer.map_err(|error| error::upstream(server, &error, cx))
    }
}
