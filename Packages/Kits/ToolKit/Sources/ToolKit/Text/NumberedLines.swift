/// Collects the requested lines of a file, with their numbers.
struct NumberedLines {
    /// The maximum length of a shown line in bytes.
    static let longestLine = 2000
    /// The maximum size of all lines together in bytes.
    static let largestText = 256 << 10

    let first: Int
    let limit: Int
    private(set) var text = ""
    /// The number of lines seen, shown or not.
    private(set) var count = 0
    private(set) var shown = 0
    private(set) var repaired = 0
    private(set) var windowsEndings = 0
    /// Whether there are more lines after the shown ones.
    private(set) var isFull = false
    private var line: [UInt8] = []
    private var lineLength = 0

    init(first: Int, limit: Int) {
        self.first = first
        self.limit = limit
    }

    /// Adds a piece of the file. False if no more is needed.
    mutating func add(_ piece: [UInt8]) -> Bool {
        var start = 0
        while start < piece.count {
            let end = piece[start...].firstIndex(of: Byte.newline)
            collect(piece[start..<(end ?? piece.count)])
            guard let end else { break }
            endLine()
            if isFull { return false }
            start = end + 1
        }
        return true
    }

    /// The last line need not end in a line break.
    mutating func finish() {
        if lineLength > 0 { endLine() }
    }

    private mutating func collect(_ part: ArraySlice<UInt8>) {
        lineLength += part.count
        // One byte more than shown, to notice that the line continues. A line may be as long as the disk.
        let room = Self.longestLine + 4 - line.count
        if count + 1 >= first, room > 0 { line.append(contentsOf: part.prefix(room)) }
    }

    private mutating func endLine() {
        defer {
            line.removeAll(keepingCapacity: true)
            lineLength = 0
        }
        guard count + 1 >= first else {
            count += 1
            return
        }
        guard shown < limit else {
            isFull = true
            return
        }
        var bytes = line[...]
        let hasWindowsEnding = lineLength == line.count && bytes.last == Byte.carriageReturn
        if hasWindowsEnding { bytes = bytes.dropLast() }
        let shownLine = LineText(
            bytes, limit: Self.longestLine, length: hasWindowsEnding ? lineLength - 1 : lineLength)
        let number = String(count + 1)
        let row = String(repeating: " ", count: max(0, 6 - number.count)) + number + "\t" + shownLine.text + "\n"
        guard text.utf8.count + row.utf8.count <= Self.largestText else {
            isFull = true
            return
        }
        text += row
        count += 1
        shown += 1
        if shownLine.wasRepaired { repaired += 1 }
        if hasWindowsEnding { windowsEndings += 1 }
    }
}

/// A line of a file as text for a model.
struct LineText: Sendable {
    let text: String
    /// Whether invalid UTF-8 had to be replaced.
    let wasRepaired: Bool

    /// Shows at most `limit` bytes, around `focus`, and reports what was cut.
    init(_ line: ArraySlice<UInt8>, limit: Int, length: Int? = nil, focus: Int? = nil) {
        let length = length ?? line.count
        var range = line.indices
        if range.count > limit {
            let lead = min(max(0, (focus ?? line.startIndex) - line.startIndex - limit / 4), line.count - limit)
            range = (line.startIndex + lead)..<(line.startIndex + lead + limit)
            // A cut must not split a character.
            while range.lowerBound > line.startIndex, range.count > limit - 3, line[range.lowerBound] & 0xC0 == 0x80 {
                range = (range.lowerBound + 1)..<range.upperBound
            }
            while range.upperBound < line.endIndex, range.count > limit - 6, line[range.upperBound] & 0xC0 == 0x80 {
                range = range.lowerBound..<(range.upperBound - 1)
            }
        }
        let shown = line[range]
        let sound = String(validating: shown, as: UTF8.self)
        wasRepaired = sound == nil
        var text = sound ?? String(decoding: shown, as: UTF8.self)
        if range.lowerBound > line.startIndex { text = "…" + text }
        if shown.count < length { text += "… [cut: the line has \(length) bytes]" }
        self.text = text
    }
}
