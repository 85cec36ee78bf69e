import Capabilities
import FileKit
import Registry

/// The data of every feature, looked after in one way.
enum DataActions {
    static var all: [Action] { [list, path, check, backup, restore, compact] }

    private static let storeCompletion = Completion.dynamic { registry, _ in
        registry.all((any DataStore).self).map(\.id)
    }

    private static let list = Action("data.list", "List what is kept on this machine and where", .reads) { context in
        context.registry.all((any DataStore).self).map(StoreRow.init)
    }

    private static let path = Action("data.path", "Print the folder that holds all data", .reads) { context in
        context.host.locations.data
    }
    .instant()

    private static let check = Action(
        "data.check", "Look for damage", .reads,
        .argument("stores", "Only these stores", as: [String].self, completion: storeCompletion)
    ) { context, names in
        var rows: [CheckedStore] = []
        let stores = try chosen(names, context)
        for (index, store) in stores.enumerated() {
            context.progress("checking \(store.id)", completed: index, of: stores.count)
            rows.append(CheckedStore(store: store.id, damage: try await store.check()))
        }
        return CheckedStores(rows: rows)
    }
    .details("Ends with 1 when a store is damaged.")

    private static let backup = Action(
        "data.backup", "Save a copy of all data in a folder", .writes,
        .argument("folder", "A folder that is empty or not there yet", as: PathValue.self),
        .argument("stores", "Only these stores", as: [String].self, completion: storeCompletion)
    ) { context, folder, names in
        let stores = try chosen(names, context)
        let folder = absolute(folder.text, context.host)
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
        "data.restore", "Replace data by a copy that was saved", .destroys,
        .argument("folder", "The folder that 'data backup' wrote", as: PathValue.self),
        .argument("stores", "Only these stores", as: [String].self, completion: storeCompletion)
    ) { context, folder, names in
        let folder = absolute(folder.text, context.host)
        let pairs = try chosen(names, context).map { ($0, "\(folder)/\($0.id).backup") }
        let found = pairs.filter { Files.exists($0.1) }
        guard !found.isEmpty, names.isEmpty || found.count == pairs.count else {
            let missing = pairs.filter { !Files.exists($0.1) }.map(\.1).joined(separator: ", ")
            throw HostError.noFile("there is no copy to restore: \(missing.isEmpty ? folder : missing)")
        }
        var rows: [SavedStore] = []
        for (index, (store, file)) in found.enumerated() {
            context.progress("restoring \(store.id)", completed: index, of: found.count)
            try await store.restore(from: file)
            rows.append(SavedStore(store: store.id, file: file))
        }
        return rows
    }

    private static let compact = Action(
        "data.compact", "Give unused space back to the disk", .writes,
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

    private static func absolute(_ path: String, _ host: Host) -> String {
        path.hasPrefix("/") ? path : "\(host.locations.current)/\(path)"
    }
}
