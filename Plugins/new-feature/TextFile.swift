import Foundation

/// A file below some folder, by its path there.
struct TextFile {
    let path: String
    let text: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
    }

    init(path: String, in folder: URL) throws {
        self.init(path: path, text: try String(contentsOf: folder.appending(path: path), encoding: .utf8))
    }

    /// Writes it, with the folders above it.
    func write(below folder: URL) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}
