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
        /// The window has another size, or somebody else may have written on it.
        case resized
        /// The user wants to leave, or a signal does.
        case quit
    }

    // Lines that do not fit are cut by the terminal itself, whatever it thinks of the width of a character.
    private static let take = "\u{1b}[?25l\u{1b}[?7l"
    private static let giveBack = "\u{1b}[?7h\u{1b}[?25h"
    private static let otherScreen = "\u{1b}[?1049h\u{1b}[2J"
    private static let mainScreen = "\u{1b}[?1049l"

    private let wakeUp: Int32
    private let signals: Int32
    private let readsKeys: Bool
    private var former = termios()
    private var shown: [String] = []

    /// Takes the terminal.
    ///
    /// To be made on the main thread before others exist, since it holds signals back for all of them.
    init?() {
        var held = sigset_t()
        sigemptyset(&held)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT] {
            sigaddset(&held, number)
        }
        pthread_sigmask(SIG_BLOCK, &held, nil)
        signals = signalfd(-1, &held, linux_signalfd_flags)
        wakeUp = eventfd(0, linux_eventfd_flags)
        readsKeys = StandardStream.isTerminal(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &former) == 0
        guard signals >= 0, wakeUp >= 0 else { return nil }
        StandardStream.write(Self.otherScreen + Self.take)
        takeKeyboard()
    }

    /// Gives the terminal back.
    func leave() {
        if readsKeys { tcsetattr(STDIN_FILENO, TCSANOW, &former) }
        StandardStream.write(Self.giveBack + Self.mainScreen)
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

    /// Draws lines from the top, one a row of the window.
    ///
    /// One write, of the rows that differ and without clearing first: the picture never flickers.
    ///
    /// - Returns: Whether the terminal is still there.
    func draw(_ lines: [String]) -> Bool {
        let isFresh = shown.count != lines.count
        var frame = isFresh ? "\u{1b}[2J" : ""
        for (row, line) in lines.enumerated() where isFresh || line != shown[row] {
            frame += "\u{1b}[\(row + 1);1H\(line)\u{1b}[K"
        }
        shown = lines
        return frame.isEmpty || StandardStream.write(frame)
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
        if waiting[2].revents != 0 { return takeKeys() }
        return .tick
    }

    private func takeKeyboard() {
        shown = []
        guard readsKeys else { return }
        var raw = former
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    }

    /// Takes one signal that was held back.
    private func takeSignal() -> Event? {
        var information = signalfd_siginfo()
        guard read(signals, &information, MemoryLayout<signalfd_siginfo>.size) > 0 else { return nil }
        switch Int32(information.ssi_signo) {
        case SIGWINCH:
            shown = []
            return .resized
        case SIGTSTP:
            suspend()
            return .resized
        case SIGCONT:
            // Somebody else has stopped the process, and a shell has had the terminal meanwhile.
            StandardStream.write(Self.take)
            takeKeyboard()
            return .resized
        default: return .quit
        }
    }

    /// Stops as Ctrl-Z asks, with the terminal as the shell wants it, and takes it again afterwards.
    private func suspend() {
        leave()
        // The default action of SIGTSTP needs the signal unblocked; SIGSTOP always stops.
        kill(getpid(), SIGSTOP)
        StandardStream.write(Self.otherScreen + Self.take)
        takeKeyboard()
    }

    /// Reads what was typed.
    private func takeKeys() -> Event {
        var keys = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &keys, keys.count)
        guard count > 0 else { return count == 0 || errno != EINTR ? .quit : .tick }
        let leaving = [UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04]
        guard !keys[..<count].contains(where: leaving.contains) else { return .quit }
        // Ctrl-L: what somebody else wrote on the screen goes.
        guard keys[..<count].contains(0x0c) else { return .tick }
        shown = []
        return .resized
    }
}
