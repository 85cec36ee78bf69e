import Capabilities

/// Parses a patch line by line.
struct DiffParser {
    private let lines: TextLines
    private var place = 0
    private var diffs: [UnifiedDiff] = []

    init(_ patch: [UInt8]) {
        lines = TextLines(patch)
    }

    mutating func run() throws(WorkspaceError) -> [UnifiedDiff] {
        while place < lines.count {
            if startsFile {
                let (old, new) = (
                    DiffName.read(lines[place].dropFirst(4)), DiffName.read(lines[place + 1].dropFirst(4))
                )
                diffs.append(UnifiedDiff(oldName: old, newName: new, hunks: []))
                place += 2
            } else if starts("@@") {
                try readHunk()
            } else if starts("GIT binary patch") || starts("Binary files ") {
                throw WorkspaceError(.patch, "the patch changes a binary file, which is not supported; remove it")
            } else {
                place += 1
            }
        }
        diffs.removeAll(where: \.isEmpty)
        guard !diffs.isEmpty else {
            throw WorkspaceError(
                .patch,
                "the patch has no changes; begin each hunk with a line such as @@ -1,3 +1,4 @@, and each"
                    + " of its lines with a space, - or +")
        }
        return diffs
    }

    private func starts(_ text: String, _ ahead: Int = 0) -> Bool {
        place + ahead < lines.count && lines[place + ahead].starts(with: text.utf8)
    }

    private var startsFile: Bool { starts("--- ") && starts("+++ ", 1) }

    private mutating func readHunk() throws(WorkspaceError) {
        let header = HunkHeader(lines[place])
        place += 1
        var hunk = UnifiedDiff.Hunk(oldStart: header?.oldStart, newStart: header?.newStart, lines: [])
        // Empty lines at the end may not belong to the hunk.
        var empty = 0
        reading: while place < lines.count {
            let isComplete = header.map { hunk.oldCount >= $0.oldCount && hunk.newCount >= $0.newCount } ?? false
            let line = lines[place]
            if startsFile && (isComplete || starts("@@", 2)) || starts("@@") || starts("diff --git ") { break }
            // The signature that mail programs add below a patch.
            if isComplete, starts("-- ") && line.count == 3 { break }
            guard let mark = line.first else {
                if isComplete { break }
                hunk.lines.append(UnifiedDiff.Line(kind: .context, bytes: [], hasBreak: true))
                empty += 1
                place += 1
                continue
            }
            switch mark {
            case UInt8(ascii: " "): hunk.add(.context, line)
            case UInt8(ascii: "-"): hunk.add(.removed, line)
            case UInt8(ascii: "+"): hunk.add(.added, line)
            case Byte.backslash:
                if let last = hunk.lines.indices.last { hunk.lines[last].hasBreak = false }
            default:
                if isComplete { break reading }
                throw WorkspaceError(
                    .patch,
                    "line \(place + 1) of the patch does not begin with a space, - or +; begin each line of"
                        + " a hunk with one of them, including unchanged lines")
            }
            empty = 0
            place += 1
        }
        if header.map({ hunk.oldCount != $0.oldCount || hunk.newCount != $0.newCount }) ?? true {
            hunk.lines.removeLast(empty)
        }
        guard hunk.lines.contains(where: { $0.kind != .context }) else { return }
        if diffs.isEmpty { diffs.append(UnifiedDiff(oldName: nil, newName: nil, hunks: [])) }
        diffs[diffs.count - 1].hunks.append(hunk)
    }
}

/// The numbers in `@@ -3,7 +3,8 @@`.
private struct HunkHeader {
    var oldStart = 0
    var oldCount = 1
    var newStart = 0
    var newCount = 1

    /// Nil if there are none.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line.dropFirst(2)
        func range(_ sign: Character) -> (Int, Int)? {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            guard rest.popFirst() == sign.asciiValue, let start = Self.number(&rest) else { return nil }
            guard rest.first == UInt8(ascii: ",") else { return (start, 1) }
            rest.removeFirst()
            return Self.number(&rest).map { (start, $0) }
        }
        guard let old = range("-"), let new = range("+") else { return nil }
        (oldStart, oldCount) = old
        (newStart, newCount) = new
    }

    private static func number(_ text: inout ArraySlice<UInt8>) -> Int? {
        let digits = text.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty, digits.count < 10 else { return nil }
        text.removeFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

/// The name of a file in the two lines before the hunks.
enum DiffName {
    private static let nothing = "/dev/null"

    /// With git's prefix. A name that could be misread is quoted as in C.
    static func written(_ name: String?, side: String) -> String {
        guard let name else { return nothing }
        let path = "\(side)/\(name)"
        guard path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\"") || $0 == Byte.backslash })
        else {
            // Without a tab, patch would read the text after a space as a time.
            return name.utf8.contains(UInt8(ascii: " ")) ? path + "\t" : path
        }
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "\""), Byte.backslash: quoted += [Byte.backslash, byte]
            case 0x20..<0x7F, 0x80...: quoted.append(byte)
            default:
                let octal = String(byte, radix: 8)
                quoted += (#"\"# + String(repeating: "0", count: 3 - octal.count) + octal).utf8
            }
        }
        return String(decoding: quoted + [UInt8(ascii: "\"")], as: UTF8.self)
    }

    /// The name in such a line, without its prefix and the time after it; nil if there is no file.
    static func read(_ text: ArraySlice<UInt8>) -> String? {
        var name: [UInt8]
        if text.first == UInt8(ascii: "\"") {
            name = unquoted(text.dropFirst())
        } else {
            name = Array(text.prefix { $0 != UInt8(ascii: "\t") && $0 != Byte.carriageReturn })
        }
        if name.elementsEqual(nothing.utf8) { return nil }
        if name.starts(with: "a/".utf8) || name.starts(with: "b/".utf8) { name.removeFirst(2) }
        return String(decoding: name, as: UTF8.self)
    }

    private static let letters: [UInt8: UInt8] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10, UInt8(ascii: "v"): 11,
        UInt8(ascii: "f"): 12, UInt8(ascii: "r"): 13,
    ]

    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var name: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == Byte.backslash, let escaped = rest.first else {
                name.append(byte)
                continue
            }
            let octal = rest.prefix(3).prefix { (0x30...0x37).contains($0) }
            if octal.isEmpty {
                name.append(letters[escaped] ?? escaped)
                rest.removeFirst()
            } else {
                name.append(UInt8(truncatingIfNeeded: octal.reduce(0) { $0 * 8 + Int($1 - 0x30) }))
                rest.removeFirst(octal.count)
            }
        }
        return name
    }
}
