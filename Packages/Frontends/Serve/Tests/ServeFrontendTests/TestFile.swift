import FileKit

/// Files as a person reads and writes them.
enum TestFile {
    /// The text without the end of its line.
    static func text(_ path: String) throws -> String {
        String(decoding: try Files.read(path, limit: 4_096), as: UTF8.self).split(separator: "\n").joined()
    }

    static func exists(_ path: String) -> Bool { Files.exists(path) }

    static func write(_ text: String, to path: String, mode: UInt32 = 0o600) throws {
        try Files.writeAtomically(Array(text.utf8), to: path, mode: mode)
    }
}
