/// What was changed in a file, in the form that `diff -u`, `git diff` and reviewers use.
///
/// ```swift
/// let diff = UnifiedDiff(from: Array("a\nb\n".utf8), to: Array("a\nc\n".utf8), named: "notes.md")
/// print(diff.text)                                     // --- a/notes.md, +++ b/notes.md, @@ -1,2 +1,2 @@ …
/// let new = try diff.applied(to: Array("a\nb\n".utf8)) // a, c
/// ```
///
/// It works on bytes, for not every file is UTF-8. `patch` and `git apply` take what `bytes` gives.
public struct UnifiedDiff: Sendable, Hashable {
    /// The file's name before; nil where there was none (`/dev/null`), or where a patch does not say.
    public var oldName: String?
    /// The file's name after; nil where there is none any more, or where a patch does not say.
    public var newName: String?
    /// The places that were changed, in their order.
    public var hunks: [Hunk]

    init(oldName: String?, newName: String?, hunks: [Hunk]) {
        self.oldName = oldName
        self.newName = newName
        self.hunks = hunks
    }

    /// Whether nothing was changed.
    public var isEmpty: Bool { hunks.isEmpty }

    /// How many lines were added.
    public var added: Int { hunks.reduce(0) { $0 + $1.count(of: .added) } }

    /// How many lines were removed.
    public var removed: Int { hunks.reduce(0) { $0 + $1.count(of: .removed) } }

    /// Lines that were changed, with some around them that were not.
    public struct Hunk: Sendable, Hashable {
        /// The number of its first line before, from 1; where it has none, of the line that it follows. Nil where a
        /// patch does not say.
        public var oldStart: Int?
        /// The number of its first line after, in the same way.
        public var newStart: Int?
        public var lines: [Line]

        /// How many lines it has before.
        public var oldCount: Int { lines.count - count(of: .added) }
        /// How many lines it has after.
        public var newCount: Int { lines.count - count(of: .removed) }

        func count(of kind: Line.Kind) -> Int { lines.count { $0.kind == kind } }
    }

    /// One line.
    public struct Line: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            /// It is there before and after.
            case context
            /// It is there before only.
            case removed
            /// It is there after only.
            case added
        }

        public var kind: Kind
        /// Without its line break.
        public var bytes: [UInt8]
        /// False for the last line of a file that does not end in a line break.
        public var hasBreak: Bool

        /// The line as a text, repaired where it is no UTF-8.
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }
}
