/// One line of a `.gitignore`.
struct IgnoreRule: Sendable {
    /// The beginning of the pattern before the first wildcard. Git compares it separately and treats the rest as its
    /// own pattern, so that the stars of `ab**/c` match folders like those of `**/c`.
    private let prefix: [UInt8]
    private let wildcard: Wildcard
    /// Whether it begins with `!` and reverts an earlier rule.
    let isNegated: Bool
    let isForFolders: Bool
    /// Whether it has no slash, so that it matches names in all folders below.
    let isName: Bool

    /// Nil for an empty line, a comment, and a pattern that can match nothing.
    init?(_ line: ArraySlice<UInt8>) {
        guard line.first != UInt8(ascii: "#") else { return nil }
        var line = Self.trimmed(line)
        isNegated = line.first == UInt8(ascii: "!")
        if isNegated { line = line.dropFirst() }
        isForFolders = line.last == Byte.slash
        if isForFolders { line = line.dropLast() }
        isName = !line.contains(Byte.slash)
        // A leading slash only means that the rule applies to this folder.
        if line.first == Byte.slash { line = line.dropFirst() }
        prefix = isName ? [] : Array(line.prefix { !"*?[\\".utf8.contains($0) })
        guard !line.isEmpty, let wildcard = Wildcard(line.dropFirst(prefix.count), unit: .byte) else { return nil }
        self.wildcard = wildcard
    }

    /// Whether the path from an index on matches.
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
                // A backslash at the very end quotes nothing, and git leaves such a line unchanged.
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

    /// All rules of a file, in order.
    static func parse(_ text: [UInt8]) -> [IgnoreRule] {
        let text = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]
        return text.split(separator: Byte.newline).compactMap { line in
            IgnoreRule(line.last == Byte.carriageReturn ? line.dropLast() : line)
        }
    }
}

/// The rules that apply in a folder: its own take precedence over those of the folders above.
final class IgnoreScope: Sendable {
    private let rules: [IgnoreRule]
    /// The length of the folder's part of a path, with its slash.
    private let base: Int
    private let parent: IgnoreScope?

    init(_ rules: [IgnoreRule], base: Int, within parent: IgnoreScope?) {
        self.rules = rules
        self.base = base
        self.parent = parent
    }

    /// Whether the entry itself is ignored. The walk does not enter ignored folders, so their entries never get here.
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
