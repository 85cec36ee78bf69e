/// One greedy pass over the graphemes of a text that remembers the last place where a line may end.
struct LineWrapper {
    let text: String
    let width: Int

    private var lines: [Substring] = []
    private var lineStart: String.Index
    private var used = 0
    private var lastBreak: Break?
    /// Behind a mark such as `:` or `/`, where a word that is longer than a line is cut rather than between any letters.
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
            // An indentation that leaves no room for its word goes without an empty line of its own.
            if place.end > lineStart { lines.append(text[lineStart..<place.end]) }
            startLine(at: place.next, used: used - place.usedUpToNext)
        }
        if used + columns > width {
            // A mark that would leave half of the line empty is no better place than any other.
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
