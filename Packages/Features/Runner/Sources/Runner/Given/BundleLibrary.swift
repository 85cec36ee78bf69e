import Bundles
import Capabilities
import Cryptography
import FileKit
import Registry
import Synchronization

/// A bundle and all bundles that it runs, at any depth. Each file is read once, so that the text that was trusted and
/// checked is also the text that runs, even if the files change.
final class BundleLibrary: Sendable {
    /// Where the bundle comes from.
    enum Origin: Sendable {
        /// The user named its file, or it is in the user's own folder. That permits it and the bundles that it runs.
        case person
        /// A name was found in the project's folder, where other people's files may be. These files need trust.
        case project(folder: String, config: String, trusted: (any TrustedFiles)?)
    }

    private struct State {
        var sources: [String: BundleSource] = [:]
        var untrusted: String?
        var reach: BundleReach?
    }

    let root: BundleSource
    private let origin: Origin
    private let state = Mutex(State())

    init(_ root: BundleSource, _ origin: Origin) {
        self.root = root
        self.origin = origin
    }

    /// Whether it runs only while it is trusted.
    var needsTrust: Bool { if case .project = origin { true } else { false } }

    /// The folder of the project that has this bundle, even if the bundle was named by its path.
    var projectFolder: String? {
        guard let slash = root.file.lastIndex(of: "/") else { return nil }
        let (folder, ending) = (String(root.file[..<slash]), "/.martlet/bundles")
        guard folder.hasSuffix(ending) else { return nil }
        return folder == ending ? "/" : String(folder.dropLast(ending.count))
    }

    /// The surroundings of its runs, determined once.
    func reach(_ host: Host) -> BundleReach {
        if let known = state.withLock({ $0.reach }) { return known }
        let reach = BundleReach(host, project: projectFolder)
        return state.withLock { state in
            let first = state.reach ?? reach
            state.reach = first
            return first
        }
    }

    /// The first file that is needed but not trusted.
    var untrusted: String? { state.withLock { $0.untrusted } }

    /// A digest of everything that was read. A resumed run uses it to notice changes.
    var digest: String {
        let inner = state.withLock { $0.sources.values.map { (file: $0.file, digest: $0.digest) } }
        guard !inner.isEmpty else { return root.digest }
        let lines = inner.sorted { $0.file < $1.file }.map { "\($0.digest) \($0.file)\n" }
        return Hexadecimal.encode(Digest.sha256(Array("\(root.digest)\n\(lines.joined())".utf8)))
    }

    /// A bundle that another one runs, by its path relative to that one's folder.
    func bundle(_ path: String, besides file: String) throws(BundleFailure) -> BundleSource {
        let name = Self.path(path, besides: file)
        let place = Self.place(name)
        if place == Self.place(root.file) { return root }
        if let known = state.withLock({ $0.sources[place] }) { return known }
        let text = try BundleFinder.text(name)
        try requireTrust(name, text)
        let source = try BundleSource(text, file: name)
        // The first reader wins.
        return state.withLock { state in
            if let known = state.sources[place] { return known }
            state.sources[place] = source
            return source
        }
    }

    /// A file has one place however its path is spelled. That way a bundle that runs itself is noticed.
    private static func place(_ name: String) -> String {
        // Reading the file reports the error.
        do throws(FileError) { return try Files.canonical(name) } catch { return name }
    }

    static func path(_ path: String, besides file: String) -> String {
        if AbsolutePath.isAbsolute(path) { return path }
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        return String(folder) + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }

    private func requireTrust(_ name: String, _ text: [UInt8]) throws(BundleFailure) {
        guard case .project(let folder, let config, let trusted) = origin else { return }
        // By the canonical path, because links and `..` in a name may lead anywhere.
        let place: String
        do throws(FileError) { place = try Files.canonical(name) } catch {
            throw BundleFailure([BundleProblem(file: name, error.reason)])
        }
        if Self.lies(place, beneath: config) { return }
        guard Self.lies(place, beneath: folder) else {
            throw BundleFailure([
                BundleProblem(
                    file: name, "a project's bundle runs only bundles of the project and your own, not \(place)")
            ])
        }
        guard trusted?.trusts(place, content: text) == true else {
            state.withLock { $0.untrusted = $0.untrusted ?? place }
            throw BundleFailure([BundleProblem(file: name, RunnerError.notTrusted(place).message)])
        }
    }

    /// Whether a canonical path leads to something in a folder.
    static func lies(_ place: String, beneath folder: String) -> Bool {
        do throws(FileError) { return place.hasPrefix(try Files.canonical(folder) + "/") } catch { return false }
    }
}

