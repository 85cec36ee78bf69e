/// One line of a `.gitignore`.
struct IgnoreRule: Sendable {
    /// What a path begins with before the first wildcard. Git compares it by itself and takes the rest for a pattern of
    /// its own, so that the stars of `ab**/c` pass folders as those of `**/c` do.
    private let prefix: [UInt8]
    private let wildcard: Wildcard
    /// It begins with `!` and takes back what an earlier one ignores.
    let isNegated: Bool
    let isForFolders: Bool
    /// Without a slash it is about names in all folders below.
    let isName: Bool

    /// Nil for an empty line, a comment, and what can match nothing.
    init?(_ line: ArraySlice<UInt8>) {
        guard line.first != UInt8(ascii: "#") else { return nil }
        var line = Self.trimmed(line)
        isNegated = line.first == UInt8(ascii: "!")
        if isNegated { line = line.dropFirst() }
        isForFolders = line.last == Byte.slash
        if isForFolders { line = line.dropLast() }
        isName = !line.contains(Byte.slash)
        // A slash at the beginning only says that the rule is about this folder.
        if line.first == Byte.slash { line = line.dropFirst() }
        prefix = isName ? [] : Array(line.prefix { !"*?[\\".utf8.contains($0) })
        guard !line.isEmpty, let wildcard = Wildcard(line.dropFirst(prefix.count), unit: .byte) else { return nil }
        self.wildcard = wildcard
    }

    /// Whether the path from an index on fits.
    func matches(_ path: [UInt8], from start: Int) -> Bool {
        if prefix.isEmpty { return wildcard.matches(path, from: start) }
        return path[start...].starts(with: prefix) && wildcard.matches(path, from: start + prefix.count)
    }

    /// "Trailing spaces are ignored unless they are quoted with backslash."
    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = line.startIndex
        var place = line.startIndex
        while place < line.endIndex {
            if line[place] == Byte.backslash {
                // One at the very end quotes nothing, and git leaves such a line as it is.
                guard place + 1 < line.endIndex else { return line }
                place += 1
                end = place + 1
            } else if line[place] != UInt8(ascii: " ") {
                end = place + 1
            }
            place += 1
        }
        return line[..<end]
    }

    /// All rules of a file, in its order.
    static func parse(_ text: [UInt8]) -> [IgnoreRule] {
        let text = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]
        return text.split(separator: Byte.newline).compactMap { line in
            IgnoreRule(line.last == Byte.carriageReturn ? line.dropLast() : line)
        }
    }
}

/// The rules that hold in a folder: its own before those of the folders above.
final class IgnoreScope: Sendable {
    private let rules: [IgnoreRule]
    /// How much of a path is the folder's own, with its slash.
    private let base: Int
    private let parent: IgnoreScope?

    init(_ rules: [IgnoreRule], base: Int, within parent: IgnoreScope?) {
        self.rules = rules
        self.base = base
        self.parent = parent
    }

    /// Whether the entry itself is ignored; that a folder above it is, is for the walk to know, which does not enter it.
    func ignores(_ path: [UInt8], nameStart: Int, isFolder: Bool) -> Bool {
        var scope: IgnoreScope? = self
        while let current = scope {
            // "Within one level of precedence, the last matching pattern decides the outcome."
            for rule in current.rules.reversed() where isFolder || !rule.isForFolders {
                if rule.matches(path, from: rule.isName ? nameStart : current.base) { return !rule.isNegated }
            }
            scope = current.parent
        }
        return false
    }
}
