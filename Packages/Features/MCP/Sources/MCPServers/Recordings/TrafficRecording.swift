import Capabilities
import JSON
import RPCKit

/// What a server said in a recording: each request of the client, with everything that the server sent because of it.
public struct TrafficRecording: Sendable {
    /// A request, and what followed it.
    struct Exchange: Sendable {
        let request: RPCRequest
        var steps: [Step] = []
    }

    /// Something that followed a request, in order.
    enum Step: Sendable, Hashable {
        /// The server sends this. An answer to the request gets the id of the new one.
        case send(RPCMessage)
        /// The server waits for the answer to its own request with this id.
        case wait(RPCID)
    }

    /// The name of the file, for messages.
    public let name: String
    private(set) var exchanges: [Exchange] = []

    /// The largest file that is read.
    public static let largest = 64 << 20

    /// Reads a file that `TrafficRecorder` wrote.
    public init(_ bytes: [UInt8], name: String) throws(ServerError) {
        self.name = name
        var reader = RecordingReader()
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) {
            do { try reader.take(try JSON(parsing: Array(line))) } catch {
                throw ServerError(
                    .badFile,
                    "line \(index + 1) of \(PlainText.escape(name)) is not one of a recording: \(Self.reason(error))")
            }
        }
        exchanges = reader.exchanges
        guard !exchanges.isEmpty else {
            throw ServerError(
                .badFile,
                "\(PlainText.escape(name)) is a recording without a request; 'martlet mcp test NAME --record FILE' makes one"
            )
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as JSONError: error.message
        case let error as RPCMalformed: error.error.message
        case let error as ValueError: "it \(error.message)"
        default: "\(error)"
        }
    }
}

/// Finds out which messages of a server belong to which request.
private struct RecordingReader {
    var exchanges: [TrafficRecording.Exchange] = []
    /// Requests without an answer, by their ids.
    private var open: [RPCID: Int] = [:]
    /// The requests during which the server has asked something, by the ids of its own requests.
    private var asked: [RPCID: Int] = [:]
    private var latest: Int?

    mutating func take(_ line: JSON) throws {
        if let message = line["sent"] {
            sent(try RPCMessage(message))
        } else if let message = line["received"] {
            received(try RPCMessage(message))
        } else if line["server"] != nil {
            // Another connection, whose ids begin again.
            (open, asked, latest) = ([:], [:], nil)
        } else if line["problem"] == nil {
            throw ValueError("has no message")
        }
    }

    private mutating func sent(_ message: RPCMessage) {
        switch message {
        case .request(let request):
            exchanges.append(TrafficRecording.Exchange(request: request))
            latest = exchanges.count - 1
            open[request.id] = latest
        case .response(let response):
            guard let id = response.id, let exchange = asked.removeValue(forKey: id) else { return }
            exchanges[exchange].steps.append(.wait(id))
        case .notification: break
        }
    }

    private mutating func received(_ message: RPCMessage) {
        var owner = latest
        switch message {
        case .response(let response): owner = response.id.flatMap { open.removeValue(forKey: $0) } ?? latest
        case .request(let request): asked[request.id] = latest
        case .notification(let notice):
            owner = open.values.first { refers(notice, to: exchanges[$0].request) } ?? latest
        }
        // What came before the first request answers none.
        if let owner { exchanges[owner].steps.append(.send(message)) }
    }

    /// Whether a notice is about a request: it has its token, or its id as the one of a subscription.
    private func refers(_ notice: RPCNotification, to request: RPCRequest) -> Bool {
        if let token = notice.params?["progressToken"] { return token == request.progressToken }
        if let id = notice.params?["_meta"]?[TrafficReplay.subscription] { return RPCID(id) == request.id }
        return false
    }
}

extension RPCRequest {
    /// The token by which a client knows signs of progress.
    var progressToken: JSON? { params?["_meta"]?["progressToken"]?.unlessNull }
}
