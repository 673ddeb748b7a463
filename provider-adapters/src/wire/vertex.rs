//! The addresses of models on Vertex AI.

use crate::wire::segment;

/// A project and a location.
#[derive(Clone, Debug)]
pub(crate) struct VertexPlace {
    project: String,
    location: String,
}

impl VertexPlace {
    pub(crate) fn new(project: impl Into<String>, location: impl Into<String>) -> Self {
        Self {
            project: project.into(),
            location: location.into(),
        }
    }

    pub(crate) fn base_url(&self) -> String {
        match self.location.as_str() {
            "global" => "https://aiplatform.googleapis.com".to_owned(),
            location => format!("https://{location}-aiplatform.googleapis.com"),
        }
    }

    /// The path of a method of a publisher's model.
    pub(crate) fn path(&self, publisher: &str, model: &str, method: &str) -> String {
        format!(
            "/v1/projects/{}/locations/{}/publishers/{publisher}/models/{}:{method}",
            segment(&self.project),
            segment(&self.location),
            segment(model)
        )
    }
}
