import Capabilities
import Synchronization

/// The visible state of a feature.
public enum FeatureState: Sendable, Hashable {
    /// It is not in use, with the reason and how to switch it on.
    case off(String)
    /// It runs, but has not yet reported that it is ready.
    case starting
    /// It is ready, or has nothing to start.
    case ok
    /// Something is missing or failing, and the feature is retrying.
    case degraded(String)
    /// It does not work and does not retry, with the reason.
    case failed(String)
    /// It was asked to end and has not ended yet.
    case stopping
    /// It was never started, or has ended.
    case stopped

    /// The word for the state.
    public var word: String {
        switch self {
        case .off: "off"
        case .starting: "starting"
        case .ok: "ok"
        case .degraded: "degraded"
        case .failed: "failed"
        case .stopping: "stopping"
        case .stopped: "stopped"
        }
    }

    /// The reason for the state, if there is one.
    public var reason: String? {
        switch self {
        case .off(let reason), .degraded(let reason), .failed(let reason): reason
        default: nil
        }
    }

    var isEnding: Bool {
        switch self {
        case .stopping, .failed: true
        default: false
        }
    }

    /// The state after a health report; a feature that is ending does not change.
    func after(_ health: Health) -> FeatureState? {
        switch (self, health) {
        case (.stopping, _), (.stopped, _), (.failed, _), (.off, _): nil
        case (_, .ok): .ok
        case (_, .degraded(let reason)): .degraded(reason)
        }
    }
}

/// The health that a running feature reports.
public enum Health: Sendable, Hashable {
    /// It is ready.
    case ok
    /// Something is missing or failing, with the reason; the feature retries.
    case degraded(String)
}

/// The states of all features, readable from anywhere at any time.
public final class FeatureStates: Sendable {
    private struct Contents {
        var states: [String: FeatureState] = [:]
        var observers: [Int: AsyncStream<(feature: String, state: FeatureState)>.Continuation] = [:]
        var nextObserver = 0
    }

    private let contents = Mutex(Contents())

    /// No feature has a state yet.
    public init() {}

    /// The state of a feature; `.stopped` if it was never set.
    public subscript(feature: String) -> FeatureState {
        contents.withLock { $0.states[feature] ?? .stopped }
    }

    /// The state of a feature, if it was set.
    public func known(_ feature: String) -> FeatureState? {
        contents.withLock { $0.states[feature] }
    }

    /// All changes from now on. A slow reader sees the newest changes and misses older ones.
    public func changes() -> AsyncStream<(feature: String, state: FeatureState)> {
        let (stream, continuation) = AsyncStream<(feature: String, state: FeatureState)>.makeStream(
            bufferingPolicy: .bufferingNewest(256))
        let id = contents.withLock { contents in
            contents.nextObserver += 1
            contents.observers[contents.nextObserver] = continuation
            return contents.nextObserver
        }
        continuation.onTermination = { [weak self] _ in
            self?.contents.withLock { $0.observers[id] = nil }
        }
        return stream
    }

    func set(_ feature: String, _ state: FeatureState) {
        change(feature) { _ in state }
    }

    /// Changes a state depending on the present one; nil leaves it unchanged.
    ///
    /// - Returns: whether it was changed.
    @discardableResult
    func change(_ feature: String, _ next: (FeatureState) -> FeatureState?) -> Bool {
        contents.withLock { contents in
            let present = contents.states[feature] ?? .stopped
            guard let state = next(present), state != present || contents.states[feature] == nil else { return false }
            contents.states[feature] = state
            // Sent while the lock is held, so that all observers see the changes in the same order.
            for observer in contents.observers.values { observer.yield((feature: feature, state: state)) }
            return true
        }
    }
}
