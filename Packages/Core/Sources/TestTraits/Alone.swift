import Synchronization
public import Testing

/// Suites with this trait run one after the other. Within a suite, tests run one after the other if it is also
/// `.serialized`.
///
/// For suites that need all cores: tests that measure memory, race a child process a hundred times, or push a server to
/// its limits. If two of them ran at once, each would mistake the other's load for a fault.
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
    /// No other suite with this trait runs at the same time.
    public static var alone: Self { AloneTrait() }
}

/// Lets one suite through at a time, in the order of arrival.
private final class Turnstile: Sendable {
    /// One for the process, because the machine is the shared resource.
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
