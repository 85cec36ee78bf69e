import ProcessKit

/// A Python program that a test talks to, with the packages of `.ci/peers`. Its first line of output is its port.
public struct PythonPeer: Sendable {
    /// The port that it printed.
    public let port: Int
    private let child: ChildProcess

    /// The next line that it prints, or nil at its end.
    public func nextLine() async throws -> String? {
        try await child.output.nextLine().map { String(decoding: $0, as: UTF8.self) }
    }

    /// Runs a file for the length of `body`, and ends it and all it started.
    public static func run<Result>(
        file: String, _ arguments: [String] = [], isolation: isolated (any Actor)? = #isolation,
        during body: (PythonPeer) async throws -> Result
    ) async throws -> Result {
        try await run([file] + arguments, during: body)
    }

    /// Runs a program given as text for the length of `body`.
    public static func run<Result>(
        source: String, _ arguments: [String] = [], isolation: isolated (any Actor)? = #isolation,
        during body: (PythonPeer) async throws -> Result
    ) async throws -> Result {
        try await run(["-c", source] + arguments, during: body)
    }

    private static func run<Result>(
        _ arguments: [String], isolation: isolated (any Actor)? = #isolation,
        during body: (PythonPeer) async throws -> Result
    ) async throws -> Result {
        var command = Command(
            try PeerPrograms.python(), ["-u"] + arguments, environment: PeerPrograms.environment())
        // A peer that outlives a killed test run would hold its memory and its port for ever.
        command.input = .pipe
        return try await Launcher().withChild(command, grace: .milliseconds(200)) { child in
            guard let line = try await child.output.nextLine(),
                let port = Int(String(decoding: line, as: UTF8.self))
            else {
                let words = String(decoding: child.errorTail, as: UTF8.self)
                throw ScriptError.failed("a Python peer did not print its port: \(words)")
            }
            return try await body(PythonPeer(port: port, child: child))
        }
    }

    /// Runs a program to its end and returns what it printed.
    public static func output(source: String, _ arguments: [String] = [], input: [UInt8] = []) async throws -> String {
        var command = Command(
            try PeerPrograms.python(), ["-c", source] + arguments, environment: PeerPrograms.environment())
        command.input = .bytes(input)
        let result = try await Launcher().run(command, timeout: .seconds(60))
        guard result.status == .exited(0) else {
            throw ScriptError.failed("a Python peer failed: \(String(decoding: result.errors, as: UTF8.self))")
        }
        return String(decoding: result.output, as: UTF8.self)
    }
}
