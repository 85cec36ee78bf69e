import CUTF8Proc

/// The number of terminal columns of text, counted by grapheme and not by scalar.
///
/// A grapheme is as wide as its scalars together, but at most two columns; an emoji presentation selector makes it two.
/// Control characters count zero, and a tab counts its maximum of eight columns.
public enum TextWidth {
    /// The columns that `text` takes.
    public static func of(_ text: String) -> Int { isSimple(text.utf8.span) ? text.utf8.count : sum(text) }

    /// The columns that `text` takes.
    public static func of(_ text: Substring) -> Int { isSimple(text.utf8.span) ? text.utf8.count : sum(text) }

    /// The columns that one grapheme takes.
    public static func of(_ character: Character) -> Int {
        if let ascii = character.asciiValue {
            if ascii == 0x09 { return tabWidth }
            return ascii >= 0x20 && ascii < 0x7F ? 1 : 0
        }
        var width = 0
        var wantsEmoji = false
        for scalar in character.unicodeScalars {
            if scalar.value == 0xFE0F { wantsEmoji = true }
            width += Int(utf8proc_charwidth(Int32(bitPattern: scalar.value)))
        }
        // A selector without a base character draws nothing.
        return wantsEmoji && width > 0 ? 2 : min(2, width)
    }

    static let tabWidth = 8

    /// Most text is printable ASCII, with one column for each byte.
    static func isSimple(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] >= 0x7F { return false }
        return true
    }

    private static func sum(_ text: some StringProtocol) -> Int {
        var width = 0
        for character in text { width += of(character) }
        return width
    }
}

extension TextWidth {
    /// The longest beginning of `text` that takes at most `width` columns, in whole graphemes.
    public static func prefix(of text: String, width: Int) -> String {
        var used = 0
        var end = text.startIndex
        while end < text.endIndex {
            used += of(text[end])
            if used > width { break }
            text.formIndex(after: &end)
        }
        return String(text[..<end])
    }

    /// `text` itself if it fits `width` columns, otherwise as much of it as fits before an `ellipsis`.
    public static func truncate(_ text: String, to width: Int, ellipsis: String = "…") -> String {
        guard of(text) > width else { return text }
        let room = width - of(ellipsis)
        return room < 0 ? prefix(of: text, width: width) : prefix(of: text, width: room) + ellipsis
    }

    /// `text` padded with spaces to `width` columns; longer text is not changed.
    public static func pad(_ text: String, to width: Int, alignment: TextAlignment = .leading) -> String {
        let padding = String(repeating: " ", count: max(0, width - of(text)))
        return alignment == .leading ? text + padding : padding + text
    }
}

extension TextWidth {
    /// The version of the loaded library whose tables determine the widths.
    public static var libraryVersion: String { unsafe String(cString: utf8proc_version()) }
}

extension TextWidth {
    /// Cuts `text` into lines of at most `width` columns (at least two, so that a wide character has room).
    ///
    /// Lines end at newlines, between words, beside wide characters, and inside a word only if it is longer than a
    /// line: after a mark (`:`, `/`, `-`) if more than half of the line is full there. The spaces at a break belong to
    /// no line; nothing else is lost or added.
    public static func wrap(_ text: String, to width: Int) -> [Substring] {
        var wrapper = LineWrapper(text: text, width: max(2, width))
        return wrapper.wrap()
    }
}

/// One greedy pass over the graphemes of a text that remembers the last possible line end.
struct LineWrapper {
    let text: String
    let width: Int

    private var lines: [Substring] = []
    private var lineStart: String.Index
    private var used = 0
    private var lastBreak: Break?
    /// After a mark such as `:` or `/`, where a long word is cut rather than between any letters.
    private var lastMark: Break?

    private struct Break {
        var end: String.Index
        var next: String.Index
        var usedUpToNext: Int
    }

    init(text: String, width: Int) {
        self.text = text
        self.width = width
        lineStart = text.startIndex
    }

    mutating func wrap() -> [Substring] {
        var index = text.startIndex
        var previous = Kind.narrow
        while index < text.endIndex {
            let character = text[index]
            let next = text.index(after: index)
            let kind = Kind(character)
            switch kind {
            case .newline: endLine(at: index, next: next)
            case .space: addSpace(from: index, to: next, columns: TextWidth.of(character), continuing: previous)
            case .wide, .narrow:
                if (kind == .wide || previous == .wide) && previous != .space && index > lineStart {
                    lastBreak = Break(end: index, next: index, usedUpToNext: used)
                }
                add(at: index, columns: TextWidth.of(character))
                if ":/-".contains(character) { lastMark = Break(end: next, next: next, usedUpToNext: used) }
            }
            previous = kind
            index = next
        }
        endLine(at: index, next: index)
        return lines
    }

    private mutating func addSpace(from index: String.Index, to next: String.Index, columns: Int, continuing: Kind) {
        used += columns
        let end = continuing == .space && index > lineStart ? lastBreak?.end ?? index : index
        lastBreak = Break(end: end, next: next, usedUpToNext: used)
    }

    private mutating func add(at index: String.Index, columns: Int) {
        if used + columns > width, let place = lastBreak {
            // An indentation that leaves no room for its word gets no empty line.
            if place.end > lineStart { lines.append(text[lineStart..<place.end]) }
            startLine(at: place.next, used: used - place.usedUpToNext)
        }
        if used + columns > width {
            // A mark that would leave half of the line empty is no better than any other place.
            if let mark = lastMark, mark.usedUpToNext * 2 > width {
                lines.append(text[lineStart..<mark.end])
                startLine(at: mark.next, used: used - mark.usedUpToNext)
            } else {
                lines.append(text[lineStart..<index])
                startLine(at: index, used: 0)
            }
        }
        used += columns
    }

    private mutating func endLine(at end: String.Index, next: String.Index) {
        let hangs = used > width
        lines.append(text[lineStart..<(hangs ? lastBreak?.end ?? end : end)])
        startLine(at: next, used: 0)
    }

    private mutating func startLine(at index: String.Index, used: Int) {
        if var mark = lastMark, mark.next > index {
            mark.usedUpToNext -= self.used - used
            lastMark = mark
        } else {
            lastMark = nil
        }
        lineStart = index
        self.used = used
        lastBreak = nil
    }

    private enum Kind {
        case narrow, wide, space, newline

        init(_ character: Character) {
            if character.isNewline {
                self = .newline
            } else if character == " " || character == "\t" {
                self = .space
            } else {
                self = TextWidth.of(character) > 1 ? .wide : .narrow
            }
        }
    }
}

/// The alignment of text in a wider field.
public enum TextAlignment: Sendable, Hashable {
    /// Against the left edge, padded on the right.
    case leading
    /// Against the right edge, padded on the left.
    case trailing
}
