import FileKit

/// Writes a text file and the folders above it.
func write(_ text: String, to path: String) throws {
    try Files.makeDirectories(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    try Files.writeAtomically(Array(text.utf8), to: path)
}

func read(_ path: String) throws -> String {
    String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
}
