import Capabilities
import FileKit
import Registry
import Settings
import Synchronization

/// Reloads the settings of a session when their files change.
final class SettingsWatch: Renewal {
    private let recipe: Workbench.Recipe
    private let state: Mutex<State>

    private struct State {
        /// The files as they were at the last read, whether or not it succeeded.
        var read: SettingsMarks
        /// The files as they were at the last look, if one of them had become empty.
        var emptied: SettingsMarks?
    }

    init(_ workbench: Workbench) {
        recipe = workbench.recipe
        state = Mutex(State(read: workbench.marks))
    }

    func isDue() -> Bool {
        let now = recipe.loader().marks()
        return state.withLock { state in
            guard state.read != now else { return false }
            // A program that writes a file may empty or remove it first. Running without the settings in between would
            // drop their rules, so an empty file counts only when two looks in a row find it.
            guard now.lacksContent(of: state.read), state.emptied != now else { return true }
            state.emptied = now
            return false
        }
    }

    func renewed(after present: Generation) -> RenewalOutcome {
        let next = Workbench(recipe, sharing: present.host.surroundings)
        // A change that happens during the read is found at the next look.
        state.withLock { ($0.read, $0.emptied) = (next.marks, nil) }
        // A session that started with invalid settings has nothing to lose.
        guard present.failure == nil else { return .renewed(next.host, failure: next.failure) }
        if let failure = next.failure {
            return .kept(
                "the settings have changed but are not valid, so the previous ones stay in use: \(failure.message)")
        }
        do {
            guard let file = try next.host.fileWithoutTrust(after: present.host) else {
                return .renewed(next.host, failure: nil)
            }
            return .kept(
                "\(PlainText.escape(file)) has changed and is no longer trusted, so the previous settings stay in use; "
                    + "read it, then run '\(next.host.name) config trust'")
        } catch {
            return .kept(
                "the settings have changed, but the list of trusted projects cannot be read, so the previous ones stay in "
                    + "use: " + AnyFailure(error).message)
        }
    }
}

extension Host {
    /// A project's settings file that lost its trust because its content changed, if there is one. A file that the
    /// person stopped trusting does not count.
    fileprivate func fileWithoutTrust(after present: Host) throws -> String? {
        let trust = ProjectTrust(state: locations.state)
        let lost = settings.inert.filter { !present.settings.inert.contains($0) }
        return try lost.map(\.file).first { try trust.trusted($0) != nil }
    }
}

/// The state of the settings files at one moment.
struct SettingsMarks: Sendable, Equatable {
    private var marks: [String: FileMark] = [:]

    init(of paths: [String]) {
        for path in paths {
            do { marks[path] = try Files.mark(path) } catch {
                // A file that cannot be inspected cannot be read either; reading reports the error.
            }
        }
    }

    /// Whether a file that had content is now empty or missing.
    func lacksContent(of before: SettingsMarks) -> Bool {
        before.marks.contains { path, mark in !mark.isEmpty && marks[path]?.isEmpty ?? true }
    }
}
