public import Capabilities
import Cryptography
public import HTTPClient
import HTTPCore
import HTTPServer
import Synchronization

/// Waits on a local port for the redirect of the browser after signing in (RFC 8252).
///
///     try await LoopbackReceiver.run(.init(now: now)) { receiver in
///         await browser.open(address(receiver.redirectURI, receiver.state))
///         return try await receiver.answer()
///     }
///
/// Only the first redirect with the right state counts. Any other request gets a page and changes nothing, because
/// every program and web page on this machine can send requests to the port.
public final class LoopbackReceiver: Sendable {
    /// The address to which the server redirects the browser.
    public let redirectURI: HTTPURL
    /// The state that the server must return, so that no other response is mistaken for its response.
    public let state: Secret
    private let configuration: Configuration
    private let reader: RedirectReader
    private let outcome = Promise<RedirectAnswer>()
    private let isOver = Mutex(false)

    /// What to wait for, and how long.
    public struct Configuration: Sendable {
        /// The requested issuer. A response that names another issuer is rejected.
        public var issuer: String?
        /// Whether the issuer announced that it names itself in its response (RFC 9207).
        public var needsIssuer = false
        /// Listens at `::1` instead of `127.0.0.1`.
        public var usesIPv6 = false
        /// How long the user may take to sign in.
        public var limit: Duration = .seconds(300)
        var clock: any Clock<Duration> = ContinuousClock()
        /// The current time, from which the expiry of tokens in a redirect is computed.
        public var now: @Sendable () -> Timestamp

        /// - Parameter now: the current time, from which the expiry of tokens in a redirect is computed.
        public init(now: @escaping @Sendable () -> Timestamp) {
            self.now = now
        }
    }

    private static let path = "/callback"

    init(_ configuration: Configuration, at address: BoundAddress) throws {
        self.configuration = configuration
        redirectURI = try HTTPURL("\(address)\(Self.path)")
        state = Secret(Base64URL.encode(try Random.bytes(32)))
        reader = RedirectReader(
            state: state, issuer: configuration.issuer, needsIssuer: configuration.needsIssuer)
    }

    /// The address with the state in it, for servers that have no parameter for the state and keep the address
    /// unchanged.
    public var redirectURIWithState: HTTPURL {
        get throws { try state.withText { try HTTPURL("\(redirectURI.text)?state=\($0)") } }
    }

    /// Waits for the redirect. Throws `SignInError` when the server refuses, or when the user does not sign in in time.
    public func answer() async throws -> RedirectAnswer {
        let limit = configuration.limit
        let answer = try await withTimeLimit(limit, on: configuration.clock) { [outcome] in try await outcome.value() }
        guard let answer else {
            throw SignInError(
                .unanswered, "the sign-in was not completed within \(limit.words); start the sign-in again")
        }
        return answer
    }
}

// MARK: Requests to the port

extension LoopbackReceiver {
    func receive(_ request: ServerRequest, query: FormFields?) -> HTTPAnswer {
        guard isMeant(request), let query else { return Page.stranger.html }
        // Another program may request the link before the user does. That must not use it up.
        guard request.method == .get else { return Page.stranger.html }
        return page(for: reader.judge(query, received: configuration.now()), whenNothing: .fragment).html
    }

    /// Receives the fragment of the address, which the page sends.
    func receive(_ request: ServerRequest, body: RequestBody) async throws -> HTTPAnswer {
        let type = request.headers["Content-Type"]?.prefix { $0 != ";" }.trimmingSpaces.lowercased()
        guard isMeant(request), type == "application/x-www-form-urlencoded",
            let text = String(validating: try await body.bytes(), as: UTF8.self), let fields = FormFields(parsing: text)
        else { return Page.stranger.words }
        return page(for: reader.judge(fields, received: configuration.now()), whenNothing: .stranger).words
    }

    /// Whether the request was sent to exactly this address. Other host names that lead to this machine are rejected.
    private func isMeant(_ request: ServerRequest) -> Bool {
        request.head.host?.lowercased() == redirectURI.server
    }

