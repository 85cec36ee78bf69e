/// The directory and the last name of a path; trailing slashes are ignored.
///
/// By bytes, as the kernel reads it: to Swift a slash with an accent after it is another character.
struct PathParts {
    let directory: String
    let name: String

    init(_ path: String) {
        let slash = UInt8(ascii: "/")
        let trimmed = path.utf8.reversed().drop { $0 == slash }
        let name = trimmed.prefix { $0 != slash }
        let directory = trimmed.dropFirst(name.count).drop { $0 == slash }
        self.name = String(decoding: name.reversed(), as: UTF8.self)
        self.directory =
            if !directory.isEmpty {
                String(decoding: directory.reversed(), as: UTF8.self)
            } else {
                path.startsAtRoot ? "/" : "."
            }
    }
}

extension String {
    /// Whether it is an absolute path to the kernel.
    var startsAtRoot: Bool { utf8.first == UInt8(ascii: "/") }
}
