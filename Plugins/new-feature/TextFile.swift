import Foundation

/// A text file, by its path relative to a folder.
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

    /// Writes the file and creates its folders.
    func write(below folder: URL) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}
