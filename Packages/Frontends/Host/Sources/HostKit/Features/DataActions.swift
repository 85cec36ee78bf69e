import Capabilities
import FileKit
import JSON
import Registry

/// The `data` actions, which treat the data of every feature in the same way.
enum DataActions {
    static var all: [Action] { [list, path, check, backup, restore, compact, purge] }

    private static let storeCompletion = Completion.dynamic { registry, _, _ in
        registry.all((any DataStore).self).map { Completion.Candidate($0.id, $0.summary) }
    }

    private static let list = Action("data.list", "List the data stored on this machine", .reads) { context in
        try context.registry.all((any DataStore).self).map(StoreRow.init)
    }

    private static let path = Action("data.path", "Print the folder that holds all data", .reads) { context in
        context.host.locations.data
    }
    .instant()

    private static let check = Action(
        "data.check", "Check the stored data for damage", .reads,
        .argument("stores", "Only these stores", as: [String].self, completion: storeCompletion)
    ) { context, names in
        var rows: [CheckedStore] = []
        let stores = try chosen(names, context)
        for (index, store) in stores.enumerated() {
            context.progress("checking \(store.id)", completed: index, of: stores.count)
            rows.append(try await look(at: store))
        }
        return CheckedStores(rows: rows)
    }
    .details(
        "Opens each store as a command would. Exits with 1 if a store is damaged, or if commands would refuse it because "
            + "a newer version has changed it.")

    private static func look(at store: any DataStore) async throws -> CheckedStore {
        let setAside = try store.setAside()
        do {
            let damage = try await store.check()
            let state: CheckedStore.State = damage.isEmpty ? .ok : .damaged
            return CheckedStore(store: store.id, state: state, findings: damage, setAside: setAside)
        } catch let error as any Failure {
            return CheckedStore(store: store.id, state: .refused, findings: [error.message], setAside: setAside)
        }
    }

    private static let backup = Action(
        "data.backup", "Copy all data to a folder", .writes,
        .argument("folder", "A folder that is empty or does not exist yet", as: OwnPath.self, completion: .directories),
        .argument("stores", "Only these stores", as: [String].self, completion: storeCompletion)
    ) { context, folder, names in
        let stores = try chosen(names, context)
        let folder = context.host.locations.absolute(try context.text(of: folder))
        if Files.exists(folder), try !Files.list(folder).isEmpty {
            throw HostError.file("\(folder) is not empty; name a new folder, so that no older copy is overwritten")
        }
        try Files.makeDirectories(folder)
        var rows: [SavedStore] = []
        for (index, store) in stores.enumerated() {
            context.progress("saving \(store.id)", completed: index, of: stores.count)
            let file = "\(folder)/\(store.id).backup"
            try await store.backup(to: file)
            rows.append(SavedStore(store: store.id, file: file))
        }
        return rows
    }
    .example("martlet data backup ~/martlet-2026-11-20", "Everything, into a new folder")

    private static let restore = Action(
        "data.restore", "Replace data with a backup", .destroys,
        .argument("folder", "The folder that 'data backup' wrote", as: OwnPath.self, completion: .directories),
        .argument("stores", "Only these stores", as: [String].self, completion: storeCompletion)
    ) { context, folder, names in
        let found = try copies(in: context.host.locations.absolute(try context.text(of: folder)), names, context)
        try await verify(found, context)
        let kept = try await keep(found.map(\.0), context)
        let users = try context.registry.all((any DataStore).self).compactMap { try $0.user() }
        for (index, user) in users.enumerated() where !users[..<index].contains(user) {
            context.notice("\(user) may still use the data it read before; restart it")
        }
        var rows: [SavedStore] = []
        for (index, (store, file)) in found.enumerated() {
            context.progress("restoring \(store.id)", completed: index, of: found.count)
            do {
                try await store.restore(from: file)
            } catch  where !kept.isEmpty {
                let done = rows.isEmpty ? "none" : rows.map(\.store).joined(separator: ", ")
                throw HostError.file(
                    "cannot restore \(store.id): \(AnyFailure(error).message); already replaced: \(done); "
                        + "the previous data is in \(kept)")
            }
            rows.append(SavedStore(store: store.id, file: file))
        }
        if !kept.isEmpty { context.notice("the previous data is kept in \(kept)") }
        return rows
    }
    .byName()
    .losing { arguments, context in
        let folder = context.host.locations.absolute(arguments["folder"]?.string ?? "")
        let found = try copies(in: folder, arguments["stores"]?.array?.compactMap(\.string) ?? [], context)
        let stores = found.map(\.0.id).joined(separator: ", ")
        return "Replace the data of \(stores) with the copies in \(PlainText.escape(folder))"
    }
    .details(
        "Checks every copy before it replaces anything: a copy that is empty, damaged or from a newer version is refused. "
            + "The previous data is kept in a folder inside the data folder, which 'data restore' accepts as well.")

