//! Installs what a plan says. It is done whole or not at all: what is left of an attempt that failed or
//! crashed is removed.

use std::path::PathBuf;

use super::find::What;
use super::place::Place;
use super::plan::Plan;
use crate::exit::{Exit, Failure};
use crate::servers::{PlainSecrets, answer, answers, forget_unused, keep_all, keep_answer};
use crate::store::{Server, StoredValue};

/// Installs what a plan says: unpacks its bundle, keeps its secrets, and has `commit` store the server.
/// `stored` are the user's servers in this store, which `store` names; one of them is what it updates.
pub(crate) async fn apply<E: From<Failure>>(
    plan: Plan,
    store: &str,
    stored: &[Server],
    plain: PlainSecrets,
    commit: impl AsyncFnOnce(Server) -> Result<(), E>,
) -> Result<(), E> {
    let Plan {
        mut row,
        found,
        secrets,
        ..
    } = plan;
    let before = stored.iter().find(|other| other.id == row.id).cloned();
    let place = match found.what {
        What::Bundle(program) => {
            let (row, store, stored) = (row.clone(), store.to_owned(), stored.to_vec());
            let work = tokio::task::spawn_blocking(move || unpack(*program, &row, &store, &stored));
            let broken = |_| Failure::new(Exit::Other, "unpacking was broken off");
            Some(work.await.map_err(broken)??)
        }
        What::Offer(..) => None,
    };
    let done = match keep(&mut row, before.as_ref(), &secrets, plain).await {
        Ok(()) => commit(row.clone()).await,
        Err(failure) => Err(failure.into()),
    };
    let folder = |row: &Server| row.installed.as_ref().and_then(|it| it.folder.clone());
    let (kept, forget) = match &done {
        Ok(()) => (
            folder(&row),
            before
                .as_ref()
                .map(|before| (before.clone(), Some(row.clone()))),
        ),
        Err(_) => (
            before.as_ref().and_then(folder),
            Some((row.clone(), before.clone())),
        ),
    };
    if let Some((gone, now)) = forget {
        let forgotten = forget_unused(&gone, now.as_ref()).await;
        if done.is_ok() {
            forgotten?;
        }
    }
    if let Some(place) = place {
        let settled = place.settle(&row.id, kept.as_deref());
        if done.is_ok() {
            settled
                .map_err(|error| failed("what an earlier version left cannot be removed", error))?;
        }
    }
    done
}

/// Unpacks a bundle to where its server will look for it.
fn unpack(
    mut program: super::find::Program,
    row: &Server,
    store: &str,
    stored: &[Server],
) -> Result<Place, Failure> {
    let place = Place::take(&row.user_id, store)
        .map_err(|error| failed("the folder of bundles cannot be used", error))?;
    place
        .sweep(stored)
        .map_err(|error| failed("what a crash left cannot be removed", error))?;
    let folder = row.installed.as_ref().and_then(|it| it.folder.as_deref());
    let fresh: PathBuf = place
        .fresh()
        .map_err(|error| failed("no folder can be made", error))?;
    let programs: Vec<&str> = program
        .manifest
        .server
        .entry_point
        .as_deref()
        .into_iter()
        .collect();
    let unpacked = program.bundle.unpack(&fresh, &programs);
    let put = unpacked.and_then(|()| {
        place
            .put(&fresh, &row.id, folder.unwrap_or_default())
            .map_err(|error| failed("the bundle cannot be moved to its folder", error))
    });
    if put.is_err() {
        // The next installation tries again.
        let _ = std::fs::remove_dir_all(&fresh);
        let before = stored.iter().find(|other| other.id == row.id);
        let kept = before.and_then(|before| before.installed.as_ref()?.folder.as_deref());
        let _ = place.settle(&row.id, kept);
    }
    put.map(|()| place)
}

/// Keeps the secrets of a server where they belong.
async fn keep(
    row: &mut Server,
    before: Option<&Server>,
    secrets: &[String],
    plain: PlainSecrets,
) -> Result<(), Failure> {
    let known: Vec<(String, StoredValue)> =
        before.map(|row| answers(row).collect()).unwrap_or_default();
    let given: Vec<(String, StoredValue)> = answers(row).collect();
    for (id, value) in given {
        if known.contains(&(id.clone(), value.clone())) {
            continue;
        }
        let input = id.split('#').next().unwrap_or(&id);
        let is_secret = secrets.iter().any(|it| it == input);
        let kept = keep_answer(row, &id, value, is_secret, plain).await?;
        answer(row, &id, kept);
    }
    Ok(keep_all(row, before, plain).await?)
}

fn failed(what: &str, error: std::io::Error) -> Failure {
    Failure::new(Exit::Other, what).caused_by(error)
}
