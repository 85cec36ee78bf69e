import FileKit

/// Reads a file line by line, in memory that does not grow with it. A line that is too long is cut, so that it cannot be read.
struct LineFile: ~Copyable {
    private let file: FileDescriptor
    private var rest: [UInt8] = []
    private var isAtEnd = false

    /// A span has at most a few hundred facts, each with a limit.
    static let longest = 1 << 20
    /// The lines that are given together have at most this many bytes, and a line more.
    private static let most = 8 << 20
    private static let chunk = 1 << 20

    init(_ file: consuming FileDescriptor) {
        self.file = file
    }

    /// The next lines without their ends, at least one; nil at the end.
    mutating func next(upTo count: Int) throws -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        var bytes = 0
        while lines.count < count, bytes < Self.most {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                // Several lines are cut at once, because what follows them is moved each time.
                var start = rest.startIndex
                var next: Int? = end
                while let end = next, lines.count < count {
                    if end > start { lines.append(Array(rest[start..<end])) }
                    bytes += end - start
                    start = end + 1
                    next = rest[start...].firstIndex(of: UInt8(ascii: "\n"))
                }
                rest.removeSubrange(..<start)
                continue
            }
            if isAtEnd {
                if !rest.isEmpty { lines.append(rest) }
                rest = []
                break
            }
            try readMore()
        }
        return lines.isEmpty ? nil : lines
    }

    private mutating func readMore() throws {
        let bytes = try file.read(upTo: Self.chunk)
        if bytes.isEmpty { isAtEnd = true }
        rest += bytes
        if rest.count > Self.longest, !rest.contains(UInt8(ascii: "\n")) { rest.removeLast(rest.count - Self.longest) }
    }
}
