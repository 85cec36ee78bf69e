import Synchronization
public import Testing

/// Suites with this trait run one after the other, each of whose tests follow each other if it is `.serialized`, too.
///
/// For what wants the cores for itself: a test that measures memory, that races a child to its end a hundred times, or that
/// drives a server to its limits. Two of them side by side would each see the other's load as a fault.
public struct AloneTrait: SuiteTrait, TestScoping {
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        await Turnstile.machine.enter()
        defer { Turnstile.machine.leave() }
        try await body()
    }
}

extension Trait where Self == AloneTrait {
    /// No other suite with this trait runs meanwhile.
    public static var alone: Self { AloneTrait() }
}

/// Lets one through at a time, in the order in which they came.
private final class Turnstile: Sendable {
    /// One for the process, because the machine is what is shared.
    static let machine = Turnstile()

    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiting.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isTaken = false
                return CheckedContinuation<Void, Never>?.none
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
