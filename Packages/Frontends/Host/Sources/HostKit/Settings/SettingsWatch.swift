import Capabilities
import FileKit
import Registry
import Settings
import Synchronization

/// Has a session take up its settings anew when their files change.
final class SettingsWatch: Renewal {
    private let recipe: Workbench.Recipe
    private let state: Mutex<State>

    private struct State {
        /// The files as they were when they were read last, whatever came of that.
        var read: SettingsMarks
        /// The files as they were at the last look, when one of them had nothing in it any more.
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
            // A program that writes a file may empty or remove it first. Without its rules nothing is done meanwhile: the
            // file has to be the same at two looks.
            guard now.lacksContent(of: state.read), state.emptied != now else { return true }
            state.emptied = now
            return false
        }
    }

    func renewed(after present: Generation) -> RenewalOutcome {
        let next = Workbench(recipe, sharing: present.host.surroundings)
        // What has been written while it was read is found at the next look.
        state.withLock { ($0.read, $0.emptied) = (next.marks, nil) }
        // Who began with settings that were wrong already has nothing to lose.
        guard present.failure == nil else { return .renewed(next.host, failure: next.failure) }
        if let failure = next.failure {
            return .kept(
                "the settings have changed and cannot be used, so those from before hold on: \(failure.message)")
        }
        do {
            guard let file = try next.host.fileWithoutTrust(after: present.host) else {
                return .renewed(next.host, failure: nil)
            }
            return .kept(
                "\(PlainText.escape(file)) has changed and is not trusted any more, so the settings from before hold on; "
                    + "read it, then '\(next.host.name) config trust'")
        } catch {
            return .kept(
                "the settings have changed, and nobody can say which projects are trusted, so those from before hold on: "
                    + AnyFailure(error).message)
        }
    }
}

extension Host {
    /// A project's settings file that has lost its trust because its content changed, if there is one. Trust that the
    /// person took back does not count.
    fileprivate func fileWithoutTrust(after present: Host) throws -> String? {
        let trust = ProjectTrust(state: locations.state)
        let lost = settings.inert.filter { !present.settings.inert.contains($0) }
        return try lost.map(\.file).first { try trust.trusted($0) != nil }
    }
}

/// How the files that settings come from were at one moment.
struct SettingsMarks: Sendable, Equatable {
    private var marks: [String: FileMark] = [:]

    init(of paths: [String]) {
        for path in paths {
            do { marks[path] = try Files.mark(path) } catch {
                // What cannot be looked at cannot be read either, which is told where it is read.
            }
        }
    }

    /// Whether a file that had something in it is empty or gone.
    func lacksContent(of before: SettingsMarks) -> Bool {
        before.marks.contains { path, mark in !mark.isEmpty && marks[path]?.isEmpty ?? true }
    }
}
