import Capabilities
import LoopKit
import Synchronization

@testable import AuthSignIn

/// A session in memory, with all faults that can happen to it.
final class MemorySource: SessionSource {
    struct State {
        var stored: Session?
        var loads = 0
        var renewals = 0
        var stores = 0
        /// Errors that the next renewals throw instead of returning a session.
        var failures: [any Error] = []
        /// Errors that the next attempts to store throw.
        var storeFailures: [any Error] = []
    }

    struct Broken: Error {}

    let state: Mutex<State>
    private let turn = Turn()
    /// A test closes it to stop a renewal in the middle.
    let gate = Gate()
    /// A test closes it to stop a task that loads the stored session.
    let loading = Gate()
    /// A test closes it to stop a task that has just released the lock.
    let leaving = Gate()
    private let renewing: @Sendable (Session, Int) -> Session
    private let hasMark: Bool

    init(
        _ stored: Session?, hasMark: Bool = true,
        renewing: @escaping @Sendable (Session, Int) -> Session = { old, number in .sample("access-\(number)", old) }
    ) {
        state = Mutex(State(stored: stored))
        self.renewing = renewing
        self.hasMark = hasMark
    }

    func load() async throws -> Session? {
        await loading.pass()
        return state.withLock { state in
            state.loads += 1
            return state.stored
        }
    }

    func mark() throws -> SessionMark? {
        guard hasMark else { return nil }
        return state.withLock { SessionMark($0.stored.map { "\($0.token) \($0.hasEnded)" } ?? "") }
    }

    func store(_ session: Session) async throws {
        try state.withLock { state in
            state.stores += 1
            if !state.storeFailures.isEmpty { throw state.storeFailures.removeFirst() }
            state.stored = session
        }
    }

    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await turn.take()
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        turn.pass()
        await leaving.pass()
        return try result.get()
    }

    func renew(_ session: Session) async throws -> Session {
        let number = state.withLock { state in
            state.renewals += 1
            return state.renewals
        }
        await gate.pass()
        try state.withLock { state in
            if !state.failures.isEmpty { throw state.failures.removeFirst() }
        }
        return renewing(session, number)
    }

    var renewals: Int { state.withLock { $0.renewals } }
    var stored: Session? { state.withLock { $0.stored } }
}

extension Session {
    /// A session whose token is valid for five minutes from the start of the test time.
    static func sample(
        _ token: String, refreshToken: String? = "refresh-0", expiresIn: Duration? = .seconds(300)
    ) -> Session {
        Session(
            accessToken: Secret(token), refreshToken: refreshToken.map(Secret.init),
            expiry: expiresIn.map { TestTime.start.advanced(by: $0) }, received: TestTime.start,
            origin: "https://lab.example:443", userName: "ada")
    }

    /// A renewed session, with another token that is valid for an hour longer.
    static func sample(_ token: String, _ old: Session) -> Session {
        var session = old
        session.accessToken = Secret(token)
        session.refreshToken = Secret("refresh-of-\(token)")
        session.expiry = old.expiry?.advanced(by: .seconds(3600))
        session.received = old.expiry
        return session
    }

    var token: String { accessToken.revealed }
}
