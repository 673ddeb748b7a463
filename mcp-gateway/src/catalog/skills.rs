//! Skills of upstream servers (SEP-2640). Their URIs are unchanged.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcp_client::Client;
use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{
    GetSkillParams, GetSkillResult, ListResourcesResult, ReadDirectory, ReadDirectoryParams, Skill,
    SkillsGet, extension,
};
use mcp_manager::ServerName;
use mcp_server::{Context, Error};
use parking_lot::Mutex;
use tokio::time::timeout;

use crate::catalog::lists::Current;
use crate::catalog::routes::{Merged, Part};
use crate::error;
use crate::gateway::Shared;

/// Time that a server has to list its skills; one that takes longer is left out.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// The skills of all servers, as they were listed last: their changes are not announced.
#[derive(Default)]
pub(crate) struct Skills(Mutex<Option<Current<Skill>>>);

impl Shared {
    /// All skills, as the servers that are connected list them now.
    pub(crate) async fn listed_skills(&self) -> Arc<Merged<Skill>> {
        let (upstreams, epoch) = (self.upstreams(), self.manager.catalog().epoch());
        let clients = self.connected_clients().into_iter();
        let clients = clients.filter(|(_, client)| has_extension(client, extension::SKILLS));
        let lists = clients.map(|(server, client)| async move {
            match timeout(LIST_TIMEOUT, client.list_skills()).await {
                Ok(Ok(listed)) => return Some((server, listed)),
                Ok(Err(error)) => tracing::warn!(%server, %error, "skills are missing"),
                Err(_) => tracing::warn!(%server, "skills are missing: no answer in time"),
            }
            None
        });
        let lists = join_all(lists).await;
        let merged = Merged::new(lists.iter().flatten().map(|(server, listed)| Part {
            server,
            // URIs stay as they are.
            prefix: "",
            items: listed.items.iter().collect(),
            ttl: listed.ttl,
            scope: listed.scope.clone(),
        }));
        let merged = Arc::new(merged);
        *self.skills.0.lock() = Some((upstreams, epoch, Arc::clone(&merged)));
        merged
    }

    /// All skills, listed anew only if the servers have changed since.
    async fn known_skills(&self) -> Arc<Merged<Skill>> {
        let upstreams = self.upstreams();
        let known = self.skills.0.lock().clone();
        match known {
            Some((of, epoch, merged))
                if Arc::ptr_eq(&of, &upstreams) && epoch == self.manager.catalog().epoch() =>
            {
                merged
            }
            _ => self.listed_skills().await,
        }
    }

    pub(crate) async fn get_skill(
        &self,
        mut params: GetSkillParams,
        cx: &Context,
    ) -> Result<GetSkillResult, Error> {
        params.meta = None;
        let server = self.skill_server(&params.uri, cx).await?;
        let mut skill = self.plain::<SkillsGet>(&server, &params, cx).await?;
        skill.cache_scope = skill.cache_scope.map(|scope| self.scope(scope));
        Ok(skill)
    }

    pub(crate) async fn read_directory(
        &self,
        mut params: ReadDirectoryParams,
        cx: &Context,
    ) -> Result<ListResourcesResult, Error> {
        params.meta = None;
        let server = self.skill_server(&params.uri, cx).await?;
        let mut listed = self.plain::<ReadDirectory>(&server, &params, cx).await?;
        listed.cache_scope = listed.cache_scope.map(|scope| self.scope(scope));
        Ok(listed)
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
        let skills = self.known_skills().await;
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

/// Whether a server declares an extension.
fn has_extension(client: &Client, id: &str) -> bool {
    let extensions = client.server().capabilities.extensions;
    extensions.is_some_and(|extensions| extensions.contains_key(id))
}
