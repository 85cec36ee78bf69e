/// The directory and the last name of a path; trailing slashes are ignored.
struct PathParts {
    let directory: String
    let name: String

    init(_ path: String) {
        let trimmed = path.reversed().drop { $0 == "/" }
        let name = trimmed.prefix { $0 != "/" }
        let directory = trimmed.dropFirst(name.count).drop { $0 == "/" }
        self.name = String(name.reversed())
        self.directory =
            if !directory.isEmpty {
                String(directory.reversed())
            } else {
                path.hasPrefix("/") ? "/" : "."
            }
    }
}
