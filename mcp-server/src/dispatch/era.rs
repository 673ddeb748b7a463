//! The era of a request, and each era's rules for requests. No other module of this crate distinguishes eras.

use mcp_jsonrpc::model::{
    ClientCapabilities, InitializeParams, Meta, ServerCapabilities, TaskRequests, TaskToolRequests,
    TasksCapability, UnsupportedVersionData, extension, meta_key,
};
use mcp_jsonrpc::{ErrorCode, ErrorObject, RawRef, Revision};
use serde::Deserialize;

use crate::handler::context::ClientFacts;

/// The eras of the protocol a server supports.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Eras {
    /// Both: each request is answered in its own era.
    #[default]
    Both,
    /// Only revisions up to 2025-11-25, which begin with `initialize`.
    Legacy,
    /// Only 2026-07-28 and later.
    Modern,
}

impl Eras {
    pub(crate) fn has_legacy(self) -> bool {
        self != Self::Modern
    }

    pub(crate) fn has_modern(self) -> bool {
        self != Self::Legacy
    }

    /// The revisions a modern client may choose from.
    pub(crate) fn modern_revisions() -> Vec<String> {
        let all = Revision::ALL.into_iter().filter(|it| it.is_modern());
        all.map(|it| it.as_str().to_owned()).collect()
    }

    /// The revision to speak with a client that asks for `requested`.
    pub(crate) fn negotiate(requested: &str) -> Revision {
        requested
            .parse()
            .ok()
            .filter(|revision: &Revision| revision.has_handshake())
            .unwrap_or(Revision::LATEST_LEGACY)
    }
}

/// The `_meta` of params that are not read otherwise.
pub(crate) fn meta_of(params: Option<RawRef<'_>>) -> Option<Meta> {
    #[derive(Deserialize)]
    struct WithMeta {
        #[serde(rename = "_meta")]
        meta: Option<Meta>,
    }
    // Most legacy requests have none.
    let params = params.filter(|params| params.get().contains("\"_meta\""))?;
    params.parse::<WithMeta>().ok()?.meta
}

/// Whether a request is of the modern era: its `_meta` names a revision, or its method or its HTTP
/// header leave no doubt.
pub(crate) fn is_modern(method: &str, meta: Option<&Meta>, header: Option<&str>) -> bool {
    let named = meta.is_some_and(|meta| meta.contains_key(meta_key::PROTOCOL_VERSION));
    let header = header.and_then(|header| header.parse::<Revision>().ok());
    named || method == "server/discover" || header.is_some_and(Revision::is_modern)
}

/// What a modern request says of its client.
pub(crate) fn modern_client(meta: Option<&Meta>) -> Result<ClientFacts, ErrorObject> {
    let missing = |key: &str| {
        let message = format!("params._meta is invalid: it must contain {key:?}");
        ErrorObject::new(ErrorCode::INVALID_PARAMS, message)
    };
    let version = meta
        .and_then(Meta::protocol_version)
        .ok_or_else(|| missing(meta_key::PROTOCOL_VERSION))?;
    let revision = version
        .parse()
        .ok()
        .filter(|revision: &Revision| revision.is_modern())
        .ok_or_else(|| unsupported_version(&version))?;
    let capabilities = meta
        .and_then(Meta::client_capabilities)
        .ok_or_else(|| missing(meta_key::CLIENT_CAPABILITIES))?;
    Ok(ClientFacts {
        revision,
        info: meta.and_then(Meta::client_info),
        capabilities,
    })
}

/// What `initialize` says of its client.
pub(crate) fn legacy_client(params: &InitializeParams) -> ClientFacts {
    ClientFacts {
        revision: Eras::negotiate(&params.protocol_version),
        info: Some(params.client_info.clone()),
        capabilities: params.capabilities.clone(),
    }
}

/// The error for a revision that is not spoken here.
pub(crate) fn unsupported_version(requested: &str) -> ErrorObject {
    let mut data = UnsupportedVersionData::new(Eras::modern_revisions());
    data.requested = Some(requested.to_owned());
    let error = ErrorObject::new(
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
        format!("unsupported protocol version: {requested}"),
    );
    error.clone().with_data(&data).unwrap_or(error)
}

/// What the server declares to a client of this revision.
pub(crate) fn declared(mut all: ServerCapabilities, revision: Revision) -> ServerCapabilities {
    use mcp_jsonrpc::TaskForm;
    let has_tasks = has_extension(&all, extension::TASKS);
    all.tasks = None;
    if !revision.has_extensions() {
        all.extensions = None;
    }
    if !revision.has_completions_capability() {
        all.completions = None;
    }
    if has_tasks && revision.has_tasks() == TaskForm::Experimental {
        let mut call = TaskToolRequests::default();
        call.call = Some(Default::default());
        let mut requests = TaskRequests::default();
        requests.tools = Some(call);
        let mut tasks = TasksCapability::default();
        tasks.list = Some(Default::default());
        tasks.cancel = Some(Default::default());
        tasks.requests = Some(requests);
        all.tasks = Some(tasks);
    }
    all
}

/// Whether a server declares an extension.
pub(crate) fn has_extension(all: &ServerCapabilities, id: &str) -> bool {
    all.extensions
        .as_ref()
        .is_some_and(|all| all.contains_key(id))
}

/// Whether a client declares an extension.
pub(crate) fn client_has_extension(client: &ClientCapabilities, id: &str) -> bool {
    client
        .extensions
        .as_ref()
        .is_some_and(|all| all.contains_key(id))
}
