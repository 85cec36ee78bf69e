import Capabilities
import HTTPClient
import HTTPCore
import RPCKit

/// Sends the HTTP requests of one server, with its headers and its credential, and to nobody else: a redirect is followed
/// only within its origin.
struct HTTPCaller: Sendable {
    let client: HTTPClient
    let url: HTTPURL
    let headers: HTTPHeaders
    let signIn: (any ResourceSignIn)?
    let limits: MCPHTTPLimits

    /// Longer than any call may take, since each has a limit of its own.
    private static let unlimited = Duration.seconds(86_400)

    /// Sends a request and returns when the head of the answer is there, whatever its status.
    ///
    /// - Parameters:
    ///   - url: of the same origin as the server.
    ///   - patience: how long the answer may take to begin; nil for as long as it likes.
    ///   - mayAsk: whether a refusal is reason enough to sign in.
    ///   - waits: is told when a person may be asked, and when that is over.
    nonisolated(nonsending) func open(
        _ method: HTTPMethod, _ url: HTTPURL, _ more: HTTPHeaders, body: [UInt8]? = nil,
        patience: Duration? = nil, mayAsk: Bool = true, waits: (Bool) -> Void = { _ in }
    ) async throws -> HTTPExchange {
        guard url.isSameOrigin(as: self.url) else { throw elsewhere(url.text) }
        var request = HTTPRequest(method, url, headers: headers)
        for (name, value) in more { request.headers[name] = value }
        if let body { request.body = .bytes(body) }
        request.limits.firstByte = patience ?? Self.unlimited
        request.limits.idle = nil
        request.redirects = .none
        request.retry = .none
        var (followed, wasAsked) = (0, false)
        while true {
            let (signed, head) = try await sign(request)
            let exchange = try await client.open(signed)
            if let target = try redirect(exchange, of: request) {
                followed += 1
                guard followed <= limits.redirects else {
                    throw RPCFailure(
                        .refused, "\(url.server) redirects more than \(limits.redirects) times, which is the limit")
                }
                request.url = target
                continue
            }
            if let signIn, mayAsk, !wasAsked, let challenge = ResourceChallenge(exchange.status, exchange.headers) {
                wasAsked = true
                waits(true)
                defer { waits(false) }
                if try await signIn.answer(challenge, to: head, for: resource) { continue }
            }
            return exchange
        }
    }

    private var resource: ResourceAddress { ResourceAddress(url.text) }

    private nonisolated(nonsending) func sign(_ request: HTTPRequest) async throws -> (HTTPRequest, RequestHead) {
        var head = RequestHead(method: request.method.rawValue, url: request.url.text)
        guard let signIn else { return (request, head) }
        try await signIn.sign(&head, for: resource)
        var signed = request
        for (name, value) in head.headers { value.withText { signed.headers[name] = $0 } }
        return (signed, head)
    }

    /// Where an answer redirects to, if that is the same server and the request stays what it is.
    private func redirect(_ exchange: HTTPExchange, of request: HTTPRequest) throws -> HTTPURL? {
        guard exchange.status.isRedirect, let location = exchange.headers["Location"] else { return nil }
        let target = try request.url.resolving(location)
        guard target.isSameOrigin(as: url) else { throw elsewhere(target.text) }
        guard request.method == .get || [307, 308].contains(exchange.status.code) else {
            throw RPCFailure(
                .refused,
                "\(url.server) redirects to \(PlainText.escape(target.text, limit: 200)) with "
                    + "\(exchange.status), which messages do not follow; use that address")
        }
        return target
    }

    private func elsewhere(_ address: String) -> RPCFailure {
        RPCFailure(
            .refused,
            "\(url.server) leads to \(PlainText.escape(address, limit: 200)), which is another server; "
                + "use that address if it is the one you mean")
    }
}

// MARK: Answers

extension HTTPCaller {
    /// The events of an answer.
    func events(of exchange: HTTPExchange, after lastEventID: String = "") -> EventStream {
        // A line has the name of its field too.
        exchange.events(
            limits: EventLimits(line: limits.message + 64, event: limits.message), lastEventID: lastEventID)
    }

    /// The whole body of an answer that only explains something, if it comes in time and is small.
    nonisolated(nonsending) func explanation(of exchange: HTTPExchange) async throws -> [UInt8] {
        do {
            return try await withTimeLimit(limits.explanation, on: ContinuousClock()) {
                try await exchange.collect(limit: 64 << 10)
            } ?? []
        } catch is HTTPError {
            // The status is enough.
            return []
        }
    }

    /// Lets an answer that has said everything end, so that its connection can be used again.
    nonisolated(nonsending) func finish(_ exchange: HTTPExchange) async throws {
        do {
            _ = try await withTimeLimit(.milliseconds(500), on: ContinuousClock()) {
                try await exchange.collect(limit: 64 << 10)
            }
        } catch is HTTPError {
            // Then the next request opens another connection.
        }
    }

    /// Why a request was refused by a status.
    func refusal(_ status: HTTPStatus, _ explanation: [UInt8]) -> RPCFailure {
        let kind: RPCFailure.Kind = status == .unauthorized || status == .forbidden ? .denied : .refused
        let words = String(decoding: explanation, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        let text = PlainText.escape(words.joined(separator: " "), limit: 300)
        let isMarkup = text.hasPrefix("<")
        let shown = text.isEmpty || isMarkup ? "" : ": \(text)"
        return RPCFailure(kind, "\(url.server) answered \(status)\(shown)")
    }
}

extension HTTPExchange {
    /// The kind of the body without its parameters, in lower case.
    var mediaType: String {
        (headers["Content-Type"] ?? "").prefix { $0 != ";" }.trimmingSpaces.lowercased()
    }

    var hasEvents: Bool { mediaType == "text/event-stream" }
}

extension RPCFailure {
    /// Why an exchange over HTTP failed.
    init(exchange error: any Error) {
        switch error {
        case let failure as RPCFailure: self = failure
        case let error as HTTPError:
            let kind: Kind =
                switch error.kind {
                case .tooLarge, .headTooLarge: .limit
                case .badAnswer, .invalid, .invalidURL: .malformed
                case .certificate, .notPermitted: .denied
                case .firstByteTimedOut, .idleTimedOut, .totalTimedOut, .connectTimedOut: .timedOut
                default: .closed
                }
            self.init(kind, error.message)
        default:
            let failure = AnyFailure(error)
            self.init(failure.exit == .denied || failure.exit == .unanswered ? .denied : .closed, failure.message)
        }
    }
}
