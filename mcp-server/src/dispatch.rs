//! The path of one request: from its method to its handler, and back to one response.

pub(crate) mod call;
pub(crate) mod era;
pub(crate) mod finish;
pub(crate) mod fixed_list;
pub(crate) mod guarded;
pub(crate) mod held;
pub(crate) mod in_flight;
pub(crate) mod request_state;
pub(crate) mod signals;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use mcp_jsonrpc::model;
use mcp_jsonrpc::model::{DiscoverResult, EmptyParams, EmptyResult, Meta, PageParams, Tool};
use mcp_jsonrpc::{
    Body, ErrorCode, ErrorObject, RawJson, RawRef, RequestId, encode_error, parse_params,
};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::dispatch::era::Eras;
use crate::dispatch::finish::{Finish, finished};
use crate::dispatch::guarded::{caught, in_time};
use crate::dispatch::signals::Signals;
use crate::handler::caller::Caller;
use crate::handler::context::{Asking, ClientFacts, Context, Inner, LevelGate};
use crate::handler::error::Error;
use crate::notifier::listen;
use crate::pipe::outlet::Outlet;
use crate::server::shared::Shared;
use crate::session::Session;
use crate::task::{Owner, methods as task_methods};

/// A request and all that surrounds it.
pub(crate) struct Exchange {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Arc<ClientFacts>,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) outlet: Arc<dyn Outlet>,
    /// Of a legacy client.
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) id: RequestId,
    pub(crate) method: String,
    pub(crate) params: Option<RawJson>,
}

/// The one response to a request.
pub(crate) struct Reply {
    pub(crate) body: Vec<u8>,
    /// The code, if it is an error: HTTP has a status for some.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP reads it"))]
    pub(crate) code: Option<ErrorCode>,
    /// The scopes that the caller does not have.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP reads it"))]
    pub(crate) scopes: Vec<String>,
}

impl Reply {
    pub(crate) fn error(id: Option<&RequestId>, error: &ErrorObject) -> Self {
        let mut body = Vec::new();
        if encode_error(&mut body, id, error).is_err() {
            // Only `data` can fail to encode.
            let plain = ErrorObject::new(error.code, error.message.as_str());
            let _ = encode_error(&mut body, id, &plain);
        }
        Self {
            body,
            code: Some(error.code),
            scopes: Vec::new(),
        }
    }

    /// An empty result of the legacy era.
    pub(crate) fn ok(id: &RequestId) -> Self {
        Self::result(id, b"{}")
    }

    /// With a result as [`finished`] makes it.
    pub(crate) fn result(id: &RequestId, result: &[u8]) -> Self {
        let mut body = Vec::with_capacity(result.len() + 48);
        body.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        let _ = serde_json::to_writer(&mut body, id);
        body.extend_from_slice(br#","result":"#);
        body.extend_from_slice(result);
        body.push(b'}');
        Self {
            body,
            code: None,
            scopes: Vec::new(),
        }
    }
}

/// The result of a request, as JSON on one line.
pub(crate) type Outcome = Result<Bytes, Error>;

impl Exchange {
    /// Answers the request, whatever the handler does.
    pub(crate) async fn respond(self) -> Reply {
        let (id, revision) = (self.id.clone(), self.client.revision);
        match caught(self.outcome()).await {
            Ok(result) => Reply::result(&id, &result),
            Err(error) => Reply {
                scopes: error.scopes(),
                ..Reply::error(Some(&id), &error.object(revision))
            },
        }
    }

    async fn outcome(&self) -> Outcome {
        let handler = Arc::clone(&self.shared.handler);
        match self.method.as_str() {
            "tools/call" => call::tool(self).await,
            "tools/list" => fixed_list::tools(self).await,
            "resources/read" => call::resource(self).await,
            "resources/list" => {
                list(self, |params, cx| async move {
                    handler.list_resources(params, cx).await
                })
                .await
            }
            "resources/templates/list" => {
                list(self, |params, cx| async move {
                    handler.list_resource_templates(params, cx).await
                })
                .await
            }
            "prompts/get" => call::prompt(self).await,
            "prompts/list" => {
                list(self, |params, cx| async move {
                    handler.list_prompts(params, cx).await
                })
                .await
            }
            "completion/complete" => {
                let params: model::CompleteParams = self.params()?;
                let cx = self.context(params.meta.clone());
                let work = async move { handler.complete(params, cx).await };
                self.plain(work).await
            }
            _ if self.client.revision.is_modern() => self.modern().await,
            _ => self.legacy().await,
        }
    }

    async fn modern(&self) -> Outcome {
        let handler = Arc::clone(&self.shared.handler);
        let has = |id| era::has_extension(&self.shared.handler.capabilities(), id);
        match self.method.as_str() {
            "server/discover" => {
                let declared = era::declared(handler.capabilities(), self.client.revision);
                let mut result = DiscoverResult::new(Eras::modern_revisions(), declared);
                result.instructions = handler.instructions_for(self.caller.as_deref());
                self.finished(result)
            }
            "subscriptions/listen" => listen::listen(self).await,
            "tasks/get" | "tasks/update" | "tasks/cancel" if has(model::extension::TASKS) => {
                task_methods::modern(self).await
            }
            "skills/list" if has(model::extension::SKILLS) => {
                list(self, |params, cx| async move {
                    handler.list_skills(params, cx).await
                })
                .await
            }
            "skills/get" if has(model::extension::SKILLS) => {
                let params: model::GetSkillParams = self.params()?;
                let cx = self.context(params.meta.clone());
                let work = async move { handler.get_skill(params, cx).await };
                self.plain(work).await
            }
            "resources/directory/read" if has(model::extension::SKILLS) => {
                let params: model::ReadDirectoryParams = self.params()?;
                let cx = self.context(params.meta.clone());
                let work = async move { handler.read_directory(params, cx).await };
                self.plain(work).await
            }
            method => Err(Error::method_not_found(method)),
        }
    }

