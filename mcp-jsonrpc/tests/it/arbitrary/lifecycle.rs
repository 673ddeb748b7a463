//! How client and server meet, and what many messages share.

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{ProgressToken, ResultType, Revision, TaskForm};

use super::content::icons;
use super::{Gen, made};

pub(crate) fn progress_token(g: &mut Gen) -> ProgressToken {
    g.id().into()
}

/// `_meta` of a request: optional, until 2026-07-28 demands it.
pub(crate) fn request_meta(g: &mut Gen) -> Option<Meta> {
    if !g.revision.is_modern() {
        return g.maybe(|g| {
            let mut meta = g.meta();
            if g.bool() {
                meta.set_progress_token(&progress_token(g)).unwrap();
            }
            meta
        });
    }
    let mut meta = g.meta();
    meta.set_protocol_version(g.revision.as_str()).unwrap();
    meta.set_client_capabilities(&client_capabilities(g))
        .unwrap();
    if g.bool() {
        meta.set_client_info(&implementation(g)).unwrap();
    }
    if g.bool() {
        meta.set_progress_token(&progress_token(g)).unwrap();
    }
    if g.bool() {
        meta.set_log_level(&level(g)).unwrap();
    }
    Some(meta)
}

/// `_meta` of a request inside a result, which has none of a request's own keys.
pub(crate) fn embedded_meta(g: &mut Gen) -> Option<Meta> {
    if g.revision.is_modern() {
        None
    } else {
        request_meta(g)
    }
}

pub(crate) fn notification_meta(g: &mut Gen) -> Option<Meta> {
    g.maybe(|g| {
        let mut meta = g.meta();
        if g.revision.is_modern() && g.bool() {
            meta.set_subscription_id(&g.id()).unwrap();
        }
        meta
    })
}

pub(crate) fn result_meta(g: &mut Gen) -> Option<Meta> {
    g.maybe(|g| {
        let mut meta = g.meta();
        if g.revision.is_modern() && g.bool() {
            meta.set_server_info(&implementation(g)).unwrap();
        }
        meta
    })
}

pub(crate) fn complete(g: &mut Gen) -> Option<ResultType> {
    g.always_if(Revision::has_result_type, |_| ResultType::Complete)
}

pub(crate) fn ttl_ms(g: &mut Gen) -> Option<i64> {
    g.always_if(Revision::has_caching, Gen::size)
}

pub(crate) fn cache_scope(g: &mut Gen) -> Option<CacheScope> {
    g.always_if(Revision::has_caching, |g| {
        g.pick(&[CacheScope::Private, CacheScope::Public])
    })
}

pub(crate) fn empty_params(g: &mut Gen) -> EmptyParams {
    made!(g, EmptyParams::default(), { meta: request_meta(g) })
}

pub(crate) fn notification_params(g: &mut Gen) -> EmptyParams {
    made!(g, EmptyParams::default(), { meta: notification_meta(g) })
}

pub(crate) fn page_params(g: &mut Gen) -> PageParams {
    made!(g, PageParams::default(), { cursor: g.maybe(Gen::text), meta: request_meta(g) })
}

pub(crate) fn empty_result(g: &mut Gen) -> EmptyResult {
    made!(g, EmptyResult::default(), { result_type: complete(g), meta: result_meta(g) })
}

pub(crate) fn implementation(g: &mut Gen) -> Implementation {
    made!(g, Implementation::new(g.text(), g.text()), {
        title: g.maybe_if(Revision::has_titles, Gen::text),
        description: g.maybe_if(Revision::has_icons, Gen::text),
        website_url: g.maybe_if(Revision::has_icons, Gen::uri),
        icons: icons(g),
    })
}

fn flag(g: &mut Gen) -> FlagCapability {
    made!(g, FlagCapability::default())
}

fn list_capability(g: &mut Gen) -> ListCapability {
    made!(g, ListCapability::default(), { list_changed: g.maybe(Gen::bool) })
}

fn tasks_capability(g: &mut Gen) -> TasksCapability {
    made!(g, TasksCapability::default(), { list: g.maybe(flag), cancel: g.maybe(flag) })
}

pub(crate) fn client_capabilities(g: &mut Gen) -> ClientCapabilities {
    let roots = made!(g, RootsCapability::default(), {
        list_changed: g.maybe_if(Revision::has_roots_list_changed, Gen::bool),
    });
    let sampling = made!(g, SamplingCapability::default(), {
        context: g.maybe_if(Revision::has_sampling_tools, flag),
        tools: g.maybe_if(Revision::has_sampling_tools, flag),
    });
    let elicitation = made!(g, ElicitationCapability::default(), {
        form: g.maybe_if(Revision::has_url_elicitation, flag),
        url: g.maybe_if(Revision::has_url_elicitation, flag),
    });
    let mut tasks = tasks_capability(g);
    let mut requests = TaskRequests::default();
    let mut sampled = TaskSamplingRequests::default();
    sampled.create_message = g.maybe(flag);
    let mut elicited = TaskElicitationRequests::default();
    elicited.create = g.maybe(flag);
    requests.sampling = g.maybe(|_| sampled);
    requests.elicitation = g.maybe(|_| elicited);
    tasks.requests = g.maybe(|_| requests);
    made!(g, ClientCapabilities::default(), {
        roots: g.maybe(|_| roots),
        sampling: g.maybe(|_| sampling),
        elicitation: g.maybe_if(Revision::has_elicitation, |_| elicitation),
        tasks: g.maybe_if(|r| r.has_tasks() == TaskForm::Experimental, |_| tasks),
        experimental: g.maybe(|g| g.map(Gen::tame_object)),
        extensions: g.maybe_if(Revision::has_extensions, |g| g.map(Gen::tame_object)),
    })
}

