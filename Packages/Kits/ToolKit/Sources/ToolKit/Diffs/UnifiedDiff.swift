import Capabilities

/// The changes of a file, in the form of `diff -u` and `git diff`.
///
/// ```swift
/// let diff = UnifiedDiff(from: Array("a\nb\n".utf8), to: Array("a\nc\n".utf8), named: "notes.md")
/// print(diff.text)                                     // --- a/notes.md, +++ b/notes.md, @@ -1,2 +1,2 @@ …
/// let new = try diff.applied(to: Array("a\nb\n".utf8)) // a, c
/// ```
///
/// It works on bytes, because not every file is UTF-8. `patch` and `git apply` accept its `bytes`.
public struct UnifiedDiff: Sendable, Hashable {
    /// The old name of the file; nil for a new file (`/dev/null`), or if a patch does not name it.
    public var oldName: String?
    /// The new name of the file; nil for a removed file, or if a patch does not name it.
    public var newName: String?
    /// The changed places, in order.
    public var hunks: [Hunk]

    init(oldName: String?, newName: String?, hunks: [Hunk]) {
        self.oldName = oldName
        self.newName = newName
        self.hunks = hunks
    }

    /// Whether there are no changes.
    public var isEmpty: Bool { hunks.isEmpty }

    /// The number of added lines.
    public var added: Int { hunks.reduce(0) { $0 + $1.count(of: .added) } }

    /// The number of removed lines.
    public var removed: Int { hunks.reduce(0) { $0 + $1.count(of: .removed) } }

    /// Changed lines, with some unchanged lines around them.
    public struct Hunk: Sendable, Hashable {
        /// The number of its first old line, from 1. If it has no old lines, the number of the line before. Nil if a
        /// patch does not give it.
        public var oldStart: Int?
        /// The number of its first new line, in the same way.
        public var newStart: Int?
        /// The lines in order, with unchanged ones around the changes.
        public var lines: [Line]

        /// The number of its old lines.
        public var oldCount: Int { lines.count - count(of: .added) }
        /// The number of its new lines.
        public var newCount: Int { lines.count - count(of: .removed) }

        func count(of kind: Line.Kind) -> Int { lines.count { $0.kind == kind } }

        mutating func add(_ kind: UnifiedDiff.Line.Kind, _ line: ArraySlice<UInt8>) {
            lines.append(UnifiedDiff.Line(kind: kind, bytes: Array(line.dropFirst()), hasBreak: true))
        }
    }

    /// One line.
    public struct Line: Sendable, Hashable {
        /// Which of the two files has the line.
        public enum Kind: Sendable, Hashable {
            /// In the old and the new file.
            case context
            /// Only in the old file.
            case removed
            /// Only in the new file.
            case added
        }

        /// Which of the two files has it.
        public var kind: Kind
        /// Without its line break.
        public var bytes: [UInt8]
        /// False for the last line of a file that does not end in a line break.
        public var hasBreak: Bool

        /// The line as text; invalid UTF-8 is replaced.
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }
}

extension UnifiedDiff {
    /// Parses a patch, which may change several files. Text around the hunks is skipped.
    ///
    /// Models count badly, so the numbers of a hunk are only hints: its lines are counted, and its header may be just
    /// `@@`. A line inside a hunk that is not a hunk line is an error (`workspace.patch`).
    public static func parse(_ patch: [UInt8]) throws(WorkspaceError) -> [UnifiedDiff] {
        var parser = DiffParser(patch)
        return try parser.run()
    }

    /// Parses a patch from text.
    public static func parse(_ patch: String) throws(WorkspaceError) -> [UnifiedDiff] {
        try parse(Array(patch.utf8))
    }
}

extension UnifiedDiff {
    /// The content of the file after the changes.
    ///
    /// Throws `workspace.patch` if a hunk does not fit, or fits at several places; the error names the hunk and the
    /// reason. A hunk is also found if its line numbers are wrong, and if up to two lines at its edges differ.
    public func applied(to content: [UInt8]) throws(WorkspaceError) -> [UInt8] {
        try application(to: content).content
    }

    /// The result of applying a patch.
    struct Application {
        let content: [UInt8]
        /// Deviations from the patch.
        let notes: [String]
    }

    func application(to content: [UInt8]) throws(WorkspaceError) -> Application {
        var placing = HunkPlacer(TextLines(content))
        var result = PatchedLines(placing.file)
        var notes: [String] = []
        for (index, hunk) in hunks.enumerated() {
            let place = try placing.place(hunk, index + 1)
            result.add(place)
            if place.fuzz > 0 {
                notes.append(
                    "hunk \(index + 1) was applied at line \(place.lines.lowerBound + 1), where some context lines differ"
                )
            } else if placing.drift != 0, hunk.oldStart != nil {
                notes.append("hunk \(index + 1) was applied at line \(place.lines.lowerBound + 1)")
            }
        }
        return Application(content: result.finished(), notes: notes)
    }
}

/// The lines of a file with changes applied.
private struct PatchedLines {
    private let file: TextLines
    private var bytes: [UInt8] = []
    private var next = 0
    /// Whether the last line has a line break, if a patch tells.
    private var lastBreak: Bool?

