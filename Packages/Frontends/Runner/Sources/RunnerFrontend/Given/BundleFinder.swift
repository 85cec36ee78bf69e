import Bundles
import Capabilities
import FileKit
import Registry

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
