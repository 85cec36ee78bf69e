/// A pattern for paths, by names between slashes: `src/**`, `~/.ssh`, `**/.env`.
///
/// `**` as a whole name stands for any number of folders, also none; within a name `*`, `?` and `\` are as in `Glob`.
public struct PathGlob: Sendable, Hashable {
    /// Where relative patterns and paths begin, and what `~` is.
    public struct Places: Sendable, Hashable {
        public var folder: AbsolutePath
        public var home: AbsolutePath?

        public init(folder: AbsolutePath = AbsolutePath("/"), home: AbsolutePath? = nil) {
            self.folder = folder
            self.home = home
        }

        /// The absolute path that a text stands for: relative, absolute, or beginning with `~`.
        public func path(_ text: String) -> AbsolutePath {
            let (start, rest) = start(of: text)
            return start.appending(String(rest))
        }

        /// From which folder on a text is meant, and what of it is left.
        fileprivate func start(of text: String) -> (folder: AbsolutePath, rest: Substring) {
            var text = text[...]
            if text.hasPrefix("file://") { text = text.dropFirst("file://".count) }
            if text.utf8.first == UInt8(ascii: "/") { return (AbsolutePath("/"), text) }
            for word in ["~", "$HOME", "${HOME}"] where text.hasPrefix(word) {
                let rest = text.dropFirst(word.count)
                if let home, rest.isEmpty || rest.utf8.first == UInt8(ascii: "/") { return (home, rest) }
            }
            return (folder, text)
        }
    }

    private enum Part: Hashable {
        /// Any number of names.
        case any
        case name(String)
    }

    private let parts: [Part]

    private init(parts: [Part]) {
        self.parts = parts
    }

    public init(_ pattern: String, in places: Places) {
        let (start, rest) = places.start(of: pattern)
        var parts = start.names.map { Part.name(Glob.escape(String(decoding: $0, as: UTF8.self))) }
        for name in rest.utf8.split(separator: UInt8(ascii: "/")).map({ String(Substring($0)) }) where name != "." {
            if name == ".." { _ = parts.popLast() } else { parts.append(name == "**" ? .any : .name(name)) }
        }
        self.parts = parts
    }

    /// Whether a path is one of those that are meant, to the letter.
    public func fits(_ path: AbsolutePath) -> Bool {
        ends(in: path, Glob.matches).contains(path.names.count)
    }

    /// Whether a path is one of those that are meant or lies beneath one, also where only capital letters or the way in
    /// which accents are written differ: on some file systems that is the same file.
    public func covers(_ path: AbsolutePath) -> Bool {
        !ends(in: path) { Glob.matches($0, $1) || Glob.matchesFolded($0, $1) }.isEmpty
    }

    /// The one path that is meant, with all that lies beneath it or alone; nil where there may be several.
    public var place: AbsolutePath? {
        var names: [[UInt8]] = []
        for part in parts.last == .any ? parts.dropLast() : parts[...] {
            guard case .name(let pattern) = part, let name = Glob.literal(pattern) else { return nil }
            names.append(Array(name.utf8))
        }
        return AbsolutePath(bytes: names.flatMap { [UInt8(ascii: "/")] + $0 })
    }

    /// The folder beneath which all paths lie that are meant, as far as the pattern names it.
    public var start: AbsolutePath {
        var names: [UInt8] = []
        for part in parts {
            guard case .name(let pattern) = part, let name = Glob.literal(pattern) else { break }
            names += [UInt8(ascii: "/")] + Array(name.utf8)
        }
        return AbsolutePath(bytes: names)
    }

    /// The same in another folder than the one that the pattern names.
    public func moved(from start: AbsolutePath, to other: AbsolutePath) -> PathGlob {
        PathGlob(
            parts: other.names.map { .name(Glob.escape(String(decoding: $0, as: UTF8.self))) }
                + parts.dropFirst(start.names.count))
    }

    /// After how many of the path's names the pattern can be at its end.
    private func ends(in path: AbsolutePath, _ matches: (String, String) -> Bool) -> Set<Int> {
        var places = reachable(from: [0])
        var ends: Set<Int> = places.contains(parts.count) ? [0] : []
        for (index, bytes) in path.names.enumerated() {
            let name = String(decoding: bytes, as: UTF8.self)
            var next: Set<Int> = []
            for place in places where place < parts.count {
                switch parts[place] {
                case .any: next.insert(place)
                case .name(let pattern): if matches(pattern, name) { next.insert(place + 1) }
                }
            }
            places = reachable(from: next)
            if places.contains(parts.count) { ends.insert(index + 1) }
            if places.isEmpty { break }
        }
        return ends
    }

    private func reachable(from places: Set<Int>) -> Set<Int> {
        var reached = places
        for start in places {
            var place = start
            while place < parts.count, parts[place] == .any {
                place += 1
                reached.insert(place)
            }
        }
        return reached
    }
}

/// Patterns for files and folders that are kept from tools, as `PathGlob` reads them.
public struct DeniedPaths: Sendable, Hashable {
    /// What no tool may open at all.
    public var reading: [String]
    /// What may be read and not written.
    public var writing: [String]

    public init(reading: [String] = [], writing: [String] = []) {
        self.reading = reading
        self.writing = writing
    }

    public var isEmpty: Bool { reading.isEmpty && writing.isEmpty }
}
