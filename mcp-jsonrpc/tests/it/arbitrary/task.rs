//! Both forms of tasks, and skills.

use mcp_jsonrpc::model::task::{TaskIdParams, TaskStatus, TaskUpdateParams, Ttl};
use mcp_jsonrpc::model::{
    GetSkillResult, ListSkillsResult, Skill, SkillFile, SkillResources, experimental_task, task,
};
use mcp_jsonrpc::{ErrorObject, ResultType};

use super::client_side::{input_requests, input_responses};
use super::lifecycle::{cache_scope, complete, ttl_ms};
use super::{Gen, made};

fn ttl(g: &mut Gen) -> Ttl {
    if g.bool() {
        Ttl::Unlimited
    } else {
        Ttl::Millis(g.size())
    }
}

fn status(g: &mut Gen) -> TaskStatus {
    use TaskStatus::*;
    g.pick(&[Working, InputRequired, Completed, Failed, Cancelled])
}

pub(crate) fn experimental(g: &mut Gen) -> experimental_task::Task {
    let new = experimental_task::Task::new(g.text(), status(g), g.date(), g.date(), ttl(g));
    made!(g, new, {
        poll_interval: g.maybe(Gen::size),
        status_message: g.maybe(Gen::text),
    })
}

/// With `_meta`, as results and notifications have it.
pub(crate) fn experimental_with_meta(g: &mut Gen) -> experimental_task::Task {
    let mut task = experimental(g);
    task.meta = g.maybe(Gen::meta);
    task
}

pub(crate) fn experimental_created(g: &mut Gen) -> experimental_task::CreateTaskResult {
    made!(g, experimental_task::CreateTaskResult::new(experimental(g)), { meta: g.maybe(Gen::meta) })
}

pub(crate) fn experimental_list(g: &mut Gen) -> experimental_task::ListTasksResult {
    made!(g, experimental_task::ListTasksResult::new(g.list(experimental)), {
        next_cursor: g.maybe(Gen::text),
        meta: g.maybe(Gen::meta),
    })
}

pub(crate) fn related(g: &mut Gen) -> experimental_task::RelatedTask {
    made!(g, experimental_task::RelatedTask::new(g.text()))
}

pub(crate) fn id_params(g: &mut Gen) -> TaskIdParams {
    made!(g, TaskIdParams::new(g.text()))
}

fn of_status(g: &mut Gen, status: TaskStatus) -> task::Task {
    made!(g, task::Task::new(g.text(), status, g.date(), g.date(), ttl(g)), {
        poll_interval_ms: g.maybe(Gen::size),
        status_message: g.maybe(Gen::text),
    })
}

pub(crate) fn plain(g: &mut Gen) -> task::Task {
    let status = status(g);
    of_status(g, status)
}

pub(crate) fn created(g: &mut Gen) -> task::Task {
    let mut task = plain(g);
    task.result_type = Some(ResultType::Task);
    task
}

/// With what its status demands.
pub(crate) fn detailed(g: &mut Gen) -> task::Task {
    let status = status(g);
    detailed_as(g, status)
}

pub(crate) fn detailed_as(g: &mut Gen, status: TaskStatus) -> task::Task {
    let mut task = of_status(g, status);
    match status {
        TaskStatus::Completed => task.result = Some(g.raw_object()),
        TaskStatus::Failed => task.error = Some(error(g)),
        TaskStatus::InputRequired => task.input_requests = Some(input_requests(g)),
        _ => {}
    }
    task
}

pub(crate) fn got(g: &mut Gen) -> task::Task {
    let mut task = detailed(g);
    task.result_type = Some(ResultType::Complete);
    task
}

pub(crate) fn update(g: &mut Gen) -> TaskUpdateParams {
    made!(g, TaskUpdateParams::new(g.text(), input_responses(g)))
}

pub(crate) fn error(g: &mut Gen) -> ErrorObject {
    let code = -g.size();
    made!(g, ErrorObject::new(code, g.text()), { data: g.maybe(Gen::raw) })
}

pub(crate) fn skill(g: &mut Gen) -> Skill {
    let files = g.list(|g| made!(g, SkillFile::new(g.uri(), "sha256:00", g.size())));
    let files = if g.bool() {
        SkillResources::Dynamic
    } else {
        files.into()
    };
    made!(g, Skill::new(g.uri(), g.object(), files), { meta: g.maybe(Gen::meta) })
}

pub(crate) fn list_skills(g: &mut Gen) -> ListSkillsResult {
    made!(g, ListSkillsResult::new(g.list(skill)), {
        next_cursor: g.maybe(Gen::text),
        ttl_ms: ttl_ms(g),
        cache_scope: cache_scope(g),
        result_type: complete(g),
        meta: g.maybe(Gen::meta),
    })
}

pub(crate) fn get_skill(g: &mut Gen) -> GetSkillResult {
    made!(g, GetSkillResult::new(skill(g)), { ttl_ms: ttl_ms(g), result_type: complete(g) })
}
