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
        let slash = UInt8(ascii: "/")
        let trimmed = path.utf8.reversed().drop { $0 == slash }
        let name = trimmed.prefix { $0 != slash }
        let folder = trimmed.dropFirst(name.count).drop { $0 == slash }
        self.name = String(decoding: name.reversed(), as: UTF8.self)
        self.folder =
            if !folder.isEmpty {
                String(decoding: folder.reversed(), as: UTF8.self)
            } else {
                AbsolutePath.isAbsolute(path) ? "/" : "."
            }
    }
}
