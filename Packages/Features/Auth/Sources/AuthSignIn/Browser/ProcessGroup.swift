import FileKit

/// The processes that are signalled together.
struct ProcessGroup {
    private let id: Int32

    init(_ id: Int32) {
        self.id = id
    }

    /// Whether any process of the group still runs. One that has ended and was not waited for does not count.
    var isAlive: Bool {
        get throws {
            try Files.list("/proc").contains { entry in
                guard Int32(entry.name) != nil else { return false }
                // Processes end while the list is read.
                guard let bytes = try? Files.read("/proc/\(entry.name)/stat", limit: 4096) else { return false }
                // The name before the last parenthesis may contain anything, parentheses and spaces included.
                let facts = String(decoding: bytes, as: UTF8.self)
                guard let name = facts.lastIndex(of: ")") else { return false }
                let fields = facts[name...].split(separator: " ")
                return fields.count > 3 && fields[1] != "Z" && fields[3] == "\(id)"
            }
        }
    }
}
