//! Job objects: everything a child starts is in its job too, and ends with the job's last handle.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command};
use std::ptr;

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;

use super::super::Stop;

/// A job with one child in it, and everything that child starts.
///
/// The child is added right after its start; what it might start in the microseconds before is not in the job, because
/// std offers no way to start it suspended.
#[derive(Debug)]
pub(in crate::process) struct Group(OwnedHandle);

/// Prevents console windows from popping up.
pub(in crate::process) fn prepare(command: &mut Command) {
    command.creation_flags(CREATE_NO_WINDOW);
}

/// On Windows an id is not reused while there is a handle, and the child is one.
pub(in crate::process) fn wait_unreaped(_: &Child) -> io::Result<()> {
    Ok(())
}

/// Windows does not report it.
pub(crate) fn stranded_bytes<P>(_: &P) -> Option<usize> {
    None
}

impl Group {
    pub(in crate::process) fn of(child: &Child) -> io::Result<Self> {
        // SAFETY: both pointers may be null: no attributes, no name.
        let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was just made for us and has no other owner.
        let job = unsafe { OwnedHandle::from_raw_handle(job) };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // SAFETY: the pointer is to a live value of the class's type, whose size is given.
        let limited = unsafe {
            SetInformationJobObject(
                job.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                ptr::from_ref(&limits).cast(),
                size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32,
            )
        };
        // SAFETY: both handles are open.
        let done = limited != 0
            && unsafe { AssignProcessToJobObject(job.as_raw_handle(), child.as_raw_handle()) } != 0;
        if done {
            Ok(Self(job))
        } else {
            Err(io::Error::last_os_error())
        }
    }

    pub(in crate::process) fn is_empty(&self) -> bool {
        let mut counts = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the pointer is to a live value of the class's type, whose size is given.
        let reported = unsafe {
            QueryInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                ptr::from_mut(&mut counts).cast(),
                size_of::<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION>() as u32,
                ptr::null_mut(),
            )
        };
        reported == 0 || counts.ActiveProcesses == 0
    }

    pub(in crate::process) fn signal(&self, how: Stop) {
        match how {
            // A program without a window cannot receive a request to exit.
            Stop::Terminate => {}
            Stop::Kill => {
                // SAFETY: the handle is open. A failure means that the job is empty.
                unsafe { TerminateJobObject(self.0.as_raw_handle(), 1) };
            }
        }
    }
}
