import FileKit
import Glibc
import Testing

/// A project's folder with links and names that lead outside, and the files outside that must not be reached.
struct Playground {
    static let secret = "root:the secret that nobody may see"

    /// The folder that must stay unchanged; it contains `work`.
    let outside: String
    /// The project's folder.
    let folder: String
    let out: WaysOut

    init(in home: String) throws {
        // The canonical path, so that a search for it finds it in answers.
        outside = try Files.canonical(home) + "/outside"
        folder = "\(outside)/work"
        out = WaysOut(outside: outside)
        try write(Self.secret, to: "\(outside)/secret")
        try write("inside", to: "\(folder)/in/a")
        for (target, name) in [
            (outside, "out"), ("../..", "in/out"), ("chain-2", "chain"), ("in/../out", "chain-2"),
            ("../secret", "file"),
            ("chain-3", "chain-file"), ("file", "chain-3"), ("/", "root"), ("loop", "loop"),
        ] {
            try #require(unsafe symlink(target, "\(folder)/\(name)") == 0)
        }
    }

    /// Everything outside the project's folder, and names similar to it.
    func surroundings() throws -> FileTree {
        var tree = try FileTree(outside)
        tree.remove { $0 == "work" || $0.hasPrefix("work/") }
        return tree
    }
}
