import Capabilities
import HTTPClient
import HTTPCore
import JSON
public import RPCKit
import Synchronization

/// The messages of a server that is reached by HTTP: Streamable HTTP of both eras, and the older transport of two
/// addresses for a server that knows nothing else.
///
/// Each message is a POST; its answer is one message or a stream of events. In the legacy era a session begins with the
/// handshake and ends with this transport, a second stream brings what belongs to no request, and a stream that is cut is
/// resumed. In the modern era a request ends with its stream, so that ending the stream cancels it.
public final class MCPHTTPTransport: MCPTransport {
    /// How messages are carried.
    public enum Form: String, Sendable {
        /// By one address for everything, since 2025-03-26.
        case streamable
        /// By a stream of events that names another address for messages, in 2024-11-05.
        case events
    }

    /// What became of a request.
    private enum Outcome: Sendable {
        case over
        case failed(RPCFailure)
        /// The handshake was refused in a way that a server of the older transport would refuse it.
        case older(RPCFailure)
    }

    /// A request that is not answered yet.
    private struct Post {
        let isModern: Bool
        let isHandshake: Bool
        /// Carries it, and is cancelled when nobody waits for the answer any more. `run` waits for it.
        let task: Task<Void, Never>
    }

    private struct State {
        /// What both sides have agreed on.
        var version: MCPVersion?
        var session = HTTPSession(nil)
        /// By the names of their tools.
        var marks: [String: HeaderMarks] = [:]
        var posts: [RPCID: Post] = [:]
        /// The older transport, when it is in use.
        var older: MCPEventTransport?
    }

    private let caller: HTTPCaller
    private let limits: MCPHTTPLimits
    private let outbox: Outbox
    /// Whether a refused handshake may mean that the server knows only the older transport.
    private let triesOlder: Bool
    private let state = Mutex(State())

    init(_ caller: HTTPCaller, form: Form?) {
        self.caller = caller
        triesOlder = form == nil
        limits = caller.limits
        outbox = Outbox(messages: caller.limits.messages, bytes: caller.limits.outgoing)
        if form == .events { state.withLock { $0.older = MCPEventTransport(caller) } }
    }

    /// How messages are carried now. It is known when the server has said who it is, and can be remembered for the next
    /// time.
    public var form: Form { older == nil ? .streamable : .events }

    /// Only the older transport has a connection whose end means something.
    public var isLasting: Bool { older != nil }

    private var older: MCPEventTransport? { state.withLock { $0.older } }

    // MARK: Life

