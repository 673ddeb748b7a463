//! Drives a run to its end, and asks for approvals on the way.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::pin;

use tokio::sync::mpsc;

use crate::agent::Agent;
use crate::approval::{Answer, AnswerError, Approval, Consent, Decision};
use crate::event::RunEvent;
use crate::run::Run;
use crate::run::step::Reason;
use crate::session::Session;

impl Agent {
    /// Drives a run until it ends and returns the reason. Calls that need approval are passed to
    /// [`on_approval`](Self::on_approval).
    ///
    /// Returns `None` if the run waits for a person who cannot be asked here: for an approval without `on_approval`, or
    /// for an answer to a server. The run is unchanged: continue it in a [`session`](Self::session), or use an
    /// [unattended](crate::Policy::unattended) policy.
    pub async fn finish(&self, run: &mut Run) -> Option<Reason> {
        let mut session = self.session(run);
        if let Some(ask) = &self.on_approval {
            return drive(session, |approval| ask(approval), None).await;
        }
        while let Some(event) = session.next().await {
            match event {
                RunEvent::Done { reason } => return Some(reason),
                RunEvent::Waiting { .. } => break,
                _ => {}
            }
        }
        None
    }

    /// Like [`finish`](Self::finish), with `ask` instead of `on_approval`.
    ///
    /// ```
    /// use agent_loop::testing::{ScriptedModel, ScriptedTools};
    /// use agent_loop::{Agent, Answer, Outcome, Reason, Run, ToolInfo};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), serde_json::Error> {
    /// let push = ToolInfo::new("git", "push", serde_json::from_str(r#"{"type":"object"}"#)?);
    /// let tools = ScriptedTools::new().with(push, [Outcome::text("pushed")]);
    /// let model = ScriptedModel::new().calls([("push", serde_json::json!({}))]).says("Done.");
    /// let mut run = Run::default();
    /// run.ask("Push it.");
    /// let agent = Agent::new(model).tools(tools);
    /// let reason = agent.run_with(&mut run, async |approval| {
    ///     if approval.record.tool_name == "push" { Answer::Once } else { Answer::Deny }
    /// });
    /// assert_eq!(reason.await, Some(Reason::Finished));
    /// # Ok(()) }
    /// ```
    pub async fn run_with<D: Into<Decision>>(
        &self,
        run: &mut Run,
        ask: impl AsyncFn(Approval) -> D,
    ) -> Option<Reason> {
        let ask = &ask;
        drive(self.session(run), |approval| ask(approval), None).await
    }

    /// Drives a session to its end, and sends every event.
    pub(crate) async fn drive_spawned(
        &self,
        mut session: Session<'_>,
        events: mpsc::Sender<RunEvent>,
    ) {
        if let Some(ask) = &self.on_approval {
            drive(session, |approval| ask(approval), Some(events)).await;
            return;
        }
        while let Some(event) = session.next().await {
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// Drives a session. The questions are asked one at a time, while calls that need no approval run.
async fn drive<F, D>(
    mut session: Session<'_>,
    ask: impl Fn(Approval) -> F,
    events: Option<mpsc::Sender<RunEvent>>,
) -> Option<Reason>
where
    F: Future<Output = D>,
    D: Into<Decision>,
{
    let mut queue: VecDeque<Approval> = session.run().approvals().into();
    let mut shown: Option<Consent> = None;
    let mut asked = pin!(None);
    loop {
        if shown.is_none()
            && let Some(approval) = queue.pop_front()
        {
            shown = Some(approval.consent());
            asked.set(Some(ask(approval)));
        }
        let answer = async {
            match asked.as_mut().as_pin_mut() {
                Some(asked) => asked.await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            decision = answer => {
                asked.set(None);
                if let Some(shown) = shown.take() {
                    queue.extend(answered(&mut session, &shown, decision.into()).await);
                }
            }
            event = session.next() => {
                let event = event?;
                let mut end = None;
                match &event {
                    RunEvent::Approval(approval) => {
                        let consent = approval.consent();
                        let known = shown.as_ref() == Some(&consent);
                        if !known && !queue.iter().any(|other| other.consent() == consent) {
                            queue.push_back(approval.as_ref().clone());
                        }
                    }
                    RunEvent::Done { reason } => end = Some(Some(reason.clone())),
                    // Not for an approval: a server asks something.
                    RunEvent::Waiting { .. } if shown.is_none() && queue.is_empty() => {
                        end = Some(None);
                    }
                    _ => {}
                }
                if let Some(events) = &events
                    && events.send(event).await.is_err()
                {
                    return None;
                }
                if let Some(end) = end {
                    return end;
                }
            }
        }
    }
}

/// Passes an answer on, and returns what has to be asked instead if the question has changed.
async fn answered(
    session: &mut Session<'_>,
    shown: &Consent,
    decision: Decision,
) -> Option<Approval> {
    let instead = match session.answer(shown, decision).await {
        Ok(()) | Err(AnswerError::NotAsked(_) | AnswerError::Busy) => return None,
        Err(AnswerError::Superseded(now)) => return Some(*now),
        // The call itself was approved.
        Err(AnswerError::NotReadOnly(_) | AnswerError::OneCall(_)) => Decision::from(Answer::Once),
        Err(AnswerError::Arguments(problem)) => {
            let reason = format!("The arguments were changed, and do not fit: {problem}");
            Decision::from(Answer::Deny).with_reason(reason)
        }
    };
    let _ = session.answer(shown, instead).await;
    None
}
