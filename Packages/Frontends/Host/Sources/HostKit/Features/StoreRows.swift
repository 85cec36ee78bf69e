import Capabilities
import FileKit
import JSON

/// A store as it lies on the disk.
struct StoreRow: Record {
    let id: String
    let summary: String
    let location: String
    let size: ByteCount?

    init(_ store: any DataStore) {
        id = store.id
        summary = store.summary
        location = store.location
        do {
            size = ByteCount(Int(try Files.info(store.location).size))
        } catch {
            // A store that was never used has no file, and that is what an absent size says.
            size = nil
        }
    }

    static let fields: [Field<StoreRow>] = [
        Field("id", "The store", .name) { $0.id },
        Field("summary", "What is kept there") { $0.summary },
        Field("location", "Where it is") { $0.location },
        Field("size", "How much it takes, absent while it is not there") { $0.size },
    ]
}

struct CheckedStore: Record {
    let store: String
    let damage: [String]

    static let fields: [Field<CheckedStore>] = [
        Field("store", "The store", .name) { $0.store },
        Field("state", "ok or damaged", .state) { $0.damage.isEmpty ? "ok" : "damaged" },
        Field("damage", "What was found") { $0.damage },
    ]
}

/// The rows, and a failing exit code when one of them shows damage.
struct CheckedStores: OutputValue {
    let rows: [CheckedStore]

    static var schema: Schema { [CheckedStore].schema }
    var json: JSON { rows.json }
    var exit: ExitCode { rows.allSatisfy(\.damage.isEmpty) ? .done : .failed }
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
