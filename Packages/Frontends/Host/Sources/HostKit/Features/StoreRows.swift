import Capabilities
import FileKit
import JSON

/// A store as it lies on the disk.
struct StoreRow: Record {
    let id: String
    let summary: String
    let location: String
    let size: ByteCount?
    let setAside: [String]

    init(_ store: any DataStore) throws {
        id = store.id
        summary = store.summary
        location = store.location
        do {
            size = ByteCount(Int(try Files.info(store.location).size))
        } catch {
            // A store that was never used has no file, and that is what an absent size says.
            size = nil
        }
        setAside = try store.setAside()
    }

    static let fields: [Field<StoreRow>] = [
        Field("id", "The store", .name) { $0.id },
        Field("summary", "What is kept there") { $0.summary },
        Field("location", "Where it is") { $0.location },
        Field("size", "How much it takes, absent while it is not there") { $0.size },
        .setAside { $0.setAside },
    ]
}

struct CheckedStore: Record {
    enum State: String, Choice {
        case ok, damaged
        /// It may be sound, and no command would open it.
        case refused
    }

    let store: String
    let state: State
    let findings: [String]
    let setAside: [String]

    static let fields: [Field<CheckedStore>] = [
        Field("store", "The store", .name) { $0.store },
        Field("state", "ok, damaged, or refused as every command would", .state) { $0.state },
        Field("damage", "What was found") { $0.findings },
        .setAside { $0.setAside },
    ]
}

/// The rows, and a failing exit code when one of them shows damage.
struct CheckedStores: OutputValue {
    let rows: [CheckedStore]

    static var schema: Schema { [CheckedStore].schema }
    var json: JSON { rows.json }
    var exit: ExitCode { rows.allSatisfy { $0.state == .ok } ? .done : .failed }
}

extension Field {
    /// The damaged files beside a store, where there are any.
    fileprivate static func setAside(_ files: @escaping @Sendable (Root) -> [String]) -> Field {
        Field("set-aside", "Damaged files that an empty store took the place of") { root -> [String]? in
            let files = files(root)
            return files.isEmpty ? nil : files
        }
    }
}

struct SavedStore: Record {
    let store: String
    let file: String

    static let fields: [Field<SavedStore>] = [
        Field("store", "The store", .name) { $0.store },
        Field("file", "Its copy") { $0.file },
    ]
}

struct CompactedStore: Record {
    let store: String
    let freed: ByteCount

    static let fields: [Field<CompactedStore>] = [
        Field("store", "The store", .name) { $0.store },
        Field("freed", "How many bytes were given back") { $0.freed },
    ]
}

struct PurgedStore: Record {
    let store: String
    let purged: PurgedData
    /// Files that hold a copy of it as it was, all of which are gone.
    let copies: [String]

    static let fields: [Field<PurgedStore>] = [
        Field("store", "The store", .name) { $0.store },
        Field("removed", "How much was removed that had been deleted and was still there") { $0.purged.removed },
        Field("copies", "Files that were set aside or replaced, and are removed") { row in
            row.copies.isEmpty ? nil : row.copies.map(PlainText.escape)
        },
        Field("freed", "How many bytes were given back") { $0.purged.freed },
    ]
}
