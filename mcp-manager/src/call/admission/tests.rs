use proptest::prelude::*;

use super::*;

fn caller(conversation: &str, call: u64) -> Arc<Caller> {
    Arc::new(Caller::new(conversation, call.to_string()))
}

fn enter(admission: &mut Admission, conversation: &str) -> (Ticket, bool) {
    admission.enter(Some(caller(conversation, 1)), Concurrency::Exclusive)
}

#[test]
fn conversations_run_side_by_side_until_the_server_first_asks() {
    let mut admission = Admission::new(8);
    let (a, runs) = enter(&mut admission, "a");
    assert!(runs);
    let (b, runs) = enter(&mut admission, "b");
    assert!(runs, "nothing was asked yet");
    assert!(matches!(
        admission.ask(&Origin::Shared),
        Owner::Several(conversations) if conversations == ["a", "b"]
    ));
    admission.leave(a);
    let (c, runs) = enter(&mut admission, "c");
    assert!(!runs, "it is known to ask");
    let reason = (QueueReason::Conversation, Some("b".to_owned()));
    assert_eq!(admission.queued(c), Some(reason));
    let Owner::Calls(question, callers) = admission.ask(&Origin::Shared) else {
        panic!("it is b's")
    };
    assert_eq!(callers, [caller("b", 1)]);
    let reason = (QueueReason::Answer, Some("b".to_owned()));
    assert_eq!(admission.queued(c), Some(reason));
    let left = admission.leave(b);
    assert_eq!((left.started, left.orphaned), (vec![c], vec![question]));
}

#[test]
fn a_question_that_names_its_call_queues_no_one() {
    let mut admission = Admission::new(8);
    let a = caller("a", 1);
    admission.enter(Some(Arc::clone(&a)), Concurrency::Exclusive);
    enter(&mut admission, "b");
    let Owner::Calls(_, callers) = admission.ask(&Origin::Calls(vec![Arc::clone(&a)])) else {
        panic!("it is a's")
    };
    assert_eq!(callers, [a]);
    assert!(enter(&mut admission, "c").1);
}

#[test]
fn a_question_of_one_conversations_several_calls_ends_with_the_last_of_them() {
    let mut admission = Admission::new(8);
    let (first, second) = (caller("a", 1), caller("a", 2));
    let (one, _) = admission.enter(Some(Arc::clone(&first)), Concurrency::Shared);
    let (two, _) = admission.enter(Some(Arc::clone(&second)), Concurrency::Shared);
    let Owner::Calls(question, callers) = admission.ask(&Origin::Shared) else {
        panic!("it is a's")
    };
    assert_eq!(callers, [first, second]);
    assert!(admission.leave(one).orphaned.is_empty());
    assert_eq!(admission.leave(two).orphaned, [question]);
    assert_eq!(admission.ask(&Origin::Shared), Owner::NoCall);
}

#[test]
fn a_call_is_not_overtaken_by_its_own_conversation_nor_held_up_by_another() {
    let mut admission = Admission::new(8);
    let (first, _) = admission.enter(Some(caller("a", 1)), Concurrency::Shared);
    let (alone, runs) = admission.enter(Some(caller("a", 2)), Concurrency::Exclusive);
    assert!(!runs);
    let (late, runs) = admission.enter(Some(caller("a", 3)), Concurrency::Shared);
    assert!(!runs, "it came later");
    assert!(enter(&mut admission, "b").1);
    assert_eq!(admission.queued(late), Some((QueueReason::Turn, None)));
    assert_eq!(admission.leave(first).started, [alone]);
}

/// An event at a server.
#[derive(Clone, Debug)]
enum Move {
    Enter(u8, Concurrency),
    /// The call at this index ends: answered, cancelled or lost.
    Leave(usize),
    /// The server asks on the stream of the call at this index, or on the shared channel.
    Ask(Option<usize>),
    Answer(usize),
    /// All calls and questions end: the server dies.
    Die,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let concurrency = prop_oneof![
        3 => Just(Concurrency::Exclusive),
        3 => Just(Concurrency::Shared),
        1 => Just(Concurrency::Background)
    ];
    let one = prop_oneof![
        6 => (0u8..4, concurrency).prop_map(|(whose, concurrency)| Move::Enter(whose, concurrency)),
        4 => (0usize..8).prop_map(Move::Leave),
        3 => proptest::option::of(0usize..8).prop_map(Move::Ask),
        2 => (0usize..8).prop_map(Move::Answer),
        1 => Just(Move::Die),
    ];
    prop::collection::vec(one, 0..80)
}

/// A model of a server's calls, kept beside the state machine.
#[derive(Default)]
struct Model {
    /// Every call: its caller and concurrency, and whether it runs.
    calls: BTreeMap<Ticket, (Option<Arc<Caller>>, Concurrency, bool)>,
    /// Every open question.
    questions: Vec<(QuestionId, Vec<Arc<Caller>>)>,
    asked: bool,
}

impl Model {
    fn conversation(caller: Option<&Arc<Caller>>) -> Option<String> {
        caller.map(|caller| caller.conversation.clone())
    }

