//! A host that answers as the test prescribes, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{Host, HostError, ServerRequest};
use mcp_jsonrpc::model::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams, ElicitResult,
    ElicitUrlParams, Role, Root, SamplingContent, TextContent,
};
use parking_lot::Mutex;
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<Inner>);

#[derive(Default)]
struct Inner {
    forms: Mutex<VecDeque<ElicitResult>>,
    roots: Mutex<Vec<Root>>,
    heard: Mutex<Vec<Value>>,
}

impl Answers {
    /// Fills in the next form.
    pub(crate) fn fill_in(&self, content: Value) {
        let Value::Object(content) = content else {
            panic!("a form takes an object");
        };
        self.answer(ElicitResult::accept(content));
    }

    /// Answers the next form.
    pub(crate) fn answer(&self, result: ElicitResult) {
        self.0.forms.lock().push_back(result);
    }

    pub(crate) fn set_roots(&self, roots: impl IntoIterator<Item = Root>) {
        *self.0.roots.lock() = roots.into_iter().collect();
    }

    /// What was asked since this was last called.
    pub(crate) fn heard(&self) -> Vec<Value> {
        std::mem::take(&mut self.0.heard.lock())
    }

    fn hear(&self, what: Value) {
        self.0.heard.lock().push(what);
    }
}

#[async_trait]
impl Host for Answers {
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        self.hear(json!({"form": question.params.message, "of": &*question.server}));
        let answer = self.0.forms.lock().pop_front();
        answer.ok_or(HostError::Unsupported)
    }

    async fn elicit_url(
        &self,
        question: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        self.hear(json!({"url": question.params.url}));
        Ok(ElicitAction::Accept)
    }

    async fn sample(
        &self,
        question: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        self.hear(serde_json::to_value(&question.params).unwrap());
        let content = SamplingContent::Text(TextContent::new("forty-two"));
        Ok(CreateMessageResult::new(
            Role::Assistant,
            content,
            "deep-thought",
        ))
    }

    async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        Ok(self.0.roots.lock().clone())
    }
}
