/// Shell patterns: `*` matches anything but `/`, `**` matches anything, `?` matches one character but `/`, and `\`
/// escapes the next character.
public enum Glob {
    private enum Piece<Element: Hashable>: Equatable {
        case one(Element)
        case any
        case run
        case everything
    }

    /// Whether the pattern matches the whole text.
    public static func matches(_ pattern: String, _ text: String) -> Bool {
        matches(Array(pattern.unicodeScalars), Array(text.unicodeScalars), scalars)
    }

    /// Matches without regard to case or to the way accents are encoded, as some file systems compare names.
    public static func matchesFolded(_ pattern: String, _ text: String) -> Bool {
        matches(Array(pattern.lowercased()), Array(text.lowercased()), characters)
    }

    /// Matches with no special treatment of slashes, so that a star matches anything.
    public static func matchesWide(_ pattern: String, _ text: String) -> Bool {
        var wide = ""
        var isEscaped = false
        for character in pattern {
            wide += character == "*" && !isEscaped ? "**" : String(character)
            isEscaped = character == "\\" && !isEscaped
        }
        return matches(wide, text)
    }

    /// A pattern that matches only this text.
    public static func escape(_ text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars {
            if "*?\\".unicodeScalars.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern
    }

    /// The only text that a pattern matches; nil if it matches others too.
    public static func literal(_ pattern: String) -> String? {
        var text = ""
        for piece in pieces(of: Array(pattern.unicodeScalars), scalars) {
            guard case .one(let scalar) = piece else { return nil }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// How specific a pattern is: exact patterns most, then those with more literal characters.
    public static func precision(of pattern: String) -> Int {
        let pieces = pieces(of: Array(pattern.unicodeScalars), scalars)
        let exact = pieces.count { if case .one = $0 { true } else { false } }
        return exact == pieces.count ? 1 << 20 : exact
    }

    /// The special characters of a pattern.
    private struct Signs<Element: Sendable>: Sendable {
        let star, question, escape, slash: Element
    }

    private static let scalars = Signs<Unicode.Scalar>(star: "*", question: "?", escape: "\\", slash: "/")
    private static let characters = Signs<Character>(star: "*", question: "?", escape: "\\", slash: "/")

    /// Walks along the text once and tracks all possible places in the pattern, so that no pattern is slow.
    private static func matches<Element: Hashable & Sendable>(
        _ pattern: [Element], _ text: [Element], _ signs: Signs<Element>
    ) -> Bool {
        let pieces = pieces(of: pattern, signs)
        var places = reachable(from: [0], pieces)
        for element in text {
            var next: Set<Int> = []
            for place in places where place < pieces.count {
                switch pieces[place] {
                case .one(let wanted): if wanted == element { next.insert(place + 1) }
                case .any: if element != signs.slash { next.insert(place + 1) }
                case .run: if element != signs.slash { next.insert(place) }
                case .everything: next.insert(place)
                }
            }
            if next.isEmpty { return false }
            places = reachable(from: next, pieces)
        }
        return places.contains(pieces.count)
    }

    private static func pieces<Element: Hashable & Sendable>(of pattern: [Element], _ signs: Signs<Element>) -> [Piece<
        Element
    >] {
        var pieces: [Piece<Element>] = []
        var isEscaped = false
        for element in pattern {
            if isEscaped {
                pieces.append(.one(element))
                isEscaped = false
            } else if element == signs.escape {
                isEscaped = true
            } else if element == signs.star {
                if pieces.last == .run {
                    pieces[pieces.count - 1] = .everything
                } else if pieces.last != .everything {
                    pieces.append(.run)
                }
            } else {
                pieces.append(element == signs.question ? .any : .one(element))
            }
        }
        if isEscaped { pieces.append(.one(signs.escape)) }
        return pieces
    }

    /// The places reachable without another character, because stars may match nothing.
    private static func reachable<Element>(from places: Set<Int>, _ pieces: [Piece<Element>]) -> Set<Int> {
        var reached = places
        for start in places {
            var place = start
            while place < pieces.count, pieces[place] == .run || pieces[place] == .everything {
                place += 1
                reached.insert(place)
            }
        }
        return reached
    }
}

/// A pattern for paths, matched name by name: `src/**`, `~/.ssh`, `**/.env`.
///
/// A name `**` matches any number of folders, including none. Within a name, `*`, `?` and `\` work as in `Glob`.
public struct PathGlob: Sendable, Hashable {
    /// The base for relative patterns and paths, and the meaning of `~`.
    public struct Places: Sendable, Hashable {
        /// The folder in which relative patterns and paths start.
        public var folder: AbsolutePath
        /// The meaning of `~` and `$HOME` at the beginning; nil if they have none.
        public var home: AbsolutePath?

        /// By default relative texts start at the root, and `~` is a name like any other.
        public init(folder: AbsolutePath = AbsolutePath("/"), home: AbsolutePath? = nil) {
            self.folder = folder
            self.home = home
        }

        /// The absolute path that a text stands for: relative, absolute, or beginning with `~`.
        public func path(_ text: String) -> AbsolutePath {
            let (start, rest) = start(of: text)
            return start.appending(String(rest))
        }

        /// The folder that a text starts from, and the rest of the text.
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

    /// Reads a pattern, which may be relative, absolute, or begin with `~`.
    public init(_ pattern: String, in places: Places) {
        let (start, rest) = places.start(of: pattern)
        var parts = start.names.map { Part.name(Glob.escape(String(decoding: $0, as: UTF8.self))) }
        for name in rest.utf8.split(separator: UInt8(ascii: "/")).map({ String(Substring($0)) }) where name != "." {
            if name == ".." { _ = parts.popLast() } else { parts.append(name == "**" ? .any : .name(name)) }
        }
        self.parts = parts
    }

    /// Whether the pattern matches a path exactly.
    public func fits(_ path: AbsolutePath) -> Bool {
        ends(in: path, Glob.matches).contains(path.names.count)
    }

    /// Whether the pattern matches a path or one of its parents. Ignores case and the encoding of accents, because on
    /// some file systems these are the same file.
    public func covers(_ path: AbsolutePath) -> Bool {
        !ends(in: path) { Glob.matches($0, $1) || Glob.matchesFolded($0, $1) }.isEmpty
    }

    /// The one path that the pattern matches, alone or with everything below it; nil if there may be several.
    public var place: AbsolutePath? {
        var names: [[UInt8]] = []
        for part in parts.last == .any ? parts.dropLast() : parts[...] {
            guard case .name(let pattern) = part, let name = Glob.literal(pattern) else { return nil }
            names.append(Array(name.utf8))
        }
        return AbsolutePath(bytes: names.flatMap { [UInt8(ascii: "/")] + $0 })
    }

    /// The longest literal folder that contains all matches.
    public var start: AbsolutePath {
        var names: [UInt8] = []
        for part in parts {
            guard case .name(let pattern) = part, let name = Glob.literal(pattern) else { break }
            names += [UInt8(ascii: "/")] + Array(name.utf8)
        }
        return AbsolutePath(bytes: names)
    }

    /// The same pattern with its start folder replaced by another.
    public func moved(from start: AbsolutePath, to other: AbsolutePath) -> PathGlob {
        PathGlob(
            parts: other.names.map { .name(Glob.escape(String(decoding: $0, as: UTF8.self))) }
                + parts.dropFirst(start.names.count))
    }

    /// The numbers of path names after which the pattern can end.
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

/// Patterns for files and folders that tools may not use, in the syntax of `PathGlob`.
public struct DeniedPaths: Sendable, Hashable {
    /// Paths that tools may neither read nor write.
    public var reading: [String]
    /// Paths that tools may read but not write.
    public var writing: [String]

    /// By default nothing is denied.
    public init(reading: [String] = [], writing: [String] = []) {
        self.reading = reading
        self.writing = writing
    }

    /// Whether nothing is denied.
    public var isEmpty: Bool { reading.isEmpty && writing.isEmpty }
}
