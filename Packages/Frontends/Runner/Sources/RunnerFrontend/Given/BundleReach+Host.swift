import Bundles
import Capabilities
import FileKit
import Registry
import Synchronization

extension BundleReach {
    /// Beneath which files may be opened: the folder where the command runs, or that of the project whose bundle it is. Our
    /// own settings, keys and data are nobody's.
    ///
    /// - Parameter project: the folder of the project; nil for a bundle of nobody's.
    init(_ host: Host, project: String?) {
        let opened = OpenedFolders()
        let lists = host.composition.registry.all((any ServerList).self)
        var servers: [String] = []
        for server in lists.flatMap(\.servers) where !servers.contains(server) { servers.append(server) }
        self.init(
            folder: Self.start(project ?? host.locations.current, opened), current: host.locations.current,
            closed: Self.closed(host), servers: servers
        ) { path throws(BundleReachError) in try opened.root(path) }
    }

    /// Nil where the folder is gone, of which only a bundle that opens files has to hear.
    private static func start(_ folder: String, _ opened: OpenedFolders) -> FolderRoot? {
        do {
            // A folder that was removed looks like the topmost one.
            if folder == "/", try Files.canonical(".") != "/" { return nil }
            return try opened.root(folder)
        } catch {
            return nil
        }
    }

    static func closed(_ host: Host) -> [String] {
        let places = host.locations
        let directories = Directories(
            application: "martlet", override: "MARTLET_HOME", environment: host.environment)
        // In /proc are the variables of this process, and ways to everything that it has open.
        var closed = ["/proc", places.config, places.data, places.state, places.cache] + places.systemConfig
        // Where sockets and what a gateway says of itself are.
        do { closed += [try directories.runtime].compactMap(\.self) } catch {
            // Nobody knows where the home folder is, and nothing of ours is in it.
        }
        return closed.filter { !$0.isEmpty }.map { place in
            do throws(FileError) { return try Files.place(place) } catch { return place }
        }
    }
}

/// The folders that a run has opened: what a path means does not change while it goes on.
private final class OpenedFolders: Sendable {
    private let known = Mutex<[String: FolderRoot]>([:])

    func root(_ path: String) throws(BundleReachError) -> FolderRoot {
        if let root = known.withLock({ $0[path] }) { return root }
        do throws(FileError) {
            let root = try FolderRoot(opening: path)
            return known.withLock { known in
                let first = known[path] ?? root
                known[path] = first
                return first
            }
        } catch {
            throw BundleReachError(reason: error.reason)
        }
    }
}
