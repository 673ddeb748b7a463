//! `subscriptions/listen`: a request that stays open for notifications (modern era).

use std::sync::Arc;

use mcp_jsonrpc::encode_notification;
use mcp_jsonrpc::model::{
    ListCapability, Meta, ServerCapabilities, SubscriptionFilter, SubscriptionsAcknowledgedParams,
    SubscriptionsListenParams,
};

use crate::dispatch::guarded::caught_now;
use crate::dispatch::{Exchange, Outcome};
use crate::handler::Handler;
use crate::handler::error::Error;
use crate::notifier::{Interests, Subscribers};

/// Whether resources can be watched.
pub(crate) fn can_subscribe(all: &ServerCapabilities) -> bool {
    all.resources
        .as_ref()
        .is_some_and(|it| it.subscribe == Some(true))
}

pub(crate) async fn listen(exchange: &Exchange) -> Outcome {
    let capabilities = exchange.shared.handler.capabilities();
    let params: SubscriptionsListenParams = exchange.params()?;
    let mut watched = Watched {
        handler: Arc::clone(&exchange.shared.handler),
        uris: Vec::new(),
    };
    let filter = honoured(exchange, params.notifications, &capabilities, &mut watched).await?;
    let interests = Interests::Subscription(filter.clone(), exchange.id.clone());
    let mut meta = Meta::default();
    meta.set_subscription_id(&exchange.id)?;
    let mut params = SubscriptionsAcknowledgedParams::new(filter);
    params.meta = Some(meta);
    let mut acknowledged = Vec::new();
    encode_notification(
        &mut acknowledged,
        "notifications/subscriptions/acknowledged",
        &params,
    )?;
    let caller = exchange.caller.as_ref().map(|caller| caller.id.as_str());
    let share = exchange.shared.shares.subscriptions.take(caller);
    let _share = share.ok_or_else(|| Error::internal("too many subscriptions"))?;
    // Acknowledged before anything else can be announced.
    exchange.outlet.push(acknowledged);
    let listening = Subscribers::listen(&exchange.shared, interests, exchange.outlet.clone())
        .ok_or_else(|| Error::internal("too many subscriptions"))?;
    listening.lagged.notified().await;
    drop(listening);
    Err(Error::internal(
        "the subscription ended: its reader is too slow; subscribe again and read the lists anew",
    ))
}

/// The resources of a subscription, for as long as it is open.
struct Watched {
    handler: Arc<dyn Handler>,
    uris: Vec<String>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        for uri in &self.uris {
            let _ = caught_now(|| self.handler.unwatched(uri));
        }
    }
}

/// What of the filter will be sent.
async fn honoured(
    exchange: &Exchange,
    mut filter: SubscriptionFilter,
    all: &ServerCapabilities,
    watched: &mut Watched,
) -> Result<SubscriptionFilter, Error> {
    let limit = exchange.shared.limits.watched_resources();
    let named = filter
        .resource_subscriptions
        .iter()
        .chain(&filter.task_ids)
        .map(Vec::len);
    if named.sum::<usize>() > limit {
        return Err(Error::invalid_params(format!(
            "too many resources or tasks in one subscription: the limit is {limit}"
        )));
    }
    let announces = |list: &Option<ListCapability>| {
        list.as_ref()
            .is_some_and(|it| it.list_changed == Some(true))
    };
    let keep = |wanted: Option<bool>, can: bool| wanted.filter(|wanted| *wanted && can);
    filter.tools_list_changed = keep(filter.tools_list_changed, announces(&all.tools));
    filter.prompts_list_changed = keep(filter.prompts_list_changed, announces(&all.prompts));
    let resources = all.resources.as_ref();
    filter.resources_list_changed = keep(
        filter.resources_list_changed,
        resources.is_some_and(|it| it.list_changed == Some(true)),
    );
    if let Some(uris) = filter.resource_subscriptions.take() {
        let cx = exchange.context(None);
        for uri in uris {
            if can_subscribe(all) && exchange.can_watch(&uri, &cx).await? {
                watched.uris.push(uri);
            }
        }
        filter.resource_subscriptions = Some(watched.uris.clone());
    }
    if let Some(ids) = &mut filter.task_ids {
        let (tasks, owner) = (&exchange.shared.tasks, exchange.task_owner());
        ids.retain(|id| tasks.find(id, &owner).is_some());
    }
    Ok(filter)
}
