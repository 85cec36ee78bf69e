public import Registry
import Synchronization

/// Settings that change when a test says so.
public final class TestChanges: Renewal {
    private let state = Mutex((next: RenewalOutcome?.none, looks: 0))

    public init() {}

    /// How often a session has looked.
    public var looks: Int { state.withLock { $0.looks } }

    /// What comes of the next look.
    public func put(_ next: RenewalOutcome) { state.withLock { $0.next = next } }

    public func isDue() -> Bool {
        state.withLock { state in
            state.looks += 1
            return state.next != nil
        }
    }

    public func renewed(after present: Generation) -> RenewalOutcome {
        state.withLock { exchange(&$0.next, with: nil) } ?? .kept("nothing was put there")
    }
}
