use serde_json::{Map, json};
use switchboard_sdk::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = std::env::var("TOKEN")?;
    let client = Client::http("https://example.com/mcp")?.bearer(token).client();
    let client = client.on_form(|form| async move {
        println!("{}", form.params.message);
        ElicitResult::accept(Map::from_iter([("name".to_owned(), json!("Ada"))]))
    });
    let client = client.connect().await?;
    println!("{}", client.call_tool("greet", ()).await?.text());
    client.close().await;
    Ok(())
}
