import Capabilities
import FileKit
import JSON

/// The bundles of projects that the person has agreed to. They stand in the list of trusted settings, by their path.
final class TrustedBundles: TrustedFiles {
    private let trust: ProjectTrust

    init(state: String) {
        trust = ProjectTrust(state: state)
    }

    func trusts(_ path: String, content: [UInt8]) -> Bool {
        trust.trusts(path, Self.entry(content))
    }

    /// The content itself, so that a change can be shown.
    static func entry(_ content: [UInt8]) -> JSONObject {
        ["bundle": .string(String(decoding: content, as: UTF8.self))]
    }

    /// The bundles of the project to which a settings file belongs, and what they bring along, with what they contain.
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

    /// The bundles of the project to which a settings file belongs, with what they contain.
    static func all(besides settings: String) throws -> [(path: String, content: [UInt8])] {
        let folder = settings[..<(settings.lastIndex(of: "/") ?? settings.startIndex)] + "/bundles"
        guard Files.exists(String(folder)) else { return [] }
        let endings = [".yaml", ".yml", ".json5", ".json"]
        return try Files.list(String(folder)).map(\.name).filter { name in endings.contains { name.hasSuffix($0) } }
            .sorted().map { name in
                let path = "\(folder)/\(name)"
                return (path, try Files.read(path, limit: SettingsLoader.largestFile))
            }
    }
}
