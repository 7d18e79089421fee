// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// How the kernel schedules the calling thread.
enum ThreadSchedule {
    /// Runs the calling thread ahead of all normal ones (`SCHED_RR`, lowest priority), or in line with them
    /// (`SCHED_OTHER`). Threads and processes that it starts are always normal.
    ///
    /// - Throws: `SystemCallError` with EPERM, when the process may not (CAP_SYS_NICE, RLIMIT_RTPRIO, or a
    ///   control group without real-time budget).
    static func setAhead(_ isAhead: Bool) throws(SystemCallError) {
        var parameters = sched_param()
        parameters.sched_priority = isAhead ? 1 : 0
        let policy = (isAhead ? SCHED_RR : SCHED_OTHER) | linux_sched_reset_on_fork
        // Thread 0 is the one that calls.
        try SystemCall.run("sched_setscheduler") { sched_setscheduler(0, policy, &parameters) }
    }

    /// Lets the other threads run that wait for the calling thread's processor.
    static func yield() {
        sched_yield()
    }

    /// The processors that are running, at least 1.
    static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Lets the calling thread sleep.
    ///
    /// - Parameter nanoseconds: Less than a second.
    static func sleep(nanoseconds: Int64) {
        var time = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
        // No signal interrupts the threads of the engine, and to wake early does no harm.
        _ = nanosleep(&time, nil)
    }
}
