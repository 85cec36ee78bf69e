import Capabilities
import Glibc
import JSON
import LoopKit
import ProcessKit
import RPCKit
import Testing

/// Programs of others as hosts, and our program as they start it.
struct ForeignHost: Sendable, CustomTestStringConvertible {
    /// The environment with the peer, which `make setup` makes.
    let sdk: String
    let kind: String
    let mode: String

    var testDescription: String { "\(kind) of \(sdk), \(mode)" }
    var isModern: Bool { sdk == "mcp-modern" && mode == "auto" }

    static let all = [
        ForeignHost(sdk: "mcp-legacy", kind: "sdk", mode: "legacy"),
        ForeignHost(sdk: "mcp-modern", kind: "sdk", mode: "legacy"),
        ForeignHost(sdk: "mcp-modern", kind: "sdk", mode: "auto"),
        ForeignHost(sdk: "mcp-legacy", kind: "fastmcp", mode: "legacy"),
        ForeignHost(sdk: "mcp-modern", kind: "fastmcp", mode: "auto"),
    ]

    /// What it saw of a server: an address, or a program with its arguments.
    func seen(_ target: [String], _ variables: [String: String]) async throws -> JSON {
        let package = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let root = "/" + #filePath.split(separator: "/").dropLast(6).joined(separator: "/")
        let result = try await TestPrograms.launcher.run(
            Command(
                "\(root)/.build/\(sdk)/bin/python", ["\(package)/Peers/host.py", kind, mode] + target,
                environment: TestPrograms.environment(variables)), timeout: .seconds(100))
        let text = String(decoding: result.output, as: UTF8.self)
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("SEEN ") }) else {
            throw RPCFailure(.closed, "\(text)\n\(String(decoding: result.errors, as: UTF8.self))")
        }
        return try JSON(parsing: String(line.dropFirst(5)))
    }
}

enum TestPrograms {
    static let launcher = Launcher.standalone

    static func environment(_ variables: [String: String]) -> CommandEnvironment {
        CommandEnvironment(["PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"].merging(variables) { $1 })
    }

    /// The program with the lab, which is built beside the tests.
    static func lab() throws -> String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        let folder = bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let program = "\(folder)/serve-test-program"
        guard unsafe access(program, X_OK) == 0 else { throw RPCFailure(.closed, "there is no \(program)") }
        return program
    }

    /// The command of our program with a home of its own.
    static func command(_ arguments: [String], home: String) throws -> Command {
        Command(
            try lab(), ["mcp", "serve"] + arguments, environment: environment(["HOME": home, "MARTLET_HOME": home]))
    }
}
