/// Splits text that arrives in pieces into segments, independently of the pieces.
struct MarkdownSplitter: ~Copyable, Sendable {
    private var sanitizer = StreamSanitizer()
    private var cutter = BlockCutter()
    /// The unfinished line.
    private var line: [UInt8] = []

    var parsedBytes: Int { cutter.parsedBytes }

    /// Whether the end of the received text is inside a code block.
    var isInCode: Bool { cutter.isInCode }

    /// The received text that belongs to no returned segment.
    var open: MarkdownSegment { cutter.open(with: line) }

    /// Adds the next piece; returns the segments that it finished.
    mutating func append(_ piece: [UInt8]) -> [MarkdownSegment] { receive(sanitizer.sanitize(piece)) }

    /// Ends the text; returns the remaining segments.
    mutating func finish() -> [MarkdownSegment] {
        var segments = receive(sanitizer.finish())
        if !line.isEmpty, let segment = cutter.receive(line) { segments.append(segment) }
        if !cutter.open.text.isEmpty { segments.append(cutter.open) }
        self = MarkdownSplitter()
        return segments
    }

    private mutating func receive(_ clean: [UInt8]) -> [MarkdownSegment] {
        var segments: [MarkdownSegment] = []
        var searched = line.count
        var start = 0
        line += clean
        while let end = lineEnd(from: start, searched: searched) {
            if let segment = cutter.receive(Array(line[start..<end])) { segments.append(segment) }
            start = end
            searched = end
        }
        if start > 0 { line.removeFirst(start) }
        return segments
    }

    /// After the newline of the line, or between two characters where a long line is cut.
    private func lineEnd(from start: Int, searched: Int) -> Int? {
        let limit = start + BlockCutter.hardLimit - 1
        let newline = line[max(start, searched)..<min(limit, line.count)].firstIndex(of: 0x0A)
        if let newline { return newline + 1 }
        guard line.count > limit else { return nil }
        var end = limit
        while end > start + 1 && line[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }
}

/// A part of a document that can be drawn without the rest: one top-level block, or a piece of a large one.
struct MarkdownSegment: Sendable {
    var text: [UInt8]
    /// Whether it continues the block of the previous segment.
    var continues: Bool
}

/// Cuts a document into segments, line by line.
///
/// The parser reports where a top-level block begins: everything before that line is closed and cannot be changed by
/// later lines. A block that grows beyond a limit is cut anyway, at a line without indentation if one follows soon. So
/// every line is read at most twice, and the open part of a document is never large.
struct BlockCutter: ~Copyable, Sendable {
    /// From this size on a block is cut at the next line without indentation.
    static let softLimit = 16_384
    /// The maximum size of a segment and of a line.
    static let hardLimit = 32_768
    /// Longer opening lines are not repeated when their block is cut.
    private static let maximumOpening = 1_024

    private var parser = MarkdownParser()
    /// The text that is not cut off yet.
    private(set) var open = MarkdownSegment(text: [], continues: false)
    private(set) var parsedBytes = 0

    /// Whether the last line belongs to a code block that may continue.
    var isInCode: Bool { parser.isInAnyCode }

    /// Adds the next line, with or without its ending; returns the segment that ends before it.
    mutating func receive(_ line: [UInt8]) -> MarkdownSegment? {
        if open.text.isEmpty && line.allSatisfy({ $0 <= UInt8(ascii: " ") }) { return nil }
        var line = guarded(line)
        // Without an ending the parser would wait for the rest of the line.
        if line.last != 0x0A { line.append(0x0A) }
        let size = open.text.count + line.count
        let isIndented = line.first.map { $0 <= UInt8(ascii: " ") } ?? true
        let isTooLarge = size > Self.hardLimit || size > Self.softLimit && !isIndented
        // Before the line is read, because it may close the block.
        let opening = isTooLarge ? openingLines() : []
        feed(line)
        let isNextBlock = parser.lineBeganBlock
        guard !open.text.isEmpty && (isNextBlock || isTooLarge) else {
            open.text += line
            return nil
        }
        let done = begin(isNextBlock ? [] : opening, continuing: !isNextBlock)
        add(line)
        return done
    }

    /// The open block, if it ended with `line`.
    func open(with line: [UInt8]) -> MarkdownSegment {
        MarkdownSegment(text: open.text + guarded(line), continues: open.continues)
    }

    private func guarded(_ line: [UInt8]) -> [UInt8] {
        if parser.isInCode { return line }
        let line = LineGuard.guarded(line)
        return parser.openColumns.map { LineGuard.guarded(line, columns: $0) } ?? line
    }

    /// Begins a segment; returns the previous one.
    private mutating func begin(_ text: [UInt8], continuing: Bool) -> MarkdownSegment {
        let done = open
        parser = MarkdownParser()
        open = MarkdownSegment(text: [], continues: continuing)
        add(text)
        return done
    }

    private mutating func add(_ text: [UInt8]) {
        feed(text)
        open.text += text
    }

    private mutating func feed(_ text: [UInt8]) {
        parser.feed(text)
        parsedBytes += text.count
    }

    /// The beginning of a fenced block or a table, which the rest needs.
    private func openingLines() -> [UInt8] {
        var end = 0
        for _ in 0..<parser.openingLineCount {
            guard let newline = open.text[end...].firstIndex(of: 0x0A), newline < Self.maximumOpening else { return [] }
            end = newline + 1
        }
        return Array(open.text[..<end])
    }
}
