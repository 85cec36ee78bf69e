import Registry
import Runs
import Synchronization

/// What the actions of this feature share.
struct RunnerServices: Sendable {
    /// Opened by its first use.
    let journal: Journal

    init(_ surroundings: Surroundings) {
        let folder = surroundings.locations.data
        journal = Journal(folder.isEmpty ? "" : "\(folder)/runs.db", now: surroundings.now)
    }
}

/// The services that the feature made when it registered, for when it runs.
final class SharedServices: Sendable {
    private let held = Mutex<RunnerServices?>(nil)

    var services: RunnerServices? { held.withLock { $0 } }

    func set(_ services: RunnerServices) { held.withLock { $0 = services } }
}
