//! `subscriptions/listen` (2026-07-28): one request that stays open for notifications.

use super::base::EmptyResult;
use super::meta::Meta;
use crate::message::method::{methods, notifications};
use crate::wire::object::object;

object! {
    /// The notifications to send.
    pub struct SubscriptionFilter {
        optional {
            /// Changes of the list of tools.
            tools_list_changed: bool = "toolsListChanged",
            /// Changes of the list of prompts.
            prompts_list_changed: bool = "promptsListChanged",
            /// Changes of the list of resources.
            resources_list_changed: bool = "resourcesListChanged",
            /// Changes of these resources.
            resource_subscriptions: Vec<String> = "resourceSubscriptions",
            /// Changes of these tasks (tasks extension).
            task_ids: Vec<String> = "taskIds",
        }
    }
}

object! {
    /// Opens a subscription; its request id is the subscription's id.
    pub struct SubscriptionsListenParams {
        required {
            /// The notifications to send.
            notifications: SubscriptionFilter = "notifications",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The first message of a subscription. Its [`Meta::subscription_id`] names the subscription.
    pub struct SubscriptionsAcknowledgedParams {
        required {
            /// The notifications the server will send.
            notifications: SubscriptionFilter = "notifications",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

methods! {
    /// Opens a subscription; the response arrives when the server ends it.
    SubscriptionsListen = "subscriptions/listen": SubscriptionsListenParams => EmptyResult;
}

notifications! {
    /// A subscription is open.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged": SubscriptionsAcknowledgedParams;
}
