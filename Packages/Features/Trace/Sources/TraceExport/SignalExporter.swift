public import Capabilities
public import HTTPClient
import HTTPCore
import JSON
import Synchronization
import TraceKit

/// What became of what a collector was sent.
public struct ExportOutcome: Sendable, Hashable {
    /// How many it was sent, at least once.
    public var count = 0
    /// How many of them it has refused for good.
    public var refused = 0
    /// What it said, or why it refused them; nil if it said nothing.
    public var message: String?

    /// Nothing was sent yet.
    public init(count: Int = 0, refused: Int = 0, message: String? = nil) {
        (self.count, self.refused, self.message) = (count, refused, message)
    }
}

/// Sends spans, entries of the log or metrics to a collector: OTLP over HTTP.
///
/// ```swift
/// let exporter = SignalExporter<StoredSpan>(Collector(at: "http://localhost:4318"), client: client, headers: [])
/// try await exporter.send(spans) { spans, outcome in print("\(outcome.count) were sent") }
/// ```
///
/// What a collector refuses is refused for good, as the protocol says, unless it asks to try again: "The client MUST NOT retry
/// … when it receives a partial success response", and of the errors only 429, 502, 503 and 504 are worth a retry.
public final class SignalExporter<Item: ExportItem>: Sendable {
    /// The collector.
    public let collector: Collector
    private let client: HTTPClient
    private let headers: [(name: String, value: Secret)]
    private let state: Mutex<State>

    private struct State {
        var encoding: OTLPEncoding
        /// Whether the collector has refused the other form.
        var hasSwitched = false
        /// As many as the collector takes in a request, as far as that is known.
        var batch = Collector.batch
    }

    /// The largest answer that is read: "senders: limit the reply to 4 MiB".
    private static var largestAnswer: Int { 4 << 20 }
    private let largestRequest: Int

    /// - Parameters:
    ///   - headers: the lines that each request has besides.
    ///   - largestRequest: with more bytes before its compression, a request is sent in parts.
    public init(
        _ collector: Collector, client: HTTPClient, headers: [(name: String, value: Secret)],
        largestRequest: Int = 8 << 20
    ) {
        (self.collector, self.client, self.headers) = (collector, client, headers)
        self.largestRequest = largestRequest
        state = Mutex(State(encoding: collector.encoding))
    }

    /// Sends items, in as many requests as are needed.
    ///
    /// - Parameters:
    ///   - retries: when a request is sent again before this gives up.
    ///   - done: gets the items of each request that was answered for good, with what became of them.
    /// - Throws: a `TraceExportError` if the collector cannot be reached or asks to wait, and what `done` throws. The items
    ///   that were not passed to it can be sent later.
    public func send(
        _ items: [Item], retries: RetryPolicy = .none,
        done: ([Item], ExportOutcome) async throws -> Void
    ) async throws {
        let url = try address()
        var rest = items[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            let part = Array(rest.prefix(state.withLock { $0.batch }))
            let encoding = state.withLock { $0.encoding }
            let body = Item.request(with: part, as: encoding)
            guard body.count <= largestRequest || part.count == 1 else {
                state.withLock { $0.batch = max(1, part.count / 2) }
                continue
            }
            switch try await post(body, as: encoding, to: url, retries) {
            case .done(let refusal, let message):
                rest = rest.dropFirst(part.count)
                let count = part.reduce(0) { $0 + $1.count }
                try await done(
                    part, ExportOutcome(count: count, refused: min(count, refusal ?? count), message: message))
            case .otherForm:
                state.withLock { state in
                    (state.encoding, state.hasSwitched) = (encoding == .json ? .protobuf : .json, true)
                }
            case .smaller where part.count > 1: state.withLock { $0.batch = max(1, part.count / 2) }
            case .smaller:
                rest = rest.dropFirst()
                let (count, message) = (part[0].count, "\(Item.signal.thing) is too large for \(url.server)")
                try await done(part, ExportOutcome(count: count, refused: count, message: message))
            }
        }
    }

    private func address() throws(TraceExportError) -> HTTPURL {
        do throws(HTTPError) { return try HTTPURL(collector.address) } catch {
            throw TraceExportError(
                .configuration, "the address of the collector cannot be used: \(error.message)", cause: error)
        }
    }

    // MARK: One request

    private enum Answer {
        /// It will not be sent again. How many were refused, nil for all, and why.
        case done(refused: Int?, message: String?)
        /// The form is not known to the collector.
        case otherForm
        /// There was too much in it.
        case smaller
    }

