import FileKit
import Glibc

/// What is in a folder: every path with the content of the file or the target of the link.
struct FileTree: Equatable, CustomStringConvertible {
    private(set) var entries: [String: String] = [:]

    init(_ folder: String) throws {
        try read(folder, "")
    }

    var description: String { entries.map { "\($0): \($1.prefix(60))" }.sorted().joined(separator: "\n") }

    private mutating func read(_ folder: String, _ prefix: String) throws {
        for entry in try Files.list(folder) {
            let path = "\(folder)/\(entry.name)"
            switch try Files.info(path, followLinks: false).kind {
            case .directory:
                entries[prefix + entry.name] = "folder"
                try read(path, "\(prefix)\(entry.name)/")
            case .file:
                entries[prefix + entry.name] = String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
            default: entries[prefix + entry.name] = "other"
            }
        }
    }
}