    async fn legacy(&self) -> Outcome {
        let Some(session) = &self.session else {
            return Err(Error::invalid_request("the session is not initialized"));
        };
        let capabilities = self.shared.handler.capabilities();
        match self.method.as_str() {
            "ping" => {
                let _: EmptyParams = self.params()?;
            }
            "logging/setLevel" if capabilities.logging.is_some() => {
                let params: model::SetLevelParams = self.params()?;
                session.set_level(params.level);
                let cx = self.context(params.meta.clone());
                let noticed = self.shared.handler.log_level_changed(params.level, &cx);
                in_time(noticed, &self.shared.limits).await?;
            }
            "resources/subscribe" if listen::can_subscribe(&capabilities) => {
                let params: model::SubscribeParams = self.params()?;
                let cx = self.context(params.meta.clone());
                if !self.can_watch(&params.uri, &cx).await? {
                    return Err(Error::resource_not_found(params.uri));
                }
                session.watch(params.uri, self.shared.limits.watched_resources())?;
            }
            "resources/unsubscribe" if listen::can_subscribe(&capabilities) => {
                let params: model::SubscribeParams = self.params()?;
                session.unwatch(&params.uri);
            }
            "tasks/get" | "tasks/list" | "tasks/cancel" | "tasks/result"
                if task_methods::has_experimental(self, &capabilities) =>
            {
                return task_methods::legacy(self).await;
            }
            method => return Err(Error::method_not_found(method)),
        }
        self.finished(EmptyResult::default())
    }

    /// Runs work that can neither ask nor become a task.
    pub(crate) async fn plain<R: Finish>(
        &self,
        work: impl Future<Output = Result<R, Error>> + Send,
    ) -> Outcome {
        let result = in_time(work, &self.shared.limits).await??;
        self.finished(result)
    }

    /// What the handler says of a tool.
    pub(crate) async fn find_tool(&self, name: &str) -> Result<Option<Arc<Tool>>, Error> {
        let cx = self.context(None);
        let found = self.shared.handler.find_tool(name, &cx);
        in_time(found, &self.shared.limits).await
    }

    pub(crate) async fn can_watch(&self, uri: &str, cx: &Context) -> Result<bool, Error> {
        let can = self.shared.handler.can_watch(uri, cx);
        in_time(can, &self.shared.limits).await
    }

    pub(crate) fn finished(&self, result: impl Finish) -> Outcome {
        Ok(finished(result, self.client.revision, &self.shared)?)
    }

    /// The params as what the method takes.
    pub(crate) fn params<P: Body>(&self) -> Result<P, Error> {
        let raw = self.params.as_ref().map(RawJson::as_ref);
        parse_params(raw).map_err(|error| Error::invalid_params(format!("invalid params: {error}")))
    }

    pub(crate) fn caller_id(&self) -> Option<&str> {
        self.caller.as_ref().map(|caller| caller.id.as_str())
    }

    /// Whose a task of this request is.
    pub(crate) fn task_owner(&self) -> Owner {
        match (&self.caller, &self.session) {
            (Some(caller), _) => Owner::Caller(caller.id.clone()),
            (None, Some(session)) => Owner::Session(session.id),
            (None, None) => Owner::Bearer,
        }
    }

    /// The context of a handler that cannot ask.
    pub(crate) fn context(&self, meta: Option<Meta>) -> Context {
        self.context_with(meta, Asking::Never, false)
    }

    pub(crate) fn context_with(
        &self,
        meta: Option<Meta>,
        asking: Asking,
        may_detach: bool,
    ) -> Context {
        let meta = meta.unwrap_or_default();
        let level = match &self.session {
            Some(session) => LevelGate::Session(session.level()),
            None => LevelGate::Request(meta.log_level()),
        };
        Context(Arc::new(Inner {
            shared: Arc::clone(&self.shared),
            client: Arc::clone(&self.client),
            caller: self.caller.clone(),
            session: self.session.clone(),
            progress: meta.progress_token(),
            meta,
            level,
            outlet: Arc::clone(&self.outlet),
            asking: Mutex::new(asking),
            moved: Notify::new(),
            held: Mutex::default(),
            signals: Signals::default(),
            open_questions: AtomicUsize::default(),
            may_detach,
        }))
    }
}

async fn list<R, F, W>(exchange: &Exchange, work: W) -> Outcome
where
    R: Finish,
    F: Future<Output = Result<R, Error>> + Send,
    W: FnOnce(PageParams, Context) -> F,
{
    let params: PageParams = exchange.params()?;
    let cx = exchange.context(params.meta.clone());
    exchange.plain(work(params, cx)).await
}

/// What a message that cannot be read is answered with.
pub(crate) fn malformed(error: &mcp_jsonrpc::DecodeError) -> Reply {
    use mcp_jsonrpc::DecodeError;
    let code = match error {
        DecodeError::Syntax { .. } => ErrorCode::PARSE_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    };
    let object = ErrorObject::new(code, format!("invalid message: {error}"));
    Reply::error(error.id(), &object)
}

/// Borrowed params as owned ones.
pub(crate) fn owned(params: Option<RawRef<'_>>) -> Option<RawJson> {
    params.map(RawJson::from)
}
