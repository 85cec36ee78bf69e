import Capabilities
import FileKit
import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

@testable import AuthSignIn

/// A server over real HTTP that replaces a refresh token at each use and accepts none twice.
///
/// Its connections run on separate threads: while a test waits for child processes, the shared pool may have no free
/// thread.
final class TokenServer: Sendable {
    struct State {
        var valid = "refresh-0"
        var renewals = 0
        var replays = 0
    }

    let state = Mutex(State())

    /// Runs a server whose `/meet` answers once `count` clients have requested it.
    static func run<Result: Sendable>(
        meeting count: Int, _ body: (TokenServer, _ origin: String) async throws -> Result
    ) async throws -> Result {
        let server = TokenServer()
        let meeting = try Meeting(of: count)
        return try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveRequest()
                if request.target == "/meet" {
                    meeting.attend()
                    try connection.answer(200, [:], "go")
                } else {
                    let form = FormFields(parsing: String(decoding: request.body, as: UTF8.self))
                    let (status, answer) = server.renew(form?["refresh_token"] ?? "")
                    try connection.answer(status, ["Content-Type": "application/json"], answer.text())
                }
            }
        } during: {
            try await body(server, "http://127.0.0.1:\($0.port)")
        }
    }

    private func renew(_ token: String) -> (Int, JSON) {
        state.withLock { state in
            guard token == state.valid else {
                state.replays += 1
                return (400, ["error": "invalid_grant"])
            }
            state.renewals += 1
            state.valid = "refresh-\(state.renewals)"
            return (
                200,
                [
                    "access_token": .string("access-\(state.renewals)"), "token_type": "bearer",
                    "refresh_token": .string(state.valid), "expires_in": 3600,
                ]
            )
        }
    }
}

/// Lets threads continue once all of them have arrived.
private final class Meeting: Sendable {
    private let missing: Mutex<Int>
    /// The two ends of a pipe, which becomes readable once all threads have arrived.
    private let ends: [Int32]

    init(of count: Int) throws {
        var ends: [Int32] = [-1, -1]
        let isMade = unsafe pipe(&ends) == 0
        try #require(isMade)
        self.ends = ends
        missing = Mutex(count)
    }

    deinit { for end in ends { close(end) } }

    func attend() {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { _ = unsafe write(ends[1], "!", 1) }
        var wait = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&wait, 1, 30_000)
    }
}

/// A session in a file, guarded by a lock file and renewed at a `TokenServer`, as two processes share it.
struct FileSource: SessionSource {
    let directory: String
    let endpoint: TokenEndpoint

    init(directory: String, origin: String, client: HTTPClient, now: @escaping @Sendable () -> Timestamp) throws {
        self.directory = directory
        endpoint = TokenEndpoint(try HTTPURL("\(origin)/token"), clientID: "martlet", client: client, now: now)
    }

    func load() async throws -> Session? {
        let bytes = try Files.read("\(directory)/session", limit: 1 << 16)
        return try Session(encoded: Secret(String(decoding: bytes, as: UTF8.self)))
    }

    func mark() throws -> SessionMark? { nil }

    func store(_ session: Session) async throws {
        try session.encoded.withText { try Files.writeAtomically(Array($0.utf8), to: "\(directory)/session") }
    }

    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        let lock = try await FileLock.acquire("\(directory)/lock", within: .seconds(30))
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        lock.release()
        return try result.get()
    }

    func renew(_ session: Session) async throws -> Session {
        session.renewed(by: try await endpoint.renew(try session.refreshToken.orThrow()))
    }
}

extension Optional where Wrapped == Secret {
    struct Missing: Error {}

    fileprivate func orThrow() throws -> Secret {
        guard let self else { throw Missing() }
        return self
    }
}

/// The work of each process: many requests that all find their token expired.
func renewFromManyTasks(directory: String, origin: String) async throws -> Set<String> {
    try await withClient { client in
        let time = TestTime()
        let source = try FileSource(directory: directory, origin: origin, client: client, now: time.clock)
        let keeper = SessionKeeper(source, now: time.clock)
        _ = try await client.send(HTTPRequest(.get, try HTTPURL("\(origin)/meet"))).requireSuccess()
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await keeper.session(refusing: Secret("access-0")).token } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        await keeper.close()
        return tokens
    }
}
