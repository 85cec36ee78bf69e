import Capabilities
import CoreTesting
import Glibc
import HTTPServer
import JSON
import LoopKit
import MCPKit
import RPCKit
import Registry
import ServeTesting
import Settings
import Synchronization
import Testing

@testable import ServeFrontend

/// A lab that is served to hosts for the length of a test.
struct ServedLab: Sendable {
    let test: TestHost
    let service: ServeService
    let server: MCPServer
    let serverLimits: MCPServer.Limits
    let limits = GrantLimits()
    let principal: Principal
    let state: LabState

    /// - Parameters:
    ///   - folders: opened for hosts.
    ///   - change: by default no call becomes a task, however slow the machine is.
    init(
        exposing exposes: [Exposure] = [], allowing allows: [Allowance] = [], folders: [String] = [],
        settings: String = "{}", limits change: (inout MCPServer.Limits) -> Void = { $0.tasks.patience = .seconds(600) }
    ) throws {
        test = try TestHost([LabFeature.self, ServeFeature.self], settings: settings)
        if !test.composition.problems.isEmpty { throw CompositionFailure(test.composition.problems) }
        let rights = try ServeRights(exposes, allows, folders: folders, in: test.host)
        let own = ServeSettings(test.host.settings.view(for: "serve"))
        service = ServeService(test.context(), rights, own)
        var serverLimits = own.limits
        change(&serverLimits)
        self.serverLimits = serverLimits
        server = MCPServer(service, limits: serverLimits)
        principal = Principal("host", grant: rights.grant(of: "host", limits))
        state = try test.host.registry.one(LabState.self)
    }

    /// A host of an era for as long as `body` runs. Then nothing of it may be left.
    func host<Value: Sendable>(
        _ era: Era = .modern, _ handler: any MCPClientHandler = NobodyHandler(), atOnce calls: Int = 100,
        _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        let (ours, theirs) = try Self.channels()
        let value = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await service.run() }
            group.addTask { try await server.serve(over: StreamTransport(ours), as: principal) }
            var limits = MCPClient.Limits.unhurried
            limits.connection = RPCConnection.Limits(calls: calls)
            let client = MCPClient(
                of: "martlet", over: StreamTransport(theirs),
                as: MCPIdentity(name: "tests", version: "1"), handler: handler, limits: limits,
                knowing: era.version)
            let result: Result<Value, any Error>
            do { result = .success(try await client.whileRunning { try await body(client) }) } catch {
                result = .failure(error)
            }
            // The server has ended with its client, and the watches do not end by themselves.
            try await group.next()
            group.cancelAll()
            return try result.get()
        }
        #expect(service.watches.count == 0)
        return value
    }

    /// Two channels that are connected with each other.
    static func channels() throws -> (DescriptorChannel, DescriptorChannel) {
        _ = ignoresBrokenPipes
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw RPCFailure(.closed, "no socket pair") }
        let loop = EventLoop()
        func channel(_ descriptor: Int32) throws -> DescriptorChannel {
            let watched = try LoopDescriptor(owning: descriptor, loop: loop)
            return DescriptorChannel(reading: watched, writing: watched)
        }
        return (try channel(ends[0]), try channel(ends[1]))
    }

    /// As in the program, writing to a client that is gone is an error and not the end.
    private static let ignoresBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()
}

extension MCPClient.Limits {
    /// For tests of what a server does, not of how long it takes, because a busy machine is slow.
    static var unhurried: MCPClient.Limits {
        var limits = MCPClient.Limits()
        (limits.start, limits.request, limits.call) = (.seconds(600), .seconds(600), RPCTimeLimit(.seconds(600)))
        return limits
    }
}

/// The eras of the protocol.
enum Era: String, CaseIterable, CustomTestStringConvertible {
    case legacy, modern

    var version: MCPVersion { self == .modern ? .newest : .newestLegacy }
    var testDescription: String { rawValue }
}

/// The user of a host, who gives the same answer to everything.
final class HostUser: MCPClientHandler {
    private struct Heard {
        var questions: [MCPElicitation] = []
        var changes: [MCPChange] = []
        var logs: [MCPLogEntry] = []
        var problems: [String] = []
    }

    let capabilities: MCPClientCapabilities
    private let answer: @Sendable (JSON) -> MCPAnswer
    private let heard = Mutex(Heard())
    private let news = Signal()

    /// - Parameter answer: the answer to a form by the schema of its value.
    init(_ answer: @escaping @Sendable (JSON) -> MCPAnswer) {
        var capabilities = MCPClientCapabilities()
        capabilities.forms = true
        self.capabilities = capabilities
        self.answer = answer
    }

    /// Says yes to everything: the first option, true, and any text.
    static func sayingYes() -> HostUser {
        HostUser { schema in
            let value: JSON =
                if let first = schema["enum"]?[0] { first } else if schema["type"] == "boolean" { true } else { "yes" }
            return .accept(["answer": value])
        }
    }

    var questions: [MCPElicitation] { heard.withLock { $0.questions } }
    var changes: [MCPChange] { heard.withLock { $0.changes } }
    var logs: [MCPLogEntry] { heard.withLock { $0.logs } }
    var problems: [String] { heard.withLock { $0.problems } }

    func elicit(_ question: MCPElicitation) async throws -> MCPAnswer {
        heard.withLock { $0.questions.append(question) }
        guard case .form(_, let schema) = question else { return .decline }
        return answer(schema["properties"]?["answer"] ?? nil)
    }

    func changed(_ change: MCPChange) {
        heard.withLock { $0.changes.append(change) }
        news.raise()
    }

    func log(_ entry: MCPLogEntry) {
        heard.withLock { $0.logs.append(entry) }
        news.raise()
    }

    func tell(_ problem: String) { heard.withLock { $0.problems.append(problem) } }

    /// Whether something that was heard fulfils a condition soon.
    func hears(_ isDone: @escaping @Sendable (HostUser) -> Bool) async throws -> Bool {
        try await withTimeLimit(.milliseconds(50), on: ContinuousClock()) { try await self.wait(until: isDone) } != nil
    }

    /// Waits until something that was heard fulfils a condition.
    func wait(until isDone: (HostUser) -> Bool) async throws {
        while true {
            let seen = news.count
            if isDone(self) { return }
            try await news.wait(beyond: seen)
        }
    }
}

extension MCPResult {
    var text: String { parts.map(\.text).joined() }
    /// The code of a failure.
    var code: String? { structured?["error"]?["code"]?.string }
}

/// The code of the error of a request.
func code(_ body: () async throws -> some Sendable) async -> Int? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? MCPError)?.error?.code
    }
}
