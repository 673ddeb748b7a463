//! Which files a model can be sent.

use provider_adapters::{Adapter, Conversation, Media, Request, UserPart, UserTurn};

use crate::models::build::speaker;
use crate::models::choice::Choice;

impl Choice {
    /// Why the model cannot be sent a file of this media type, if it cannot: because it sees no
    /// images, or because its wire has no place for such a file.
    pub(crate) fn refusal(&self, mime_type: &str) -> Option<String> {
        let media = Media::data(mime_type, "").with_name("file");
        let (part, what) = match mime_type.split('/').next() {
            Some("image") if !self.capabilities.images => {
                return Some(format!(
                    "{} does not see images; if it does, set models.{}.images to true",
                    self.name(),
                    self.model
                ));
            }
            Some("image") => (UserPart::Image(media), "images"),
            Some("audio") => (UserPart::Audio(media), "sound"),
            _ => (UserPart::File(media), "files"),
        };
        // The wire itself tells, with a file that has nothing in it.
        let mut words = Conversation::new();
        words.push(UserTurn::new(vec![part, UserPart::text("?")]));
        let encoded = speaker(self).encode(&Request::new(&self.model, words));
        let left_out = encoded.map_or(true, |encoded| !encoded.omitted.is_empty());
        left_out.then(|| {
            format!(
                "{} cannot be sent {what} of the type {mime_type} over {}",
                self.name(),
                self.wire
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::models::{Found, Wanted, choose};

    #[test]
    fn a_file_is_refused_where_the_wire_has_no_place_for_it() {
        let kinds = [
            "image/png",
            "image/gif",
            "image/heic",
            "audio/wav",
            "application/pdf",
        ];
        for (model, taken) in [
            ("anthropic/claude-sonnet-5", "png gif pdf"),
            ("gemini/gemini-3.8-flash", "png heic wav pdf"),
            ("openai/gpt-5-mini", "png gif pdf"),
            ("openai/gpt-3.5-turbo", "pdf"),
            ("demo", "png gif wav pdf"),
        ] {
            let found = Found {
                settings: &BTreeMap::new(),
                environment: &|name| name.ends_with("_KEY").then(|| "key".to_owned()),
                ollama: &[],
            };
            let choice = choose(&Wanted::model(Some(model.to_owned())), &found).unwrap();
            let takes = kinds.iter().filter(|kind| choice.refusal(kind).is_none());
            let takes: Vec<&str> = takes.filter_map(|kind| kind.split('/').nth(1)).collect();
            assert_eq!(takes.join(" "), taken, "{model}");
        }
    }
}
