// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuardAgent
internal import Synchronization

/// One run of the daemon, from the command line to its end.
struct Daemon {
    private let options: DaemonOptions
    private let environment: (String) -> String?

    /// Prepares a run.
    ///
    /// - Parameter environment: Gives the value of a variable.
    init(_ options: DaemonOptions, environment: @escaping (String) -> String?) {
        self.options = options
        self.environment = environment
    }

    /// Runs the agent until a signal ends it.
    ///
    /// - Returns: The exit status.
    func run() -> Int32 {
        protectMemory()
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        // Before any thread exists: all inherit the mask, so that only the descriptor tells of these signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let signalDescriptor = signalfd(-1, &signals, linux_signalfd_flags)
        let notifier = ServiceNotifier(environment: environment, process: getpid())
        let service: AgentService
        do throws(AgentServiceError) {
            service = try AgentService(serviceOptions)
        } catch {
            NexusGuardAgentCommand.complain(error.description)
            return 1
        }
        return Supervision(service: service, notifier: notifier, signals: signalDescriptor).run()
    }

    private var serviceOptions: AgentService.Options {
        var service = AgentService.Options(
            stateDirectory: options.stateDirectory, runtimeDirectory: options.runtimeDirectory,
            configurationFile: options.configurationFile, socketPath: options.socketPath,
            logLevel: options.logLevel,
            tokenFile: environment("CREDENTIALS_DIRECTORY").map { "\($0)/nexusguard.token" })
        service.page = options.page
        return service
    }

    /// Keeps keys out of core files and out of reach of other processes of the user, and the heap small.
    private func protectMemory() {
        _ = linux_set_not_dumpable()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = linux_use_one_small_heap()
    }
}
