import FileKit
import Glibc
import PatternKit

/// Searches files one after the other, piece by piece, reusing memory.
struct FileSearch: ~Copyable {
    /// A longer line, and the rest of its file, is not searched.
    static let longestLine = 8 << 20
    /// The number of bytes that are shown of a line.
    static let shownLine = 500
    private static let pieceLength = 256 << 10
    /// The number of lines that may exceed the step limit before the file is skipped.
    private static let largestGapCount = 20

    private let matcher: LineMatcher
    private let context: Int
    private let limit: Int
    private let cancellation: Cancellation
    private var window = LineWindow(length: Self.pieceLength)

    init(_ pattern: LinePattern, context: Int, limit: Int, _ cancellation: Cancellation) throws(WorkspaceError) {
        matcher = try LineMatcher(pattern)
        self.context = context
        self.limit = limit
        self.cancellation = cancellation
    }

    /// Searches one file, until it has one match more than the limit.
    mutating func search(_ file: consuming FileDescriptor, into hits: inout FileHits) throws {
        window.reset()
        try window.fill(file)
        switch window.format {
        case .binary:
            hits.gap = .binary
            return
        case .utf16(let isBigEndian):
            guard try window.decode(file, UTF16Decoder(isBigEndian: isBigEndian), limit: Self.longestLine) else {
                hits.gap = .longLine
                return
            }
        case .utf8(let hasMark):
            if hasMark { window.skip(3) }
        }
        var giveUps = 0
        var after = 0
        while true {
            try cancellation.check()
            if window.hasNUL {
                hits.gap = .binary
                return
            }
            try searchWindow(&hits, &after, &giveUps)
            if window.isLast || hits.matches > limit || giveUps >= Self.largestGapCount { break }
            window.advance(keeping: context)
            if window.isFull, !window.grow(to: Self.longestLine) {
                hits.gap = .longLine
                return
            }
            try window.fill(file)
        }
        if giveUps > 0 { hits.gap = .effort }
    }

    private mutating func searchWindow(_ hits: inout FileHits, _ after: inout Int, _ giveUps: inout Int) throws {
        let area = window.searchable
        var place = area.lowerBound
        let isASCII = window.bytes.span.isASCII(area)
        let hasRequired = matcher.pattern.hasRequired(inASCII: isASCII)
        var known: [Int] = []
        var byLine = hasRequired || !matcher.pattern.canSpanLines
        while place < area.upperBound, hits.matches <= limit, giveUps < Self.largestGapCount {
            if hasRequired {
                // Lines without any of the texts can be skipped.
                let rest = place..<area.upperBound
                guard let text = matcher.firstCandidate(in: window.bytes.span, rest, known: &known) else { break }
                place = window.lineStart(of: text, after: place)
            }
            let end = byLine ? window.lineEnd(from: place, before: area.upperBound) : area.upperBound
            if byLine { try cancellation.check() }
            switch matcher.firstMatch(in: window.bytes.span, place..<end, isASCII: isASCII) {
            case .none:
                place = byLine ? end + 1 : area.upperBound
            case .gaveUp:
                if byLine {
                    giveUps += 1
                    place = end + 1
                } else {
                    byLine = true
                }
            case .found(let match):
                let start = window.lineStart(of: match.lowerBound, after: area.lowerBound)
                let lineEnd = window.lineEnd(from: match.lowerBound, before: area.upperBound)
                // There is no line after the last line break.
                guard start < area.upperBound else { return emitAfter(&hits, &after, area.upperBound) }
                if !byLine, match.upperBound > lineEnd {
                    // The match continues in another line. From now on each line is tested separately.
                    byLine = true
                    place = start
                    continue
                }
                emit(start..<lineEnd, focus: match.lowerBound, &hits, &after)
                place = lineEnd + 1
            }
        }
        emitAfter(&hits, &after, area.upperBound)
    }

    /// Adds a matching line, after the context lines that were not added yet.
    private mutating func emit(_ line: Range<Int>, focus: Int, _ hits: inout FileHits, _ after: inout Int) {
        hits.matches += 1
        emitAfter(&hits, &after, line.lowerBound)
        // One more than the limit only shows that there are more.
        after = hits.matches <= limit ? context : 0
        guard hits.matches <= limit else { return }
        var first = line.lowerBound
        for _ in 0..<context where first > window.noted { first = window.lineStart(of: first - 1, after: window.noted) }
        while first < line.lowerBound {
            let end = window.lineEnd(from: first, before: line.lowerBound)
            note(first..<end, focus: nil, isMatch: false, &hits)
            first = end + 1
        }
        note(line, focus: focus, isMatch: true, &hits)
    }

    private mutating func emitAfter(_ hits: inout FileHits, _ after: inout Int, _ limit: Int) {
        while after > 0, window.noted < limit {
            let end = window.lineEnd(from: window.noted, before: limit)
            note(window.noted..<end, focus: nil, isMatch: false, &hits)
            after -= 1
        }
    }

    private mutating func note(_ line: Range<Int>, focus: Int?, isMatch: Bool, _ hits: inout FileHits) {
        let number = window.number(of: line.lowerBound)
        var bytes = window.bytes[line]
        if bytes.last == Byte.carriageReturn { bytes = bytes.dropLast() }
        let text = LineText(bytes, limit: Self.shownLine, focus: focus).text
        hits.lines.append(FileHits.Line(number: number, text: text, isMatch: isMatch))
        window.noted = min(line.upperBound + 1, window.end)
    }
}

/// The matches in a file.
struct FileHits: Sendable {
    struct Line: Sendable {
        let number: Int
        let text: String
        /// False for a context line.
        let isMatch: Bool
    }

    /// Why a file was not searched to its end.
    enum Gap: Sendable { case binary, longLine, effort }

    let path: EntryPath
    /// In the order of the walk.
    let place: Int
    var lines: [Line] = []
    var matches = 0
    var gap: Gap?
}
