import Capabilities
import FileKit
import JSON
import Registry
import Settings

/// `config trust` and `config untrust`.
enum TrustActions {
    static func trust(_ context: ActionContext, _ path: PathValue?) async throws -> TrustRow {
        let file = try file(path, context.host)
        let layer = try SettingsLayer(
            origin: .project(file: file), text: try Files.read(file, limit: SettingsLoader.largestFile))
        let risky = context.host.catalogue.risky(in: layer.value)
        guard !risky.isEmpty else {
            throw HostError.nothingToTrust("\(file) sets nothing that needs trust; it is used as it is")
        }
        let trust = ProjectTrust(state: context.host.locations.state)
        let before = try trust.trusted(file) ?? [:]
        for (key, value) in risky where before[key] != value {
            context.notice(before[key] == nil ? "new: \(key) = \(value.text())" : "changed: \(key) = \(value.text())")
        }
        try await trust.trust(file, risky)
        return TrustRow(file: file, isTrusted: true, settings: risky)
    }

    static func untrust(_ context: ActionContext, _ path: PathValue?) async throws -> TrustRow {
        let file = try file(path, context.host)
        guard try await ProjectTrust(state: context.host.locations.state).untrust(file) else {
            throw HostError.nothingToTrust("\(file) was not trusted")
        }
        return TrustRow(file: file, isTrusted: false, settings: [:])
    }

    /// The settings file that is meant: the present project's, a folder's, or the file itself. It may be gone.
    private static func file(_ path: PathValue?, _ host: Host) throws -> String {
        guard let path else {
            guard let project = host.locations.project else {
                throw HostError.nothingToTrust("you are not in a project with settings; name its folder")
            }
            return project
        }
        let absolute = path.text.hasPrefix("/") ? path.text : "\(host.locations.current)/\(path.text)"
        guard Files.exists(absolute) else { return absolute }
        let real = try Files.canonical(absolute)
        guard try Files.info(real).kind == .directory else { return real }
        return "\(real)/\(SettingsLoader.projectFolder)/\(SettingsLoader.fileName)"
    }
}

/// What is trusted now.
struct TrustRow: Record {
    let file: String
    let isTrusted: Bool
    let settings: JSONObject

    static let fields: [Field<TrustRow>] = [
        Field("file", "The settings file", .name) { $0.file },
        Field("trusted", "Whether its settings are used") { $0.isTrusted },
        Field("settings", "What it may set by that") { JSON.object($0.settings) },
    ]
}