    /// The stores for which a folder has copies.
    private static func copies(
        in folder: String, _ names: [String], _ context: ActionContext
    ) throws -> [(any DataStore, String)] {
        let pairs = try chosen(names, context).map { ($0, "\(folder)/\($0.id).backup") }
        let found = pairs.filter { Files.exists($0.1) }
        guard !found.isEmpty, names.isEmpty || found.count == pairs.count else {
            let missing = pairs.filter { !Files.exists($0.1) }.map(\.1).joined(separator: ", ")
            throw HostError.noFile("no backup found: \(missing.isEmpty ? folder : missing)")
        }
        return found
    }

    /// Checks all copies before any is used: restoring only some stores would mix data of different times.
    private static func verify(_ copies: [(any DataStore, String)], _ context: ActionContext) async throws {
        var problems: [String] = []
        for (index, (store, file)) in copies.enumerated() {
            context.progress("checking the copy of \(store.id)", completed: index, of: copies.count)
            do {
                try await store.verify(file)
            } catch let error as any Failure {
                problems.append("  \(store.id): \(error.message)")
            }
        }
        guard problems.isEmpty else {
            throw HostError.file(
                (["nothing was replaced, because not every copy can be used:"] + problems).joined(separator: "\n"))
        }
    }

    /// Copies the data that is about to be replaced, and returns the folder; empty if there is no data yet.
    private static func keep(_ stores: [any DataStore], _ context: ActionContext) async throws -> String {
        let present = stores.filter { Files.exists($0.location) }
        guard !present.isEmpty else { return "" }
        let time = context.host.now().compact
        var folder = "\(context.host.locations.data)/replaced-\(time)Z"
        while Files.exists(folder) { folder += "-2" }
        try Files.makeDirectories(folder)
        for (index, store) in present.enumerated() {
            context.progress("backing up \(store.id)", completed: index, of: present.count)
            try await store.backup(to: "\(folder)/\(store.id).backup")
        }
        return folder
    }

    private static let compact = Action(
        "data.compact", "Free unused disk space", .writes,
        .argument("stores", "Only these stores", as: [String].self, completion: storeCompletion)
    ) { context, names in
        var rows: [CompactedStore] = []
        let stores = try chosen(names, context)
        for (index, store) in stores.enumerated() {
            context.progress("compacting \(store.id)", completed: index, of: stores.count)
            rows.append(CompactedStore(store: store.id, freed: try await store.compact()))
        }
        return rows
    }

    private static let purge = Action(
        "data.purge", "Permanently remove deleted data, with every trace of it", .destroys,
        .argument("stores", "Only these stores", as: [String].self, completion: storeCompletion)
    ) { context, names in
        let stores = try chosen(names, context)
        let users = try stores.compactMap { store in try store.user().map { "  \(store.id): \($0)" } }
        guard users.isEmpty else {
            throw HostError.file(
                (["nothing was purged, because other programs have the data open; stop them first:"] + users)
                    .joined(separator: "\n"))
        }
        var rows: [PurgedStore] = []
        for (index, store) in stores.enumerated() {
            context.progress("purging \(store.id)", completed: index, of: stores.count)
            let purged = try await store.purge()
            let replaced = try removeReplaced(store, context)
            rows.append(PurgedStore(store: store.id, purged: purged, copies: purged.setAside + replaced))
        }
        context.notice(
            "the deleted data is in none of these files any more; copies elsewhere, exports and unused blocks of the "
                + "disk may still contain it")
        return rows
    }
    .byName()
    .losing { arguments, context in
        let stores = try chosen(arguments["stores"]?.array?.compactMap(\.string) ?? [], context)
        let copies = try stores.reduce(0) { try $0 + $1.setAside().count + replaced($1, context).count }
        let files = copies == 0 ? "" : copies == 1 ? ", and 1 old copy" : ", and \(copies) old copies"
        return "Permanently remove the deleted data of \(stores.map(\.id).joined(separator: ", "))\(files)"
    }
    .details(
        "Deleted conversations cannot be restored afterwards. Overwrites free space in the files, rebuilds the search "
            + "index, empties the log, and removes files that were set aside as damaged or kept by 'data restore'. Data that "
            + "was not deleted stays. Of removed conversations, the audit log keeps what was done, without the text. "
            + "Fails while other programs have the data open, and names them."
    )
    .example("martlet data purge chat.history", "Deleted conversations")

