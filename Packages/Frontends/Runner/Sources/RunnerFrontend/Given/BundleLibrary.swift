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
