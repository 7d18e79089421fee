// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuardAgent

/// The daemon with another interval of heartbeats, so that a test sees ten thousand of them in a minute.
///
/// It is `nexusguard-agent` in all else that costs memory or time. The daemon itself has no such option: no setting,
/// server or environment gets it below the interface's five seconds.
@main
enum AgentSoak {
    /// Runs until SIGTERM.
    static func main() async {
        var values: [String: String] = [:]
        var rest = CommandLine.arguments.dropFirst()
        while let name = rest.popFirst(), let value = rest.popFirst() { values[name] = value }
        guard let state = values["--state-dir"], let runtime = values["--runtime-dir"],
            let configuration = values["--config"],
            let interval = values["--interval-ms"].flatMap({ Int($0) })
        else {
            complain("--state-dir, --runtime-dir, --config and --interval-ms are needed, each with a value")
            exit(2)
        }
        prepareProcess()
        var options = AgentService.Options(
            stateDirectory: state, runtimeDirectory: runtime, configurationFile: configuration,
            socketPath: "\(runtime)/agent.sock")
        options.heartbeatInterval = .milliseconds(interval)
        do throws(AgentServiceError) {
            let service = try AgentService(options)
            try await service.start()
            await untilTerminated()
            await service.stop()
        } catch {
            complain(error.description)
            exit(1)
        }
    }

    /// What the daemon does to its process before anything else.
    private static func prepareProcess() {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        _ = linux_use_one_small_heap()
    }

    /// Returns after SIGTERM, which all threads hold back.
    private static func untilTerminated() async {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        let descriptor = signalfd(-1, &signals, linux_signalfd_flags)
        while true {
            var information = signalfd_siginfo()
            if read(descriptor, &information, MemoryLayout<signalfd_siginfo>.size) > 0 { return }
            // The descriptor does not wait: a wait would keep one of the few threads that run tasks.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    private static func complain(_ sentence: String) {
        let line = Array("nexusguard-agent-soak: \(sentence)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
