import Capabilities
import FileKit
import Registry
import Settings

/// A data store with one file.
final class FileStore: DataStore {
    let id: String
    let summary = "A file of words"
    let location: String

    init(id: String, location: String) {
        self.id = id
        self.location = location
    }

    func check() async throws -> [String] {
        guard Files.exists(location) else { return [] }
        if try text().contains("newer") { throw StoreFailure(message: "it is newer") }
        return try text().contains("damage") ? ["a damaged word"] : []
    }

    func backup(to path: String) async throws { try Files.writeAtomically(Array(try text().utf8), to: path) }

    func restore(from path: String) async throws {
        try Files.writeAtomically(try Files.read(path, limit: 1 << 20), to: location)
    }

    func verify(_ copy: String) async throws {
        if try Files.read(copy, limit: 1 << 20).isEmpty { throw StoreFailure(message: "\(copy) is empty") }
    }

    func setAside() throws -> [String] { Files.exists(location + ".damaged-1") ? [location + ".damaged-1"] : [] }

    func user() throws -> String? { Files.exists(location + ".user") ? "the user of \(id)" : nil }

    func compact() async throws -> ByteCount {
        let before = try text()
        let after = String(before.filter { $0 != " " })
        try Files.writeAtomically(Array(after.utf8), to: location)
        return ByteCount(before.utf8.count - after.utf8.count)
    }

    /// Removes the text in parentheses, which counts as deleted.
    func purge() async throws -> PurgedData {
        let before = try text()
        let parts = before.split(separator: "(", omittingEmptySubsequences: false)
        let after = parts.map { $0.split(separator: ")", omittingEmptySubsequences: false).last ?? "" }.joined()
        try Files.writeAtomically(Array(after.utf8), to: location)
        var purged = PurgedData()
        purged.removed = parts.count - 1
        purged.freed = ByteCount(before.utf8.count - after.utf8.count)
        for file in try setAside() {
            try Files.remove(file)
            purged.setAside.append(file)
        }
        return purged
    }

    private func text() throws -> String { String(decoding: try Files.read(location, limit: 1 << 20), as: UTF8.self) }
}

struct StoreFailure: Failure {
    let message: String
    var code: String { "store.failed" }
}

/// Provides two stores in the folder that a setting names.
struct StoreFeature: Feature {
    private static let folder = Setting("folder", "Where the files are", default: "")
    static let manifest = Manifest(
        id: "store", summary: "Keeps words", version: "1.0", provides: [.shared((any DataStore).self)],
        settings: [folder.declaration])

    private let folder: String

    init(_ settings: FeatureSettings) { folder = settings[Self.folder] }

    func register(in registry: inout RegistryBuilder) {
        for name in ["first", "second"] {
            registry.provide(
                (any DataStore).self, FileStore(id: "store.\(name)", location: "\(folder)/\(name)") as any DataStore)
        }
    }
}
