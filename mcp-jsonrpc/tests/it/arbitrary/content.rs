//! Content blocks.

use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::*;

use super::{Gen, made};

pub(crate) fn role(g: &mut Gen) -> Role {
    g.pick(&[Role::User, Role::Assistant])
}

pub(crate) fn icon(g: &mut Gen) -> Icon {
    made!(g, Icon::new(g.uri()), {
        mime_type: g.maybe(Gen::mime),
        sizes: g.maybe(|g| g.list(|g| g.pick(&["48x48", "any"]).to_owned())),
        theme: g.maybe(|g| g.pick(&[IconTheme::Dark, IconTheme::Light])),
    })
}

pub(crate) fn icons(g: &mut Gen) -> Option<Vec<Icon>> {
    g.maybe_if(Revision::has_icons, |g| g.list(icon))
}

pub(crate) fn annotations(g: &mut Gen) -> Annotations {
    made!(g, Annotations::default(), {
        audience: g.maybe(|g| g.list(role)),
        priority: g.maybe(Gen::share),
        last_modified: g.maybe_if(Revision::has_last_modified, Gen::date),
    })
}

pub(crate) fn text_content(g: &mut Gen) -> TextContent {
    made!(g, TextContent::new(g.text()), {
        annotations: g.maybe(annotations),
        meta: g.object_meta(),
    })
}

pub(crate) fn image_content(g: &mut Gen) -> ImageContent {
    made!(g, ImageContent::new(g.base64(), g.mime()), {
        annotations: g.maybe(annotations),
        meta: g.object_meta(),
    })
}

pub(crate) fn audio_content(g: &mut Gen) -> AudioContent {
    made!(g, AudioContent::new(g.base64(), g.mime()), {
        annotations: g.maybe(annotations),
        meta: g.object_meta(),
    })
}

pub(crate) fn resource_link(g: &mut Gen) -> ResourceLink {
    made!(g, ResourceLink::new(g.uri(), g.text()), {
        title: g.maybe(Gen::text),
        description: g.maybe(Gen::text),
        mime_type: g.maybe(Gen::mime),
        size: g.maybe(Gen::size),
        icons: icons(g),
        annotations: g.maybe(annotations),
        meta: g.object_meta(),
    })
}

pub(crate) fn embedded_resource(g: &mut Gen) -> EmbeddedResource {
    made!(g, EmbeddedResource::new(resource_contents(g)), {
        annotations: g.maybe(annotations),
        meta: g.object_meta(),
    })
}

pub(crate) fn text_resource(g: &mut Gen) -> ResourceContents {
    made!(g, ResourceContents::new(g.uri()), {
        mime_type: g.maybe(Gen::mime),
        text: Some(g.text()),
        meta: g.object_meta(),
    })
}

pub(crate) fn blob_resource(g: &mut Gen) -> ResourceContents {
    made!(g, ResourceContents::new(g.uri()), {
        mime_type: g.maybe(Gen::mime),
        blob: Some(g.base64()),
        meta: g.object_meta(),
    })
}

pub(crate) fn resource_contents(g: &mut Gen) -> ResourceContents {
    if g.bool() {
        text_resource(g)
    } else {
        blob_resource(g)
    }
}

/// Of the kinds the revision has.
pub(crate) fn block(g: &mut Gen) -> ContentBlock {
    match g.below(5) {
        0 => text_content(g).into(),
        1 => image_content(g).into(),
        2 if g.revision.has_audio() => audio_content(g).into(),
        3 if g.revision.has_resource_links() => resource_link(g).into(),
        _ => embedded_resource(g).into(),
    }
}
