// SPDX-License-Identifier: MIT

internal import Glibc

/// The browser of the user's desktop, where there is one for this user here.
struct Browser {
    /// Why there is none.
    enum Absence: Error, Equatable, CustomStringConvertible {
        /// No graphical session.
        case noDisplay
        /// The session is on another host, and the page on this one.
        case remote
        /// Root's browser would be a stranger on the desktop of somebody else.
        case root
        /// No folder that only this user reads.
        case noPrivateFolder
        /// The desktop's opener did not do it.
        case failed(String)

        /// Half a sentence.
        var description: String {
            switch self {
            case .noDisplay: "there is no display here"
            case .remote: "this is a session over SSH"
            case .root: "root opens no browser"
            case .noPrivateFolder: "XDG_RUNTIME_DIR is no folder of this user alone"
            case .failed(let reason): "no browser could be opened: \(reason)"
            }
        }
    }

    /// How long the opener may take to fail; one that goes on is taken for the browser itself.
    private static let patience = 60
    private static let newSession: Int16 = 0x80

    /// Where the file that leads to the page is kept: memory of this login, mode 0700.
    private let folder: String

    /// Finds out whether a browser can be opened.
    ///
    /// - Parameters:
    ///   - user: The effective user of this process.
    ///   - environment: Gives the value of a variable.
    init(user: uid_t, environment: (String) -> String?) throws(Absence) {
        func has(_ name: String) -> Bool { !(environment(name) ?? "").isEmpty }
        guard !has("SSH_CONNECTION") else { throw .remote }
        guard has("DISPLAY") || has("WAYLAND_DISPLAY") else { throw .noDisplay }
        guard user != 0 else { throw .root }
        let runtime = environment("XDG_RUNTIME_DIR") ?? ""
        var status = stat()
        guard runtime.hasPrefix("/"), lstat(runtime, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == user, status.st_mode & 0o077 == 0
        else { throw .noPrivateFolder }
        folder = runtime + "/nexusguard"
    }

    /// Opens an address.
    ///
    /// The opener gets the name of a file that leads on to it: every user of the host can read arguments, and the
    /// address is a secret. The file stays until the next one takes its place or the login ends; by then the
    /// address has been used or is too old.
    func open(_ link: PageLink) async throws(Absence) {
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw .failed("\(folder): \(PrivateFile.reason(errno))")
        }
        let file = folder + "/open.html"
        guard PrivateFile.write(Array(Self.page(leadingTo: link.url).utf8), to: file, replaces: true) else {
            throw .failed("\(file): \(PrivateFile.reason(errno))")
        }
        do throws(Absence) {
            try await run(["xdg-open", file])
        } catch {
            unlink(file)
            throw error
        }
    }

    /// A page that leads to another.
    static func page(leadingTo url: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="referrer" content="no-referrer">
        <meta http-equiv="refresh" content="0; url=\(url)">
        <title>NexusGuard</title>
        <p><a href="\(url)">Open the page of NexusGuard</a></p>
        </html>

        """
    }

    /// Runs a programme apart from this terminal, and waits a moment for it to fail.
    private func run(_ words: [String]) async throws(Absence) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The browser lives on when this terminal ends, and dies of SIGPIPE like any other programme.
        var usual = sigset_t()
        sigemptyset(&usual)
        sigaddset(&usual, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Self.newSession | Int16(POSIX_SPAWN_SETSIGDEF))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for pointer in arguments { free(pointer) } }
        var child = pid_t()
        let failure = posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ)
        guard failure != ENOENT else { throw .failed("\(words[0]) is not installed") }
        guard failure == 0 else { throw .failed("\(words[0]): \(PrivateFile.reason(failure))") }
        for _ in 0..<Self.patience {
            var status: Int32 = 0
            if waitpid(child, &status, WNOHANG) == child {
                guard status != 0 else { return }
                throw .failed("\(words[0]) ended with status \((status >> 8) & 0xff)")
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
