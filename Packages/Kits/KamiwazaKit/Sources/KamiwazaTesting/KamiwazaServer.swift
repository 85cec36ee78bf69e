public import HTTPCore
public import HTTPServer
public import JSON
import Synchronization

/// A platform for tests. It runs in this process and serves real HTTP on 127.0.0.1, at a port that the system chooses.
///
///     var setup = KamiwazaSetup()
///     setup.accessLifetime = .seconds(60)
///     try await KamiwazaServer.run(setup) { server in
///         let api = KamiwazaAPI(try HTTPURL(server.api), client: client)
///         server.fail("/api/auth/users/me", with: .status(.internalServerError))
///         …
///         #expect(server.count(.post, "/api/auth/refresh") == 1)
///     }
///
/// Its paths and responses follow the platform's public OpenAPI description. Browser and device sign-in use a realm
/// like Keycloak's, on the same port.
public final class KamiwazaServer: Sendable {
    /// `http://127.0.0.1:1234`, or https with TLS.
    public let origin: String
    /// The base URL of the API.
    public let api: String
    let board: Board

    private init(_ address: BoundAddress, _ board: Board) {
        origin = "\(address)"
        api = origin + board.platform.setup.apiPath
        self.board = board
    }

    /// Runs a platform while `body` runs.
    public static func run<Result: Sendable>(
        _ setup: KamiwazaSetup = KamiwazaSetup(), isolation: isolated (any Actor)? = #isolation,
        _ body: (KamiwazaServer) async throws -> Result
    ) async throws -> Result {
        let board = Board(Platform(setup))
        let server = HTTPServer(try Routes(Endpoints(board).all), configuration(setup, board))
        let (started, signal) = AsyncStream.makeStream(of: BoundAddress.self)
        let serving = Task {
            defer { signal.finish() }
            try await server.run { addresses in for address in addresses { signal.yield(address) } }
        }
        var iterator = started.makeAsyncIterator()
        guard let address = await iterator.next(isolation: isolation) else {
            // Either the server could not listen and throws the reason, or this task was cancelled.
            serving.cancel()
            try await serving.value
            throw CancellationError()
        }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(KamiwazaServer(address, board)))
        } catch {
            result = .failure(error)
        }
        serving.cancel()
        try await serving.value
        return try result.get()
    }

    private static func configuration(_ setup: KamiwazaSetup, _ board: Board) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.addresses = [setup.tls.map { ListenAddress.loopback().secured(by: $0) } ?? .loopback()]
        configuration.limits.drain = .milliseconds(100)
        configuration.limits.headSize = 64 << 10
        configuration.envelope = PlatformEnvelope.json
        // This is called first for every request, so requests are recorded here.
        configuration.authenticate = { head in
            board.change { $0.record(head) }
            return Principal("anybody")
        }
        return configuration
    }
}

extension Platform {
    fileprivate mutating func record(_ head: HTTPRequestHead) {
        let names = (head.query ?? "").split(separator: "&").map { String($0.prefix { $0 != "=" }) }
        requests.append(
            SeenRequest(
                method: head.method, path: head.path, queryNames: names, credential: credentialKind(head.headers)))
    }
}

extension KamiwazaServer {
    // MARK: Faults

    /// Makes a path fail, always or for a number of requests. Takes a full path, such as `/api/auth/token`.
    public func fail(_ path: String, with fault: Fault, times: Int = .max) {
        board.change { $0.faults[path] = (fault, times) }
    }

    /// Makes a path work again, and releases the requests held there.
    public func heal(_ path: String) {
        board.change { $0.faults[path] = nil }
    }

    // MARK: Administrator actions

    /// Ends every session. Its access and refresh tokens are no longer valid.
    public func endSessions() {
        board.change { platform in
            platform.endedSessions.formUnion(platform.access.values.map(\.session))
        }
    }

    /// Revokes every personal access token.
    public func revokePersonalTokens() {
        board.change { platform in
            for index in platform.personal.indices { platform.personal[index].isRevoked = true }
        }
    }

    /// Changes an account while the platform runs, for example to lock it.
    public func changeAccount(_ name: String, _ change: (inout KamiwazaSetup.Account) -> Void) {
        board.change { platform in
            for index in platform.accounts.indices where platform.accounts[index].name == name {
                change(&platform.accounts[index])
            }
        }
    }

    /// Replaces the tools of the platform.
    public func deploy(_ tools: [KamiwazaSetup.Tool]) {
        board.change { $0.tools = tools }
    }

    // MARK: Browser actions for a device

    /// The code that the newest device shows.
    public var userCode: String? { board.platform.devices.last?.userCode }

    /// Approves the sign-in of a device, as the user of an account would in a browser.
    public func approveDevice(_ userCode: String, as account: String = "ada") {
        board.change { $0.answerDevice(userCode, .approved(account)) }
    }

    /// Declines the sign-in of a device.
    public func denyDevice(_ userCode: String) {
        board.change { $0.answerDevice(userCode, .denied) }
    }
}