    public func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        if let older { return try await older.run(receive) }
        await withDiscardingTaskGroup { group in
            // What follows the end of the handshake waits until the server has taken that.
            var gate: Promise<Void>?
            while let items = await outbox.next() {
                for item in items { take(item, &gate, &group, receive) }
            }
            group.cancelAll()
            await endPosts()
        }
        await leave()
        if let failure = outbox.failure { throw failure }
        try Task.checkCancellation()
    }

    private func endPosts() async {
        let tasks = state.withLock { $0.posts.values.map(\.task) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    public func send(_ message: RPCMessage) throws(RPCFailure) {
        if let older { try older.send(message) } else { try outbox.add(message) }
    }

    public func close() {
        outbox.close()
        older?.close()
    }

    /// Ends the session, so that the server need not keep it.
    private func leave() async {
        let (session, version) = state.withLock { ($0.session, $0.version) }
        guard session.id != nil, !session.end.isSettled else { return }
        session.end.settle(())
        do {
            try await shielded { [caller, limits] in
                _ = try await withTimeLimit(limits.farewell, on: ContinuousClock()) {
                    let answer = try await caller.open(
                        .delete, caller.url, session.headers(version), patience: limits.farewell, mayAsk: false)
                    try await caller.finish(answer)
                }
            }
        } catch {
            // A server may refuse this, and ends the session by itself then.
        }
    }

    // MARK: What is agreed on

    public func settle(on version: MCPVersion) { state.withLock { $0.version = version } }

    public func forget() {
        let session = state.withLock { state in
            defer { (state.session, state.version) = (HTTPSession(nil), nil) }
            return state.session
        }
        session.end.settle(())
    }

    public func learn(_ tools: [MCPTool], tell: (String) -> Void) -> [MCPTool] {
        guard state.withLock({ $0.version?.isModern }) == true else { return tools }
        var marks: [String: HeaderMarks] = [:]
        let usable = tools.filter { tool in
            do throws(MCPMalformed) {
                let found = try HeaderMarks(tool.input)
                if !found.marks.isEmpty { marks[tool.name] = found }
                return true
            } catch {
                tell("the tool \(PlainText.escape(tool.name)) cannot be called: \(PlainText.escape(error.reason))")
                return false
            }
        }
        state.withLock { $0.marks = marks }
        return usable
    }

    // MARK: Messages

    private func take(
        _ item: Outbox.Item, _ gate: inout Promise<Void>?, _ group: inout DiscardingTaskGroup,
        _ receive: @escaping @Sendable (RPCEvent) -> Void
    ) {
        switch item.message {
        case .request(let request):
            // Under the lock, since the task removes its entry. A task of the group could not be cancelled alone, unless
            // another one waited beside it, which would cost as much as the rest of a call.
            state.withLock { [gate] state in
                state.posts[request.id] = Post(
                    isModern: request.modernVersion != nil, isHandshake: request.method == "initialize",
                    task: Task { await self.carry(request, item, after: gate, receive) })
            }
        case .notification(let notification) where notification.method == RPCConventions.mcp.cancellation?.method:
            cancel(notification, item, gate, &group)
        case .notification(let notification) where notification.method == "notifications/initialized":
            let isTaken = Promise<Void>()
            gate = isTaken
            group.addTask {
                await self.post(item)
                isTaken.settle(())
                await self.listen(receive)
            }
        case .notification, .response:
            group.addTask { [gate] in await self.post(item, after: gate) }
        }
    }

    /// Ends a request that nobody waits for. In the modern era the end of its stream says so; in the legacy era a cut
    /// stream means nothing, so the server is told.
    private func cancel(
        _ notification: RPCNotification, _ item: Outbox.Item, _ gate: Promise<Void>?, _ group: inout DiscardingTaskGroup
    ) {
        let id = notification.params?["requestId"].flatMap(RPCID.init)
        guard let post = id.flatMap({ id in state.withLock { $0.posts[id] } }) else { return outbox.done(item) }
        guard !post.isModern, !post.isHandshake else {
            post.task.cancel()
            return outbox.done(item)
        }
        group.addTask {
            await self.post(item, after: gate)
            post.task.cancel()
        }
    }

    /// Sends a message that is not answered.
    private func post(_ item: Outbox.Item, after gate: Promise<Void>? = nil) async {
        defer { outbox.done(item) }
        let (session, version) = state.withLock { ($0.session, $0.version) }
        do {
            try await gate?.value()
            let answer = try await caller.open(
                .post, caller.url, Self.common.merging(session.headers(version)), body: item.body,
                patience: limits.acceptance)
            if answer.status == .notFound { session.end.settle(()) }
            try await caller.finish(answer)
        } catch {
            // The next request that depends on it fails with the reason.
        }
    }

    private static let common: HTTPHeaders = [
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
    ]

    // MARK: Requests

    private func carry(
        _ request: RPCRequest, _ item: Outbox.Item, after gate: Promise<Void>?,
        _ receive: @escaping @Sendable (RPCEvent) -> Void
    ) async {
        defer { state.withLock { _ = $0.posts.removeValue(forKey: request.id) } }
        let outcome: Outcome
        do {
            try await gate?.value()
            outcome = try await exchange(request, item, receive)
        } catch {
            outcome = Task.isCancelled ? .over : .failed(RPCFailure(exchange: error))
        }
        outbox.done(item)
        switch outcome {
        case .over: break
        case .failed(let failure): receive(.failed(request.id, failure))
        case .older(let refusal): await useOlder(request, refusal, receive)
        }
    }

    private func exchange(
        _ request: RPCRequest, _ item: Outbox.Item, _ receive: @escaping @Sendable (RPCEvent) -> Void
    ) async throws -> Outcome {
        let (session, version) = state.withLock { ($0.session, $0.version) }
        let headers = Self.common.merging(
            request.modernVersion.map { modernHeaders(request, $0) }
                ?? (request.method == "initialize" ? [:] : session.headers(version)))
        let exchange = try await caller.open(.post, caller.url, headers, body: item.body) { waits in
            receive(.waits(request.id, waits))
        }
        var answer = RequestAnswer(to: request, receive) { (_) throws(RPCFailure) in
            if request.method == "initialize" { try self.begin(exchange.headers) }
        }
        guard exchange.status.isSuccess else {
            return try await refused(request, exchange, session, &answer)
        }
        switch exchange.mediaType {
        case "application/json":
            try answer.take(try await exchange.collect(limit: limits.message))
            guard answer.isDone else { throw RPCFailure(.malformed, "what it sent is no answer to this request") }
        case "text/event-stream":
            let isLegacy = request.modernVersion == nil
            try await follow(exchange, resumedIn: isLegacy ? (session, version) : nil, &answer)
        case "" where exchange.status != .ok:
            throw RPCFailure(.malformed, "it took the request without an answer, by \(exchange.status)")
        case let other:
            let type = other.isEmpty ? "no type" : "the type \(PlainText.escape(other, limit: 80))"
            throw RPCFailure(.malformed, "it sent \(type) instead of JSON or events; check the address")
        }
        return .over
    }

    private func begin(_ headers: HTTPHeaders) throws(RPCFailure) {
        let session = try HTTPSession(headers)
        state.withLock { $0.session = session }
    }

    private func modernHeaders(_ request: RPCRequest, _ version: String) -> HTTPHeaders {
        var headers: HTTPHeaders = [
            "MCP-Protocol-Version": HeaderValue.encode(version), "Mcp-Method": HeaderValue.encode(request.method),
        ]
        let name =
            switch request.method {
            case "tools/call", "prompts/get": request.params?["name"]?.string
            case "resources/read": request.params?["uri"]?.string
            case "tasks/get", "tasks/update", "tasks/cancel": request.params?["taskId"]?.string
            default: String?.none
            }
        headers["Mcp-Name"] = name.map { HeaderValue.encode($0) }
        if request.method == "tools/call", let name, let marks = state.withLock({ $0.marks[name] }) {
            for (name, value) in marks.headers(for: request.params?["arguments"]) { headers.append(name, value) }
        }
        return headers
    }

    /// What a status other than success means.
    private func refused(
        _ request: RPCRequest, _ exchange: HTTPExchange, _ session: HTTPSession, _ answer: inout RequestAnswer
    ) async throws -> Outcome {
        let text = try await caller.explanation(of: exchange)
        let refusal = caller.refusal(exchange.status, text)
        if refusal.kind == .denied { return .failed(refusal) }
        let error = Self.error(in: text)
        let isModern = error.map { MCPError.Code.modern.contains($0.code) } == true
        if triesOlder, request.method == "initialize", [400, 404, 405].contains(exchange.status.code), !isModern {
            return .older(error.map { RPCFailure(.refused, refusal.message, error: $0) } ?? refusal)
        }
        if request.modernVersion == nil, session.id != nil, exchange.status == .notFound,
            error?.code != RPCError.methodNotFound
        {
            session.end.settle(())
            return .failed(RPCFailure(.forgotten, "it no longer knows the session"))
        }
        guard error != nil else { return .failed(refusal) }
        return try answer.take(text) ? .over : .failed(refusal)
    }

    /// The error of JSON-RPC in the body of a refusal, if it is one. Other errors have texts in the same member.
    private static func error(in text: [UInt8]) -> RPCError? {
        do throws(JSONError) {
            let error = try JSON(parsing: text, reading: .stream)["error"]
            guard let code = error?["code"]?.int else { return nil }
            return RPCError(code, error?["message"]?.string ?? "", data: error?["data"])
        } catch {
            return nil
        }
    }

    // MARK: Streams

    /// Reads a stream until the request is answered. One that ends before that is resumed, if the server has said how.
    private func follow(
        _ first: HTTPExchange, resumedIn session: (HTTPSession, MCPVersion?)?, _ answer: inout RequestAnswer
    ) async throws {
        var place = StreamPlace(limits)
        var exchange: HTTPExchange? = first
        var reason = RPCFailure(.closed, "it ended the stream of the answer before the answer had come")
        while true {
            do {
                if let exchange, try await place.read(exchange, by: caller, { try answer.take($0) }) {
                    return try await caller.finish(exchange)
                }
            } catch let error as HTTPError where error.isCut {
                reason = RPCFailure(exchange: error)
            }
            guard let (session, version) = session, !place.lastEventID.isEmpty, place.failures < limits.attempts else {
                throw reason
            }
            try await ContinuousClock().sleep(for: place.pause)
            do {
                exchange = try await resume(session, version, after: place.lastEventID)
            } catch let error as HTTPError where error.isCut {
                place.fail()
                (exchange, reason) = (nil, RPCFailure(exchange: error))
            }
        }
    }

    private func resume(
        _ session: HTTPSession, _ version: MCPVersion?, after lastEventID: String
    ) async throws -> HTTPExchange {
        let exchange = try await open(session, version, after: lastEventID)
        guard exchange.status.isSuccess, exchange.hasEvents else {
            if exchange.status == .notFound { session.end.settle(()) }
            let status = exchange.status
            throw RPCFailure(.closed, "the stream of the answer was cut, and resuming it was refused by \(status)")
        }
        return exchange
    }

    private func open(_ session: HTTPSession, _ version: MCPVersion?, after lastEventID: String) async throws
        -> HTTPExchange
    {
        var headers = session.headers(version)
        headers["Accept"] = "text/event-stream"
        headers["Cache-Control"] = "no-store"
        if !lastEventID.isEmpty { headers["Last-Event-ID"] = lastEventID }
        return try await caller.open(.get, caller.url, headers)
    }

    /// Reads what belongs to no request, for as long as the session lasts.
    private func listen(_ receive: @escaping @Sendable (RPCEvent) -> Void) async {
        let (session, version) = state.withLock { ($0.session, $0.version) }
        // A server without sessions has nobody to send it to.
        guard session.id != nil else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await self.listen(in: session, version, receive) } catch {
                    // What comes on this stream is never needed for an answer.
                }
            }
            group.addTask {
                do { try await session.end.value() } catch {
                    // The transport is over.
                }
            }
            defer { group.cancelAll() }
            await group.next()
        }
    }

    private func listen(
        in session: HTTPSession, _ version: MCPVersion?, _ receive: @escaping @Sendable (RPCEvent) -> Void
    ) async throws {
        var place = StreamPlace(limits)
        while true {
            do {
                let exchange = try await open(session, version, after: place.lastEventID)
                switch exchange.status.code {
                case 200 where exchange.hasEvents:
                    _ = try await place.read(exchange, by: caller) { text in
                        for part in RPCBody(text).parts { receive(RPCEvent(part)) }
                        return false
                    }
                case 429, 500...599: place.fail()
                // Such as 405, by which a server says that it has no such stream.
                default: return try await caller.finish(exchange)
                }
            } catch let error as HTTPError where error.isCut {
                place.fail()
            }
            try await ContinuousClock().sleep(for: place.pause)
        }
    }

    // MARK: The older transport

    /// Shakes hands by the older transport, and uses it from then on if the server knows it.
    private func useOlder(
        _ request: RPCRequest, _ refusal: RPCFailure, _ receive: @escaping @Sendable (RPCEvent) -> Void
    ) async {
        let older = MCPEventTransport(caller)
        do {
            try older.send(.request(request))
            state.withLock { $0.older = older }
            try await older.run(receive)
            outbox.close()
        } catch {
            if older.hasBegun { return outbox.close(because: error) }
            state.withLock { $0.older = nil }
            guard !Task.isCancelled else { return }
            if let error = refusal.error {
                receive(.message(.response(RPCResponse(request.id, .failure(error)))))
            } else {
                receive(.failed(request.id, refusal))
            }
        }
    }
}

extension HTTPError {
    /// Whether the way to the server failed, which may be better the next time.
    var isCut: Bool {
        let kinds: [Kind] = [
            .refused, .unreachable, .reset, .cut, .nameNotFound, .connectTimedOut, .firstByteTimedOut, .idleTimedOut,
            .proxy,
        ]
        return kinds.contains(kind)
    }
}

extension RPCEvent {
    init(_ part: RPCBody.Part) {
        switch part {
        case .message(let message): self = .message(message)
        case .malformed(let malformed): self = .malformed(malformed)
        }
    }
}

extension HTTPHeaders {
    /// These headers and others, which count where both have one.
    func merging(_ others: HTTPHeaders) -> HTTPHeaders {
        var all = self
        for (name, value) in others { all[name] = value }
        return all
    }
}
