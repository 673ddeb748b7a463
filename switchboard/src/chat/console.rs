//! The user at the terminal: output, and answers to questions.

use agent_loop::{Approval, Decision};
use async_trait::async_trait;
use mcp_client::{HostError, Parked};
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{ElicitAction, ElicitParams, ElicitResult, InputRequest, InputResponses};
use mcp_manager::{Ask, Elicitation, ElicitationHandler};
use tokio::sync::{mpsc, oneshot};

use crate::chat::approval::{self, Said};
use crate::chat::complete::SharedWords;
use crate::chat::form;
use crate::chat::input::{Input, Line, Notice};
use crate::chat::interrupt::Interrupts;
use crate::chat::screen::{Screen, Show};
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::home;
use crate::lang::t;

/// Maximum number of server questions waiting for the user.
const QUESTIONS: usize = 16;

/// The user at the terminal.
#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) out: Out,
    pub(crate) input: Input,
    pub(crate) screen: Screen,
    pub(crate) interrupts: Interrupts,
    pub(crate) questions: mpsc::Receiver<Asked>,
    /// Keyboard notices while no line is requested.
    pub(crate) notices: mpsc::Receiver<Notice>,
    /// What else there is to say: requests to the model that are made again, questions that were
    /// cancelled.
    pub(crate) retries: mpsc::Receiver<String>,
    /// What can be completed.
    pub(crate) words: SharedWords,
}

/// A server's question with its reply channel.
pub(crate) type Asked = (Elicitation, oneshot::Sender<ElicitResult>);

/// Forwards servers' questions about calls to the console.
#[derive(Debug)]
pub(crate) struct Forms {
    asked: mpsc::Sender<Asked>,
    /// Lines for the user.
    notes: mpsc::Sender<String>,
}

impl Forms {
    /// Both ends. `notes` hears of questions that are not asked.
    pub(crate) fn new(notes: mpsc::Sender<String>) -> (Self, mpsc::Receiver<Asked>) {
        let (asked, questions) = mpsc::channel(QUESTIONS);
        (Self { asked, notes }, questions)
    }
}

#[async_trait]
impl ElicitationHandler for Forms {
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError> {
        if elicitation.calls.is_empty() {
            // It would be asked in the middle of something else, and answered for that.
            let text = t!(
                "! {server} asked something outside of any call; that was cancelled.",
                server = untrusted::line(elicitation.server.as_str())
            );
            let _ = self.notes.try_send(text);
            return Ok(ElicitResult::cancel());
        }
        let (answer, wait) = oneshot::channel();
        // Without a console there is no answer.
        let _ = self.asked.send((elicitation, answer)).await;
        Ok(wait.await.unwrap_or_else(|_| ElicitResult::cancel()))
    }
}

/// What the user decided about a call.
#[derive(Debug)]
pub(crate) enum Verdict {
    Decided(Box<Decision>),
    /// Ctrl-C: stop the whole answer.
    Stop,
    /// No answer is possible.
    End,
}

impl Console {
    /// The user at the terminal, or the writer of the pipe. `answers` lets lines of a pipe answer
    /// questions.
    pub(crate) fn new(
        out: Out,
        show: Show,
        questions: mpsc::Receiver<Asked>,
        retries: mpsc::Receiver<String>,
        answers: bool,
    ) -> Self {
        let words = SharedWords::default();
        let home = home::folder();
        let (input, notices) = match (out.is_interactive(), show) {
            (true, Show::Chat) => Input::terminal(out, home.join("history.txt"), &words),
            (true, _) => (Input::answers(out), mpsc::channel(1).1),
            (false, _) => (Input::pipe(answers), mpsc::channel(1).1),
        };
        Self {
            out,
            input,
            screen: Screen::new(out, show, home.join("media")),
            interrupts: Interrupts::new(),
            questions,
            notices,
            retries,
            words,
        }
    }

