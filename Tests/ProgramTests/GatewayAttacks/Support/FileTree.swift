import FileKit
import Glibc

/// What is in a folder: every path, with the content of each file.
struct FileTree: Equatable, CustomStringConvertible {
    private(set) var entries: [String: String] = [:]

    init(_ folder: String) throws {
        try read(folder, "")
    }

    var description: String { entries.map { "\($0): \($1.prefix(60))" }.sorted().joined(separator: "\n") }

    mutating func remove(_ isUnwanted: (String) -> Bool) {
        entries = entries.filter { !isUnwanted($0.key) }
    }

    private mutating func read(_ folder: String, _ prefix: String) throws {
        for entry in try Files.list(folder) {
            let path = "\(folder)/\(entry.name)"
            switch try Files.info(path, followLinks: false).kind {
            case .directory:
                entries[prefix + entry.name] = "folder"
                try read(path, "\(prefix)\(entry.name)/")
            case .regular:
                entries[prefix + entry.name] = String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
            default: entries[prefix + entry.name] = "no file"
            }
        }
    }
}
