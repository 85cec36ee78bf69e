import Capabilities
import CoreTesting
import LoopKit
import Synchronization
import Testing

@testable import AuthSignIn

/// A source whose server rotates refresh tokens, and whose network and disk fail from time to time.
private final class UnreliableSource: SessionSource {
    struct State {
        var stored: Session?
        var generator: SeededGenerator
        /// The only refresh token that the server accepts.
        var valid = "refresh-0"
        var renewals = 0
        var replays = 0
    }

    struct Failed: Error {}

    let state: Mutex<State>
    private let turn = Turn()
    private let time: TestTime
    private let diskFails: Bool

    init(seed: UInt64, time: TestTime, diskFails: Bool) {
        state = Mutex(State(stored: .sample("access-0"), generator: SeededGenerator(seed: seed)))
        self.time = time
        self.diskFails = diskFails
    }

    private func fails(once times: Int) -> Bool {
        state.withLock { Int.random(in: 0..<times, using: &$0.generator) == 0 }
    }

    func load() async throws -> Session? {
        await Task.yield()
        return state.withLock { $0.stored }
    }

    func mark() throws -> SessionMark? {
        state.withLock { state in state.stored.map { SessionMark($0.token) } }
    }

    func store(_ session: Session) async throws {
        if diskFails, fails(once: 6) { throw Failed() }
        state.withLock { $0.stored = session }
    }

    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await turn.take()
        defer { turn.pass() }
        return try await body()
    }

    func renew(_ session: Session) async throws -> Session {
        await Task.yield()
        // The request is lost before it reaches the server.
        if fails(once: 4) { throw Failed() }
        let now = time.now
        return try state.withLock { state in
            guard session.refreshToken?.revealed == state.valid else {
                state.replays += 1
                throw SignInError.refused("used already")
            }
            state.renewals += 1
            state.valid = "refresh-\(state.renewals)"
            var new = session
            new.accessToken = Secret("access-\(state.renewals)")
            new.refreshToken = Secret(state.valid)
            (new.received, new.expiry) = (now, now.advanced(by: .seconds(300)))
            return new
        }
    }
}

@Suite("Random request storms", .timeLimit(.minutes(5)))
struct KeeperRandomTests {
    private func attempt(_ keeper: SessionKeeper, refusesFirst: Bool) async {
        do {
            let session = try await keeper.session()
            if refusesFirst { _ = try await keeper.session(refusing: session.accessToken) }
        } catch {
            let isExpected = error is UnreliableSource.Failed || error is CancellationError
            #expect(isExpected, "\(error)")
        }
    }

    @Test(
        "Two keepers lose or reuse no refresh token despite 401s, cancellations and network failures",
        arguments: 0..<20 as Range<UInt64>)
    func twoKeepers(seed: UInt64) async throws {
        try await storm(seed: seed, keepers: 2, diskFails: false)
    }

    // With one keeper: a second one could not know a token that the first failed to store.
    @Test("A keeper loses no refresh token on a disk that is sometimes full", arguments: 0..<20 as Range<UInt64>)
    func fullDisk(seed: UInt64) async throws {
        try await storm(seed: seed, keepers: 1, diskFails: true)
    }

    private func storm(seed: UInt64, keepers count: Int, diskFails: Bool) async throws {
        let time = TestTime()
        let source = UnreliableSource(seed: seed, time: time, diskFails: diskFails)
        let keepers = (0..<count).map { _ in SessionKeeper(source, now: time.clock) }
        var generator = SeededGenerator(seed: seed &+ 1000)
        for _ in 0..<10 {
            let tasks = (0..<40).map { number in
                let refusesFirst = Int.random(in: 0..<3, using: &generator) == 0
                return Task { await attempt(keepers[number % count], refusesFirst: refusesFirst) }
            }
            for task in tasks where Bool.random(using: &generator) { task.cancel() }
            for task in tasks { await task.value }
            time.move(by: .seconds(Int.random(in: -50...200, using: &generator)))
        }
        for keeper in keepers {
            // Storing may fail at the last attempt too, so there are others before it.
            for _ in 0..<20 { await attempt(keeper, refusesFirst: false) }
            await keeper.close()
        }
        let state = source.state.withLock { ($0.replays, $0.renewals, $0.valid, $0.stored) }
        #expect(state.0 == 0, "seed \(seed)")
        #expect(state.1 > 0, "seed \(seed)")
        #expect(state.3?.refreshToken?.revealed == state.2, "seed \(seed)")
    }
}