    private func post(
        _ body: [UInt8], as encoding: OTLPEncoding, to url: HTTPURL, _ retries: RetryPolicy
    ) async throws -> Answer {
        var request = HTTPRequest(.post, url, body: .bytes(body))
        for (name, value) in headers { value.withText { request.headers[name] = $0 } }
        request.headers["Content-Type"] = encoding.contentType
        request.headers["Content-Encoding"] = nil
        request.compressesBody = collector.compresses
        // Nothing goes anywhere else than where it was meant to go.
        request.redirects = .none
        request.limits.connect = min(request.limits.connect, collector.timeout)
        request.limits.firstByte = collector.timeout
        request.limits.total = collector.timeout
        request.limits.body = Self.largestAnswer
        request.retry = retries
        request.retry.statuses = Self.temporary
        request.retry.kinds.insert(.totalTimedOut)
        // Spans have ids and totals replace each other, so that what comes twice does little harm.
        if retries.attempts > 1 { request.idempotencyKey = "\(BatchID())" }
        let answer: HTTPResponse
        do { answer = try await client.send(request) } catch let error as HTTPError
            where error.kind == .tooLarge
        {
            // It was taken, or at least read.
            return .done(refused: 0, message: "\(url.server) has answered with more than \(Self.largestAnswer) bytes")
        } catch let error as HTTPError where error.kind != .notPermitted && error.kind != .invalid {
            throw TraceExportError(.unreachable, error.message, retryAfter: error.retryAfter, cause: error)
        }
        return try judge(answer, encoding, url)
    }

    private static var temporary: Set<HTTPStatus> {
        [.tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout]
    }

    private func judge(_ answer: HTTPResponse, _ encoding: OTLPEncoding, _ url: HTTPURL) throws -> Answer {
        if answer.status.isSuccess { return Self.success(answer, encoding, url) }
        if answer.status.code == 415, !state.withLock({ $0.hasSwitched }) { return .otherForm }
        if answer.status == .contentTooLarge { return .smaller }
        let reason = Self.reason(answer).map { ": \($0)" } ?? ""
        let message = "\(url.server) has answered \(answer.status)\(reason)"
        guard Self.temporary.contains(answer.status) else {
            return .done(refused: nil, message: message)
        }
        var wait: Duration?
        do throws(HTTPError) { _ = try answer.requireSuccess() } catch { wait = error.retryAfter }
        throw TraceExportError(.unreachable, message, retryAfter: wait)
    }

    private static func success(_ answer: HTTPResponse, _ encoding: OTLPEncoding, _ url: HTTPURL) -> Answer {
        // Some answer 200 without a body, or with a text of a proxy. Either way it was taken.
        guard !answer.body.isEmpty else { return .done(refused: 0, message: nil) }
        let type = answer.headers["Content-Type"]?.prefix { $0 != ";" }.lowercased()
        let form = OTLPEncoding.allCases.first { $0.contentType == type } ?? encoding
        do {
            let response = try OTLPResponse(parsing: answer.body, to: Item.signal, as: form)
            let message = response.message.isEmpty ? nil : "\(url.server) says: \(shown(response.message))"
            return .done(
                refused: response.rejected,
                message: message ?? (response.rejected > 0 ? "\(url.server) does not say why" : nil))
        } catch {
            return .done(
                refused: 0, message: "\(url.server) has taken \(Item.signal.things), but its answer cannot be read")
        }
    }

    /// What an error says in its body.
    private static func reason(_ answer: HTTPResponse) -> String? {
        let type = answer.headers["Content-Type"]?.prefix { $0 != ";" }.lowercased() ?? ""
        if let form = OTLPEncoding.allCases.first(where: { $0.contentType == type }) {
            do {
                let text = try OTLPRefusal(parsing: answer.body, as: form).message
                return text.isEmpty ? nil : shown(text)
            } catch {
                return nil
            }
        }
        guard type == "text/plain", let text = String(validating: answer.body, as: UTF8.self) else { return nil }
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return line.isEmpty ? nil : shown(line)
    }

    private static func shown(_ text: String) -> String { PlainText.escape(text, limit: 300) }
}

/// A number for a request that may be sent again.
private struct BatchID: CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    init() {
        var generator = SystemRandomNumberGenerator()
        (high, low) = (generator.next(), generator.next())
    }

    var description: String { Hexadecimal.digits(of: high) + Hexadecimal.digits(of: low) }
}
