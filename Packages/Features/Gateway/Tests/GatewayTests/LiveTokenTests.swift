import Capabilities
import Synchronization
import Testing

@testable import Gateway

@Suite("The token of a running gateway", .timeLimit(.minutes(5)))
struct LiveTokenTests {
    /// The stored token, the number of reads, and a clock.
    private final class Kept: Sendable {
        private let state = Mutex((token: Optional("first"), looks: 0, seconds: Int64(0)))

        var looks: Int { state.withLock { $0.looks } }
        var now: Timestamp { state.withLock { Timestamp(microseconds: $0.seconds * 1_000_000) } }
        func keep(_ token: String?) { state.withLock { $0.token = token } }
        func wait(_ seconds: Int64) { state.withLock { $0.seconds += seconds } }

        func live() -> LiveToken {
            LiveToken(Secret("first"), now: { self.now }) {
                // Takes some time, in which other requests arrive.
                for _ in 0..<100 { await Task.yield() }
                return self.state.withLock { state in
                    state.looks += 1
                    return state.token.map { Secret($0) }
                }
            }
        }
    }

    @Test("The right token causes no lookup, and wrong ones few")
    func looks() async {
        let kept = Kept()
        let token = kept.live()
        for _ in 0..<10 { #expect(await token.accepts(Secret("first"))) }
        #expect(kept.looks == 0)
        for _ in 0..<10 { #expect(await !token.accepts(Secret("wrong"))) }
        #expect(kept.looks == 1)
        kept.wait(1)
        #expect(await !token.accepts(Secret("wrong")))
        #expect(kept.looks == 2)
        // A clock that is set back locks no client out.
        kept.wait(-100)
        kept.keep("second")
        #expect(await token.accepts(Secret("second")))
    }

    @Test("A new token works for all concurrent clients, and the old one stops working")
    func renewed() async {
        let kept = Kept()
        let token = kept.live()
        kept.keep("second")
        #expect(await token.accepts(Secret("first")))
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { await token.accepts(Secret("second")) } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(accepted == 20 && kept.looks == 1)
        #expect(await !token.accepts(Secret("first")))
    }

    @Test("The token stays valid while the stored one cannot be read")
    func unreadable() async {
        let kept = Kept()
        let token = kept.live()
        kept.keep(nil)
        #expect(await !token.accepts(Secret("second")))
        #expect(await token.accepts(Secret("first")))
    }
}