extension KamiwazaServer {
    /// All requests so far, in order of arrival.
    public var requests: [SeenRequest] { board.platform.requests }

    /// The number of requests so far with this method and full path.
    public func count(_ method: HTTPMethod, _ path: String) -> Int {
        requests.count { $0.method == method && $0.path == path }
    }

    /// The names of the personal access tokens that are valid now.
    public var personalTokens: [String] {
        let platform = board.platform
        return platform.personal.filter(platform.isValid).map { $0.name ?? "" }
    }

    /// The number of sessions that can still be refreshed.
    public var openSessions: Int {
        let platform = board.platform
        let open = platform.refresh.values.filter { !$0.isUsed && $0.expires > platform.now }.map(\.session)
        return Set(open).subtracting(platform.endedSessions).count
    }

    /// Returns as soon as the requests meet the condition. Tests that use it should have a time limit.
    public func until(_ condition: @escaping @Sendable ([SeenRequest]) -> Bool) async throws {
        try await board.until { condition($0.requests) }
    }

    /// Forgets the requests so far.
    public func forgetRequests() {
        board.change { $0.requests = [] }
    }
}

/// How a path fails.
public enum Fault: Sendable {
    /// Sends this response to every request.
    case answers(HTTPAnswer)
    /// Holds requests until the fault is removed, then handles them normally.
    case held

    /// A status with a JSON body, by default in the platform's error format.
    public static func status(_ status: HTTPStatus, _ body: JSON = ["detail": "made by a test"]) -> Fault {
        .answers(.json(body, status: status))
    }

    /// Plain text that is not JSON, like the response of a gateway.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> Fault {
        .answers(.text(text, status: status))
    }

    /// An HTML page.
    public static func webPage(status: HTTPStatus = .ok) -> Fault {
        .answers(.bytes(Array(WebInterface.page.utf8), type: "text/html; charset=utf-8", status: status))
    }

    /// These bytes with the content type JSON.
    public static func json(bytes: [UInt8]) -> Fault {
        .answers(.bytes(bytes, type: "application/json"))
    }

    /// A redirect to an address.
    public static func redirect(to place: String, status: HTTPStatus = HTTPStatus(307)) -> Fault {
        .answers(.redirect(to: place, status: status))
    }

    /// A response that stops before its end.
    public static var cut: Fault {
        .answers(
            .stream("application/json", length: 1000) { body in
                try await body.write(#"{"access_token":"#)
                throw RequestProblem.badRequest("the answer was cut by a test")
            })
    }
}

/// A request as the platform saw it, without its secrets.
public struct SeenRequest: Sendable, Hashable {
    /// The method of the request.
    public let method: HTTPMethod
    /// The full path, percent-encoded, without the query.
    public let path: String
    /// The names in the query, in order.
    public let queryNames: [String]
    /// The credential that it had.
    public let credential: Credential

    /// The kind of credential in the request, checked on arrival.
    public enum Credential: Sendable, Hashable {
        /// The request had no credential.
        case none
        /// A valid access token of a session.
        case accessToken
        /// A valid personal access token.
        case personalToken
        /// A token that is no longer valid: it is expired or revoked, or its session has ended.
        case spent
        /// A token that this platform never issued.
        case foreign
    }
}

/// The platform behind a lock. Callers can wait for a change.
final class Board: Sendable {
    private struct State {
        var platform: Platform
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
    }

    private let state: Mutex<State>

    init(_ platform: Platform) {
        state = Mutex(State(platform: platform))
    }

    var platform: Platform { state.withLock { $0.platform } }

    @discardableResult
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout Platform) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Watchers are also notified after an error, because a refused request may have changed something.
        defer {
            let watchers = state.withLock { Array($0.watchers.values) }
            for watcher in watchers { watcher.yield() }
        }
        return try state.withLock { (state) throws(Failure) in try body(&state.platform) }
    }

    /// Returns as soon as the condition is met. Throws `CancellationError` if the task is cancelled first.
    func until(_ condition: @Sendable (Platform) -> Bool) async throws {
        let (changes, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.next += 1
            state.watchers[state.next] = signal
            return state.next
        }
        defer { _ = state.withLock { $0.watchers.removeValue(forKey: id) } }
        var iterator = changes.makeAsyncIterator()
        while !condition(platform) {
            guard await iterator.next() != nil else { throw CancellationError() }
        }
    }
}

/// Errors in the platform's format: `{"detail": "…"}`, or a list with the location of every invalid value.
enum PlatformEnvelope {
    static let json: @Sendable (ProblemReport) -> JSON = { report in
        guard !report.inputs.isEmpty else { return ["detail": .string(report.message)] }
        return [
            "detail": .array(
                report.inputs.map { input in
                    let place = [input.place, input.name].filter { !$0.isEmpty }
                    return [
                        "loc": .array(place.map { .string($0) }), "msg": .string(input.message), "type": "value_error",
                    ]
                })
        ]
    }
}
