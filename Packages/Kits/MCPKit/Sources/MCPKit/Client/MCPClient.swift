import Capabilities
import JSON
public import RPCKit
import Synchronization

/// A client of one MCP server, in both eras.
///
///     let client = MCPClient(of: "git", over: transport, as: MCPIdentity(name: "martlet", version: "1"))
///     try await client.whileRunning {
///         let tools = try await client.tools()
///         let result = try await client.call("git_log", ["repo_path": "."])
///     }
///
/// One task runs it; any number of tasks call. Nothing that the server does makes it hang or grow without a limit.
public final class MCPClient: Sendable {
    /// How much a server may send, and how long it may take.
    public struct Limits: Sendable, Hashable {
        /// Until the server has said who it is.
        public var start = Duration.seconds(30)
        /// How long a server may be silent when it is asked in the way of the modern era first.
        public var probe = Duration.seconds(5)
        /// Each request but calls.
        public var request = Duration.seconds(30)
        /// Calls: without a sign of progress, and in all.
        public var call = RPCTimeLimit(.seconds(30), upTo: .seconds(600))
        /// The pages of a list.
        public var pages = 100
        /// The entries of a list.
        public var entries = 20_000
        /// How often a call may come back with questions.
        public var rounds = 8
        /// What is in progress at once.
        public var connection = RPCConnection.Limits()

        /// The program uses the defaults.
        public init() {}
    }

    /// The name that people know the server by.
    public let name: String
    let limits: Limits
    let handler: any MCPClientHandler
    let transport: any MCPTransport
    let connection: RPCConnection
    private let identity: MCPIdentity
    private let known: MCPVersion?
    private let state = Mutex(State())

    private struct State {
        var info: MCPServerInfo?
        /// Settled when both sides have agreed; another one after each session that the server has forgotten.
        var agreed = Promise<MCPServerInfo>()
        /// How many sessions the server has forgotten.
        var forgotten = 0
        /// Whether nothing will be agreed on any more.
        var isOver = false
        /// The resources whose changes the server should tell.
        var watched: Set<String> = []
        var logLevel: MCPLogEntry.Level?
    }

    let knownTools = KnownTools()
    /// Raised when the modern era must be told what to watch.
    let wishes = Signal()
    /// Raised when the server has forgotten the session.
    private let forgetting = Signal()

    /// A client that is not running yet.
    ///
    /// - Parameter version: what the server spoke before, which saves asking; nil if it is not known.
    public init(
        of name: String, over transport: any MCPTransport, as identity: MCPIdentity,
        handler: any MCPClientHandler = NobodyHandler(), limits: Limits = Limits(), knowing version: MCPVersion? = nil
    ) {
        self.name = name
        self.transport = transport
        self.identity = identity
        self.handler = handler
        self.limits = limits
        known = version
        let receiver = ClientReceiver(handler: handler)
        connection = RPCConnection(
            to: "the MCP server '\(PlainText.escape(name))'", over: transport, conventions: .mcp, handler: receiver,
            limits: limits.connection)
        receiver.client.withLock { $0 = WeakClient(self) }
    }

    // MARK: Life