    /// Shows keyboard notices; `false` for Ctrl-C.
    pub(crate) fn notice(&mut self, notice: &Notice) -> bool {
        let text = match notice {
            Notice::Queued(line) => t!("queued: {line}", line = line),
            Notice::Dropped(line) => t!("discarded: the input queue is full: {line}", line = line),
            Notice::Interrupted => return false,
        };
        self.screen
            .line(Style::Dim, &format!("  {}", untrusted::text(&text)));
        true
    }

    /// Asks whether a call may run. `problem` is what was wrong with the last answer.
    pub(crate) async fn approve(&mut self, approval: &Approval, problem: Option<&str>) -> Verdict {
        self.screen.end_line();
        if let Some(problem) = problem {
            self.screen.line(Style::Bad, &untrusted::text(problem));
        }
        self.screen.line(Style::Bold, &approval::question(approval));
        self.screen.line(Style::Dim, &approval::choices(approval));
        loop {
            let text = match self.input.answer(&t!("Run it? "), "").await {
                Line::Text(text) => text,
                Line::Interrupted => return Verdict::Stop,
                Line::End => return Verdict::End,
            };
            match approval::parse(&text, approval) {
                Some(Said::Answer(answer)) => return Verdict::Decided(Box::new(answer.into())),
                Some(Said::Because(why)) => {
                    let no = Decision::from(agent_loop::Answer::Deny).with_reason(why);
                    return Verdict::Decided(Box::new(no));
                }
                Some(Said::Edit) => match self.edit(approval).await {
                    Ok(Some(decision)) => return Verdict::Decided(Box::new(decision)),
                    Ok(None) => {
                        self.screen.line(Style::Bad, &t!("That is no JSON object."));
                    }
                    Err(Line::End) => return Verdict::End,
                    Err(_) => {}
                },
                None => {
                    let choices = approval::choices(approval);
                    self.screen.line(Style::Dim, &choices);
                }
            }
        }
    }

    /// Other arguments for a call.
    async fn edit(&self, approval: &Approval) -> Result<Option<Decision>, Line> {
        let now = serde_json::to_string(&approval.record.arguments).unwrap_or_default();
        match self.input.answer(&t!("Arguments: "), &now).await {
            Line::Text(text) => {
                let arguments: Option<RawObject> = serde_json::from_str(text.trim()).ok();
                let once = Decision::from(agent_loop::Answer::Once);
                Ok(arguments.map(|arguments| once.with_arguments(arguments)))
            }
            line => Err(line),
        }
    }

    /// Asks a server's question about a call of this tool. Returns what was done, if the server
    /// still waits for it.
    pub(crate) async fn elicit(
        &mut self,
        (elicitation, answer): Asked,
        tool: &str,
    ) -> Option<ElicitAction> {
        if answer.is_closed() {
            return None;
        }
        self.screen.end_line();
        let server = match tool {
            "" => elicitation.server.to_string(),
            tool => format!("{} · {tool}", elicitation.server),
        };
        let result = match &elicitation.ask {
            Ask::Form(form) => form::fill_in(&self.out, &self.input, &server, form).await,
            Ask::Url(page) => form::visit(&self.out, &self.input, &server, page).await,
            _ => ElicitResult::cancel(),
        };
        let action = result.action;
        // The server may have stopped waiting.
        answer.send(result).ok().map(|()| action)
    }

    /// Asks the questions of a parked call.
    pub(crate) async fn supply(&mut self, parked: &Parked) -> InputResponses {
        self.screen.end_line();
        let mut answers = InputResponses::default();
        for (key, question) in parked.open().iter() {
            let InputRequest::Elicitation(question) = question else {
                continue;
            };
            let (out, input, server) = (&self.out, &self.input, &parked.server);
            let result = match &question.params {
                ElicitParams::Form(form) => form::fill_in(out, input, server, form).await,
                ElicitParams::Url(page) => form::visit(out, input, server, page).await,
                _ => ElicitResult::cancel(),
            };
            // What was just made can be written.
            let _ = answers.set(key, &result);
        }
        answers
    }
}
