// SPDX-License-Identifier: MIT

internal import CLinux
internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent

/// The terminal while a live view has it: another screen, no cursor, keys as they come; all put back at the end.
final class LiveScreen {
    /// What a wait ended with.
    enum Event: Equatable {
        /// The time is over, or something was changed by another thread.
        case tick
        /// The window has another size.
        case resized
        /// The user wants to leave, or a signal does.
        case quit
    }

    private let wakeUp: Int32
    private let signals: Int32
    private let readsKeys: Bool
    private var former = termios()

    /// Takes the terminal.
    ///
    /// To be made on the main thread before others exist, since it holds signals back for all of them.
    init?() {
        var held = sigset_t()
        sigemptyset(&held)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP] { sigaddset(&held, number) }
        pthread_sigmask(SIG_BLOCK, &held, nil)
        signals = signalfd(-1, &held, linux_signalfd_flags)
        wakeUp = eventfd(0, linux_eventfd_flags)
        readsKeys = StandardStream.isTerminal(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &former) == 0
        guard signals >= 0, wakeUp >= 0 else { return nil }
        enter()
    }

    /// Gives the terminal back.
    func leave() {
        if readsKeys { tcsetattr(STDIN_FILENO, TCSANOW, &former) }
        StandardStream.write("\u{1b}[?25h\u{1b}[?1049l")
    }

    /// Makes a wait on another thread end.
    var waker: @Sendable () -> Void {
        let descriptor = wakeUp
        return {
            var one: UInt64 = 1
            _ = write(descriptor, &one, 8)
        }
    }

    /// The size of the window; 80 × 24 when the terminal does not tell.
    var size: (width: Int, height: Int) {
        var window = winsize()
        let isKnown = withUnsafeMutablePointer(to: &window) {
            linux_ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), $0) == 0
        }
        guard isKnown, window.ws_col > 0, window.ws_row > 0 else { return (80, 24) }
        return (Int(window.ws_col), Int(window.ws_row))
    }

    /// Draws lines from the top, each up to the end of its row; no row is left over.
    func draw(_ lines: [String]) {
        // One write, without clearing first: the picture never flickers.
        let rows = lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n")
        StandardStream.write("\u{1b}[H\(rows)\u{1b}[J")
    }

    /// Waits for something to happen.
    func wait(milliseconds: Int32) -> Event {
        var waiting = [
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
            pollfd(fd: readsKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&waiting, nfds_t(waiting.count), milliseconds) > 0 else { return .tick }
        if waiting[1].revents != 0 {
            var count: UInt64 = 0
            _ = read(wakeUp, &count, 8)
        }
        if waiting[0].revents != 0, let event = takeSignal() { return event }
        if waiting[2].revents != 0, takeKeys() { return .quit }
        return .tick
    }

    private func enter() {
        if readsKeys {
            var raw = former
            raw.c_lflag &= ~tcflag_t(ECHO | ICANON)
            tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        }
        StandardStream.write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J")
    }

    private func takeSignal() -> Event? {
        var information = signalfd_siginfo()
        guard read(signals, &information, MemoryLayout<signalfd_siginfo>.size) > 0 else { return nil }
        switch Int32(information.ssi_signo) {
        case SIGWINCH: return .resized
        case SIGTSTP:
            suspend()
            return .resized
        default: return .quit
        }
    }

    /// Stops as Ctrl-Z asks, with the terminal as the shell wants it, and takes it again afterwards.
    private func suspend() {
        leave()
        // The default action of SIGTSTP needs the signal unblocked; SIGSTOP always stops.
        kill(getpid(), SIGSTOP)
        enter()
    }

    /// Reads what was typed; returns whether it asks to leave.
    private func takeKeys() -> Bool {
        var keys = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &keys, keys.count)
        guard count > 0 else { return count == 0 }
        return keys[..<count].contains { [UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04].contains($0) }
    }
}
