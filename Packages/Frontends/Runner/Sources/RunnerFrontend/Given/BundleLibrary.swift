import Bundles
import Capabilities
import Cryptography
import FileKit
import Registry
import Synchronization

/// A bundle and all that it runs, at any depth. Each file is read once, so that what was trusted and checked is what runs,
/// whatever becomes of the files meanwhile.
final class BundleLibrary: Sendable {
    /// Where the bundle comes from.
    enum Origin: Sendable {
        /// The person has named its file, or wrote it themselves, and thereby allowed it and what it runs.
        case person
        /// A name meant one of the project's, with which a stranger's file may come along.
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

    /// Whether it runs only for as long as it is trusted.
    var needsTrust: Bool { if case .project = origin { true } else { false } }

    /// The folder of the project among whose bundles it is, also for who names it by its path.
    var projectFolder: String? {
        guard let slash = root.file.lastIndex(of: "/") else { return nil }
        let (folder, ending) = (String(root.file[..<slash]), "/.martlet/bundles")
        guard folder.hasSuffix(ending) else { return nil }
        return folder == ending ? "/" : String(folder.dropLast(ending.count))
    }

    /// What is around its runs, which is found out once.
    func reach(_ host: Host) -> BundleReach {
        if let known = state.withLock({ $0.reach }) { return known }
        let reach = BundleReach(host, project: projectFolder)
        return state.withLock { state in
            let first = state.reach ?? reach
            state.reach = first
            return first
        }
    }

    /// The first file that was wanted and that nobody agreed to.
    var untrusted: String? { state.withLock { $0.untrusted } }

    /// By which a run that goes on knows that everything it has read is as it was.
    var digest: String {
        let inner = state.withLock { $0.sources.values.map { (file: $0.file, digest: $0.digest) } }
        guard !inner.isEmpty else { return root.digest }
        let lines = inner.sorted { $0.file < $1.file }.map { "\($0.digest) \($0.file)\n" }
        return Hexadecimal.encode(Digest.sha256(Array("\(root.digest)\n\(lines.joined())".utf8)))
    }

    /// A bundle that another one names, by its path from the folder of that one.
    func bundle(_ path: String, besides file: String) throws(BundleFailure) -> BundleSource {
        let name = Self.path(path, besides: file)
        let place = Self.place(name)
        if place == Self.place(root.file) { return root }
        if let known = state.withLock({ $0.sources[place] }) { return known }
        let text = try BundleFinder.text(name)
        try requireTrust(name, text)
        let source = try BundleSource(text, file: name)
        // Whoever came first has read what counts.
        return state.withLock { state in
            if let known = state.sources[place] { return known }
            state.sources[place] = source
            return source
        }
    }

    /// A file has one place however it is spelled, so that a bundle that runs itself is known by it.
    private static func place(_ name: String) -> String {
        // Reading it tells what is wrong with one that has none.
        do throws(FileError) { return try Files.canonical(name) } catch { return name }
    }

    static func path(_ path: String, besides file: String) -> String {
        if path.hasPrefix("/") { return path }
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        return String(folder) + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }

    private func requireTrust(_ name: String, _ text: [UInt8]) throws(BundleFailure) {
        guard case .project(let folder, let config, let trusted) = origin else { return }
        // Not by its name, in which links and `..` may lead anywhere.
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

/// Finds the file of a bundle, and sees to it that the person wants it to be run.
struct BundleFinder {
    private static let endings = [".yaml", ".yml", ".json5", ".json"]

    let host: Host
    let trusted: (any TrustedFiles)?

    /// The bundle that is meant. A path that the person has typed is thereby allowed; a name means one of the project's
    /// bundles, which have to be trusted, or one of their own.
    func find(_ name: String) throws -> BundleLibrary {
        let isName = !name.contains("/") && !Self.endings.contains { name.hasSuffix($0) }
        guard isName else { return BundleLibrary(try Self.read(absolute(name)), .person) }
        let folders = [projectFolder, host.locations.config + "/bundles"]
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

    /// The bundle of a run that is resumed. One of a project's bundles must still be trusted.
    func again(_ file: String, needsTrust: Bool) throws -> BundleLibrary {
        needsTrust
            ? try ofProject(file, try Self.text(file)) : BundleLibrary(try Self.read(file), .person)
    }

    private func ofProject(_ path: String, _ text: [UInt8]) throws -> BundleLibrary {
        guard trusted?.trusts(path, content: text) == true else { throw RunnerError.notTrusted(path) }
        // That of .martlet/bundles.
        let folder = AbsolutePath(path).folder.folder.folder.text
        return BundleLibrary(
            try BundleSource(text, file: path),
            .project(folder: folder, config: host.locations.config, trusted: trusted))
    }

    /// A path as seen from where the command runs.
    func absolute(_ path: String) -> String {
        host.locations.absolute(path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }

    private var projectFolder: String {
        guard let settings = host.locations.project, let slash = settings.lastIndex(of: "/") else {
            return absolute(".martlet/bundles")
        }
        return settings[..<slash] + "/bundles"
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
    /// The same, with files named as they are seen from a folder.
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
