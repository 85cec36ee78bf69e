import Capabilities
import FileKit
import JSON
import Registry
import Settings

/// `config trust` and `config untrust`.
enum TrustActions {
    static func trust(_ context: ActionContext, _ path: OwnPath?) async throws -> TrustRow {
        let file = try file(path, context)
        let risky = try risky(file, context.host)
        let bundles = try TrustedBundles.all(
            besides: file, with: context.registry.all((any CompanionFiles).self))
        guard !risky.isEmpty || !bundles.isEmpty else {
            throw HostError.nothingToTrust("\(file) sets nothing that needs trust; it is used as it is")
        }
        let trust = ProjectTrust(state: context.host.locations.state)
        let before = try trust.trusted(file) ?? [:]
        var isNew = false
        for (key, value) in risky where before[key] != value {
            isNew = true
            context.notice(before[key] == nil ? "new: \(key) = \(value.text())" : "changed: \(key) = \(value.text())")
        }
        for (path, content) in bundles where !trust.trusts(path, TrustedBundles.entry(content)) {
            isNew = true
            context.notice("\(try trust.trusted(path) == nil ? "new" : "changed"): the bundle \(path)")
        }
        if !isNew { context.notice("\(file) was trusted already, as it is") }
        if !risky.isEmpty { try await trust.trust(file, risky) }
        for (path, content) in bundles { try await trust.trust(path, TrustedBundles.entry(content)) }
        return TrustRow(file: file, isTrusted: true, settings: risky, bundles: bundles.map(\.path))
    }

    static func untrust(_ context: ActionContext, _ path: OwnPath?) async throws -> TrustRow {
        let file = try file(path, context)
        let trust = ProjectTrust(state: context.host.locations.state)
        var was = try await trust.untrust(file)
        let bundles = try TrustedBundles.all(
            besides: file, with: context.registry.all((any CompanionFiles).self))
        for (path, _) in bundles where try await trust.untrust(path) { was = true }
        guard was else { throw HostError.nothingToTrust("\(file) was not trusted") }
        return TrustRow(file: file, isTrusted: false, settings: [:], bundles: [])
    }

    /// What a project's settings would run, send or widen; a project may have bundles and no settings.
    private static func risky(_ file: String, _ host: Host) throws -> JSONObject {
        do {
            let layer = try SettingsLayer(
                origin: .project(file: file), text: try Files.read(file, limit: SettingsLoader.largestFile))
            return host.catalogue.risky(in: layer.value)
        } catch let problem as SettingsProblem {
            throw SettingsFailure([problem])
        } catch let error as FileError where error.kind == .notFound {
            guard try !TrustedBundles.all(besides: file).isEmpty else { throw error }
            return [:]
        }
    }

    /// The settings file that is meant: the present project's, a folder's, or the file itself. It may be gone.
    private static func file(_ path: OwnPath?, _ context: ActionContext) throws -> String {
        let host = context.host
        guard let path else {
            let here = "\(host.locations.current)/\(SettingsLoader.projectFolder)/\(SettingsLoader.fileName)"
            guard let project = try host.locations.project ?? (TrustedBundles.all(besides: here).isEmpty ? nil : here)
            else { throw HostError.nothingToTrust("you are not in a project with settings; name its folder") }
            return project
        }
        let absolute = host.locations.absolute(try context.text(of: path))
        guard Files.exists(absolute) else { return absolute }
        let real = try Files.canonical(absolute)
        if try Files.info(real).kind == .directory {
            return "\(real)/\(SettingsLoader.projectFolder)/\(SettingsLoader.fileName)"
        }
        // One of a project's bundles means the project.
        let folder = "/\(SettingsLoader.projectFolder)/"
        guard let project = real.ranges(of: folder).last else { return real }
        return real[..<project.lowerBound] + folder + SettingsLoader.fileName
    }
}

/// What is trusted now.
struct TrustRow: Record {
    let file: String
    let isTrusted: Bool
    let settings: JSONObject
    let bundles: [String]

    static let fields: [Field<TrustRow>] = [
        Field("file", "The settings file", .name) { $0.file },
        Field("trusted", "Whether its settings are used") { $0.isTrusted },
        Field("settings", "What it may set by that") { JSON.object($0.settings) },
        Field("bundles", "The bundles that may be run by their names, and those that they run") {
            $0.bundles.isEmpty ? nil : $0.bundles
        },
    ]
}
