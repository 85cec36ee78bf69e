public import Capabilities
public import HTTPClient
public import HTTPCore
import JSON
import ModelKit
import OpenAIDialect

/// An agent gateway at an address: projects, sessions, files, tools and accounts of a server that runs agents.
///
/// ```swift
/// let gateway = try RemoteGateway(
///     ServerID("lab"), at: HTTPURL("https://lab.example"), client: client, signer: signer)
/// guard case .value(let projects) = try await gateway.projects() else { return }    // it has none
/// for project in projects.rows { print(project.name) }
/// ```
///
/// Servers differ in their routes. One that this server does not have is `notOffered`, never an error; a project, session
/// or file that it does not have is an `AgentServerError`. Everything else that goes wrong is a `RemoteGatewayError`,
/// which names the server, or the error of the signer.
///
/// The credential is what the signer adds, which decides where it may go. Redirects are not followed, so that nothing is
/// sent to another address. Every request has a time and a size limit, and cancelling the task ends it.
public final class RemoteGateway: Sendable {
    public let server: ServerID
    /// The base of its routes, which ends in `/v1`.
    public let base: HTTPURL
    let client: HTTPClient
    let signer: RequestSigner?
    let redactor: Redactor
    /// What to do about a key that is not accepted.
    let remedy: String
    let patience: Duration
    let clock: any Clock<Duration>

    /// A gateway; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - server: the name of the server in messages.
    ///   - address: with or without `/v1`.
    ///   - signer: adds the credential; nil for a server that gets none.
    ///   - remedy: what a person can do about a key that is not accepted.
    ///   - redactor: knows the secrets that must not appear in a message.
    ///   - patience: the limit of a request, and a quarter of that of a list.
    public init(
        _ server: ServerID, at address: HTTPURL, client: HTTPClient, signer: RequestSigner? = nil,
        remedy: String = "check its key", redactor: Redactor = Redactor(), patience: Duration = .seconds(15),
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(HTTPError) {
        self.server = server
        base = try address.versioned()
        self.client = client
        self.signer = signer
        self.remedy = remedy
        self.redactor = redactor
        self.patience = patience
        self.clock = clock
    }

    private init(_ gateway: RemoteGateway, patience: Duration) {
        (server, base, client, signer) = (gateway.server, gateway.base, gateway.client, gateway.signer)
        (remedy, redactor, clock) = (gateway.remedy, gateway.redactor, gateway.clock)
        self.patience = patience
    }

    /// The same gateway with another time limit, for requests that nobody waits for.
    public func waiting(atMost patience: Duration) -> RemoteGateway { RemoteGateway(self, patience: patience) }

    /// The address at which it answers chat requests. Its answers are read by a `Dialect`.
    public var completions: HTTPURL {
        get throws(HTTPError) { try base.below("/chat/completions") }
    }

    /// The name of the server in messages.
    var name: String { PlainText.escape(server.name, limit: 100) }
}

// MARK: - Requests

extension RemoteGateway {
    /// Sends a call. Every answer but success is an error, except that the route is missing.
    func answer(to call: GatewayCall) async throws -> Offered<HTTPResponse> {
        let response = try await response(to: call)
        guard !response.status.isSuccess else { return .value(response) }
        let refusal = GatewayRefusal(response, to: call, of: self)
        if refusal.isMissingRoute { return .notOffered }
        throw refusal.error
    }

    /// The same, with any status.
    func response(to call: GatewayCall) async throws -> HTTPResponse {
        do {
            let request = try request(for: call)
            guard let signer else { return try await client.send(request) }
            return try await client.send(request, signedBy: signer)
        } catch let error as HTTPError {
            if error.kind == .tooLarge, call.subject == .file {
                throw AgentServerError.tooLarge(.file, call.id, at: server)
            }
            throw RemoteGatewayError.onTheWay(error, to: name, redactor)
        }
    }

