import ProcessKit
import Registry
import Runs
import StorageKit

/// What the actions of this feature share.
struct RunnerServices: Sendable {
    /// Opened by its first use.
    let journal: Journal

    init(_ surroundings: Surroundings, held: Holdings) {
        let folder = surroundings.locations.data
        journal = Journal(folder.isEmpty ? "" : "\(folder)/runs.db", held: held, now: surroundings.now) {
            $0.tell(ActionContext.current?.notice)
        }
    }
}
