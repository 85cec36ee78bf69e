import FileKit
import Glibc
import JSON
import ProcessKit

/// A built program, run as a user runs it: with few variables, in a folder of its own.
struct Program: Sendable {
    static let martlet = Program("martlet")
    /// The same command line over features that misbehave.
    static let bench = Program("test-bench")

    /// What a run left.
    struct Run: Sendable {
        let output: String
        let errors: String
        /// As a shell shows it.
        let code: Int32
    }

    let path: String

    private init(_ name: String) {
        // `make test` names the folder with the programs as they are installed: an optimiser that errs, or a runtime that is
        // linked otherwise, shows only there.
        if let folder = Environment.snapshot()["MARTLET_TEST_PROGRAMS"] {
            path = "\(folder)/\(name)"
            return
        }
        // Otherwise they are beside the tests, which are an executable, too.
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        path = own[..<(own.lastIndex(of: "/") ?? own.startIndex)] + "/" + name
    }

    /// Runs it with these words.
    func run(
        _ words: [String], home: String, adding variables: [String: String] = [:], input: String = ""
    ) async throws -> Run {
        try await Self.run(command(words, home: home, adding: variables), input: input)
    }

    /// Runs a line of shell in which `$M` is the program.
    func shell(
        _ script: String, home: String, adding variables: [String: String] = [:], input: String = ""
    ) async throws -> Run {
        var command = Command(
            "sh", ["-c", script], environment: Self.environment(home, ["M": path].merging(variables) { $1 }),
            workingDirectory: home)
        command.output = .pipe
        return try await Self.run(command, input: input)
    }

    func command(_ words: [String], home: String, adding variables: [String: String] = [:]) -> Command {
        Command(path, words, environment: Self.environment(home, variables), workingDirectory: home)
    }

    static func environment(_ home: String, _ adding: [String: String] = [:]) -> CommandEnvironment {
        CommandEnvironment(
            ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "TERM": "xterm-256color", "LANG": "C.UTF-8"]
                .merging(adding) { $1 })
    }

    private static func run(_ command: Command, input: String) async throws -> Run {
        var command = command
        command.input = .bytes(Array(input.utf8))
        let completion = try await Launcher.standalone.run(command, timeout: .seconds(30))
        return Run(
            output: String(decoding: completion.output, as: UTF8.self),
            errors: String(decoding: completion.errors, as: UTF8.self), code: completion.status.code)
    }
}

extension String {
    /// The lines, without an empty one at the end.
    var lines: [String] { split(separator: "\n", omittingEmptySubsequences: true).map(String.init) }

    func json() throws -> JSON { try JSON(parsing: self) }
}
