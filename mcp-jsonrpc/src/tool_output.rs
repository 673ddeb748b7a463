//! Return values of tools written in Rust.

use serde::Serialize;

use crate::json::raw::{RawJson, RawObject};
use crate::model::{CallToolResult, ContentBlock};

/// A value that a tool's function may return: text, content blocks, [`Json`], a whole
/// [`CallToolResult`], or a `Result` of one of these.
///
/// `E` is the error of the crate that calls the function; the function's own error may be anything that converts into
/// it.
///
/// ```
/// use mcp_jsonrpc::{IntoToolResult, Json};
///
/// let sum: Result<Json<u32>, &str> = Ok(Json(5));
/// let result: Result<_, Box<dyn std::error::Error>> = sum.into_tool_result();
/// assert_eq!(result?.text(), "5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait IntoToolResult<E> {
    /// The result on the wire.
    ///
    /// # Errors
    ///
    /// If the tool failed.
    fn into_tool_result(self) -> Result<CallToolResult, E>;

    /// The JSON Schema of its structured content, if it always has some.
    fn output_schema() -> Option<RawObject>
    where
        Self: Sized,
    {
        None
    }
}

/// Structured content: `value` as JSON, and the same as text for clients that read only text.
///
/// With the feature `schemars` the type's schema becomes the tool's output schema.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "a wrapper, to be constructed and taken apart"
)]
pub struct Json<T>(pub T);

fn structured<T: Serialize>(value: &T) -> Result<CallToolResult, serde_json::Error> {
    let json = RawJson::from_serialize(value)?;
    let mut result = CallToolResult::new(vec![ContentBlock::text(json.get())]);
    result.structured_content = Some(json);
    Ok(result)
}

#[cfg(feature = "schemars")]
impl<T: Serialize + schemars::JsonSchema, E: From<serde_json::Error>> IntoToolResult<E>
    for Json<T>
{
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        Ok(structured(&self.0)?)
    }

    fn output_schema() -> Option<RawObject> {
        Some(schema_of::<T>())
    }
}

#[cfg(not(feature = "schemars"))]
impl<T: Serialize, E: From<serde_json::Error>> IntoToolResult<E> for Json<T> {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        Ok(structured(&self.0)?)
    }
}

/// An object becomes structured content; any other value becomes text.
impl<E: From<serde_json::Error>> IntoToolResult<E> for serde_json::Value {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        match self {
            Self::Object(_) => Ok(structured(&self)?),
            Self::String(text) => Ok(CallToolResult::new(vec![ContentBlock::text(text)])),
            other => Ok(CallToolResult::new(vec![ContentBlock::text(
                other.to_string(),
            )])),
        }
    }
}

impl<E> IntoToolResult<E> for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        Ok(self)
    }
}

impl<E> IntoToolResult<E> for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        Ok(CallToolResult::new(self))
    }
}

impl<E> IntoToolResult<E> for ContentBlock {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl<E> IntoToolResult<E> for String {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        ContentBlock::text(self).into_tool_result()
    }
}

impl<E> IntoToolResult<E> for &str {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        ContentBlock::text(self).into_tool_result()
    }
}

/// A result without content.
impl<E> IntoToolResult<E> for () {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        Ok(CallToolResult::new(Vec::new()))
    }
}

impl<T: IntoToolResult<E>, F: Into<E>, E> IntoToolResult<E> for Result<T, F> {
    fn into_tool_result(self) -> Result<CallToolResult, E> {
        self.map_err(Into::into)?.into_tool_result()
    }

    fn output_schema() -> Option<RawObject> {
        T::output_schema()
    }
}

/// The JSON Schema of a type, in 2020-12, for a tool's arguments or structured content.
#[cfg(feature = "schemars")]
pub fn schema_of<T: schemars::JsonSchema>() -> RawObject {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    // Tools take objects; `()` and the like have a schema without a type.
    if let Some(members) = schema.as_object_mut() {
        members.remove("title");
        if !members.contains_key("type") && !members.contains_key("$ref") {
            members.insert("type".to_owned(), "object".into());
        }
    }
    RawObject::from_serialize(&schema).unwrap_or_else(|_| RawObject::empty())
}
