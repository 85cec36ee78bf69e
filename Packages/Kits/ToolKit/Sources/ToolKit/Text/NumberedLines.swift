/// Collects the lines of a file that were asked for, with their numbers.
struct NumberedLines {
    /// A line is cut after this many bytes.
    static let longestLine = 2000
    /// All lines together end after this many bytes.
    static let largestText = 256 << 10

    let first: Int
    let limit: Int
    private(set) var text = ""
    /// Lines that came by, shown or not.
    private(set) var count = 0
    private(set) var shown = 0
    private(set) var repaired = 0
    private(set) var windowsEndings = 0
    /// Whether there are lines after those that are shown.
    private(set) var isFull = false
    private var line: [UInt8] = []
    private var lineLength = 0

    init(first: Int, limit: Int) {
        self.first = first
        self.limit = limit
    }

    /// Takes another piece of the file; false when no more is needed.
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

    /// The last line need not have a line break.
    mutating func finish() {
        if lineLength > 0 { endLine() }
    }

    private mutating func collect(_ part: ArraySlice<UInt8>) {
        lineLength += part.count
        // One byte more than is shown tells that there is more; a line may be as long as the disk.
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
