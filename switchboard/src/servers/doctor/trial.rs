//! A trial connection.

use std::time::{Duration, Instant};

use mcp_manager::{Manager, ServerConfig};

use super::diagnose::diagnose;
use super::examine::{Examination, examine, other_transport};
use super::finding::Problem;
use crate::store::UserId;

/// Connects to a server with a temporary manager, examines it, and disconnects.
pub(crate) async fn trial(
    user: &UserId,
    manager: Manager,
    config: ServerConfig,
    slow: Duration,
) -> Examination {
    let began = Instant::now();
    let connected = manager.connect_one(config.clone()).await;
    let took = began.elapsed();
    let examination = match connected {
        Ok(()) => examine(user, &manager, config.name(), took, slow),
        Err(error) => {
            let mut finding = diagnose(&config, &error);
            if finding.problem == Problem::WrongTransport
                && let Some(better) = other_transport(&manager, &config).await
            {
                finding = better;
            }
            Examination::failed(config.name().as_str(), finding)
        }
    };
    manager.shutdown().await;
    examination
}