    private func page(for verdict: RedirectReader.Verdict, whenNothing: Page) -> Page {
        let result: Result<RedirectAnswer, any Error>
        switch verdict {
        case .answer(let answer): result = .success(answer)
        case .refusal(let error): result = .failure(error)
        case .stranger: return .stranger
        case .nothing: return whenNothing
        }
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        guard isFirst else { return .over }
        outcome.settle(with: result)
        if case .success = result { return .done }
        return .declined
    }

    static func routes(_ find: @escaping @Sendable () -> LoopbackReceiver?) throws(ServerError) -> Routes {
        try Routes([
            Route(.get, path, "receiveRedirect", "Receive the redirect at the end of a sign-in") {
                (request: ServerRequest) async throws -> HTTPAnswer in
                guard let receiver = find() else { throw RequestProblem.unavailable("not ready", retryAfter: 1) }
                return receiver.receive(request, query: FormFields(parsing: request.head.query ?? ""))
                // The browser comes from another site: the sign-in page.
            }.open(),
            Route(
                .post, path, "receiveFragment", "Receive the address fragment that only the browser can see",
                .upload("The fragment")
            ) {
                (request: ServerRequest, body: RequestBody) async throws -> HTTPAnswer in
                guard let receiver = find() else { throw RequestProblem.unavailable("not ready", retryAfter: 1) }
                return try await receiver.receive(request, body: body)
            }.open(),
        ])
    }
}

extension LoopbackReceiver {
    /// Provides a receiver while `body` runs, and closes its port afterwards in every case.
    public static func run<Result: Sendable>(
        _ configuration: Configuration, _ body: (LoopbackReceiver) async throws -> Result
    ) async throws -> Result {
        let place = Place()
        var serving = ServerConfiguration()
        serving.addresses = [configuration.usesIPv6 ? .loopback6() : .loopback()]
        // Addresses with tokens are long.
        serving.limits.headSize = 64 << 10
        serving.limits.body = 64 << 10
        serving.limits.connections = 64
        // Time for the page to reach the browser.
        serving.limits.drain = .seconds(1)
        let server = HTTPServer(try routes { place.receiver }, serving)
        let started = Promise<LoopbackReceiver>()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await server.run { addresses in
                        started.settle(with: Swift.Result { try place.open(configuration, addresses) })
                    }
                    // When it is cancelled before it listens, `run` returns without an error.
                    throw CancellationError()
                } catch {
                    started.settle(with: .failure(error))
                }
            }
            defer { group.cancelAll() }
            return try await body(try await started.value())
        }
    }

    /// Holds the receiver once the server reports its address.
    private final class Place: Sendable {
        private let held = Mutex<LoopbackReceiver?>(nil)

        var receiver: LoopbackReceiver? { held.withLock { $0 } }

        func open(_ configuration: Configuration, _ addresses: [BoundAddress]) throws -> LoopbackReceiver {
            guard let address = addresses.first else {
                throw SignInError(.badAnswer, "no local port was available for the sign-in; try again")
            }
            let receiver = try LoopbackReceiver(configuration, at: address)
            held.withLock { $0 = receiver }
            return receiver
        }
    }
}

/// The response that the browser brings back from signing in.
public enum RedirectAnswer: Sendable {
    /// A code to exchange at the token endpoint.
    case code(Secret)
    /// Tokens, from servers without codes.
    case tokens(TokenAnswer)
}

/// Judges the fields that a browser brings. It is a value without a connection, so that every case can be tested.
struct RedirectReader: Sendable {
    /// The state that only the requested server knows.
    let state: Secret
    /// The requested issuer, if there is one.
    let issuer: String?
    /// Whether the issuer announced that it names itself (RFC 9207).
    let needsIssuer: Bool

    enum Verdict: Sendable {
        /// The expected redirect.
        case answer(RedirectAnswer)
        /// The server's refusal, which also ends the sign-in.
        case refusal(SignInError)
        /// Not from the requested server. Any program or web page on this machine may send it, so it ends
        /// nothing.
        case stranger
        /// No fields, for example when the response is in the fragment, which browsers do not send.
        case nothing
    }

