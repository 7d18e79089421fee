// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuard

/// One run of the daemon, from the command line to its end.
struct Daemon {
    private let options: CommandLineOptions

    /// Prepares a run.
    init(_ options: CommandLineOptions) {
        self.options = options
    }

    /// Runs the tunnel until a signal, the removal of the interface, or that of the control socket ends it.
    ///
    /// - Returns: The exit status.
    func run() -> Int32 {
        protectMemory()
        signal(SIGPIPE, SIG_IGN)
        let background: BackgroundStart?
        do {
            background = options.isForeground ? nil : try BackgroundStart()
        } catch {
            StandardOutput.writeError(error.description)
            return 1
        }
        // Threads inherit the mask, so that only the descriptor tells of these signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let signalDescriptor = signalfd(-1, &signals, linux_signalfd_flags)

        let tunnel = Tunnel(name: options.interfaceName, initial: nil, options: tunnelOptions)
        do {
            try tunnel.start()
        } catch {
            if let background {
                background.fail(error.description)
            } else {
                StandardOutput.writeError(error.description)
            }
            return 1
        }
        background?.succeed(keepsOutput: options.keepsOutput)
        tunnel.waitUntilStopped(or: signalDescriptor)
        tunnel.stop()
        return 0
    }

    /// How the tunnel is run.
    private var tunnelOptions: TunnelOptions {
        var result = TunnelOptions()
        result.scheduling = options.runsAhead ? .ahead : .shared
        result.bringsInterfaceUp = false
        result.interfaceDescriptor = options.tunDescriptor
        result.controlSocketDescriptor = options.controlDescriptor
        result.exposesControlSocket = true
        if options.logLevel != .silent, options.isForeground || options.keepsOutput {
            let name = options.interfaceName
            result.logLevel = options.logLevel == .verbose ? .debug : .error
            result.logHandler = { level, text in
                StandardOutput.log(level == .error ? "ERROR" : "DEBUG", interface: name, text)
            }
        }
        if let directory = options.stateDirectory {
            if makeDirectory(directory) {
                result.timestampFile = "\(directory)/\(options.interfaceName).tai64n"
            } else {
                result.logHandler?(.debug, "\(directory) can not be made, handshake timestamps are not kept")
            }
        }
        return result
    }

    /// Makes a directory that only its owner can enter, and says whether it is there.
    private func makeDirectory(_ path: String) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        var status = stat()
        return errno == EEXIST && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Keeps keys out of core files and out of reach of other processes of the user, and the heap small.
    private func protectMemory() {
        _ = linux_set_not_dumpable()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = linux_use_one_small_heap()
    }
}
