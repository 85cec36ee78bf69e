/// Patterns as shells have them: `*` for anything but `/`, `**` for anything, `?` for one character but `/`, and `\` for
/// the next character as it is.
public enum Glob {
    private enum Piece<Element: Hashable>: Equatable {
        case one(Element)
        case any
        case run
        case everything
    }

    public static func matches(_ pattern: String, _ text: String) -> Bool {
        matches(Array(pattern.unicodeScalars), Array(text.unicodeScalars), scalars)
    }

    /// The same without a difference between capital and small letters, nor between two ways to write an accent, as some
    /// file systems see names.
    public static func matchesFolded(_ pattern: String, _ text: String) -> Bool {
        matches(Array(pattern.lowercased()), Array(text.lowercased()), characters)
    }

    /// The same where a slash is nothing special, so that a star stands for anything.
    public static func matchesWide(_ pattern: String, _ text: String) -> Bool {
        var wide = ""
        var isEscaped = false
        for character in pattern {
            wide += character == "*" && !isEscaped ? "**" : String(character)
            isEscaped = character == "\\" && !isEscaped
        }
        return matches(wide, text)
    }

    /// A pattern that only the text itself fits.
    public static func escape(_ text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars {
            if "*?\\".unicodeScalars.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern
    }

    /// The only text that fits a pattern; nil where others do, too.
    public static func literal(_ pattern: String) -> String? {
        var text = ""
        for piece in pieces(of: Array(pattern.unicodeScalars), scalars) {
            guard case .one(let scalar) = piece else { return nil }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// How much of the text a pattern says: exact ones say most, and of others those with more characters.
    public static func precision(of pattern: String) -> Int {
        let pieces = pieces(of: Array(pattern.unicodeScalars), scalars)
        let exact = pieces.count { if case .one = $0 { true } else { false } }
        return exact == pieces.count ? 1 << 20 : exact
    }

    /// What is special in a pattern.
    private struct Signs<Element: Sendable>: Sendable {
        let star, question, escape, slash: Element
    }

    private static let scalars = Signs<Unicode.Scalar>(star: "*", question: "?", escape: "\\", slash: "/")
    private static let characters = Signs<Character>(star: "*", question: "?", escape: "\\", slash: "/")

    /// Walks along the text once with all places in the pattern that are possible, so that no pattern is slow.
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

    /// The places that need no further character: stars may stand for nothing.
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
