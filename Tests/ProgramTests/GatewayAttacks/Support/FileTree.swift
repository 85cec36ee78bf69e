import FileKit
import Glibc

/// The contents of a folder: every path, with the content of each file and the target of each link.
struct FileTree: Equatable, CustomStringConvertible {
    private(set) var entries: [String: String] = [:]

    /// - Parameter isLeftOut: Whether to skip an entry.
    init(_ folder: String, leavingOut isLeftOut: (String) -> Bool = { _ in false }) throws {
        try read(folder, "", isLeftOut)
    }

    var description: String { entries.map { "\($0): \($1.prefix(60))" }.sorted().joined(separator: "\n") }

    mutating func remove(_ isUnwanted: (String) -> Bool) {
        entries = entries.filter { !isUnwanted($0.key) }
    }

    private mutating func read(_ folder: String, _ prefix: String, _ isLeftOut: (String) -> Bool) throws {
        for entry in try Files.list(folder) where !isLeftOut(prefix + entry.name) {
            let path = "\(folder)/\(entry.name)"
            switch try Files.info(path, followLinks: false).kind {
            case .directory:
                entries[prefix + entry.name] = "folder"
                try read(path, "\(prefix)\(entry.name)/", isLeftOut)
            case .regular:
                entries[prefix + entry.name] = String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
            case .symbolicLink: entries[prefix + entry.name] = "link to \(target(of: path))"
            default: entries[prefix + entry.name] = "no file"
            }
        }
    }

    private func target(of path: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe readlink(path, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
