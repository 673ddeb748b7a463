//! Sends one signed request for Amazon Bedrock to an address: `signed BASE_URL REGION MODEL WORDS`, with
//! the credentials of `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Whoever listens
//! there can check the signature, as botocore does in `cargo xtask oracles`.

use provider_adapters::{
    AwsCredentials, Bedrock, Conversation, HttpModel, Model as _, Request, Retry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [base_url, region, model, words] = words.as_slice() else {
        return Err("usage: signed BASE_URL REGION MODEL WORDS".into());
    };
    let mut conversation = Conversation::new();
    conversation.ask(words.as_str());
    let bedrock = HttpModel::new(Bedrock::new(region.as_str()))?
        .with_base_url(base_url)
        .with_retry(Retry::default().with_tries(0))
        .with_aws_credentials(AwsCredentials::from_env()?);
    let request = Request::new(model.as_str(), conversation);
    bedrock.ask(&request).await?;
    Ok(())
}