pub(crate) fn server_capabilities(g: &mut Gen) -> ServerCapabilities {
    let resources = made!(g, ResourcesCapability::default(), {
        list_changed: g.maybe(Gen::bool),
        subscribe: g.maybe(Gen::bool),
    });
    let mut tasks = tasks_capability(g);
    let mut requests = TaskRequests::default();
    let mut tools = TaskToolRequests::default();
    tools.call = g.maybe(flag);
    requests.tools = g.maybe(|_| tools);
    tasks.requests = g.maybe(|_| requests);
    made!(g, ServerCapabilities::default(), {
        tools: g.maybe(list_capability),
        prompts: g.maybe(list_capability),
        resources: g.maybe(|_| resources),
        completions: g.maybe_if(Revision::has_completions_capability, flag),
        logging: g.maybe(flag),
        tasks: g.maybe_if(|r| r.has_tasks() == TaskForm::Experimental, |_| tasks),
        experimental: g.maybe(|g| g.map(|g| g.tame_object().into())),
        extensions: g.maybe_if(Revision::has_extensions, |g| g.map(|g| g.tame_object().into())),
    })
}

pub(crate) fn initialize_params(g: &mut Gen) -> InitializeParams {
    let version = g.revision.as_str();
    made!(g, InitializeParams::new(version, client_capabilities(g), implementation(g)), {
        meta: request_meta(g),
    })
}

pub(crate) fn initialize_result(g: &mut Gen) -> InitializeResult {
    let version = g.revision.as_str();
    made!(g, InitializeResult::new(version, server_capabilities(g), implementation(g)), {
        instructions: g.maybe(Gen::text),
        meta: result_meta(g),
    })
}

pub(crate) fn discover_result(g: &mut Gen) -> DiscoverResult {
    let versions = g.list(|g| g.pick(&Revision::ALL).to_string());
    made!(g, DiscoverResult::new(versions, server_capabilities(g)), {
        instructions: g.maybe(Gen::text),
        ttl_ms: ttl_ms(g),
        cache_scope: cache_scope(g),
        result_type: complete(g),
        meta: result_meta(g),
    })
}

pub(crate) fn level(g: &mut Gen) -> LoggingLevel {
    use LoggingLevel::*;
    g.pick(&[
        Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency,
    ])
}

pub(crate) fn set_level(g: &mut Gen) -> SetLevelParams {
    made!(g, SetLevelParams::new(level(g)), { meta: request_meta(g) })
}

pub(crate) fn log_message(g: &mut Gen) -> LogMessageParams {
    made!(g, LogMessageParams::new(level(g), g.raw()), {
        logger: g.maybe(Gen::text),
        meta: notification_meta(g),
    })
}

pub(crate) fn progress(g: &mut Gen) -> ProgressParams {
    made!(g, ProgressParams::new(progress_token(g), g.float()), {
        total: g.maybe(Gen::float),
        message: g.maybe_if(Revision::has_progress_message, Gen::text),
        meta: notification_meta(g),
    })
}

pub(crate) fn cancelled(g: &mut Gen) -> CancelledParams {
    made!(g, CancelledParams::of(g.id()), {
        reason: g.maybe(Gen::text),
        meta: notification_meta(g),
    })
}

pub(crate) fn filter(g: &mut Gen) -> SubscriptionFilter {
    made!(g, SubscriptionFilter::default(), {
        tools_list_changed: g.maybe(Gen::bool),
        prompts_list_changed: g.maybe(Gen::bool),
        resources_list_changed: g.maybe(Gen::bool),
        resource_subscriptions: g.maybe(|g| g.list(Gen::uri)),
    })
}

pub(crate) fn listen(g: &mut Gen) -> SubscriptionsListenParams {
    made!(g, SubscriptionsListenParams::new(filter(g)), { meta: request_meta(g) })
}

pub(crate) fn acknowledged(g: &mut Gen) -> SubscriptionsAcknowledgedParams {
    made!(g, SubscriptionsAcknowledgedParams::new(filter(g)), { meta: notification_meta(g) })
}

pub(crate) fn listen_result(g: &mut Gen) -> EmptyResult {
    let mut result = empty_result(g);
    let mut meta = result.meta.take().unwrap_or_default();
    meta.set_subscription_id(&g.id()).unwrap();
    result.meta = Some(meta);
    result
}
