import Capabilities
import Registry
import Settings
import Synchronization

/// Has a session take up its settings anew when their files change.
final class SettingsWatch: Renewal {
    private let recipe: Workbench.Recipe
    /// The files as they were when they were read last, whatever came of that.
    private let read: Mutex<SettingsMarks>

    init(_ workbench: Workbench) {
        recipe = workbench.recipe
        read = Mutex(workbench.marks)
    }

    func isDue() -> Bool {
        let now = recipe.loader().marks()
        return read.withLock { $0 != now }
    }

    func renewed(after present: Generation) -> Renewed {
        let next = Workbench(recipe, sharing: present.host.surroundings)
        read.withLock { $0 = next.marks }
        // Who began with settings that were wrong already has nothing to lose.
        guard present.failure == nil else { return .renewed(next.host, failure: next.failure) }
        if let failure = next.failure {
            return .kept(
                "the settings have changed and cannot be used, so those from before hold on: \(failure.message)")
        }
        if let file = next.host.fileWithoutTrust(after: present.host) {
            return .kept(
                "\(PlainText.escape(file)) has changed and is not trusted any more, so the settings from before hold on; "
                    + "read it, then '\(next.host.name) config trust'")
        }
        return .renewed(next.host, failure: nil)
    }
}

extension Host {
    /// The project's file whose settings do not hold any more because somebody changed it. A trust that the person has
    /// taken back holds nothing on.
    fileprivate func fileWithoutTrust(after present: Host) -> String? {
        let trust = ProjectTrust(state: locations.state)
        let lost = settings.inert.filter { !present.settings.inert.contains($0) }
        return lost.map(\.file).first { file in
            // Nobody can say what was trusted where the list cannot be read.
            do { return try trust.trusted(file) != nil } catch { return true }
        }
    }
}
