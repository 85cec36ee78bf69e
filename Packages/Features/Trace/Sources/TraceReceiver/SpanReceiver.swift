public import Capabilities
import HTTPCore
public import HTTPServer
import JSON
import LoopKit
import Synchronization
import TraceKit
public import TraceStore

/// Takes spans, logs and metrics that other programs send by OTLP over HTTP, and stores them beside ours.
///
/// ```swift
/// let receiver = SpanReceiver(store, limits: .init(), without: redactor, now: now)
/// try await HTTPServer(try receiver.routes(), receiver.configuration(token: token)).run { print($0[0]) }
/// ```
public final class SpanReceiver: Sendable {
    /// How much is taken.
    public struct Limits: Sendable {
        /// The bytes of a request after its decompression: "receivers: limit a request to 64 MiB".
        public var request = 64 << 20
        /// The bytes of a span or an entry of the log as it is stored.
        public var span = 1 << 20
        /// The bytes of the attributes of a data point, and of who sends it, since they are kept as long as the series.
        public var series = 8 << 10
        /// The spans, entries and data points of a second.
        public var rate = 10_000
        /// After as many bytes, what is over the share is removed.
        public var unpruned = 4 << 20

        /// The usual limits.
        public init() {}
    }

    private let store: TraceStore
    private let limits: Limits
    private let redactor: Redactor
    private let rate: SpanRate
    private let state = Mutex((received: 0, unpruned: 0))
    /// Is told how many spans were received.
    private let tell: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - redactor: takes secrets out of what is stored.
    ///   - tell: is told how many spans were received so far.
    public init(
        _ store: TraceStore, limits: Limits = Limits(), without redactor: Redactor,
        now: @escaping @Sendable () -> Timestamp, telling tell: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.store, self.limits, self.redactor, self.tell) = (store, limits, redactor, tell)
        rate = SpanRate(limits.rate, now: now)
    }

    /// How many spans were received.
    public var received: Int { state.withLock { $0.received } }

    // MARK: The server

    /// A server on the loopback address, for senders with a token; nil for all.
    public func configuration(port: UInt16, token: Secret?) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.addresses = [.loopback(port: port)]
        // Large requests are held in memory, so that only a few are read at once. Others are told to come again.
        (configuration.limits.connections, configuration.limits.handlers) = (256, 4)
        configuration.limits.drain = .seconds(2)
        if let token {
            let sender = Principal("sender of traces", grant: .nobody)
            configuration.authenticate = { head in
                head.headers.bearerToken.map { Secret($0).equals(token) } == true ? sender : nil
            }
        }
        configuration.envelope = { report in
            ["code": .int(Self.code(report.status)), "message": .string(report.message)]
        }
        return configuration
    }

    /// The routes of OTLP.
    public func routes() throws -> Routes {
        try Routes(
            OTLPSignal.allCases.map { signal in
                Route(.post, "/v1/\(signal)", "take-\(signal)", "Take \(signal)") { [self] request -> HTTPAnswer in
                    await answer(to: request, with: signal)
                }.bodyLimit(ByteCount(limits.request))
            })
    }

    // MARK: One request

    private static func form(of request: ServerRequest) -> OTLPEncoding? {
        let type = request.headers["Content-Type"]?.prefix { $0 != ";" }.trimmingSpaces.lowercased()
        return OTLPEncoding.allCases.first { $0.contentType == type }
    }

    private func answer(to request: ServerRequest, with signal: OTLPSignal) async -> HTTPAnswer {
        guard let form = Self.form(of: request) else {
            let isRPC = request.headers["Content-Type"]?.lowercased().hasPrefix("application/grpc") == true
            return Self.refusal(
                HTTPStatus(415),
                isRPC
                    ? "gRPC is not supported here; OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf sends without it"
                    : "\(signal) come as application/x-protobuf or application/json", as: .json)
        }
        if let seconds = rate.wait() {
            return Self.refusal(
                .tooManyRequests,
                "more than \(limits.rate) spans, entries and data points a second (trace.received-rate)", as: form
            ).header("Retry-After", "\(seconds)")
        }
        do {
            let response = try await take(
                try await request.body.bytes(), of: signal, as: form, request.headers)
            var bytes: [UInt8] = []
            response.write(as: form, into: &bytes)
            return .bytes(bytes, type: form.contentType)
        } catch {
            return Self.answer(to: error, as: form)
        }
    }

    private func take(
        _ body: [UInt8], of signal: OTLPSignal, as form: OTLPEncoding, _ headers: HTTPHeaders
    ) async throws -> OTLPResponse {
        let encoding = headers["Content-Encoding"]?.trimmingSpaces.lowercased() ?? "identity"
        guard ["gzip", "identity"].contains(encoding) else {
            throw RequestProblem(
                HTTPStatus(415), code: "trace.compression", "bodies are in gzip or not compressed, not in others")
        }
        let read = { @Sendable [self] in
            Result {
                let bytes = encoding == "gzip" ? try Gzip.decompress(body, limit: limits.request) : body
                return Reading(
                    try ReceivedSpans(parsing: bytes, of: signal, as: form), within: limits, without: redactor)
            }
        }
        // What takes long would hold up those who share the thread.
        let isLarge = body.count > 16 << 10
        let reading = try isLarge ? await onOwnThread { read() }.get() : read().get()
        rate.take(reading.count)
        var (added, bytes) = try await store.add(received: reading.groups)
        if !reading.logs.isEmpty {
            bytes += try await store.add(receivedLogs: reading.logs)
            added += reading.logs.reduce(0) { $0 + $1.logs.count }
        }
        if !reading.metrics.isEmpty {
            bytes += try await store.add(receivedMetrics: reading.metrics)
            added += reading.metrics.reduce(0) { $0 + $1.metrics.count }
        }
        let (received, isDue) = state.withLock { [count = added, size = bytes] state in
            state.received += count
            state.unpruned += size
            defer { if state.unpruned >= limits.unpruned { state.unpruned = 0 } }
            return (state.received, state.unpruned >= limits.unpruned)
        }
        if added > 0 { tell(received) }
        if isDue { try await store.prune() }
        return reading.response
    }

    // MARK: Refusals

    private static func answer(to error: any Error, as form: OTLPEncoding) -> HTTPAnswer {
        switch error {
        case Gzip.Problem.tooLarge: refusal(.contentTooLarge, "the body is too large after its decompression", as: form)
        case Gzip.Problem.malformed: refusal(.badRequest, "the body is not gzip", as: form)
        case let error as TraceKitError:
            refusal(error.kind == .tooLarge ? .contentTooLarge : .badRequest, error.message, as: form)
        case let error as RequestProblem: refusal(error.status, error.message, as: form)
        case is CancellationError: refusal(.serviceUnavailable, "the receiver is ending", as: form)
        default:
            // Such as a full disk: nothing was stored, and there may be room later.
            refusal(.serviceUnavailable, "what was sent cannot be stored: \(AnyFailure(error).message)", as: form)
                .header("Retry-After", "30")
        }
    }

    private static func refusal(_ status: HTTPStatus, _ message: String, as form: OTLPEncoding) -> HTTPAnswer {
        var bytes: [UInt8] = []
        OTLPRefusal(code: code(status), message: message).write(as: form, into: &bytes)
        return .bytes(bytes, type: form.contentType, status: status)
    }

    /// The number of gRPC for a status.
    private static func code(_ status: HTTPStatus) -> Int {
        switch status.code {
        case 401: 16
        case 403, 421: 7
        case 404, 405, 501: 12
        case 413, 429: 8
        case 500: 13
        case 503: 14
        default: 3
        }
    }
}