    /// The copies of a store that `data restore` kept.
    private static func replaced(_ store: any DataStore, _ context: ActionContext) throws -> [String] {
        let data = context.host.locations.data
        guard Files.exists(data) else { return [] }
        return try Files.list(data).filter { $0.kind == .directory && $0.name.hasPrefix("replaced-") }
            .map { "\(data)/\($0.name)/\(store.id).backup" }.filter(Files.exists)
    }

    private static func removeReplaced(_ store: any DataStore, _ context: ActionContext) throws -> [String] {
        let files = try replaced(store, context)
        for file in files {
            try Files.remove(file)
            let folder = String(file.dropLast(store.id.count + "/.backup".count))
            if try Files.list(folder).isEmpty { try Files.remove(folder) }
        }
        return files
    }

    private static func chosen(_ names: [String], _ context: ActionContext) throws -> [any DataStore] {
        let stores = context.registry.all((any DataStore).self)
        if names.isEmpty { return stores }
        return try names.map { name in
            guard let store = stores.first(where: { $0.id == name }) else {
                throw HostError.unknownStore(name, known: stores.map(\.id))
            }
            return store
        }
    }
}

/// A store on the disk.
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
            // A store that was never used has no file, and so no size.
            size = nil
        }
        setAside = try store.setAside()
    }

    static let fields: [Field<StoreRow>] = [
        Field("id", "The store", .name) { $0.id },
        Field("summary", "What is stored there") { $0.summary },
        Field("location", "Where it is") { $0.location },
        Field("size", "Its size, absent if it does not exist yet") { $0.size },
        .setAside { $0.setAside },
    ]
}

struct CheckedStore: Record {
    enum State: String, Choice {
        case ok, damaged
        /// It may be intact, but commands refuse to open it.
        case refused
    }

    let store: String
    let state: State
    let findings: [String]
    let setAside: [String]

    static let fields: [Field<CheckedStore>] = [
        Field("store", "The store", .name) { $0.store },
        Field("state", "ok, damaged, or refused if commands cannot open it", .state) { $0.state },
        Field("damage", "The problems found") { $0.findings },
        .setAside { $0.setAside },
    ]
}

/// The rows; the exit code is a failure if a store is damaged.
struct CheckedStores: OutputValue {
    let rows: [CheckedStore]

    static var schema: Schema { [CheckedStore].schema }
    var json: JSON { rows.json }
    var exit: ExitCode { rows.allSatisfy { $0.state == .ok } ? .done : .failed }
}

extension Field {
    /// The damaged files next to a store, if there are any.
    fileprivate static func setAside(_ files: @escaping @Sendable (Root) -> [String]) -> Field {
        Field("set-aside", "Damaged files that were replaced by an empty store") { root -> [String]? in
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
        Field("freed", "How many bytes were freed") { $0.freed },
    ]
}

struct PurgedStore: Record {
    let store: String
    let purged: PurgedData
    /// Files with old copies of the store, all of them removed.
    let copies: [String]

    static let fields: [Field<PurgedStore>] = [
        Field("store", "The store", .name) { $0.store },
        Field("removed", "How many deleted items were removed") { $0.purged.removed },
        Field("copies", "Files that were set aside or replaced, and are now removed") { row in
            row.copies.isEmpty ? nil : row.copies.map(PlainText.escape)
        },
        Field("freed", "How many bytes were freed") { $0.purged.freed },
    ]
}
