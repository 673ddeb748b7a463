//! Lists, fetched page by page to the end or to a limit.

use std::time::Duration;

use mcp_jsonrpc::model::experimental_task::{ListTasksResult, Task as LegacyTask};
use mcp_jsonrpc::model::{
    CacheScope, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsResult, ListToolsResult, PageParams, Prompt, Resource, ResourceTemplate, Skill, Tool,
};
use mcp_jsonrpc::{ErrorCode, Rejected, ResultBody};

use crate::call::error::CallError;
use crate::call::mrtr::MrtrState;
use crate::call::request::Call;
use crate::client::Client;
use crate::features::pages::{Pager, Step, Truncated};

/// A list, and the parts missing from it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Listed<T> {
    /// The items, in the server's order.
    pub items: Vec<T>,
    /// The invalid items: one invalid item never hides the others.
    pub skipped: Vec<Skipped>,
    /// The reason why the list is incomplete, if it is.
    pub truncated: Option<Truncated>,
    /// How long the list stays fresh, if every page has a TTL.
    pub ttl: Option<Duration>,
    /// Whether a cache may share the list between users.
    pub scope: CacheScope,
}

/// An invalid item.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Skipped {
    /// Its name, if it could be read.
    pub name: Option<String>,
    /// The problem.
    pub reason: String,
}

/// A page of a list.
pub(crate) trait Page: ResultBody {
    type Item;

    fn take(self) -> Taken<Self::Item>;
}

/// The content of a page.
pub(crate) struct Taken<T> {
    items: Vec<T>,
    rejected: Vec<Rejected>,
    next: Option<String>,
    ttl_ms: Option<i64>,
    scope: Option<CacheScope>,
}

macro_rules! pages {
    ($($Result:ident.$items:ident: $Item:ty;)*) => {$(
        impl Page for $Result {
            type Item = $Item;

            fn take(self) -> Taken<$Item> {
                Taken {
                    items: self.$items,
                    rejected: self.rejected,
                    next: self.next_cursor,
                    ttl_ms: self.ttl_ms,
                    scope: self.cache_scope,
                }
            }
        }
    )*};
}

pages! {
    ListToolsResult.tools: Tool;
    ListResourcesResult.resources: Resource;
    ListResourceTemplatesResult.resource_templates: ResourceTemplate;
    ListPromptsResult.prompts: Prompt;
    ListSkillsResult.skills: Skill;
}

/// Has no cache hints.
impl Page for ListTasksResult {
    type Item = LegacyTask;

    fn take(self) -> Taken<LegacyTask> {
        Taken {
            items: self.tasks,
            rejected: self.rejected,
            next: self.next_cursor,
            ttl_ms: None,
            scope: None,
        }
    }
}

impl<T> Listed<T> {
    /// Maps the items.
    pub(crate) fn map<U>(self, item: impl FnMut(T) -> U) -> Listed<U> {
        Listed {
            items: self.items.into_iter().map(item).collect(),
            skipped: self.skipped,
            truncated: self.truncated,
            ttl: self.ttl,
            scope: self.scope,
        }
    }

    fn new() -> Self {
        Self {
            items: Vec::new(),
            skipped: Vec::new(),
            truncated: None,
            ttl: Some(Duration::MAX),
            scope: CacheScope::Public,
        }
    }

    fn add(&mut self, page: Taken<T>, keep: usize) {
        self.items.extend(page.items.into_iter().take(keep));
        self.skipped
            .extend(page.rejected.into_iter().map(|rejected| Skipped {
                name: rejected.name,
                reason: rejected.reason.to_string(),
            }));
        let ttl = page
            .ttl_ms
            .map(|ms| Duration::from_millis(ms.try_into().unwrap_or(0)));
        self.ttl = self.ttl.zip(ttl).map(|(shortest, ttl)| shortest.min(ttl));
        if page.scope != Some(CacheScope::Public) {
            self.scope = CacheScope::Private;
        }
    }
}

impl Client {
    /// Fetches a list. A cursor that the server no longer knows restarts it, once.
    pub(crate) async fn list<P: Page>(
        &self,
        method: &'static str,
    ) -> Result<Listed<P::Item>, CallError> {
        match self.walk::<P>(method).await {
            Err(PageError::Further(error)) if is_bad_cursor(&error) => {
                self.walk::<P>(method).await.map_err(PageError::into_error)
            }
            other => other.map_err(PageError::into_error),
        }
    }

    async fn walk<P: Page>(&self, method: &'static str) -> Result<Listed<P::Item>, PageError> {
        let limits = &self.connection().settings.limits;
        let mut pager = Pager::new(limits);
        let mut listed = Listed::new();
        let (page, bytes) = self
            .page::<P>(method, None)
            .await
            .map_err(PageError::First)?;
        let mut step = take(&mut listed, &mut pager, page.take(), bytes);
        let deadline = tokio::time::Instant::now() + limits.list_timeout();
        loop {
            match step {
                Step::Done => return Ok(listed),
                Step::Stop { why, .. } => {
                    listed.truncated = Some(why);
                    return Ok(listed);
                }
                Step::Next(cursor) => {
                    let page = self.page::<P>(method, Some(cursor));
                    let Ok(page) = tokio::time::timeout_at(deadline, page).await else {
                        listed.truncated = Some(Truncated::Time);
                        return Ok(listed);
                    };
                    let (page, bytes) = page.map_err(PageError::Further)?;
                    step = take(&mut listed, &mut pager, page.take(), bytes);
                }
            }
        }
    }

    async fn page<P: Page>(
        &self,
        method: &'static str,
        cursor: Option<String>,
    ) -> Result<(P, usize), CallError> {
        let mut params = PageParams::default();
        params.cursor = cursor;
        self.call_from(&Call::new(method, &params), &mut MrtrState::default())
            .await
    }
}

fn take<T>(listed: &mut Listed<T>, pager: &mut Pager<'_>, page: Taken<T>, bytes: usize) -> Step {
    let step = pager.page(page.items.len(), bytes, page.next.clone());
    let keep = match &step {
        Step::Stop { keep, .. } => *keep,
        _ => page.items.len(),
    };
    listed.add(page, keep);
    step
}

/// The page on which fetching failed.
enum PageError {
    First(CallError),
    Further(CallError),
}

impl PageError {
    fn into_error(self) -> CallError {
        let (Self::First(error) | Self::Further(error)) = self;
        error
    }
}

fn is_bad_cursor(error: &CallError) -> bool {
    error
        .peer()
        .is_some_and(|error| error.code == ErrorCode::INVALID_PARAMS)
}
