import Capabilities
import FileKit
import JSON
import Registry
import Settings

/// A key as a person types it.
enum SettingKey {
    static func split(_ key: String) -> [String] {
        key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The path of a key that is known.
    static func check(_ key: String, _ catalogue: SettingsCatalogue, mayBeGroup: Bool = false) throws -> [String] {
        let path = split(key)
        if catalogue.declaration(of: path) != nil { return path }
        if mayBeGroup, catalogue.isGroup(path) { return path }
        throw HostError.unknownSetting(key: key, why: catalogue.unknown(path))
    }
}

/// One setting as it stands.
struct SettingRow: Record {
    let key: String
    let value: JSON
    let origin: String?
    let note: String?
    let meaning: String?

    static func all(
        _ host: Host, below prefix: [String], origin: Bool, defaults: Bool, meaning: Bool
    ) -> [SettingRow] {
        let inert = Dictionary(host.settings.inert.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        var keys = Set(host.settings.keys).union(inert.keys)
        if defaults { keys.formUnion(host.catalogue.declarations.map(\.key)) }
        return keys.filter { $0.starts(with: prefix) }.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
            let entry = host.settings[key]
            return SettingRow(
                key: key.joined(separator: "."),
                value: entry?.value ?? host.catalogue.declaration(of: key)?.standard ?? .null,
                origin: origin ? (entry?.origin ?? .builtIn).words : nil,
                note: inert[key].map { "\($0.file) is not trusted; its value is not used" },
                meaning: meaning ? host.catalogue.declaration(of: key)?.summary : nil)
        }
    }

    static let fields: [Field<SettingRow>] = [
        Field("key", "The setting", .name) { $0.key },
        Field("value", "Its value") { $0.value },
        Field("origin", "Where it comes from") { $0.origin },
        Field("note", "What to know about it") { $0.note },
        Field("meaning", "What it is for") { $0.meaning },
    ]
}

/// What a change wrote.
struct Written: Record {
    let file: String
    let key: String
    let value: JSON?

    static let fields: [Field<Written>] = [
        Field("file", "The file that was written", .name) { $0.file },
        Field("key", "The setting") { $0.key },
        Field("value", "Its new value") { $0.value },
    ]
}

/// A place that settings are read from.
struct PathRow: Record {
    let scope: String
    let path: String
    let exists: Bool

    static func all(_ locations: Locations) -> [PathRow] {
        func row(_ scope: String, _ path: String) -> PathRow {
            PathRow(scope: scope, path: path, exists: Files.exists(path))
        }
        return locations.systemFiles.map { row("system", $0) }
            + [row("user", locations.userFile), row("project", locations.projectFile)]
    }

    static let fields: [Field<PathRow>] = [
        Field("scope", "system, user or project", .name) { $0.scope },
        Field("path", "The file") { $0.path },
        Field("exists", "Whether it is there") { $0.exists },
    ]
}
