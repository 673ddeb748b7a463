//! Elicitation: the server asks the user.

use serde_json::{Map, Value};

use super::experimental_task::TaskMetadata;
use super::form::FormSchema;
use super::meta::Meta;
use crate::message::method::{methods, notifications};
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;
use crate::wire::tagged::tagged;

tagged! {
    /// A server's request to the user. Without a `mode` it is a form.
    pub enum ElicitParams by "mode" {
        /// Fill in a form.
        Form(ElicitFormParams) = "form",
        /// Visit a URL (2025-11-25 and later).
        Url(ElicitUrlParams) = "url",
    }
    else Form
}

object! {
    /// Asks the user to fill in a form.
    pub struct ElicitFormParams {
        required {
            /// The reason, for the user.
            message: String = "message",
            /// The form.
            requested_schema: FormSchema = "requestedSchema",
        }
        optional {
            /// `form`, if the server sends a mode.
            mode: ElicitMode = "mode",
            /// Requests a task (2025-11-25 only).
            task: TaskMetadata = "task",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

string_enum! {
    /// The mode of an elicitation.
    pub closed ElicitMode {
        /// A form.
        Form = "form",
    }
}

object! {
    /// Asks the user to visit a URL. Show the whole URL and which server asks; open it only with consent.
    pub struct ElicitUrlParams tag "mode" = "url" {
        required {
            /// The reason, for the user.
            message: String = "message",
            /// Where to go.
            url: String = "url",
        }
        optional {
            /// The id that `notifications/elicitation/complete` will refer to (2025-11-25 only).
            elicitation_id: String = "elicitationId",
            /// Requests a task (2025-11-25 only).
            task: TaskMetadata = "task",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The user's response.
    pub struct ElicitResult {
        required {
            /// Whether they agreed.
            action: ElicitAction = "action",
        }
        optional {
            /// The values of an accepted form: strings, numbers, booleans, and arrays of strings from 2025-11-25 on.
            content: Map<String, Value> = "content",
            /// Not part of this result; kept if a peer sends it.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(ElicitResult);

impl ElicitResult {
    /// The user filled in the form.
    pub fn accept(content: Map<String, Value>) -> Self {
        Self {
            content: Some(content),
            ..Self::new(ElicitAction::Accept)
        }
    }

    /// The user declined.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user dismissed the question.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

string_enum! {
    /// The user's decision.
    pub closed ElicitAction {
        /// Filled in the form, or agreed to visit the URL.
        Accept = "accept",
        /// Declined.
        Decline = "decline",
        /// Dismissed the question.
        Cancel = "cancel",
    }
}

object! {
    /// The user has completed a URL elicitation (2025-11-25 only).
    pub struct ElicitationCompleteParams {
        required {
            /// Which elicitation.
            elicitation_id: String = "elicitationId",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

methods! {
    /// The server asks the user: a request up to 2025-11-25, an input request after.
    ElicitationCreate = "elicitation/create": ElicitParams => ElicitResult;
}

notifications! {
    /// The user has completed a URL elicitation (2025-11-25 only).
    ElicitationComplete = "notifications/elicitation/complete": ElicitationCompleteParams;
}