    init(_ file: TextLines) {
        self.file = file
    }

    mutating func add(_ place: HunkPlacer.Place) {
        copy(until: place.lines.lowerBound)
        for line in place.hunk {
            switch line.kind {
            case .context: copy(until: next + 1)
            case .removed: next += 1
            case .added:
                endLine()
                bytes += line.bytes
                bytes.append(Byte.newline)
                lastBreak = line.hasBreak
            }
        }
        // A patch that replaces the last line and does not know that it has no line break should not add one.
        let reachesEnd = place.lines.upperBound == file.count
        if reachesEnd, file.lacksLastBreak, !place.hunk.contains(where: { $0.kind != .added && !$0.hasBreak }) {
            lastBreak = false
        }
    }

    mutating func finished() -> [UInt8] {
        copy(until: file.count)
        if lastBreak == false, bytes.last == Byte.newline { bytes.removeLast() }
        return bytes
    }

    private mutating func copy(until end: Int) {
        while next < end {
            endLine()
            bytes += file.whole(next)
            lastBreak = nil
            next += 1
        }
    }

    /// Starts a new line, even if the line before had no line break.
    private mutating func endLine() {
        if let last = bytes.last, last != Byte.newline { bytes.append(Byte.newline) }
    }
}

extension UnifiedDiff {
    /// Compares two contents of a file; nil is a file that does not exist.
    ///
    /// The time is limited. If the texts have too little in common to search further, the diff is longer than
    /// necessary, but still correct.
    public init(from old: [UInt8]?, to new: [UInt8]?, named name: String, context: Int = 3) {
        let (oldLines, newLines) = (TextLines(old ?? []), TextLines(new ?? []))
        self.init(
            oldName: old == nil ? nil : name, newName: new == nil ? nil : name,
            hunks: Self.hunks(LineChanges(from: oldLines, to: newLines).list, oldLines, newLines, max(0, context)))
    }

    static func hunks(_ changes: [LineChange], _ old: TextLines, _ new: TextLines, _ context: Int) -> [Hunk] {
        var hunks: [Hunk] = []
        var rest = changes[...]
        while let first = rest.popFirst() {
            var group = [first]
            // Changes with overlapping context become one hunk.
            while let next = rest.first, let last = group.last, next.old.lowerBound - last.old.upperBound <= 2 * context
            {
                group.append(next)
                rest.removeFirst()
            }
            hunks.append(hunk(group, old, new, context))
        }
        return hunks
    }

    private static func hunk(_ group: [LineChange], _ old: TextLines, _ new: TextLines, _ context: Int) -> Hunk {
        let first = group[0]
        let lead = min(context, first.old.lowerBound)
        let (oldFirst, newFirst) = (first.old.lowerBound - lead, first.new.lowerBound - lead)
        var lines: [Line] = []
        var place = oldFirst
        func add(_ kind: Line.Kind, _ range: Range<Int>, of text: TextLines) {
            for index in range {
                lines.append(Line(kind: kind, bytes: Array(text[index]), hasBreak: text.hasBreak(index)))
            }
        }
        for change in group {
            add(.context, place..<change.old.lowerBound, of: old)
            add(.removed, change.old, of: old)
            add(.added, change.new, of: new)
            place = change.old.upperBound
        }
        add(.context, place..<min(old.count, place + context), of: old)
        var hunk = Hunk(oldStart: nil, newStart: nil, lines: lines)
        hunk.oldStart = hunk.oldCount == 0 ? oldFirst : oldFirst + 1
        hunk.newStart = hunk.newCount == 0 ? newFirst : newFirst + 1
        return hunk
    }
}

extension UnifiedDiff {
    /// The diff as text; invalid UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The diff as `patch` and `git apply` read it; empty if nothing changed.
    public var bytes: [UInt8] {
        guard !isEmpty else { return [] }
        var bytes: [UInt8] = []
        bytes += "--- \(DiffName.written(oldName, side: "a"))\n".utf8
        bytes += "+++ \(DiffName.written(newName, side: "b"))\n".utf8
        for hunk in hunks {
            bytes += "\(hunk.header)\n".utf8
            for line in hunk.lines {
                bytes.append(line.kind.mark)
                bytes += line.bytes
                bytes.append(Byte.newline)
                if !line.hasBreak { bytes += "\\ No newline at end of file\n".utf8 }
            }
        }
        return bytes
    }
}

extension UnifiedDiff.Hunk {
    /// The first line of a hunk, such as `@@ -3,7 +3,8 @@`.
    public var header: String {
        guard let oldStart, let newStart else { return "@@ @@" }
        return "@@ -\(Self.range(oldStart, oldCount)) +\(Self.range(newStart, newCount)) @@"
    }

    private static func range(_ start: Int, _ count: Int) -> String {
        count == 1 ? "\(start)" : "\(start),\(count)"
    }
}

extension UnifiedDiff.Line.Kind {
    /// The first character of a line.
    var mark: UInt8 {
        switch self {
        case .context: UInt8(ascii: " ")
        case .removed: UInt8(ascii: "-")
        case .added: UInt8(ascii: "+")
        }
    }
}