    private func request(for call: GatewayCall) throws(HTTPError) -> HTTPRequest {
        var url = call.isAtRoot ? try base.besideVersion(call.path) : try base.below(call.path)
        for (name, value) in call.query { url = try url.adding(name, value) }
        var request = HTTPRequest(call.method, url, headers: call.headers, body: call.body)
        if request.headers["Accept"] == nil { request.headers["Accept"] = "application/json" }
        request.limits.total = patience
        request.limits.firstByte = patience
        request.limits.connect = min(request.limits.connect, patience)
        request.limits.body = call.largest
        // Not even within the server: the path was made from ids, and another path means something else.
        request.redirects = .none
        request.retry = call.method == .get ? Self.brokenConnections : .none
        return request
    }

    /// A connection that the server closed while it was idle. Statuses are not retried: gateways limit requests by the
    /// minute, and every refused one prolongs that.
    private static let brokenConnections: RetryPolicy = {
        var policy = RetryPolicy(attempts: 2, base: .milliseconds(500))
        policy.kinds = [.reset, .cut]
        policy.statuses = []
        policy.longest = .seconds(2)
        return policy
    }()
}

extension RemoteGateway {
    /// The object of an answer.
    ///
    /// - Parameter what: the object in a message, such as `a project`.
    func object(_ what: String, from call: GatewayCall) async throws -> Offered<WireObject> {
        try await answer(to: call).map { try object(what, in: $0) }
    }

    func object(_ what: String, in response: HTTPResponse) throws -> WireObject {
        guard let object = try json(what, in: response).object else { throw badAnswer(what, response) }
        return WireObject(object)
    }

    func json(_ what: String, in response: HTTPResponse) throws -> JSON {
        do {
            return try JSON(parsing: response.body, reading: .stream)
        } catch {
            throw badAnswer(what, response)
        }
    }

    /// The rows of an answer with only one page.
    func rows<Row: Sendable>(
        _ what: String, from call: GatewayCall, _ read: (WireObject) -> Row?
    ) async throws -> Offered<[Row]> {
        try await answer(to: call).map { response in
            guard let page = WirePage(try json(what, in: response)) else { throw badAnswer(what, response) }
            return page.rows.compactMap(read)
        }
    }

    /// The rows of all pages. A server with endless pages, or one that always sends the same, must not keep the caller.
    func pages<Row: Sendable>(
        _ what: String, from call: GatewayCall, _ read: @escaping @Sendable (WireObject) -> Row?
    ) async throws -> Offered<AgentList<Row>> {
        let list = try await withTimeLimit(patience * 4, on: clock) { [self] () -> Offered<AgentList<Row>> in
            var list = AgentList<Row>([], isCut: true)
            var last: [UInt8] = []
            for number in 1...WirePage.most {
                let page = call.with("page", "\(number)").with("per_page", "\(WirePage.size)")
                guard case .value(let response) = try await answer(to: page) else { return .notOffered }
                guard let page = WirePage(try json(what, in: response)) else { throw badAnswer(what, response) }
                // A server that knows no pages sends everything each time.
                if response.body == last { break }
                list.rows += page.rows.compactMap(read)
                guard page.hasNext, !page.rows.isEmpty else {
                    list.isCut = false
                    break
                }
                last = response.body
            }
            return .value(list)
        }
        guard let list else {
            throw RemoteGatewayError(
                .timedOut, "\(name) did not send \(what) within \((patience * 4).words); try again later")
        }
        return list
    }

    /// The error for an answer that is not what was asked for.
    func badAnswer(_ what: String, _ response: HTTPResponse) -> RemoteGatewayError {
        RemoteGatewayError(
            .badAnswer,
            "unexpected response from \(name): not \(what); check that its address leads to an agent gateway",
            status: response.status.code)
    }

    /// The escaped id, or the error that there is no such thing: such an id was never given out.
    func word(_ id: String, _ subject: AgentSubject) throws(AgentServerError) -> String {
        let mayHaveSlash = subject == .model || subject == .toolServer
        guard let word = PathWord.escaped(id, mayHaveSlash: mayHaveSlash) else {
            throw .notFound(subject, id, at: server)
        }
        return word
    }
}

extension HTTPURL {
    /// The address of a route that is beside `/v1`.
    fileprivate func besideVersion(_ path: String) throws(HTTPError) -> HTTPURL {
        try resolving(String(self.path.dropLast("/v1".count)) + path)
    }
}
