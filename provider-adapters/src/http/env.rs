//! Keys and addresses from the environment.

use super::HttpModel;
use crate::adapter::{Adapter, Environment};
use crate::model::ModelError;

impl<A: Adapter> HttpModel<A> {
    /// Asks the adapter's provider with the key, and the base URL, that the environment has for it:
    /// see [`Adapter::environment`].
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the provider needs a key and no variable holds one.
    ///
    /// ```no_run
    /// use provider_adapters::{Anthropic, HttpModel};
    ///
    /// let model = HttpModel::from_env(Anthropic::default())?;
    /// # Ok::<(), provider_adapters::ModelError>(())
    /// ```
    pub fn from_env(adapter: A) -> Result<Self, ModelError> {
        Self::from_variables(adapter, |name| std::env::var(name).ok())
    }

    fn from_variables(
        adapter: A,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let Environment { keys, base_url } = adapter.environment();
        let filled = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let mut model = Self::new(adapter)?;
        if let Some(url) = base_url.and_then(filled) {
            model = model.with_base_url(url);
        }
        match keys.iter().find_map(|name| filled(name)) {
            Some(key) => Ok(model.with_key(key)),
            None if keys.is_empty() => Ok(model),
            None => {
                let names = keys.join(" or ");
                let problem = format!("no key: set the environment variable {names}");
                Err(ModelError::Setup(problem.into()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Key;
    use crate::wire::anthropic::Anthropic;
    use crate::wire::gemini::Gemini;
    use crate::wire::openai_chat::{Dialect, OpenAiChat};

    fn key<A>(model: &HttpModel<A>) -> String {
        match &model.key {
            Some(Key::From(key)) => key().expose().to_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn key_and_address_come_from_the_environment() {
        let set = |name: &str| match name {
            "ANTHROPIC_API_KEY" => Some("sk-1".to_owned()),
            "ANTHROPIC_BASE_URL" => Some("https://proxy.example.com/".to_owned()),
            "GOOGLE_API_KEY" => Some("sk-2".to_owned()),
            "GEMINI_API_KEY" => Some(" ".to_owned()),
            _ => None,
        };
        let model = HttpModel::from_variables(Anthropic::default(), set).unwrap();
        assert_eq!(model.base_url, "https://proxy.example.com");
        assert_eq!(key(&model), "sk-1");
        let model = HttpModel::from_variables(Gemini::developer(), set).unwrap();
        assert_eq!(key(&model), "sk-2");
        let local = OpenAiChat::new(Dialect::OLLAMA);
        assert!(HttpModel::from_variables(local, set).unwrap().key.is_none());
        let Err(ModelError::Setup(problem)) = HttpModel::from_variables(OpenAiChat::default(), set)
        else {
            panic!("there is no key");
        };
        assert_eq!(
            problem.to_string(),
            "no key: set the environment variable OPENAI_API_KEY"
        );
    }
}