    func judge(_ fields: FormFields, received: Timestamp) -> Verdict {
        let states = fields.all("state")
        let answers = ["code", "error", "access_token"].filter { !fields.all($0).isEmpty }
        if answers.isEmpty { return .nothing }
        // Every state must be right: the one in the redirect address and the one that the server adds.
        guard !states.isEmpty, states.allSatisfy({ Secret($0).equals(state) }) else { return .stranger }
        // RFC 6749, section 3.1: parameters "MUST NOT be included more than once".
        guard fields.repeated.subtracting(["state"]).isEmpty, answers.count == 1 else { return .stranger }
        if let problem = issuerProblem(fields["iss"]) { return .refusal(problem) }
        if let code = fields["error"] { return .refusal(refusal(code, fields["error_description"])) }
        if let code = fields["code"] { return .answer(.code(Secret(code))) }
        if let tokens = TokenAnswer(fields, received: received) { return .answer(.tokens(tokens)) }
        return .refusal(
            SignInError(
                .badAnswer, "unexpected response from the server: the redirect has neither a code nor valid tokens"))
    }

    private func issuerProblem(_ named: String?) -> SignInError? {
        guard let issuer, needsIssuer || named != nil, named != issuer else { return nil }
        return SignInError(
            .issuer, "the response in the browser comes from a different server than requested; do not sign in there")
    }

    private func refusal(_ code: String, _ description: String?) -> SignInError {
        let reason = ServerText.line(code, hiding: [state])
        let sentence = Refusal.sentence(reason) ?? "it gives no reason"
        let words = ServerText.line(description, hiding: [state]).map { " (\($0))" } ?? ""
        return .refused("the server refused the sign-in: \(sentence)\(words)", reason: reason)
    }
}

/// The small pages that the browser shows. They load nothing, cannot be framed and are not cached.
struct Page: Sendable {
    private let text: String
    private let script: String?
    private let status: HTTPStatus

    private init(_ text: String, script: String? = nil, status: HTTPStatus = .ok) {
        (self.text, self.script, self.status) = (text, script, status)
    }

    static let done = Page("You are signed in. You can close this window.", script: cleaning)
    static let declined = Page(
        "You are not signed in; the terminal shows the reason. You can close this window.", script: cleaning)
    static let stranger = Page(
        "This is not the expected response. Start the sign-in again from the terminal.",
        status: .badRequest)
    static let over = Page("This sign-in has already ended. You can close this window.", status: HTTPStatus(410))
    /// Sends the fragment, which only the browser can see, to this receiver as a form.
    static let fragment = Page("The server's response is empty; start the sign-in again.", script: forwarding)

    /// Removes codes and tokens from the address, so that the browser history does not keep them.
    private static let cleaning = "history.replaceState(null,'',location.pathname)"

    private static let forwarding = """
        const sent=[location.search.slice(1),location.hash.slice(1)].filter(Boolean).join('&');\
        if(location.hash.length>1){\
        history.replaceState(null,'',location.pathname);\
        fetch(location.pathname,{method:'POST',body:new URLSearchParams(sent)})\
        .then(answer=>answer.text()).then(text=>{document.body.textContent=text})}
        """

    /// The page as HTML for the browser.
    var html: HTTPAnswer {
        let program = script.map { "<script>\($0)</script>" } ?? ""
        let document = """
            <!doctype html><html lang="en"><head><meta charset="utf-8"><title>Martlet</title></head>\
            <body><p>\(text)</p>\(program)</body></html>
            """
        return guarded(.bytes(Array(document.utf8), type: "text/html; charset=utf-8", status: status))
    }

    /// Only the text, for the script that posted the fragment.
    var words: HTTPAnswer { guarded(.text(text, status: status)) }

    private func guarded(_ answer: HTTPAnswer) -> HTTPAnswer {
        var rules = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        if let script {
            rules += "; script-src 'sha256-\(Base64.encode(Digest.sha256(Array(script.utf8))))'; connect-src 'self'"
        }
        return
            answer
            .header("Content-Security-Policy", rules)
            .header("Cache-Control", "no-store")
            .header("Referrer-Policy", "no-referrer")
            .header("X-Content-Type-Options", "nosniff")
            .header("X-Frame-Options", "DENY")
    }
}
