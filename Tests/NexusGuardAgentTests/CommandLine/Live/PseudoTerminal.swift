// SPDX-License-Identifier: MIT

import CLinux
import FoundationEssentials
import Glibc
import Synchronization

/// A programme on a real terminal, whose screen is read as a person would.
final class PseudoTerminal: Sendable {
    // TIOCGPTN and TIOCSPTLCK of <asm-generic/ioctls.h>, POSIX_SPAWN_SETSID of <spawn.h>.
    private static let numberOfPeer: UInt = 0x8004_5430
    private static let lockOfPeer: UInt = 0x4004_5431
    private static let newSession: Int16 = 0x80

    private let path: String
    private let master: Int32
    private let child: pid_t
    private let screen: Mutex<Screen>
    private let ended = Mutex<Int32?>(nil)

    /// Starts a programme.
    ///
    /// - Parameters:
    ///   - arguments: The path of the programme, and its arguments.
    ///   - environment: The whole environment, but for what a sanitizer of the tests needs.
    init(
        _ arguments: [String], width: Int = 80, height: Int = 24, environment: [String: String] = [:]
    ) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var number: Int32 = 0
        var locked: Int32 = 0
        guard master >= 0, linux_ioctl(master, Self.numberOfPeer, &number) == 0,
            linux_ioctl(master, Self.lockOfPeer, &locked) == 0
        else { throw Shell.Failure(call: "/dev/ptmx", number: errno) }
        path = "/dev/pts/\(number)"
        screen = Mutex(Screen(width: width, height: height))
        Self.setSize(master, width, height)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The leader of a session gets the first terminal that it opens.
        posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Self.newSession)
        let fixed = ["TERM": "xterm", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/bin:/bin"]
        var inherited: [String: String] = [:]
        for name in ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD"] {
            inherited[name] = getenv(name).map { String(cString: $0) }
        }
        let all = fixed.merging(inherited) { $1 }.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = all.map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var child = pid_t()
        let failure = posix_spawn(&child, arguments[0], &actions, &attributes, &argv, &envp)
        guard failure == 0 else { throw Shell.Failure(call: "posix_spawn", number: failure) }
        self.child = child
    }

    deinit {
        if reap(waits: false) == nil {
            kill(child, SIGKILL)
            _ = reap(waits: true)
        }
        close(master)
    }

    /// Types.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// How many characters were typed that nobody has read yet, where the terminal does not edit lines.
    var unreadCount: Int32 {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var count: Int32 = 0
        return linux_ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? count : 0
    }

    /// How many bytes the programme has read since it started, from whatever.
    var readCount: Int {
        let text = FileManager.default.contents(atPath: "/proc/\(child)/io") ?? Data()
        let words = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard let place = words.firstIndex(of: "rchar:"), place + 1 < words.count else { return 0 }
        return Int(words[place + 1]) ?? 0
    }

    /// Gives the window another size.
    func resize(width: Int, height: Int) {
        screen.withLock { $0 = Screen(width: width, height: height) }
        Self.setSize(master, width, height)
    }

    /// Sends a signal to the programme.
    func signal(_ number: Int32) { kill(child, number) }

    /// Sends a signal to the programme and those that it runs on the terminal.
    func signalAll(_ number: Int32) { kill(-child, number) }

    /// What is seen now: the rows, blanks at their ends cut off.
    var rows: [String] {
        read()
        return screen.withLock { $0.rows }
    }

    /// The number of the colour of the first place of a text on the screen; 0 is the terminal's own.
    func colour(of text: String) -> Int? {
        read()
        return screen.withLock { $0.colour(of: text) }
    }

    /// Whether the programme shows its cursor, whether it has the other screen, and whether lines wrap.
    var modes: (showsCursor: Bool, isAlternate: Bool, wraps: Bool) {
        read()
        return screen.withLock { ($0.showsCursor, $0.isAlternate, $0.wraps) }
    }

    /// All that the programme has written, and the sequences among it that the screen does not know.
    var written: (bytes: [UInt8], unknown: [String]) {
        read()
        return screen.withLock { ($0.transcript, $0.unknown) }
    }

    /// Whether a signal has stopped the programme and those that it runs, with every thread, as proc(5) tells.
    ///
    /// A signal is only sent when `kill` returns: a thread on another processor goes on until it takes it.
    var isStopped: Bool {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        var found = false
        for process in processes where Self.status(of: "/proc/\(process)")?.group == child {
            let folder = "/proc/\(process)/task"
            for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                guard let status = Self.status(of: "\(folder)/\(thread)") else { continue }
                guard status.state == "T" else { return false }
                found = true
            }
        }
        return found
    }

    /// The state and the process group of a process or a thread.
    private static func status(of folder: String) -> (state: Substring, group: pid_t)? {
        guard let bytes = FileManager.default.contents(atPath: folder + "/stat") else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        // They follow the name, which is in parentheses and may hold some itself.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 2, let group = pid_t(fields[2]) else { return nil }
        return (fields[0], group)
    }

    /// Waits until something is seen.
    func eventually(_ holds: ([String]) async -> Bool) async -> Bool {
        for _ in 0..<30_000 {
            if await holds(rows) { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    /// Waits for the end of the programme and gives its exit status; `nil` when it does not end in order.
    func exitStatus() async -> Int32? {
        for _ in 0..<30_000 {
            read()
            if let status = reap(waits: false) {
                read()
                return status & 0x7f == 0 ? (status >> 8) & 0xff : nil
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    /// The status of the programme's end, once it has ended.
    private func reap(waits: Bool) -> Int32? {
        ended.withLock { ended in
            if ended == nil {
                var status: Int32 = 0
                if waitpid(child, &status, waits ? 0 : WNOHANG) == child { ended = status }
            }
            return ended
        }
    }

    /// Whether the terminal shows what is typed.
    var echoes: Bool {
        var settings = termios()
        tcgetattr(master, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    private func read() {
        var waiting = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while poll(&waiting, 1, 0) > 0, waiting.revents & Int16(POLLIN) != 0 {
            let count = Glibc.read(master, &buffer, buffer.count)
            guard count > 0 else { return }
            screen.withLock { $0.write(buffer[..<count]) }
        }
    }

    private static func setSize(_ descriptor: Int32, _ width: Int, _ height: Int) {
        var size = winsize(ws_row: UInt16(height), ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
        _ = linux_ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }
}
