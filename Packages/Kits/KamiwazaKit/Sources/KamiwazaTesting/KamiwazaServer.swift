public import HTTPCore
public import HTTPServer
public import JSON
import Synchronization

/// A platform for tests: in this process, over real HTTP, at a port of 127.0.0.1 that the system chooses.
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
/// Its paths and answers are those of the platform's public OpenAPI description; signing in by browser and device goes
/// to a realm as Keycloak has it, on the same port.
public final class KamiwazaServer: Sendable {
    /// `http://127.0.0.1:1234`, or https with TLS.
    public let origin: String
    /// The base of the API below it.
    public let api: String
    let board: Board

    private init(_ address: BoundAddress, _ board: Board) {
        origin = "\(address)"
        api = origin + board.platform.setup.apiPath
        self.board = board
    }

    /// Runs a platform for the length of `body`.
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
            // It could not listen, which its own error tells; or this task was cancelled meanwhile.
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
        // Called for every request before anything else is done with it, which makes it the place to keep a record.
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

    /// Makes a path fail, always or so many times. The path is the whole one, such as `/api/auth/token`.
    public func fail(_ path: String, with fault: Fault, times: Int = .max) {
        board.change { $0.faults[path] = (fault, times) }
    }

    /// Makes a path work again, and lets go what was held there.
    public func heal(_ path: String) {
        board.change { $0.faults[path] = nil }
    }

    // MARK: What an administrator does

    /// Ends every session: neither its access token nor its refresh token is good for anything any more.
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

    /// Changes an account while the platform runs, such as to lock it.
    public func changeAccount(_ name: String, _ change: (inout KamiwazaSetup.Account) -> Void) {
        board.change { platform in
            for index in platform.accounts.indices where platform.accounts[index].name == name {
                change(&platform.accounts[index])
            }
        }
    }

    // MARK: What somebody at a browser does for a device

    /// The code that the newest waiting device shows.
    public var userCode: String? { board.platform.devices.last?.userCode }

    public func approveDevice(_ userCode: String, as account: String = "ada") {
        board.change { $0.answerDevice(userCode, .approved(account)) }
    }

    public func denyDevice(_ userCode: String) {
        board.change { $0.answerDevice(userCode, .denied) }
    }
}

extension KamiwazaServer {
    /// Every request so far, in the order in which they came.
    public var requests: [SeenRequest] { board.platform.requests }

    /// How many requests there were so far with this method and whole path.
    public func count(_ method: HTTPMethod, _ path: String) -> Int {
        requests.count { $0.method == method && $0.path == path }
    }

    /// The names of the personal access tokens that are good now.
    public var personalTokens: [String] {
        let platform = board.platform
        return platform.personal.filter(platform.isValid).map { $0.name ?? "" }
    }

    /// How many sessions somebody with their tokens could still go on with.
    public var openSessions: Int {
        let platform = board.platform
        let open = platform.refresh.values.filter { !$0.isUsed && $0.expires > platform.now }.map(\.session)
        return Set(open).subtracting(platform.endedSessions).count
    }

    /// Returns as soon as the requests meet the condition. A test that may wait in vain has a time limit.
    public func until(_ condition: @escaping @Sendable ([SeenRequest]) -> Bool) async throws {
        try await board.until { condition($0.requests) }
    }

    /// Forgets the requests so far.
    public func forgetRequests() {
        board.change { $0.requests = [] }
    }
}

/// What a path does instead of its work.
public enum Fault: Sendable {
    /// Answers this, whatever is asked.
    case answers(HTTPAnswer)
    /// Waits until the fault is gone, and then does its work.
    case held

    /// A status with a body in the platform's form, or any other.
    public static func status(_ status: HTTPStatus, _ body: JSON = ["detail": "made by a test"]) -> Fault {
        .answers(.json(body, status: status))
    }

    /// Text that is no JSON, as a gateway sends it.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> Fault {
        .answers(.text(text, status: status))
    }

    /// A page for people.
    public static func webPage(status: HTTPStatus = .ok) -> Fault {
        .answers(.bytes(Array(WebInterface.page.utf8), type: "text/html; charset=utf-8", status: status))
    }

    /// The bytes as they are, said to be JSON.
    public static func json(bytes: [UInt8]) -> Fault {
        .answers(.bytes(bytes, type: "application/json"))
    }

    public static func redirect(to place: String, status: HTTPStatus = HTTPStatus(307)) -> Fault {
        .answers(.redirect(to: place, status: status))
    }

    /// An answer that stops before its end.
    public static var cut: Fault {
        .answers(
            .stream("application/json", length: 1000) { body in
                try await body.write(#"{"access_token":"#)
                throw RequestProblem.badRequest("the answer was cut by a test")
            })
    }
}

/// A request as the platform saw it, without what is secret in it.
public struct SeenRequest: Sendable, Hashable {
    public let method: HTTPMethod
    /// The whole path, with its percent signs, without the query.
    public let path: String
    /// The names in the query, in their order.
    public let queryNames: [String]
    public let credential: Credential

    /// What the request was signed with, judged at the moment when it came.
    public enum Credential: Sendable, Hashable {
        case none
        case accessToken
        case personalToken
        /// A token that was valid once: expired, revoked, or of a session that has ended.
        case spent
        /// A token that this platform never gave.
        case foreign
    }
}

/// The platform behind its lock, for those who wait until something has happened in it.
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
        // A refusal may have changed something too, so that watchers are told of it as well.
        defer {
            let watchers = state.withLock { Array($0.watchers.values) }
            for watcher in watchers { watcher.yield() }
        }
        return try state.withLock { (state) throws(Failure) in try body(&state.platform) }
    }

    /// Returns as soon as the condition is met; throws `CancellationError` when the task is cancelled before.
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

/// Errors as the platform writes them: `{"detail": "…"}`, or a list with the place of every wrong value.
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
