//! Keys and addresses from the environment.

use super::HttpModel;
use crate::adapter::{Adapter, Environment};
use crate::model::ModelError;

impl<A: Adapter> HttpModel<A> {
    /// Asks the adapter's provider with the key, and the base URL, that the environment has for it:
    /// see [`Adapter::environment`]. On Vertex AI, with the credentials of Google Cloud
    /// ([`GoogleCredentials::from_env`](crate::GoogleCredentials::from_env), feature `vertex`); on Amazon Bedrock without
    /// a key of its own, signed with the access key ([`AwsCredentials::from_env`](crate::AwsCredentials::from_env)).
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the provider needs a key or credentials and the environment has none.
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
        let Environment {
            keys,
            google,
            aws_region,
            base_url,
        } = adapter.environment();
        let filled = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let url = base_url.and_then(filled);
        let key = keys.iter().find_map(|name| filled(name));
        let region = aws_region.map(str::to_owned);
        let (needs_key, names) = (!keys.is_empty(), keys.join(" or "));
        let mut model = Self::new(adapter)?;
        if let Some(url) = url {
            model = model.with_base_url(url);
        }
        if google {
            return model.with_google_credentials_of(variable);
        }
        if let Some(key) = key {
            return Ok(model.with_key(key));
        }
        if let Some(region) = region {
            return model.with_aws_credentials_of(&names, region, filled);
        }
        if needs_key {
            let problem = format!("no key: set the environment variable {names}");
            return Err(ModelError::Setup(problem.into()));
        }
        Ok(model)
    }

    #[cfg(feature = "bedrock")]
    fn with_aws_credentials_of(
        self,
        keys: &str,
        region: String,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let credentials = super::aws::AwsCredentials::from_variables(variable);
        let credentials = credentials.map_err(|missing| {
            let problem = format!("no key: set {keys}, or an access key ({missing} is not set)");
            ModelError::Setup(problem.into())
        })?;
        Ok(self.signed(region, move || credentials.clone()))
    }

    #[cfg(not(feature = "bedrock"))]
    fn with_aws_credentials_of(
        self,
        keys: &str,
        _: String,
        _: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let problem = format!("no key: set {keys}, or build with the feature `bedrock`");
        Err(ModelError::Setup(problem.into()))
    }

    #[cfg(feature = "vertex")]
    fn with_google_credentials_of(
        self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let file = |name: &str| variable(name).map(std::path::PathBuf::from);
        let credentials = super::google::GoogleCredentials::from_variables(file)?;
        Ok(self.with_google_credentials(credentials))
    }

    #[cfg(not(feature = "vertex"))]
    fn with_google_credentials_of(
        self,
        _: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let problem = "Vertex AI wants Google credentials: build with the feature `vertex`";
        Err(ModelError::Setup(problem.into()))
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

    #[cfg(feature = "bedrock")]
    #[test]
    fn bedrock_signs_with_the_access_key_of_the_environment_unless_there_is_an_api_key() {
        use crate::wire::bedrock::Bedrock;

        let access = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("AKIDEXAMPLE".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("secret".to_owned()),
            _ => None,
        };
        let of = |variable: &dyn Fn(&str) -> Option<String>| {
            HttpModel::from_variables(Bedrock::new("eu-central-1"), variable)
        };
        let signed = of(&access).unwrap();
        assert!(matches!(&signed.key, Some(Key::Aws(_))));
        let with_key = |name: &str| match name {
            "AWS_BEARER_TOKEN_BEDROCK" => Some("bedrock-1".to_owned()),
            name => access(name),
        };
        assert_eq!(key(&of(&with_key).unwrap()), "bedrock-1");
        let half = |name: &str| access(name).filter(|_| name == "AWS_ACCESS_KEY_ID");
        let Some(ModelError::Setup(problem)) = of(&half).err() else {
            panic!("there is no secret");
        };
        assert_eq!(
            problem.to_string(),
            "no key: set AWS_BEARER_TOKEN_BEDROCK, or an access key (AWS_SECRET_ACCESS_KEY is not set)"
        );
    }

    #[test]
    fn vertex_ai_without_google_credentials_is_no_model() {
        let nothing = |_: &str| None;
        let gemini = HttpModel::from_variables(Gemini::vertex("project", "global"), nothing);
        let anthropic = HttpModel::from_variables(Anthropic::vertex("project", "global"), nothing);
        for problem in [gemini.err(), anthropic.err()] {
            let Some(ModelError::Setup(problem)) = problem else {
                panic!("there are no credentials");
            };
            assert!(problem.to_string().contains("credentials"), "{problem}");
        }
    }
}