/// Finds the file of a bundle, and checks that the user wants it to run.
struct BundleFinder {
    static let endings = [".yaml", ".yml", ".json5", ".json"]

    let host: Host
    let trusted: (any TrustedFiles)?

    /// The bundle of a path or a name. A typed path permits the file. A name stands for one of the project's bundles,
    /// which must be trusted, or for one of the user's own.
    func find(_ name: String) throws -> BundleLibrary {
        let isName = !name.contains("/") && !Self.endings.contains { name.hasSuffix($0) }
        guard isName else { return BundleLibrary(try Self.read(absolute(name)), .person) }
        for folder in folders {
            for ending in Self.endings where Files.exists("\(folder)/\(name)\(ending)") {
                let path = "\(folder)/\(name)\(ending)"
                let text = try Self.text(path)
                guard folder == folders[0] else { return BundleLibrary(try BundleSource(text, file: path), .person) }
                return try ofProject(path, text)
            }
        }
        throw RunnerError.unknownName(name, folders: folders)
    }

    /// The bundle of a resumed run. A bundle of a project must still be trusted.
    func again(_ file: String, needsTrust: Bool) throws -> BundleLibrary {
        needsTrust
            ? try ofProject(file, try Self.text(file)) : BundleLibrary(try Self.read(file), .person)
    }

    private func ofProject(_ path: String, _ text: [UInt8]) throws -> BundleLibrary {
        guard trusted?.trusts(path, content: text) == true else { throw RunnerError.notTrusted(path) }
        // The folder that has .martlet/bundles.
        let folder = AbsolutePath(path).folder.folder.folder.text
        return BundleLibrary(
            try BundleSource(text, file: path),
            .project(folder: folder, config: host.locations.config, trusted: trusted))
    }

    /// A path relative to the folder where the command runs.
    func absolute(_ path: String) -> String {
        host.locations.absolute(path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }

    /// The folders with bundles that have names: those of the project, then the user's own.
    var folders: [String] { [projectFolder, host.locations.config + "/bundles"] }

    private var projectFolder: String {
        guard let settings = host.locations.project else { return absolute(".martlet/bundles") }
        return AbsolutePath.joined("bundles", in: PathParts(settings).folder)
    }

    static func read(_ path: String) throws(BundleFailure) -> BundleSource {
        try BundleSource(try text(path), file: path)
    }

    static func text(_ path: String) throws(BundleFailure) -> [UInt8] {
        do throws(FileError) { return try Files.read(path, limit: BundleSource.longest) } catch {
            throw BundleFailure([BundleProblem(file: path, error.reason)])
        }
    }
}

extension BundleFailure {
    /// The same failure, with paths shortened relative to a folder.
    func shown(from folder: String) -> BundleFailure {
        BundleFailure(
            problems.map { problem in
                let file =
                    problem.file.hasPrefix(folder + "/")
                    ? String(problem.file.dropFirst(folder.count + 1)) : problem.file
                return BundleProblem(
                    file: file, line: problem.line, column: problem.column,
                    problem.message.replacing(folder + "/", with: ""))
            })
    }
}

extension BundleReach {
    /// The files that a bundle may open are in the folder where the command runs, or in the folder of the bundle's
    /// project. Martlet's own settings, keys and data are closed to every bundle.
    ///
    /// - Parameter project: the folder of the project; nil for a bundle outside of a project.
    init(_ host: Host, project: String?) {
        let opened = OpenedFolders()
        let lists = host.registry.all((any ServerList).self)
        var servers: [String] = []
        for server in lists.flatMap(\.servers) where !servers.contains(server) { servers.append(server) }
        self.init(
            folder: Self.start(project ?? host.locations.current, opened), current: host.locations.current,
            closed: Self.closed(host), servers: servers
        ) { path throws(BundleReachError) in try opened.root(path) }
    }

    /// Nil if the folder is gone. Only a bundle that opens files needs to report that.
    private static func start(_ folder: String, _ opened: OpenedFolders) -> FolderRoot? {
        do {
            // A removed folder looks like the root folder.
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
        // /proc shows the variables of this process, and leads to everything that it has open.
        var closed = ["/proc", places.config, places.data, places.state, places.cache] + places.systemConfig
        // The folder of sockets and of the state of a gateway.
        do { closed += [try directories.runtime].compactMap(\.self) } catch {
            // The home folder is unknown, so none of our files are in it.
        }
        return closed.filter { !$0.isEmpty }.map { place in
            do throws(FileError) { return try Files.place(place) } catch { return place }
        }
    }
}

/// The folders that a run has opened. A path keeps its meaning during a run.
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
