/// The folder and the last name of a path, absolute or relative, by its text alone. Slashes at its end are ignored.
///
/// By bytes, as in the kernel: for Swift, a slash with an accent after it is another character.
public struct PathParts: Sendable, Hashable {
    /// The path up to the last name: "." if the path is only a name, and "/" for what is directly in the root.
    public let folder: String
    /// The last name; empty for the root.
    public let name: String

    /// Splits a path.
    public init(_ path: String) {
        // Loops, because each generic collection would be looked up at every start of the program.
        let (bytes, slash) = (Array(path.utf8), UInt8(ascii: "/"))
        var end = bytes.count
        while end > 0, bytes[end - 1] == slash { end -= 1 }
        var start = end
        while start > 0, bytes[start - 1] != slash { start -= 1 }
        var above = start
        while above > 0, bytes[above - 1] == slash { above -= 1 }
        name = String(decoding: bytes[start..<end], as: UTF8.self)
        folder =
            above > 0
            ? String(decoding: bytes[..<above], as: UTF8.self) : AbsolutePath.isAbsolute(path) ? "/" : "."
    }
}