    /// Runs until the server or `close` ends it.
    ///
    /// - Throws: why it ended, unless it ended in the usual way.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.connection.run()
                return true
            }
            group.addTask {
                self.settle(try await self.negotiate())
                try await self.listen()
                return false
            }
            group.addTask {
                try await self.beginAgain()
                return false
            }
            defer { group.cancelAll() }
            do {
                while let isOver = try await group.next() {
                    if isOver { break }
                }
            } catch {
                let reason = (error as? RPCFailure).map(MCPError.init) ?? error
                fail(reason)
                throw reason
            }
            fail(MCPError(.closed, "\(connection.peer) has ended"))
        }
    }

    /// Runs for as long as `body` does, once the server has said who it is.
    public func whileRunning<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.run() }
            let result: Result<Value, any Error>
            do {
                _ = try await server()
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            close()
            do { try await group.next() } catch {
                // Why it ended was thrown by each call that needed it.
            }
            return try result.get()
        }
    }

    /// Ends the connection.
    public func close() { connection.close() }

    /// The server as it presents itself; waits until it has.
    public func server() async throws -> MCPServerInfo { try await state.withLock { $0.agreed }.value() }

    /// The revision that is spoken, once that is settled.
    var version: MCPVersion? { state.withLock { $0.info?.version } }

    private func settle(_ info: MCPServerInfo) {
        transport.settle(on: info.version)
        let agreed = state.withLock { state in
            state.info = info
            return state.agreed
        }
        agreed.settle(info)
    }

    private func fail(_ error: any Error) {
        connection.close()
        let agreed = state.withLock { state in
            state.isOver = true
            return state.agreed
        }
        agreed.settle(with: .failure(error))
    }

    // MARK: Sessions

    /// The server has forgotten the session that a request belonged to. What comes now waits for the next one.
    private func forgot(_ session: Int) {
        let isFirst = state.withLock { state in
            guard state.forgotten == session, !state.isOver else { return false }
            state.forgotten += 1
            state.agreed = Promise()
            return true
        }
        if isFirst { forgetting.raise() }
    }

    /// Begins another session each time that the server has forgotten one, and restores what it knew. If that fails, the
    /// client is over.
    private func beginAgain() async throws {
        var seen = 0
        while true {
            seen = try await forgetting.wait(beyond: seen)
            transport.forget()
            let info = try await initialize()
            settle(info)
            await restore()
            // A server that has forgotten its clients was probably started again, perhaps in another version.
            if info.capabilities.tools != nil { handler.changed(.tools) }
            if info.capabilities.prompts != nil { handler.changed(.prompts) }
            if info.capabilities.resources != nil { handler.changed(.resources) }
        }
    }

    private func restore() async {
        let (watched, level) = state.withLock { ($0.watched.sorted(), $0.logLevel) }
        var requests = watched.map { ("resources/subscribe", ["uri": .string($0)] as JSONObject) }
        if let level { requests.append(("logging/setLevel", ["level": .string(level.rawValue)])) }
        for (method, params) in requests {
            do { _ = try await connection.call(method, params, within: RPCTimeLimit(limits.request)) } catch {
                handler.tell("it has begun another session and does not take \(method): \(AnyFailure(error).message)")
            }
        }
    }

    // MARK: Who speaks what

    /// Asks in the way of the modern era, and begins the handshake of the legacy one when the server does not know that, or
    /// is silent for a while. A server that only starts slowly answers the first question after all.
    private func negotiate() async throws -> MCPServerInfo {
        if let known, !known.isModern {
            do { return try await initialize() } catch let error as MCPError
                where error.error.map({ MCPError.Code.modern.contains($0.code) }) == true
            {
                // It has become modern since.
            }
        }
        // By HTTP each question is answered, and a silent server is no server.
        guard transport.isLasting else {
            if let info = try await discover() { return info }
            return try await initialize()
        }
        let isLegacy = Promise<Void>()
        return try await withThrowingTaskGroup(of: Result<MCPServerInfo?, any Error>.self) { group in
            group.addTask {
                do {
                    let info = try await self.discover()
                    if info == nil { isLegacy.settle(()) }
                    return .success(info)
                } catch {
                    return .failure(error)
                }
            }
            group.addTask { [limits] in
                do {
                    _ = try await withTimeLimit(limits.probe, on: ContinuousClock()) { try await isLegacy.value() }
                    return .success(try await self.initialize())
                } catch {
                    return .failure(error)
                }
            }
            defer { group.cancelAll() }
            var failure: (any Error)?
            while let outcome = try await group.next() {
                switch outcome {
                case .success(let info?): return info
                case .success(nil): break
                case .failure(let error):
                    // What a server that refuses the modern way says is final.
                    if (error as? MCPError)?.kind != .refused { throw error }
                    failure = failure ?? error
                }
            }
            throw failure ?? MCPError(.closed, "\(connection.peer) has ended")
        }
    }

    /// Asks in the way of the modern era; nil if the server does not know it.
    private func discover() async throws -> MCPServerInfo? {
        let version = MCPVersion.newest
        let result: JSON
        do {
            result = try await connection.call(
                "server/discover", meta(for: version, in: nil), within: RPCTimeLimit(limits.start))
        } catch let failure as RPCFailure {
            if failure.error?.code == MCPError.Code.unsupportedVersion {
                let offered = failure.error?.data?["supported"]?.array?.compactMap(\.string) ?? []
                guard offered.contains(where: { MCPVersion(rawValue: $0)?.isModern == false }) else {
                    throw MCPError(
                        .unsupported,
                        "\(connection.peer) speaks \(Self.list(offered)), and this program \(Self.list(Self.spoken))")
                }
                return nil
            }
            if let code = failure.error?.code, MCPError.Code.modern.contains(code) { throw MCPError(failure) }
            // A server that cannot be reached, or wants a credential first, says nothing about what it knows. One that says
            // nothing to a question that it does not know may still know the handshake.
            let isFinal = failure.kind == .timedOut && !transport.isLasting
            if [.closed, .denied].contains(failure.kind) || isFinal || connection.failure != nil {
                throw MCPError(failure)
            }
            return nil
        }
        let offered = result["supportedVersions"]?.array?.compactMap(\.string) ?? []
        guard offered.contains(version.rawValue) else { return nil }
        return MCPServerInfo(version, MCPIdentity(result["_meta"]?[Meta.server] ?? result["serverInfo"]), result)
    }

    private func initialize() async throws -> MCPServerInfo {
        let wanted = MCPVersion.newestLegacy
        let params: JSONObject = [
            "protocolVersion": .string(wanted.rawValue), "capabilities": handler.capabilities.json(wanted),
            "clientInfo": identity.json,
        ]
        let result: JSON
        do {
            result = try await connection.call(
                "initialize", params, within: RPCTimeLimit(limits.start), isCancellable: false)
        } catch let failure as RPCFailure {
            throw MCPError(failure)
        }
        let answered = result["protocolVersion"]?.string ?? ""
        guard let version = MCPVersion(rawValue: answered), !version.isModern else {
            throw MCPError(
                .unsupported,
                "\(connection.peer) speaks \(Self.list([answered])), and this program \(Self.list(Self.spoken))")
        }
        transport.settle(on: version)
        do throws(RPCFailure) { try connection.notify("notifications/initialized") } catch { throw MCPError(error) }
        return MCPServerInfo(version, MCPIdentity(result["serverInfo"]), result)
    }

    private static let spoken = MCPVersion.allCases.map(\.rawValue)

    private static func list(_ versions: [String]) -> String {
        let shown = versions.prefix(8).map { PlainText.escape($0) }.filter { !$0.isEmpty }
        return shown.isEmpty ? "no known revision" : shown.joined(separator: ", ")
    }

    // MARK: Requests

    /// The names of what each modern request says.
    private enum Meta {
        static let prefix = "io.modelcontextprotocol/"
        static let version = prefix + "protocolVersion"
        static let capabilities = prefix + "clientCapabilities"
        static let client = prefix + "clientInfo"
        static let server = prefix + "serverInfo"
        static let logLevel = prefix + "logLevel"
    }

    /// The parameters with what each request of the modern era says.
    private func meta(for version: MCPVersion, in params: JSONObject?) -> JSONObject {
        var params = params ?? [:]
        var meta = params["_meta"]?.object ?? [:]
        meta[Meta.version] = .string(version.rawValue)
        meta[Meta.capabilities] = handler.capabilities.json(version)
        meta[Meta.client] = identity.json
        meta[Meta.logLevel] = state.withLock { $0.logLevel }.map { .string($0.rawValue) }
        params["_meta"] = .object(meta)
        return params
    }

    /// Sends a request in the way of the era, and answers what the server asks before it answers.
    func ask(
        _ method: String, _ params: JSONObject? = nil, within limit: RPCTimeLimit? = nil, lasting: Bool = false,
        progress: (@Sendable (MCPProgress) -> Void)? = nil
    ) async throws -> JSON {
        let limit = lasting ? nil : limit ?? RPCTimeLimit(limits.request)
        let tell = progress.map { progress in
            { @Sendable (json: JSON) in
                if let step = MCPProgress(json) { progress(step) }
            }
        }
        var params = params
        var (rounds, sessions) = (0, 0)
        while rounds < limits.rounds {
            let result: JSON
            let session = state.withLock { $0.forgotten }
            let info = try await server()
            do {
                let given = info.version.isModern ? meta(for: info.version, in: params) : params
                result = try await connection.call(method, given, within: limit, progress: tell)
            } catch let failure as RPCFailure {
                guard failure.kind == .forgotten else { throw MCPError(failure) }
                forgot(session)
                // The server has not looked at it, so that it can be repeated; but not for ever.
                sessions += 1
                if sessions > 1 { throw MCPError(failure) }
                continue
            }
            rounds += 1
            switch info.version.isModern ? result["resultType"]?.string ?? "complete" : "complete" {
            case "complete", "task": return result
            case "input_required":
                var answers: JSONObject = [:]
                for (key, request) in result["inputRequests"]?.object ?? [:] {
                    answers[key] = try await answer(request["method"]?.string ?? "", request["params"])
                }
                var next = params ?? [:]
                next["inputResponses"] = .object(answers)
                next["requestState"] = result["requestState"]
                params = next
            case let other:
                throw malformed("its result of \(method) is of the unknown type \(PlainText.escape(other))")
            }
        }
        throw MCPError(
            .limit, "\(connection.peer) asked \(limits.rounds) times before it answered \(method), which is the limit")
    }

    func malformed(_ reason: String) -> MCPError {
        MCPError(.malformed, "\(connection.peer) breaks the protocol: \(reason)")
    }

    /// Reads a value of the server.
    func reading<Value>(_ read: () throws(MCPMalformed) -> Value) throws(MCPError) -> Value {
        do throws(MCPMalformed) { return try read() } catch { throw malformed(PlainText.escape(error.reason)) }
    }

    /// Answers what a server asks, in either era.
    func answer(_ method: String, _ params: JSON?) async throws -> JSON {
        let version = version ?? .newestLegacy
        let offered = handler.capabilities
        do {
            switch method {
            case "ping": return [:]
            case "roots/list" where offered.roots: return ["roots": .array(try await handler.roots().map(\.json))]
            case "sampling/createMessage" where offered.sampling:
                return try await handler.sample(try MCPSampling(params ?? [:])).json(version)
            case "elicitation/create" where offered.forms || offered.addresses:
                let question = try MCPElicitation(params ?? [:])
                switch question {
                case .form where !offered.forms, .address where !offered.addresses:
                    throw RPCError(RPCError.invalidParams, "this client does not ask in that way")
                default: return try await handler.elicit(question).json
                }
            default: throw RPCError.noMethod(method)
            }
        } catch let error as MCPMalformed {
            throw RPCError(RPCError.invalidParams, error.reason)
        }
    }

    // MARK: What the server tells

    /// Whether the server should tell when a resource changes.
    func watch(_ address: String, _ isWatched: Bool) -> Bool {
        state.withLock { state in
            isWatched ? state.watched.insert(address).inserted : state.watched.remove(address) != nil
        }
    }

    var watched: Set<String> { state.withLock { $0.watched } }

    func setLevel(_ level: MCPLogEntry.Level) { state.withLock { $0.logLevel = level } }

    func received(_ notification: RPCNotification) {
        if let change = MCPChange(notification.method, notification.params) { return handler.changed(change) }
        switch notification.method {
        case "notifications/message": handler.log(MCPLogEntry(notification.params ?? [:]))
        case "notifications/subscriptions/acknowledged", "notifications/elicitation/complete", "notifications/tasks",
            "notifications/tasks/status":
            break
        default: handler.tell("it sent the unknown notification \(PlainText.escape(notification.method))")
        }
    }
}

/// Does nothing for its server.
public struct NobodyHandler: MCPClientHandler {
    /// The handler of clients that only ask.
    public init() {}
}

/// Passes what the connection receives to its client.
private final class ClientReceiver: RPCHandler {
    let client = Mutex(WeakClient(nil))
    private let handler: any MCPClientHandler

    init(handler: any MCPClientHandler) {
        self.handler = handler
    }

    func answer(_ request: RPCRequest) async throws -> JSON {
        guard let client = client.withLock({ $0.client }) else { throw CancellationError() }
        return try await client.answer(request.method, request.params)
    }

    func receive(_ notification: RPCNotification) { client.withLock { $0.client }?.received(notification) }
    func tell(_ problem: RPCProblem) { handler.tell(problem.description) }
}

/// The connection belongs to the client, which must not be kept alive by it.
private struct WeakClient: Sendable {
    weak let client: MCPClient?

    init(_ client: MCPClient?) {
        self.client = client
    }
}
