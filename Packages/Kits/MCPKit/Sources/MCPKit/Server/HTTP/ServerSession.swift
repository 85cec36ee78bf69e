import Capabilities
import HTTPServer
import RPCKit
import Synchronization

/// A session of the legacy era: one conversation over many HTTP requests.
final class ServerSession: Sendable {
    private struct State {
        /// The HTTP requests that are being answered.
        var open = 0
        var used = ContinuousClock.now
        var task: TaskOwner.Handle?
    }

    /// Its name, which nobody can guess.
    let id = RandomToken.make()
    /// Who began it; it is for nobody else.
    let principal: Principal?
    let streams: SessionStreams
    private let conversation: MCPConversation
    private let state = Mutex(State())

    init(_ server: MCPServer, _ principal: Principal?, keeping bytes: Int) {
        self.principal = principal
        let streams = SessionStreams(keeping: bytes)
        self.streams = streams
        conversation = MCPConversation(
            server, over: streams, as: principal, asksAtOnce: false, unanswered: { streams.drop($0) })
    }

    /// The revision that was agreed on; nil if none was.
    var version: MCPVersion? { conversation.version }

    /// Starts it; false if the owner is over.
    func start(in owner: TaskOwner) -> Bool {
        let handle = owner.start { [conversation, streams] in
            do { try await conversation.run() } catch {
                // It ends when its server ends it, and nobody else waits for the reason.
            }
            streams.finish()
        }
        state.withLock { $0.task = handle }
        return handle != nil
    }

    /// Ends it: its requests are cancelled, its streams end.
    func end() { streams.close() }

    // MARK: Use

    /// An HTTP request uses it.
    func enter() {
        state.withLock { state in
            state.open += 1
            state.used = .now
        }
    }

    /// The HTTP request is over.
    func leave() {
        state.withLock { state in
            state.open -= 1
            state.used = .now
        }
    }

    /// When it was used last; nil while it is.
    var idleSince: ContinuousClock.Instant? {
        let isBusy = streams.isBusy
        return state.withLock { $0.open == 0 && !isBusy ? $0.used : nil }
    }
}

/// The messages of a session, in the HTTP responses that they belong to.
final class SessionStreams: RPCTransport {
    private struct State {
        var receive: (@Sendable (RPCEvent) -> Void)?
        /// All streams that are kept, the oldest first.
        var streams: [ServerStream] = []
        /// The streams of the requests that are being answered.
        var byRequest: [RPCID: ServerStream] = [:]
        var next = 1
        var isClosed = false
    }

    /// The finished streams that are kept for clients that come back.
    private static let mostFinished = 32

    /// What belongs to no request.
    let main: ServerStream
    private let mostBytes: Int
    private let state = Mutex(State())
    private let started = Promise<Void>()
    private let ended = Promise<Void>()

    init(keeping bytes: Int) {
        mostBytes = bytes
        main = ServerStream(number: 0, keeping: bytes)
    }

    // MARK: For the connection

    func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        state.withLock { $0.receive = receive }
        started.settle(())
        defer { state.withLock { $0.receive = nil } }
        try await ended.value()
    }

    func send(_ message: RPCMessage) throws(RPCFailure) {
        let (stream, isClosed) = state.withLock { state -> (ServerStream?, Bool) in
            if case .response(let response) = message {
                return (response.id.flatMap { state.byRequest[$0] }, state.isClosed)
            }
            return (RelatedRequest.id.flatMap { state.byRequest[$0] } ?? main, state.isClosed)
        }
        if isClosed { throw RPCFailure(.closed, "the session has ended") }
        stream?.append(message)
        if case .response(let response) = message, let id = response.id { drop(id) }
    }

    /// A request is over. Its stream ends with the last request of it.
    func drop(_ id: RPCID) {
        let stream = state.withLock { state -> ServerStream? in
            guard let stream = state.byRequest.removeValue(forKey: id),
                !state.byRequest.values.contains(where: { $0 === stream })
            else { return nil }
            return stream
        }
        guard let stream else { return }
        stream.finish()
        trim()
    }

    /// Forgets the oldest finished streams if there are too many.
    private func trim() {
        state.withLock { state in
            var finished = state.streams.filter(\.isFinished)
            var bytes = finished.reduce(0) { $0 + $1.size }
            while finished.count > Self.mostFinished || bytes > mostBytes && finished.count > 1 {
                let oldest = finished.removeFirst()
                bytes -= oldest.size
                state.streams.removeAll { $0 === oldest }
            }
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        ended.settle(())
        started.settle(())
    }

    /// Ends all streams.
    func finish() {
        close()
        let streams = state.withLock { $0.streams }
        for stream in streams + [main] { stream.finish() }
    }

    // MARK: For HTTP requests

    /// Whether requests are being answered.
    var isBusy: Bool { state.withLock { !$0.byRequest.isEmpty } }

    /// A stream for the answers to these requests; nil if one of them is being answered already.
    func open(for ids: [RPCID]) -> ServerStream? {
        state.withLock { state in
            guard Set(ids).count == ids.count, !ids.contains(where: { state.byRequest[$0] != nil }) else { return nil }
            let stream = ServerStream(number: state.next, keeping: mostBytes)
            state.next += 1
            state.streams.append(stream)
            for id in ids { state.byRequest[id] = stream }
            if state.isClosed { stream.finish() }
            return stream
        }
    }

    /// Hands over what the client has sent.
    func deliver(_ messages: [RPCMessage]) async throws {
        try await started.value()
        let receive = state.withLock { $0.receive }
        for message in messages { receive?(.message(message)) }
    }

    /// The stream, and the event in it, after which a client goes on.
    func place(of lastEventID: String) -> (stream: ServerStream, number: Int)? {
        let parts = lastEventID.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let stream = Int(parts[0]), let number = Int(parts[1]), number >= 0 else { return nil }
        if stream == 0 { return (main, number) }
        return state.withLock { state in
            state.streams.first { $0.number == stream }.map { ($0, number) }
        }
    }
}
