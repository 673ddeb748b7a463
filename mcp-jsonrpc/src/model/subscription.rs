//! `subscriptions/listen` (2026-07-28): one request that stays open for notifications.

use super::base::EmptyResult;
use super::meta::Meta;
use crate::message::method::{methods, notifications};
use crate::wire::object::object;

object! {
    /// Which notifications to send.
    pub struct SubscriptionFilter {
        optional {
            /// When the list of tools changes.
            tools_list_changed: bool = "toolsListChanged",
            /// When the list of prompts changes.
            prompts_list_changed: bool = "promptsListChanged",
            /// When the list of resources changes.
            resources_list_changed: bool = "resourcesListChanged",
            /// When one of these resources changes.
            resource_subscriptions: Vec<String> = "resourceSubscriptions",
            /// When one of these tasks changes (tasks extension).
            task_ids: Vec<String> = "taskIds",
        }
    }
}

object! {
    /// Opens a subscription; its request id is the subscription's id.
    pub struct SubscriptionsListenParams {
        required {
            /// What to send.
            notifications: SubscriptionFilter = "notifications",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The first message of a subscription. Which one it is stands in
    /// [`Meta::subscription_id`].
    pub struct SubscriptionsAcknowledgedParams {
        required {
            /// What will really be sent.
            notifications: SubscriptionFilter = "notifications",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

methods! {
    /// Opens a subscription; the answer comes when the server ends it.
    SubscriptionsListen = "subscriptions/listen": SubscriptionsListenParams => EmptyResult;
}

notifications! {
    /// A subscription is open.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged": SubscriptionsAcknowledgedParams;
}
