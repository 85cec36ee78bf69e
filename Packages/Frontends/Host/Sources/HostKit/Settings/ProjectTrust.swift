import Capabilities
import FileKit
import JSON
import Registry

/// Which projects' risky settings are trusted: by path and by the exact content of these settings.
///
/// Stores the content and not its hash, so that the person can see what changed when they must decide again.
struct ProjectTrust {
    private static let largestFile = 16 << 20
    private let path: String

    /// - Parameter state: the state folder. If it is empty, nothing is trusted.
    init(state: String) {
        path = state.isEmpty ? "" : state + "/trusted.json"
    }

    /// The file that stores the trust, if there is one.
    var files: [String] { path.isEmpty ? [] : [path] }

    /// Whether the person trusted exactly this content of this file.
    func trusts(_ file: String, _ risky: JSONObject) -> Bool {
        do {
            return try load()[file] == .object(risky)
        } catch {
            // A damaged list trusts nothing; `doctor` and `config trust` report what is wrong with it.
            return false
        }
    }

    /// The content of a file that was trusted, if there is any.
    func trusted(_ file: String) throws -> JSONObject? {
        try load()[file]?.object
    }

    func trust(_ file: String, _ risky: JSONObject) async throws {
        try await change { $0[file] = .object(risky) }
    }

    /// - Returns: whether the file was trusted before.
    func untrust(_ file: String) async throws -> Bool {
        var was = false
        try await change { list in
            was = list[file] != nil
            list[file] = nil
        }
        return was
    }

    private func load() throws -> JSONObject {
        guard !path.isEmpty else { return [:] }
        do {
            guard let list = try JSON(parsing: try Files.read(path, limit: Self.largestFile)).object else {
                throw HostError.file("\(path) is damaged; remove it and trust your projects again")
            }
            return list
        } catch let error as FileError where error.kind == .notFound {
            return [:]
        } catch let error as JSONError {
            throw HostError.file("\(error.located(in: path)); remove the file and trust your projects again")
        }
    }

    private func change(_ edit: (inout JSONObject) -> Void) async throws {
        guard !path.isEmpty else { throw HostError.noFile("there is no folder to store trust in; set HOME") }
        try Files.makeDirectories(PathParts(path).folder)
        let lock = try await FileLock.acquire(path + ".lock", within: .seconds(5))
        var list = try load()
        edit(&list)
        try Files.writeAtomically(Array(JSON.object(list).text(.pretty).utf8), to: path, mode: 0o600)
        lock.release()
        ActionContext.current?.session.lookAgain()
    }
}

/// The bundles of projects that the person trusts. They are stored in the list of trusted settings, by path.
final class TrustedBundles: TrustedFiles {
    private let trust: ProjectTrust

    init(state: String) {
        trust = ProjectTrust(state: state)
    }

    func trusts(_ path: String, content: [UInt8]) -> Bool {
        trust.trusts(path, Self.entry(content))
    }

    /// Stores the content itself, so that a change can be shown.
    static func entry(_ content: [UInt8]) -> JSONObject {
        ["bundle": .string(String(decoding: content, as: UTF8.self))]
    }

    /// The bundles of the project that owns a settings file, together with the files that they use, each with its
    /// content.
    static func all(
        besides settings: String, with companions: [any CompanionFiles]
    ) throws -> [(path: String, content: [UInt8])] {
        let own = try all(besides: settings)
        let project = settings.split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
        var known = Set(own.map(\.path))
        let others = own.flatMap { file in
            companions.flatMap { $0.companions(of: file.path, content: file.content, in: project) }
        }
        return own + others.filter { known.insert($0.path).inserted }
    }

    /// The bundles of the project that owns a settings file, each with its content.
    static func all(besides settings: String) throws -> [(path: String, content: [UInt8])] {
        let folder = AbsolutePath.joined("bundles", in: PathParts(settings).folder)
        guard Files.exists(folder) else { return [] }
        let endings = [".yaml", ".yml", ".json5", ".json"]
        return try Files.list(folder).map(\.name).filter { name in endings.contains { name.hasSuffix($0) } }
            .sorted().map { name in
                let path = "\(folder)/\(name)"
                return (path, try Files.read(path, limit: SettingsLoader.largestFile))
            }
    }
}
