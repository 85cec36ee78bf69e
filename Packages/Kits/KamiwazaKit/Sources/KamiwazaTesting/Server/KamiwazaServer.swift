public import HTTPCore
import HTTPServer

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
