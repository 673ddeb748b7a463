//! Resources and resource templates.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_jsonrpc::OrderedMap;
use mcp_jsonrpc::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::handler::context::Context;
use crate::handler::error::Error;
use crate::registry::tool::BoxFuture;

/// The values of a template's variables, by name, in the encoding of the URI.
pub type UriVariables = OrderedMap<String>;

/// The return values of a resource's closure.
pub trait IntoResourceResult {
    /// The contents of the resource `uri`.
    ///
    /// # Errors
    ///
    /// If it could not be read.
    fn into_resource_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, Error>;
}

fn contents(uri: &str, mime_type: Option<&str>) -> ResourceContents {
    let mut contents = ResourceContents::new(uri);
    contents.mime_type = mime_type.map(str::to_owned);
    contents
}

impl IntoResourceResult for String {
    fn into_resource_result(
        self,
        uri: &str,
        mime: Option<&str>,
    ) -> Result<ReadResourceResult, Error> {
        let mut contents = contents(uri, mime);
        contents.text = Some(self);
        Ok(ReadResourceResult::new(vec![contents]))
    }
}

impl IntoResourceResult for &str {
    fn into_resource_result(
        self,
        uri: &str,
        mime: Option<&str>,
    ) -> Result<ReadResourceResult, Error> {
        self.to_owned().into_resource_result(uri, mime)
    }
}

/// Bytes are sent in base64.
impl IntoResourceResult for Vec<u8> {
    fn into_resource_result(
        self,
        uri: &str,
        mime: Option<&str>,
    ) -> Result<ReadResourceResult, Error> {
        let mut contents = contents(uri, mime);
        contents.blob = Some(STANDARD.encode(self));
        Ok(ReadResourceResult::new(vec![contents]))
    }
}

impl IntoResourceResult for ReadResourceResult {
    fn into_resource_result(self, _: &str, _: Option<&str>) -> Result<ReadResourceResult, Error> {
        Ok(self)
    }
}

impl<T: IntoResourceResult, E: Into<Error>> IntoResourceResult for Result<T, E> {
    fn into_resource_result(
        self,
        uri: &str,
        mime: Option<&str>,
    ) -> Result<ReadResourceResult, Error> {
        self.map_err(Into::into)?.into_resource_result(uri, mime)
    }
}

type ReadFn<A> = dyn Fn(A, Context) -> BoxFuture<Result<ReadResourceResult, Error>> + Send + Sync;

/// A registered resource.
pub(crate) struct ResourceEntry {
    pub(crate) resource: Resource,
    pub(crate) read: Arc<ReadFn<()>>,
}

/// A registered template.
pub(crate) struct TemplateEntry {
    pub(crate) template: ResourceTemplate,
    pattern: Pattern,
    read: Arc<ReadFn<(String, UriVariables)>>,
}

impl ResourceEntry {
    pub(crate) fn new<F, Fut, R>(resource: Resource, read: F) -> Self
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoResourceResult,
    {
        let (uri, mime) = (resource.uri.clone(), resource.mime_type.clone());
        let read = move |(), cx: Context| -> BoxFuture<_> {
            let (work, uri, mime) = (read(cx), uri.clone(), mime.clone());
            Box::pin(async move { work.await.into_resource_result(&uri, mime.as_deref()) })
        };
        Self {
            resource,
            read: Arc::new(read),
        }
    }
}

impl TemplateEntry {
    pub(crate) fn new<F, Fut, R>(template: ResourceTemplate, read: F) -> Self
    where
        F: Fn(UriVariables, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoResourceResult,
    {
        let mime = template.mime_type.clone();
        let read = move |(uri, variables): (String, UriVariables), cx: Context| -> BoxFuture<_> {
            let (work, mime) = (read(variables, cx), mime.clone());
            Box::pin(async move { work.await.into_resource_result(&uri, mime.as_deref()) })
        };
        Self {
            pattern: Pattern::new(&template.uri_template),
            template,
            read: Arc::new(read),
        }
    }

    /// Reads `uri`, if it is one of this template's.
    pub(crate) fn try_read(
        &self,
        uri: &str,
        cx: &Context,
    ) -> Option<BoxFuture<Result<ReadResourceResult, Error>>> {
        let variables = self.pattern.match_uri(uri)?;
        Some((self.read)((uri.to_owned(), variables), cx.clone()))
    }

    pub(crate) fn matches(&self, uri: &str) -> bool {
        self.pattern.match_uri(uri).is_some()
    }
}

/// A URI template as a pattern: literals and variables in turn.
///
/// Of RFC 6570 this knows `{name}`, which matches up to the next slash, and `{+name}` and
/// `{name*}`, which match slashes too.
struct Pattern {
    start: String,
    variables: Vec<Variable>,
}

struct Variable {
    name: String,
    spans_slashes: bool,
    /// The literal behind it.
    then: String,
}

impl Pattern {
    fn new(template: &str) -> Self {
        let mut parts = template.split('{');
        let start = parts.next().unwrap_or_default().to_owned();
        let variables = parts.map(|part| {
            let (name, then) = part.split_once('}').unwrap_or((part, ""));
            let bare = name.trim_start_matches('+').trim_end_matches('*');
            Variable {
                name: bare.to_owned(),
                spans_slashes: bare.len() < name.len(),
                then: then.to_owned(),
            }
        });
        Self {
            variables: variables.collect(),
            start,
        }
    }

    fn match_uri(&self, uri: &str) -> Option<UriVariables> {
        let mut rest = uri.strip_prefix(self.start.as_str())?;
        let mut found = UriVariables::new();
        for (at, variable) in self.variables.iter().enumerate() {
            let end = if at + 1 == self.variables.len() {
                rest.len().checked_sub(variable.then.len())?
            } else if variable.then.is_empty() {
                return None;
            } else {
                rest.find(variable.then.as_str())?
            };
            let (value, behind) = rest.split_at_checked(end)?;
            rest = behind.strip_prefix(variable.then.as_str())?;
            if value.is_empty() || (!variable.spans_slashes && value.contains('/')) {
                return None;
            }
            found.insert(variable.name.clone(), value.to_owned());
        }
        rest.is_empty().then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, uri: &str, want: Option<&[(&str, &str)]>) {
        let found = Pattern::new(template).match_uri(uri);
        let want = want.map(|pairs| {
            let pairs = pairs.iter().map(|&(name, value)| (name, value.to_owned()));
            pairs.collect::<UriVariables>()
        });
        assert_eq!(found, want, "{template} {uri}");
    }

    #[test]
    fn templates_match_whole_uris_variable_by_variable() {
        check("test://{id}/data", "test://12/data", Some(&[("id", "12")]));
        check("test://{id}/data", "test://12/date", None);
        check("test://{id}/data", "test://1/2/data", None);
        check("test://{id}/data", "test:///data", None);
        check(
            "file:///{+path}",
            "file:///a/b.txt",
            Some(&[("path", "a/b.txt")]),
        );
        check("x://{a}/{b}", "x://1/2", Some(&[("a", "1"), ("b", "2")]));
        check("x://{a}{b}", "x://12", None);
        check("x://plain", "x://plain", Some(&[]));
        check("x://plain", "x://plainer", None);
    }
}
