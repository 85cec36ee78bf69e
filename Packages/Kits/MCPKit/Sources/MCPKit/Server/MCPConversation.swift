import Capabilities
import HTTPServer
import JSON
import RPCKit
import Synchronization

/// One connection with a client: it begins with a handshake in the legacy era, and serves requests of the modern era too.
final class MCPConversation: Sendable {
    private struct State {
        /// The client, once it has begun the handshake.
        var peer: MCPPeer?
        /// The request that began it, until it is answered.
        var opening: RPCID?
        /// Whether it has finished the handshake.
        var isInitialized = false
        /// The least serious log messages that the client wants.
        var level = MCPLogEntry.Level.info
        /// The resources whose changes it wants to know, by their addresses.
        var watched: [String: Watch] = [:]
        var nextWatch = 0
    }

    private struct Watch {
        let number: Int
        /// Whether the service has agreed.
        var isAgreed = false
    }

    let connection: RPCConnection
    private let server: MCPServer
    private let principal: Principal?
    private let owner = TaskOwner()
    private let state = Mutex(State())
    /// Whether the client can be asked at any time, and not only while it waits for an answer.
    private let asksAtOnce: Bool
    /// Called with each request that is not answered because it was cancelled.
    private let unanswered: @Sendable (RPCID) -> Void

    init(
        _ server: MCPServer, over transport: any RPCTransport, as principal: Principal?, asksAtOnce: Bool = true,
        unanswered: @escaping @Sendable (RPCID) -> Void = { _ in }
    ) {
        self.server = server
        self.principal = principal
        self.asksAtOnce = asksAtOnce
        self.unanswered = unanswered
        let receiver = ConversationReceiver()
        let name = principal.map { "the MCP client '\(PlainText.escape($0.name))'" } ?? "the MCP client"
        connection = RPCConnection(
            to: name, over: OrderedTransport(transport, receiver), conventions: .mcp, handler: receiver,
            limits: RPCConnection.Limits(requests: server.limits.requests), answersMalformed: true)
        receiver.conversation.withLock { $0 = WeakConversation(self) }
    }

    /// Runs until the client ends the connection, and then until nothing of it is left.
    func run() async throws {
        let listener = server.service.changes.add { [weak self] in self?.tell($0) }
        let watcher = server.tasks.add { [weak self] in self?.tell($0) }
        let result: Result<Void, any Error>
        do { result = .success(try await connection.run()) } catch { result = .failure(error) }
        server.service.changes.remove(listener)
        server.tasks.removeListener(watcher)
        server.suspended.drop(of: owner)
        server.tasks.drop(of: owner)
        await owner.end()
        let (peer, watched) = state.withLock { state in
            defer { state.watched = [:] }
            return (state.peer, state.watched.filter(\.value.isAgreed).keys)
        }
        if let peer { for address in watched { server.service.unwatch(address, for: peer) } }
        try result.get()
    }

    /// The revision of the handshake; nil before there was one.
    var version: MCPVersion? { state.withLock { $0.peer?.version } }

    // MARK: Handshake

    /// Sees each message before anything is done with it, in the order in which they came: a client may send more with the
    /// handshake than it should.
    func observe(_ message: RPCMessage) {
        switch message {
        case .request(let request) where request.method == "initialize": open(request)
        case .notification(let notification) where notification.method == "notifications/initialized":
            state.withLock { $0.isInitialized = $0.peer != nil }
        default: break
        }
    }

    /// Sees each message after it was passed on.
    func observed(_ message: RPCMessage) {
        guard case .notification(let notification) = message, notification.method == "notifications/cancelled",
            let request = notification.params?["requestId"].flatMap(RPCID.init)
        else { return }
        server.tasks.cancel(begunBy: request, of: ServerTask.Claim(owner, principal))
    }

    private func open(_ request: RPCRequest) {
        guard let wanted = request.params?["protocolVersion"]?.string else { return }
        let known = MCPVersion(rawValue: wanted)
        let version = known.flatMap { $0.isModern ? nil : $0 } ?? .newestLegacy
        let peer = MCPPeer(
            MCPIdentity(request.params?["clientInfo"]), version: version,
            capabilities: MCPClientCapabilities(request.params?["capabilities"], version), principal: principal)
        state.withLock { state in
            guard state.peer == nil else { return }
            (state.peer, state.opening) = (peer, request.id)
        }
    }

