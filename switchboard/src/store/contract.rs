//! Contract tests for back ends of the store.
//!
//! A back end passes if [`check`] returns. Each claim gets a store of its own.

mod conversation;
mod lease;
mod login;
mod order;
mod run;
mod server;

use std::sync::Arc;

use crate::store::{Change, Store, StoreError, User, UserId};

/// Checks every claim, each on a fresh and empty store.
///
/// # Errors
/// Whatever a store fails with where it should not.
///
/// # Panics
/// When a store does something other than it should.
pub async fn check(fresh: impl AsyncFn() -> Arc<dyn Store>) -> Result<(), StoreError> {
    server::a_fresh_store_has_one_user(&*fresh().await).await?;
    server::a_server_keeps_every_field(&*fresh().await).await?;
    server::a_sight_of_a_server_changes_nothing_else(&*fresh().await).await?;
    server::a_server_read_before_the_last_change_is_not_stored(&*fresh().await).await?;
    server::another_endpoint_ends_what_was_allowed(&*fresh().await).await?;
    server::servers_come_in_the_users_order(&*fresh().await).await?;
    server::a_users_servers_have_different_names(&*fresh().await).await?;
    server::users_are_separated(&*fresh().await).await?;
    server::plain_values_need_the_users_word(&*fresh().await).await?;
    server::a_server_takes_what_belongs_to_it_along(&*fresh().await).await?;
    server::an_assistant_chooses_among_its_users_servers(&*fresh().await).await?;
    server::settings_hold_any_json(&*fresh().await).await?;
    server::of_two_who_add_a_setting_one_does(&*fresh().await).await?;
    conversation::a_commit_is_made_whole_or_not_at_all(&*fresh().await).await?;
    conversation::an_answer_is_one_message_with_all_its_calls(&*fresh().await).await?;
    conversation::a_number_is_given_to_one_message(&*fresh().await).await?;
    conversation::messages_are_read_page_by_page(&*fresh().await).await?;
    conversation::one_version_of_a_message_is_shown(&*fresh().await).await?;
    conversation::messages_are_found_by_their_words(&*fresh().await).await?;
    conversation::conversations_come_by_use(&*fresh().await).await?;
    conversation::a_conversation_outlives_what_it_names(&*fresh().await).await?;
    conversation::blobs_belong_to_a_conversation(&*fresh().await).await?;
    conversation::a_conversation_goes_whole_but_its_usage_stays(&*fresh().await).await?;
    conversation::what_could_not_be_read_is_not_written(&*fresh().await).await?;
    order::the_latest_run_is_the_last_one_added(&*fresh().await).await?;
    order::questions_and_rules_come_as_they_were_added(&*fresh().await).await?;
    order::conversations_come_as_they_were_used(&*fresh().await).await?;
    lease::a_lease_has_one_holder_and_its_loser_writes_nothing(&*fresh().await).await?;
    lease::a_holder_that_does_not_renew_loses_its_lease(&*fresh().await).await?;
    lease::a_process_replaces_its_own_lease(&*fresh().await).await?;
    lease::a_lease_is_acquired_for_the_run_as_it_is_known(&*fresh().await).await?;
    lease::a_lease_goes_with_its_conversation(&*fresh().await).await?;
    login::a_session_and_a_token_are_found_by_their_hash_with_their_user(&*fresh().await).await?;
    login::a_session_that_has_ended_is_not_begun_again_by_its_last_use(&*fresh().await).await?;
    login::a_login_undoes_nothing_that_an_owner_decides_meanwhile(&*fresh().await).await?;
    login::a_login_is_taken_once(&*fresh().await).await?;
    login::sessions_end_by_one_by_user_and_by_time(&*fresh().await).await?;
    login::one_subject_is_one_user(&*fresh().await).await?;
    run::a_question_is_settled_once(&*fresh().await).await?;
    run::a_run_that_was_overtaken_is_rejected(&*fresh().await).await?;
    run::usage_is_summed_by_model(&*fresh().await).await?;
    run::events_are_numbered_and_replayed(&*fresh().await).await?;
    run::new_events_are_heard_of(&*fresh().await).await?;
    run::a_conversation_tells_how_it_stands(&*fresh().await).await?;
    run::commits_at_once_are_all_made(fresh().await).await?;
    run::a_closed_store_returns_closed(&*fresh().await).await
}

/// A second user beside the local one.
async fn other_user(store: &dyn Store) -> Result<UserId, StoreError> {
    let other = UserId::new("other");
    let user = User::new(other.clone(), "someone else");
    store.commit(vec![Change::PutUser(user)]).await?;
    Ok(other)
}

/// Asserts that a commit fails in a certain way.
macro_rules! fails {
    ($store:expr, $changes:expr, $error:pat) => {
        let result = $store.commit($changes).await;
        assert!(matches!(result, Err($error)), "got {result:?}");
    };
}
use fails;
