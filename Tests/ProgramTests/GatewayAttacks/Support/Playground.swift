import FileKit
import Glibc
import Testing

/// A project's folder with everything that may tempt somebody to leave it, and what must not be reached beside it.
struct Playground {
    static let secret = "root:the secret that nobody may see"

    /// What must stay as it is, and holds `work`.
    let outside: String
    /// The project's folder.
    let folder: String
    let out: WaysOut

    init(in home: String) throws {
        // The very path: one that is shown in answers must not be found by a shorter name of it.
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

    /// Everything beside the project's folder, and what it may be confused with.
    func surroundings() throws -> FileTree {
        var tree = try FileTree(outside)
        tree.remove { $0 == "work" || $0.hasPrefix("work/") }
        return tree
    }
}