    private func answerOpening(_ request: RPCRequest) throws -> JSON {
        guard request.params?["protocolVersion"]?.string != nil else {
            throw RPCError(RPCError.invalidParams, "protocolVersion is missing, or not a string")
        }
        let peer = state.withLock { state -> MCPPeer? in
            guard state.opening == request.id else { return nil }
            state.opening = nil
            return state.peer
        }
        guard let peer else {
            throw RPCError(RPCError.invalidRequest, "this connection has begun already")
        }
        var members: JSONObject = [
            "protocolVersion": .string(peer.version.rawValue),
            "capabilities": server.service.capabilities(for: peer).json(peer.version),
            "serverInfo": server.service.identity.json,
        ]
        members["instructions"] = server.service.instructions(for: peer).map { .string($0) }
        return .object(members)
    }

    // MARK: Requests

    func answer(_ request: RPCRequest) async throws -> JSON {
        let version = ModernEnvelope.isModern(request) ? MCPVersion.newest : version ?? .newestLegacy
        do {
            if version.isModern { return try await answerModern(request) }
            return try await answerLegacy(request)
        } catch {
            guard let answer = MCPServer.error(error, version) else {
                unanswered(request.id)
                throw CancellationError()
            }
            throw answer
        }
    }

    private func answerModern(_ request: RPCRequest) async throws -> JSON {
        let envelope = try ModernEnvelope(request.params)
        let peer = try envelope.peer(principal)
        if request.method == "subscriptions/listen" { return try await listen(request, peer) }
        return try await server.answer(request, peer, level: envelope.level, owner: owner) { [weak self] in
            self?.notify($0, $1)
        }
    }

    /// Tells the changes until the client cancels the request.
    private func listen(_ request: RPCRequest, _ peer: MCPPeer) async throws -> JSON {
        let subscription = try await server.subscription(request, peer, owner)
        let end = server.begin(subscription, for: peer) { [weak self] in self?.notify($0, $1) }
        defer { end() }
        try await Promise<Void>().value()
        return [:]
    }

    private func answerLegacy(_ request: RPCRequest) async throws -> JSON {
        switch request.method {
        case "initialize": return try answerOpening(request)
        case "ping": return [:]
        default: break
        }
        let params = try MCPServer.members(of: request.params)
        guard let peer = state.withLock({ $0.peer }) else {
            throw RPCError(
                RPCError.invalidParams,
                "begin with initialize, or name the revision in params._meta as the modern era does")
        }
        if MCPServer.isCall(request.method) {
            if let begun = try await tasks(for: peer)?.begin(request, params, peer, line(of: nil, peer)) {
                return begun
            }
            let call = ServerCall(.directly { try await self.ask($0, $1, for: request.id) }, line(of: request, peer))
            defer { call.detach() }
            let context = MCPCallContext(peer: peer, meta: params["_meta"]?.object ?? [:], call: call)
            return try await server.perform(request.method, params, in: context)
        }
        if let result = try await server.lookUp(request.method, params, for: peer) { return result }
        if let result = try await tasks(for: peer)?.answer(request, params, peer) { return result }
        let offered = server.service.capabilities(for: peer)
        switch request.method {
        case "logging/setLevel" where offered.logging:
            guard let level = params["level"]?.string.flatMap(MCPLogEntry.Level.init) else {
                throw RPCError(RPCError.invalidParams, "level is missing, or no level")
            }
            state.withLock { $0.level = level }
        case "resources/subscribe" where offered.subscribesResources:
            let address = try MCPServer.text("uri", in: params)
            try await watch(address, for: peer)
        case "resources/unsubscribe" where offered.subscribesResources:
            let address = try MCPServer.text("uri", in: params)
            let watch = state.withLock { $0.watched.removeValue(forKey: address) }
            if watch?.isAgreed == true { server.service.unwatch(address, for: peer) }
        default: throw RPCError.noMethod(request.method)
        }
        return [:]
    }

    private func watch(_ address: String, for peer: MCPPeer) async throws {
        let limit = server.limits.watched
        let number = try state.withLock { state throws(RPCError) -> Int? in
            if state.watched[address] != nil { return nil }
            guard state.watched.count < limit else {
                throw RPCError(RPCError.invalidParams, "a client may watch \(limit) resources")
            }
            state.nextWatch += 1
            state.watched[address] = Watch(number: state.nextWatch)
            return state.nextWatch
        }
        guard let number else { return }
        let result: Result<Void, any Error>
        do { result = .success(try await server.service.watch(address, for: peer)) } catch { result = .failure(error) }
        // The client may have given it up meanwhile, and begun again.
        let isStill = state.withLock { state in
            guard state.watched[address]?.number == number else { return false }
            if case .success = result { state.watched[address]?.isAgreed = true } else { state.watched[address] = nil }
            return true
        }
        try result.get()
        if !isStill { server.service.unwatch(address, for: peer) }
    }

