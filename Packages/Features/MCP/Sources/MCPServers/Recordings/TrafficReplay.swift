import Capabilities
import JSON
public import RPCKit
import Synchronization

/// A server that says what another one said in a recording.
///
/// The same requests in the same order get the same answers each time, at once. A request that occurs several times gets the
/// recorded answers in their order, and then the last one again. A request that was not answered is not answered here either.
public struct TrafficReplay: Sendable {
    private let recording: TrafficRecording
    /// The exchanges that were replayed.
    private var used: Set<Int> = []
    /// What goes on once the client has answered a request of the server, by the ids that are used here.
    private var waiting: [RPCID: Script] = [:]
    private var lastID = 0

    static let subscription = "io.modelcontextprotocol/subscriptionId"
    /// The requests whose parameters say who the client is, and nothing that decides the answer.
    private static let greetings: Set<String> = ["initialize", "server/discover"]

    /// What is left of an exchange.
    private struct Script {
        let recorded: RPCRequest
        let request: RPCRequest
        var steps: ArraySlice<TrafficRecording.Step>
        /// The ids that the server's own requests have here, by those that they had.
        var ids: [RPCID: RPCID] = [:]
    }

    /// A server that nobody has asked yet.
    public init(_ recording: TrafficRecording) {
        self.recording = recording
    }

    /// Answers over a transport until the client ends it.
    public func serve(over transport: any RPCTransport) async throws {
        let state = Mutex(self)
        try await transport.run { event in
            let answers: [RPCMessage]
            switch event {
            case .message(let message): answers = state.withLock { $0.received(message) }
            case .malformed(let malformed) where !malformed.isResponse:
                answers = [.response(RPCResponse(malformed.id, .failure(malformed.error)))]
            case .malformed, .failed, .waits: answers = []
            }
            for answer in answers {
                do throws(RPCFailure) { try transport.send(answer) } catch {
                    // The client is gone, which ends the transport too.
                    return
                }
            }
        }
    }

    /// What the server sends when a message has come.
    mutating func received(_ message: RPCMessage) -> [RPCMessage] {
        switch message {
        case .request(let request):
            guard let index = exchange(for: request) else {
                return [.response(RPCResponse(request.id, answer(to: request)))]
            }
            used.insert(index)
            let exchange = recording.exchanges[index]
            return play(Script(recorded: exchange.request, request: request, steps: exchange.steps[...]))
        case .response(let response):
            guard let id = response.id, let script = waiting.removeValue(forKey: id) else { return [] }
            return play(script)
        case .notification: return []
        }
    }

    private mutating func play(_ script: Script) -> [RPCMessage] {
        var (script, messages): (Script, [RPCMessage]) = (script, [])
        while let step = script.steps.popFirst() {
            switch step {
            case .send(let message): messages.append(renewed(message, &script))
            case .wait(let id):
                guard let own = script.ids[id] else { continue }
                waiting[own] = script
                return messages
            }
        }
        return messages
    }

    /// A message with the ids and tokens of the request that is answered now.
    private mutating func renewed(_ message: RPCMessage, _ script: inout Script) -> RPCMessage {
        switch message {
        case .response(let response) where response.id == script.recorded.id:
            return .response(RPCResponse(script.request.id, response.result))
        case .response: return message
        case .request(let request):
            lastID += 1
            let id = RPCID(lastID)
            script.ids[request.id] = id
            return .request(RPCRequest(id, request.method, request.params))
        case .notification(let notice):
            guard var params = notice.params?.object else { return message }
            if params["progressToken"] != nil { params["progressToken"] = script.request.progressToken }
            if var meta = params["_meta"]?.object, meta[Self.subscription] != nil {
                meta[Self.subscription] = script.request.id.json
                params["_meta"] = .object(meta)
            }
            return .notification(RPCNotification(notice.method, .object(params)))
        }
    }

    // MARK: Which exchange

    /// The recorded exchange for a request: the first that was not used, or the last if all were.
    private func exchange(for request: RPCRequest) -> Int? {
        var found: Int?
        for (index, exchange) in recording.exchanges.enumerated() where Self.isSame(request, exchange.request) {
            found = index
            if !used.contains(index) { return index }
        }
        return found
    }

    private static func isSame(_ request: RPCRequest, _ recorded: RPCRequest) -> Bool {
        guard request.method == recorded.method else { return false }
        if greetings.contains(request.method) { return true }
        return SecretMembers.fits(plain(request.params), recorded: plain(recorded.params))
    }

    /// The parameters without what only concerns the connection.
    private static func plain(_ params: JSON?) -> JSON {
        guard var object = params?.object else { return params ?? [:] }
        object["_meta"] = nil
        return .object(object)
    }

    /// The answer to what the recording does not have.
    private func answer(to request: RPCRequest) -> Result<JSON, RPCError> {
        // A client may ask at any time whether the server is there.
        if request.method == "ping" { return .success([:]) }
        let method = PlainText.escape(request.method)
        let file = PlainText.escape(recording.name)
        guard recording.exchanges.contains(where: { $0.request.method == request.method }) else {
            return .failure(RPCError(RPCError.methodNotFound, "the recording \(file) has no \(method)"))
        }
        return .failure(
            RPCError(RPCError.invalidParams, "the recording \(file) has no \(method) with these parameters"))
    }
}