/// The spans, entries and data points of a request as they are stored.
private struct Reading: Sendable {
    private(set) var groups: [(resource: JSONObject, spans: [TraceSpan])] = []
    private(set) var logs: [(resource: JSONObject, logs: [LogRecord])] = []
    private(set) var metrics: [(resource: JSONObject, metrics: [MetricPoint])] = []
    private(set) var count = 0
    private(set) var response: OTLPResponse

    init(_ received: ReceivedSpans, within limits: SpanReceiver.Limits, without redactor: Redactor) {
        var (tooLong, tooWide) = (0, 0)
        for group in received.groups {
            var spans: [TraceSpan] = []
            for span in group.spans {
                let clean = span.copy(without: redactor)
                var line: [UInt8] = []
                SpanLine.write(clean, into: &line)
                if line.count <= limits.span { spans.append(clean) } else { tooLong += 1 }
            }
            let entries = group.logs.compactMap { log -> LogRecord? in
                var clean = log.redacted(by: redactor)
                clean.scope = redactor.redact(log.scope)
                var line: [UInt8] = []
                LogLine.write(clean, into: &line)
                return line.count <= limits.span ? clean : nil
            }
            tooLong += group.logs.count - entries.count
            count += group.spans.count + group.logs.count + group.metrics.count
            let resource = redactor.redact(group.resource.attributes)
            let points = group.metrics.isEmpty ? [] : Self.points(group.metrics, of: resource, limits, redactor)
            tooWide += group.metrics.count - points.count
            if !points.isEmpty { metrics.append((resource, points)) }
            if !spans.isEmpty { groups.append((resource, spans)) }
            if !entries.isEmpty { logs.append((resource, entries)) }
        }
        response = received.response
        var reasons = response.message.isEmpty ? [] : [response.message]
        if tooLong > 0 { reasons.append("\(tooLong) are larger than \(ByteCount(limits.span).words)") }
        if tooWide > 0 {
            reasons.append("\(tooWide) with attributes or a resource larger than \(ByteCount(limits.series).words)")
        }
        response = OTLPResponse(
            to: received.signal, rejected: response.rejected + tooLong + tooWide,
            message: reasons.joined(separator: "; "))
    }

    /// The data points without secrets, but for those that say too much about what they belong to.
    private static func points(
        _ points: [MetricPoint], of resource: JSONObject, _ limits: SpanReceiver.Limits, _ redactor: Redactor
    ) -> [MetricPoint] {
        guard JSON.object(resource).text().utf8.count <= limits.series else { return [] }
        return points.compactMap { point in
            var clean = point
            (clean.name, clean.unit) = (redactor.redact(point.name), redactor.redact(point.unit))
            (clean.scope, clean.attributes) = (redactor.redact(point.scope), redactor.redact(point.attributes))
            return JSON.object(clean.attributes).text().utf8.count <= limits.series ? clean : nil
        }
    }
}

extension TraceSpan {
    /// The same without secrets.
    fileprivate func copy(without redactor: Redactor) -> TraceSpan {
        var copy = TraceSpan(
            name: redactor.redact(name), feature: redactor.redact(feature), context: context, parent: parent,
            start: start, duration: duration, attributes: redactor.redact(attributes),
            failure: failure.map { redactor.redact($0) })
        (copy.kind, copy.isParentRemote, copy.dropped) = (kind, isParentRemote, dropped)
        copy.events = events.map {
            Event(name: redactor.redact($0.name), time: $0.time, attributes: redactor.redact($0.attributes))
        }
        copy.links = links.map { Link(to: $0.context, attributes: redactor.redact($0.attributes)) }
        return copy
    }
}
