// SPDX-License-Identifier: MIT

import Glibc

/// Runs programmes and collects what they print.
enum Shell {
    /// What a programme left.
    struct Output {
        /// The exit status, or 128 and the number of the signal that ended it.
        var status: Int32
        /// Standard output.
        var text: String
        /// Standard error.
        var errors: String
    }

    /// Why a programme could not be run.
    struct Failure: Error {
        var call: String
        var number: Int32
    }

    /// Runs a programme to its end.
    ///
    /// - Parameters:
    ///   - arguments: The path of the programme, and its arguments.
    ///   - environment: Additions to the environment.
    ///   - input: What it reads from standard input.
    ///   - seconds: When it is ended by force.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", seconds: Int = 900
    ) throws -> Output {
        let folder = try TemporaryFolder()
        try folder.write("in", input)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, folder.path + "/in", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder.path + "/out", O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder.path + "/err", O_WRONLY | O_CREAT, 0o600)
        let words = ["/usr/bin/timeout", "-k", "5", "\(seconds)"] + arguments
        var child = pid_t()
        var argv = words.map { strdup($0) } + [nil]
        var envp = Self.environment(environment).map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        let number = posix_spawn(&child, words[0], &actions, nil, &argv, &envp)
        guard number == 0 else { throw Failure(call: "posix_spawn", number: number) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(call: "waitpid", number: errno) }
        }
        return Output(
            status: status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f),
            text: try folder.read("out"), errors: try folder.read("err"))
    }

    /// Runs a programme to its end on a thread of its own, so that the tasks of the test go on.
    static func runAside(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", seconds: Int = 900
    ) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            let work = Work {
                continuation.resume(
                    with: Result {
                        try run(arguments, environment: environment, input: input, seconds: seconds)
                    })
            }
            var thread = pthread_t()
            let result = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                    return nil
                }, Unmanaged.passRetained(work).toOpaque())
            precondition(result == 0, "no thread")
            pthread_detach(thread)
        }
    }

    /// Starts a programme that goes on; the caller waits for it.
    ///
    /// - Parameter output: The file that gets what it prints.
    static func start(
        _ arguments: [String], environment: [String: String], output: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var child = pid_t()
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = Self.environment(environment).map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        let number = posix_spawn(&child, arguments[0], &actions, nil, &argv, &envp)
        guard number == 0 else { throw Failure(call: "posix_spawn", number: number) }
        return child
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func environment(_ additions: [String: String]) -> [String] {
        var result: [String] = []
        var entry = environ
        while let pointer = entry.pointee {
            let text = String(cString: pointer)
            if additions[String(text.prefix { $0 != "=" })] == nil { result.append(text) }
            entry += 1
        }
        return result + additions.map { "\($0.key)=\($0.value)" }
    }
}

/// A folder that is gone when nobody holds it any more.
final class TemporaryFolder: Sendable {
    /// Its path.
    let path: String

    /// Makes one.
    init() throws {
        var template = Array("/tmp/nexusguard-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Shell.Failure(call: "mkdtemp", number: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        removeAll(path)
    }

    /// Writes a file in it.
    func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, mode)
        guard descriptor >= 0 else { throw Shell.Failure(call: "open", number: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Shell.Failure(call: "write", number: errno)
        }
    }

    /// Reads a file in it.
    func read(_ name: String) throws -> String {
        let descriptor = open("\(path)/\(name)", O_RDONLY)
        guard descriptor >= 0 else { throw Shell.Failure(call: "open", number: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes a folder with what is in it, without following links.
    private func removeAll(_ path: String) {
        if let stream = opendir(path) {
            while let entry = readdir(stream) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard name != ".", name != ".." else { continue }
                if unlink("\(path)/\(name)") != 0 { removeAll("\(path)/\(name)") }
            }
            closedir(stream)
        }
        rmdir(path)
    }
}