    // MARK: Sending

    /// - Parameter request: nil for what belongs to no request.
    private func line(of request: RPCRequest?, _ peer: MCPPeer) -> ServerCall.Line {
        let logs = server.service.capabilities(for: peer).logging
        return ServerCall.Line(
            token: request?.params?["_meta"]?["progressToken"]?.unlessNull,
            level: { [weak self] in logs ? self?.state.withLock { $0.level } : nil },
            notify: { [weak self] method, params in
                RelatedRequest.$id.withValue(request?.id) { self?.notify(method, params) }
            })
    }

    /// The tasks of the client; nil in a revision that has none.
    private func tasks(for peer: MCPPeer) -> LegacyTasks? {
        guard peer.version == .november2025 else { return nil }
        return LegacyTasks(
            server: server, owner: owner, claim: ServerTask.Claim(owner, principal), asksAtOnce: asksAtOnce
        ) { [weak self] method, params, request in
            guard let self else { throw CancellationError() }
            return try await ask(method, params, for: request)
        }
    }

    private func ask(_ method: String, _ params: JSONObject, for id: RPCID?) async throws -> JSON {
        do {
            return try await RelatedRequest.$id.withValue(id) {
                try await connection.call(method, params, within: RPCTimeLimit(server.limits.patience))
            }
        } catch let failure as RPCFailure {
            throw MCPError(failure)
        }
    }

    private func tell(_ task: ServerTask) {
        guard task.version == .november2025, task.claim == ServerTask.Claim(owner, principal) else { return }
        let notice = LegacyTasks.notice(of: task)
        notify(notice.method, notice.params)
    }

    private func tell(_ change: MCPChange) {
        let (peer, isWatched) = state.withLock { state -> (MCPPeer?, Bool) in
            var isWatched = false
            if case .resource(let address) = change { isWatched = state.watched[address] != nil }
            return (state.isInitialized ? state.peer : nil, isWatched)
        }
        guard let peer else { return }
        let offered = server.service.capabilities(for: peer)
        let isTold =
            switch change {
            case .tools: offered.tools?.tellsChanges == true
            case .prompts: offered.prompts?.tellsChanges == true
            case .resources: offered.resources?.tellsChanges == true
            case .resource: isWatched
            }
        guard isTold else { return }
        let notice = change.notification
        notify(notice.method, notice.params)
    }

    private func notify(_ method: String, _ params: JSONObject?) {
        do throws(RPCFailure) { try connection.notify(method, params) } catch {
            // The client is gone or does not read; then nothing that it is told matters.
        }
    }
}

/// The request to which belongs what is sent, for transports that have more than one way to the client.
enum RelatedRequest {
    @TaskLocal static var id: RPCID?
}

/// The connection belongs to the conversation, which must not be kept alive by it.
private struct WeakConversation: Sendable {
    weak let conversation: MCPConversation?

    init(_ conversation: MCPConversation?) {
        self.conversation = conversation
    }
}

/// Passes what the connection receives to its conversation.
private final class ConversationReceiver: RPCHandler {
    let conversation = Mutex(WeakConversation(nil))

    func answer(_ request: RPCRequest) async throws -> JSON {
        guard let conversation = conversation.withLock({ $0.conversation }) else { throw CancellationError() }
        return try await conversation.answer(request)
    }

    func observe(_ message: RPCMessage) { conversation.withLock { $0.conversation }?.observe(message) }
    func observed(_ message: RPCMessage) { conversation.withLock { $0.conversation }?.observed(message) }
}

/// Shows each message to the conversation before requests begin to be answered side by side, and answers what is too long.
private struct OrderedTransport: RPCTransport {
    private let transport: any RPCTransport
    private let receiver: ConversationReceiver

    init(_ transport: any RPCTransport, _ receiver: ConversationReceiver) {
        self.transport = transport
        self.receiver = receiver
    }

    func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        try await transport.run { event in
            switch event {
            case .message(let message):
                receiver.observe(message)
                receive(event)
                receiver.observed(message)
            case .malformed, .waits: receive(event)
            case .failed(let id, let error):
                // It was a request, or an answer to a question of ours: both are told.
                refuse(id, error)
                if id != nil { receive(event) }
            }
        }
    }

    private func refuse(_ id: RPCID?, _ error: any Error) {
        let answer = RPCError(RPCError.invalidRequest, AnyFailure(error).message)
        do throws(RPCFailure) { try send(.response(RPCResponse(id, .failure(answer)))) } catch {
            // The client does not read.
        }
    }

    func send(_ message: RPCMessage) throws(RPCFailure) { try transport.send(message) }
    func close() { transport.close() }
}
