// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuardAgent

/// Reads from the terminal without showing what is typed, and leaves the terminal as it was in every case.
enum HiddenInput {
    /// What ends the input.
    enum End {
        /// The return key.
        case endOfLine
        /// Ctrl-D.
        case endOfInput
    }

    /// Reads after a prompt.
    ///
    /// The terminal gives each byte as it comes: its own line editing holds at most 4,095 bytes of a line.
    static func read(_ prompt: String, until end: End, limit: Int) throws(InputError) -> [UInt8] {
        var former = termios()
        guard tcgetattr(STDIN_FILENO, &former) == 0 else { throw .noTerminal }
        var hidden = former
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        hidden.c_iflag &= ~tcflag_t(IXON)
        let guardian = TerminalGuardian(former)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        StandardStream.write(Array(prompt.utf8), to: STDERR_FILENO)
        let result = Result { () throws(InputError) in try collect(until: end, limit: limit) }
        // What was typed and not read is part of a secret as well: it must not become the shell's next command.
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &former)
        guardian.end()
        StandardStream.write([UInt8(ascii: "\n")], to: STDERR_FILENO)
        return try result.get()
    }

    private static func collect(until end: End, limit: Int) throws(InputError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(limit + 1)
        while true {
            guard let byte = try nextByte() else { return bytes }
            switch byte {
            case 0x03:
                bytes.erase()
                throw .cancelled
            case 0x04:
                guard end == .endOfInput || !bytes.isEmpty else { throw .cancelled }
                return bytes
            case 0x0a, 0x0d:
                guard end == .endOfInput else { return bytes }
                bytes.append(0x0a)
            case 0x08, 0x7f:
                // A character of UTF-8 goes as a whole.
                while let last = bytes.popLast(), last & 0xc0 == 0x80 {}
            case 0x15 where end == .endOfLine:
                bytes.erase()
                bytes.reserveCapacity(limit + 1)
            default: bytes.append(byte)
            }
            guard bytes.count <= limit else {
                bytes.erase()
                throw .tooLong(path: "the input")
            }
        }
    }

    /// The next byte; `nil` at the end of the input.
    private static func nextByte() throws(InputError) -> UInt8? {
        while true {
            var byte: UInt8 = 0
            let count = Glibc.read(STDIN_FILENO, &byte, 1)
            if count == 1 { return byte }
            if count == 0 { return nil }
            guard errno == EINTR else { throw .unreadable(path: "the terminal", errno: errno) }
        }
    }
}

/// Puts the terminal back when a signal ends the process while a question is open.
///
/// Handlers rather than a mask: the signal may go to any thread.
private struct TerminalGuardian {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    // The handler may use nothing but memory that is there already and functions that signal-safety(7) lists.
    private nonisolated(unsafe) static let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)

    init(_ former: termios) {
        Self.settings.initialize(to: former)
        for number in Self.signals {
            signal(number) { number in
                tcsetattr(STDIN_FILENO, TCSAFLUSH, TerminalGuardian.settings)
                signal(number, SIG_DFL)
                kill(getpid(), number)
            }
        }
    }

    func end() {
        for number in Self.signals { signal(number, SIG_DFL) }
    }
}

/// Asks a question that is answered with yes or no.
enum Confirmation {
    /// Asks on the terminal.
    ///
    /// - Returns: `nil` when there is none.
    static func ask(_ question: String) -> Bool? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        StandardStream.write(Array("\(question) [y/N] ".utf8), to: terminal)
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n") else { break }
            if answer.count < 16 { answer.append(byte) }
        }
        let text = String(decoding: answer, as: UTF8.self).lowercased().filter { $0 != " " && $0 != "\r" }
        return text == "y" || text == "yes"
    }
}
