import FileKit
import ProcessKit

/// Runs programs to their end, as a person would in a folder.
public struct Shell: Sendable {
    /// How a program ended and what it printed.
    public struct Outcome: Sendable {
        /// The exit code as a shell shows it.
        public let code: Int32
        /// Standard output.
        public let output: String
        /// The end of standard error.
        public let errors: String
    }

    private let launcher = Launcher.standalone
    private let folder: String
    private let environment: CommandEnvironment

    /// Programs start in `folder` with this process's variables and the changed ones.
    public init(in folder: String, changing variables: [String: String] = [:]) {
        self.folder = folder
        // What a test runner tells its own process must not reach another one.
        let inherited = Environment.snapshot().filter { !$0.key.hasPrefix("XCTest") && !$0.key.hasPrefix("MARTLET_") }
        environment = CommandEnvironment(inherited.merging(variables) { _, new in new })
    }

    /// Runs a program and gives what came of it, also when it failed.
    public func outcome(_ words: [String], timeout: Duration = .seconds(600)) async throws -> Outcome {
        guard let program = words.first else { throw WorkspaceError("a command needs a program") }
        let command = Command(
            program, Array(words.dropFirst()), environment: environment, workingDirectory: folder)
        let completion = try await launcher.run(command, timeout: timeout)
        return Outcome(
            code: completion.status.code, output: String(decoding: completion.output, as: UTF8.self),
            errors: String(decoding: completion.errors, as: UTF8.self))
    }

    /// Runs a program that has to succeed and gives what it printed.
    @discardableResult
    public func run(_ words: String...) async throws -> String {
        try await run(words)
    }

    /// Runs a program that has to succeed and gives what it printed.
    @discardableResult
    public func run(_ words: [String]) async throws -> String {
        let outcome = try await outcome(words)
        guard outcome.code == 0 else {
            // A compiler says what is wrong on standard output, at its end.
            throw WorkspaceError(
                "'\(words.joined(separator: " "))' ended with \(outcome.code)\n\(outcome.output.suffix(4000))\(outcome.errors)"
            )
        }
        return outcome.output
    }
}
