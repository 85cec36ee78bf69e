import Capabilities
import Glibc
import HTTPClient
import HTTPCore
import JSON
import LoopKit
import ProcessKit
import RPCKit
import Synchronization
import Testing

@testable import MCPKit

/// The servers that tests meet: Python programs, with the reference SDK of either era.
enum Peers {
    /// The environments with the peers, which `make setup` makes.
    enum SDK: String, CaseIterable {
        case legacy = "mcp-legacy"
        case modern = "mcp-modern"

        var python: String { program("python") }
        func program(_ name: String) -> String { "\(Peers.build)/\(rawValue)/bin/\(name)" }
    }

    /// How a server is reached.
    enum Way: String, CaseIterable {
        case stdio, http, sse
    }

    /// A server program: which SDK it uses, how it is reached, and its file.
    struct Peer: Hashable, CustomTestStringConvertible {
        let sdk: SDK
        let way: Way
        var file = "everything.py"

        /// The era that is agreed on: the older transport has no modern era.
        var isModern: Bool { sdk == .modern && way != .sse }
        var testDescription: String { "\(sdk.rawValue), \(way.rawValue)" }

        /// The server that uses everything, with each SDK in each way.
        static let everything = SDK.allCases.flatMap { sdk in Way.allCases.map { Peer(sdk: sdk, way: $0) } }
    }

    static let http = HTTPClient(.standalone)

    static let environment: CommandEnvironment = ["PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"]
    static let identity = MCPIdentity(name: "tests", title: "Tests", version: "1")
    static let launcher = Launcher.standalone

    /// This folder, and the build folder of the checkout.
    private static let here = #filePath.split(separator: "/").dropLast()
    private static let build = "/" + here.dropLast(5).joined(separator: "/") + "/.build"

    static func server(_ name: String) -> String { "/" + here.joined(separator: "/") + "/Servers/\(name)" }

    /// A server that is a shell script.
    static func script(_ text: String, limits: StreamTransport.Limits = StreamTransport.Limits()) -> MCPProgram {
        MCPProgram(
            Command("/bin/sh", ["-c", text], environment: environment), limits: limits, patience: .milliseconds(300))
    }
}

extension Peers.Peer {
    /// A client of the server for as long as `body` runs.
    func client<Value: Sendable>(
        _ name: String = "peer", handler: any MCPClientHandler = NobodyHandler(),
        limits: MCPClient.Limits = MCPClient.Limits(), knowing version: MCPVersion? = nil,
        _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        guard way != .stdio else {
            let program = MCPProgram(
                Command(sdk.python, [Peers.server(file), "stdio"], environment: Peers.environment))
            return try await program.client(name, handler: handler, limits: limits, knowing: version, body)
        }
        return try await serving { address in
            let client = address.client(
                of: name, by: Peers.http, as: Peers.identity, handler: handler, limits: limits, knowing: version)
            return try await client.whileRunning { try await body(client) }
        }
    }

    /// Runs the server, which prints its port as its first line, unless it runs for the whole suite.
    func serving<Value: Sendable>(
        _ body: @Sendable (MCPServerAddress) async throws -> Value
    ) async throws -> Value {
        if let address = RunningPeers.addresses[self] { return try await body(address) }
        var command = Command(
            sdk.python, [Peers.server(file), way.rawValue], environment: Peers.environment)
        command.errors = .tail(limit: 4096)
        command.endsWithParent = true
        return try await Peers.launcher.withChild(command, grace: .milliseconds(200)) { child in
            guard let line = try await child.output.nextLine() else {
                throw MCPError(.closed, "no port: \(String(decoding: child.errorTail, as: UTF8.self))")
            }
            let port = String(decoding: line, as: UTF8.self)
            let url = try HTTPURL("http://127.0.0.1:\(port)/\(way == .sse ? "sse" : "mcp")")
            return try await body(MCPServerAddress(url))
        }
    }
}

extension MCPProgram {
    /// A client of the program for as long as `body` runs.
    func client<Value: Sendable>(
        _ name: String = "peer", handler: any MCPClientHandler = NobodyHandler(),
        limits: MCPClient.Limits = MCPClient.Limits(), knowing version: MCPVersion? = nil,
        _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        try await whileRunning(by: Peers.launcher) { transport in
            let client = MCPClient(
                of: name, over: transport, as: Peers.identity, handler: handler, limits: limits, knowing: version)
            return try await client.whileRunning { try await body(client) }
        }
    }
}

/// Answers questions as a test wants, and keeps what it is told.
final class TestHandler: MCPClientHandler {
    private struct Heard {
        var changes: [MCPChange] = []
        var logs: [MCPLogEntry] = []
        var problems: [String] = []
        var questions: [MCPElicitation] = []
    }

    let capabilities: MCPClientCapabilities
    let news = Signal()
    private let heard = Mutex(Heard())
    private let answer: MCPAnswer

    init(answering answer: MCPAnswer = .decline) {
        self.answer = answer
        var offered = MCPClientCapabilities()
        (offered.roots, offered.sampling, offered.forms, offered.addresses) = (true, true, true, true)
        capabilities = offered
    }

    var changes: [MCPChange] { heard.withLock { $0.changes } }
    var logs: [MCPLogEntry] { heard.withLock { $0.logs } }
    var problems: [String] { heard.withLock { $0.problems } }
    var questions: [MCPElicitation] { heard.withLock { $0.questions } }

    func roots() async throws -> [MCPRoot] { [MCPRoot(AbsolutePath("/tmp/a b"), name: "here")] }
    func sample(_ request: MCPSampling) async throws -> MCPSampled {
        MCPSampled([.text("sampled: \(request.messages.map { $0.parts.map(\.text).joined() }.joined())")], model: "m")
    }
    func elicit(_ question: MCPElicitation) async throws -> MCPAnswer {
        heard.withLock { $0.questions.append(question) }
        return answer
    }
    func changed(_ change: MCPChange) {
        heard.withLock { $0.changes.append(change) }
        news.raise()
    }
    func log(_ entry: MCPLogEntry) {
        heard.withLock { $0.logs.append(entry) }
        news.raise()
    }
    func tell(_ problem: String) {
        heard.withLock { $0.problems.append(problem) }
        news.raise()
    }

    /// Waits until something that was heard fulfils a condition.
    func wait(until isDone: (TestHandler) -> Bool) async throws {
        while true {
            let seen = news.count
            if isDone(self) { return }
            try await news.wait(beyond: seen)
        }
    }
}

/// What progress was told.
final class Steps: Sendable {
    private let steps = Mutex([MCPProgress]())
    var all: [MCPProgress] { steps.withLock { $0 } }
    func add(_ step: MCPProgress) { steps.withLock { $0.append(step) } }
}
