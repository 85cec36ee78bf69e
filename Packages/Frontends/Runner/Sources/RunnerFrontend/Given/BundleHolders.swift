import Bundles
import Capabilities
import Registry

/// What bundles may do, for whoever asks.
final class BundleHolders: GrantHolders {
    var kind: String { "bundle" }

    func holder(named name: String) async throws -> GrantHolder {
        guard let context = ActionContext.current else {
            throw AccessFailure(rule: "nobody asks what the bundle may do", mend: "do it in an action")
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
