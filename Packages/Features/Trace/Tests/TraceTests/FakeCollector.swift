import Capabilities
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing
import TraceKit

/// A collector that answers as a test says, and keeps what it was sent.
struct FakeCollector {
    /// An answer.
    struct Answer: Sendable {
        var status = 200
        var headers: HTTPHeaders = [:]
        var body: [UInt8] = []

        static let ok = Answer()
        static let json: HTTPHeaders = ["Content-Type": "application/json"]

        static func status(_ status: Int, _ headers: HTTPHeaders = [:], _ text: String = "") -> Answer {
            Answer(status: status, headers: headers, body: Array(text.utf8))
        }
    }

    let server: ScriptedServer

    /// The address for the setting.
    var address: String { "http://127.0.0.1:\(server.port)" }

    /// The requests with spans that came, in order.
    var requests: [RecordedRequest] { requests(of: .traces) }

    /// The requests of a signal that came, in order.
    func requests(of signal: OTLPSignal) -> [RecordedRequest] {
        server.record.connections.flatMap(\.requests).filter { $0.target == "/v1/\(signal)" }
    }

    /// - Parameter answer: gets how many requests came before.
    static func run(
        _ answer: @escaping @Sendable (Int) -> Answer = { _ in .ok },
        during body: (FakeCollector) async throws -> Void
    ) async throws {
        let count = RequestCount()
        try await ScriptedServer.run { connection in
            while true {
                try connection.receiveRequest()
                let answer = answer(count.next())
                // An answer without a status is none.
                guard answer.status > 0 else { return try connection.send(answer.body) }
                var head = "HTTP/1.1 \(HTTPStatus(answer.status))\r\n"
                for field in answer.headers { head += "\(field.name): \(field.value)\r\n" }
                try connection.send(Array("\(head)Content-Length: \(answer.body.count)\r\n\r\n".utf8) + answer.body)
            }
        } during: { server in
            try await body(FakeCollector(server: server))
        }
    }

    /// The names of the spans of a request.
    static func names(_ request: RecordedRequest) throws -> [String] {
        try spans(request).map(\.name)
    }

    static func spans(_ request: RecordedRequest) throws -> [TraceSpan] {
        try received(request).groups.flatMap(\.spans)
    }

    static func received(_ request: RecordedRequest) throws -> ReceivedSpans {
        var body = request.body
        if request.headers["Content-Encoding"] == "gzip" { body = try Gzip.decompress(body, limit: 1 << 24) }
        let type = request.headers["Content-Type"]
        let encoding = try #require(OTLPEncoding.allCases.first { $0.contentType == type })
        let signal = try #require(OTLPSignal.allCases.first { request.target == "/v1/\($0)" })
        return try ReceivedSpans(parsing: body, of: signal, as: encoding)
    }

    /// The messages of all entries of the log that came.
    func messages() throws -> [String] {
        try requests(of: .logs).flatMap { try Self.received($0).groups.flatMap(\.logs).map(\.message) }
    }

    /// The names of all spans that came.
    func names() throws -> [String] { try requests.flatMap { try Self.names($0) } }
}

private final class RequestCount: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}