    fn started(&mut self, tickets: &[Ticket]) {
        for ticket in tickets {
            let call = self.calls.get_mut(ticket).expect("it is there");
            assert!(!std::mem::replace(&mut call.2, true), "it starts once");
        }
    }

    fn leave(&mut self, admission: &mut Admission, ticket: Ticket) {
        self.calls.remove(&ticket);
        let left = admission.leave(ticket);
        self.started(&left.started);
        for orphan in left.orphaned {
            let before = self.questions.len();
            self.questions.retain(|(id, _)| *id != orphan);
            assert_eq!(before, self.questions.len() + 1, "it ends once");
        }
        // No call ends twice.
        assert_eq!(admission.leave(ticket), Left::default());
    }

    /// The invariants after every event.
    fn check(&self, admission: &Admission, max_running: usize) {
        let running: Vec<_> = self
            .calls
            .values()
            .filter(|(_, concurrency, runs)| *runs && *concurrency != Concurrency::Background)
            .collect();
        assert!(running.len() <= max_running);
        for (ticket, (_, _, runs)) in &self.calls {
            assert_eq!(admission.queued(*ticket).is_none(), *runs, "shown as it is");
        }
        // No call waits while none runs: there is always a call whose end lets others continue.
        let waits = self.calls.values().any(|(_, _, runs)| !runs);
        assert!(!waits || !running.is_empty());
        // A call that must run alone does so within its conversation.
        for (at, (caller, concurrency, _)) in running.iter().enumerate() {
            for (other, other_manner, _) in running.iter().skip(at + 1) {
                let same =
                    Self::conversation(caller.as_ref()) == Self::conversation(other.as_ref());
                let alone = *concurrency == Concurrency::Exclusive
                    || *other_manner == Concurrency::Exclusive;
                assert!(!(same && alone));
            }
        }
        for (id, callers) in &self.questions {
            assert!(admission.is_open(*id));
            assert!(!callers.is_empty());
        }
        assert_eq!(admission.questions.len(), self.questions.len());
    }
}

proptest! {
    /// For any calls of several conversations, questions, answers and crashes: every question ends exactly once and
    /// belongs to a conversation with an open call; once a server is known to ask, no two conversations run calls
    /// concurrently; and every call runs.
    #[test]
    fn every_question_ends_and_belongs_to_an_open_call_and_no_call_waits_for_ever(
        moves in moves(), max_running in 1usize..4,
    ) {
        let (mut admission, mut model) = (Admission::new(max_running), Model::default());
        for (number, step) in moves.into_iter().enumerate() {
            match step {
                Move::Enter(whose, concurrency) => {
                    let number = u64::try_from(number).unwrap();
                    let caller = Some(caller(&whose.to_string(), number));
                    let (ticket, runs) = admission.enter(caller.clone(), concurrency);
                    model.calls.insert(ticket, (caller.clone(), concurrency, runs));
                    if runs && model.asked && concurrency != Concurrency::Background {
                        let own = Model::conversation(caller.as_ref());
                        let beside = model.calls.values().filter(|(_, concurrency, runs)| {
                            *runs && *concurrency != Concurrency::Background
                        });
                        for (other, ..) in beside {
                            assert_eq!(&Model::conversation(other.as_ref()), &own);
                        }
                    }
                }
                Move::Leave(which) => {
                    let ticket = model.calls.keys().nth(which).copied();
                    if let Some(ticket) = ticket {
                        model.leave(&mut admission, ticket);
                    }
                }
                Move::Ask(stream) => {
                    let named = stream.map(|which| {
                        let running = model.calls.values().filter(|(_, _, runs)| *runs);
                        let callers: Vec<_> = running.filter_map(|it| it.0.clone()).collect();
                        Origin::Calls(callers.get(which).cloned().into_iter().collect())
                    });
                    let origin = named.unwrap_or(Origin::Shared);
                    model.asked |= origin == Origin::Shared;
                    match admission.ask(&origin) {
                        Owner::Calls(id, callers) => {
                            let first = callers[0].conversation.clone();
                            for caller in &callers {
                                assert_eq!(&caller.conversation, &first);
                                assert!(model.calls.values().any(|(it, _, runs)| {
                                    *runs && it.as_ref().is_some_and(|it| Arc::ptr_eq(it, caller))
                                }));
                            }
                            model.questions.push((id, callers));
                        }
                        // It was answered at once.
                        Owner::NoCall => {}
                        Owner::Several(conversations) => assert!(conversations.len() > 1),
                    }
                }
                Move::Answer(which) => {
                    if which < model.questions.len() {
                        let (id, _) = model.questions.remove(which);
                        admission.answered(id);
                        assert!(!admission.is_open(id));
                    }
                }
                Move::Die => {
                    let all: Vec<_> = model.calls.keys().copied().collect();
                    for ticket in all {
                        model.leave(&mut admission, ticket);
                    }
                    assert!(model.questions.is_empty());
                }
            }
            model.check(&admission, max_running);
        }
        // If every running call ends eventually, every call gets to run.
        while let Some(ticket) = model.calls.iter().find(|(_, it)| it.2).map(|(it, _)| *it) {
            model.leave(&mut admission, ticket);
            model.check(&admission, max_running);
        }
        assert!(model.calls.is_empty());
        assert!(model.questions.is_empty());
    }
}
