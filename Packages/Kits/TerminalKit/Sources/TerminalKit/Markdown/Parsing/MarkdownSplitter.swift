/// Makes segments of text that arrives in any pieces; where it was cut does not show.
struct MarkdownSplitter: ~Copyable, Sendable {
    private var sanitizer = StreamSanitizer()
    private var cutter = BlockCutter()
    /// The line that is not finished yet.
    private var line: [UInt8] = []

    var parsedBytes: Int { cutter.parsedBytes }

    /// Whether the end of what arrived is inside a code block.
    var isInCode: Bool { cutter.isInCode }

    /// What arrived and belongs to no returned segment.
    var open: MarkdownSegment { cutter.open(with: line) }

    /// Takes the next piece; returns the segments that it finished.
    mutating func append(_ piece: [UInt8]) -> [MarkdownSegment] { receive(sanitizer.sanitize(piece)) }

    /// Takes the end; returns the segments that were left.
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

    /// Behind the line's newline, or where a line that is too long is cut, between two characters.
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
