//! Routes with their metadata, so that the OpenAPI document can be checked against them.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, patch, post, put};

use crate::serve::app::App;

/// The largest body of a request.
const BODY: usize = 1 << 20;

/// The routes of a resource.
#[derive(Debug)]
pub(crate) struct Routes {
    router: Router<App>,
    known: Vec<(&'static str, &'static str)>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $method:literal,)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub(crate) fn $name<H: Handler<T, App>, T: 'static>(
            self,
            path: &'static str,
            handler: H,
        ) -> Self {
            self.add($method, path, $name(handler))
        }
    )*};
}

impl Routes {
    pub(crate) fn new() -> Self {
        Self {
            router: Router::new(),
            known: Vec::new(),
        }
    }

    methods! {
        get "get",
        post "post",
        put "put",
        patch "patch",
        delete "delete",
    }

    /// As [`post`](Self::post), with bodies up to this many bytes.
    #[must_use]
    pub(crate) fn post_up_to<H: Handler<T, App>, T: 'static>(
        self,
        bytes: usize,
        path: &'static str,
        handler: H,
    ) -> Self {
        let route = post(handler).layer(DefaultBodyLimit::max(bytes));
        self.add("post", path, route)
    }

    /// These and those.
    #[must_use]
    pub(crate) fn merge(mut self, others: Self) -> Self {
        self.router = self.router.merge(others.router);
        self.known.extend(others.known);
        self
    }

    /// The method and the path of each.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the document is held against it")
    )]
    pub(crate) fn known(&self) -> &[(&'static str, &'static str)] {
        &self.known
    }

    pub(crate) fn into_router(self) -> Router<App> {
        self.router.layer(DefaultBodyLimit::max(BODY))
    }

    fn add(mut self, method: &'static str, path: &'static str, route: MethodRouter<App>) -> Self {
        self.router = self.router.route(path, route);
        self.known.push((method, path));
        self
    }
}
