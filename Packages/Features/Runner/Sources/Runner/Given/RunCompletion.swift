import FileKit
import JSON
import Registry
import Runs

/// How a shell completes runs and bundles: from the journal and from the folders of bundles.
enum RunCompletion {
    /// Runs, with the names of their bundles and their states.
    static let runs = Completion.dynamic { registry, _, _ in Self.offered(registry).map(Self.candidate) }

    /// Runs that can be resumed.
    static let resumable = Completion.dynamic { registry, _, _ in
        [Completion.Candidate("last", "The newest run")]
            + Self.offered(registry).filter(\.canBeResumed).map(Self.candidate)
    }

    /// The steps of the run that is given, or else of the newest run.
    static let steps = Completion.dynamic { registry, _, given in
        (BundleHolders.own(in: registry)?.journal.offeredSteps(of: given["run"]?.string) ?? []).map { step in
            Completion.Candidate(step.key, step.work)
        }
    }

    /// The names of bundles that have runs.
    static let namesOfRuns = Completion.dynamic { registry, _, _ in
        Self.offered(registry).map { Completion.Candidate($0.name) }
    }

    /// Bundles by name, and files.
    static let bundles = Completion.dynamicOrFiles { _, host, _ in
        BundleFinder(host: host, trusted: nil).names.map { Completion.Candidate($0.name, $0.summary) }
    }

    private static func offered(_ registry: Registry) -> [OfferedRun] {
        BundleHolders.own(in: registry)?.journal.offered() ?? []
    }

    private static func candidate(_ run: OfferedRun) -> Completion.Candidate {
        Completion.Candidate(run.id, "\(run.name), \(run.state)")
    }
}

extension BundleFinder {
    /// The names of the bundles of the project and of the user's own, and whose each is. A name that both have stands
    /// for the project's bundle.
    var names: [(name: String, summary: String)] {
        var found: [(name: String, summary: String)] = []
        for (folder, summary) in zip(folders, ["A bundle of this project", "One of your bundles"]) {
            for name in Self.names(in: folder) where !found.contains(where: { $0.name == name }) {
                found.append((name, summary))
            }
        }
        return found
    }

    private static func names(in folder: String) -> [String] {
        guard Files.exists(folder) else { return [] }
        do {
            return try Files.list(folder).compactMap { entry in
                guard let ending = endings.first(where: { entry.name.hasSuffix($0) }) else { return nil }
                let name = String(entry.name.dropLast(ending.count))
                return name.isEmpty ? nil : name
            }
        } catch {
            // What cannot be listed is not offered.
            return []
        }
    }
}
