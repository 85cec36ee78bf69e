import Bundles
import Capabilities
import FileKit
import Registry
import Runs

/// Gives the rights of bundles to whatever asks for them.
final class BundleHolders: GrantHolders {
    /// The runs of bundles.
    let journal: Journal

    init(_ journal: Journal) {
        self.journal = journal
    }

    /// Those of a composition. Completions find the journal through them, because parameters are declared before it is
    /// known.
    static func own(in registry: Registry) -> BundleHolders? {
        registry.all((any GrantHolders).self).lazy.compactMap { $0 as? BundleHolders }.first
    }

    var kind: String { "bundle" }

    func knownNames() -> [(name: String, summary: String)] {
        guard let context = ActionContext.current else { return [] }
        return BundleFinder(host: context.host, trusted: nil).names
    }

    func holder(named name: String) async throws -> GrantHolder {
        guard let context = ActionContext.current else {
            throw AccessFailure(rule: "cannot read the permissions of a bundle here", mend: "do it in an action")
        }
        let finder = BundleFinder(host: context.host, trusted: context.registry.optional((any TrustedFiles).self))
        do {
            let library = try finder.find(name)
            return GrantHolder(try Bundle(library.root).grant(in: library.reach(context.host)))
        } catch let failure as BundleFailure {
            throw failure.shown(from: context.host.locations.current)
        }
    }
}

/// The bundles that a project's bundle runs.
final class BundleCompanions: CompanionFiles {
    private static let most = 1_000

    func companions(of path: String, content: [UInt8], in folder: String) -> [(path: String, content: [UInt8])] {
        var found: [(path: String, content: [UInt8])] = []
        var known: Set<String> = [path]
        var open = [(path, content)]
        while let (file, text) = open.popLast(), found.count < Self.most {
            for name in names(in: text, file) {
                // A file that cannot be read cannot run either. The run reports that.
                guard let place = try? Files.canonical(BundleLibrary.path(name, besides: file)),
                    BundleLibrary.lies(place, beneath: folder), known.insert(place).inserted,
                    let inner = try? BundleFinder.text(place)
                else { continue }
                found.append((place, inner))
                open.append((place, inner))
            }
        }
        return found.sorted { $0.path < $1.path }
    }

    private func names(in text: [UInt8], _ file: String) -> [String] {
        guard let source = try? BundleSource(text, file: file) else { return [] }
        return Bundle.reading(source).0.allSteps.compactMap { step in
            if case .bundle(let path) = step.work, !path.isEmpty { path } else { nil }
        }
    }
}
