/// The beginning and the end of a long text, such as what a command printed, in memory that does not grow with it.
public struct OutputExcerpt: Sendable {
    static let largestHead = 16 << 10
    static let largestTail = 48 << 10

    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    public private(set) var count = 0

    public init() {}

    public mutating func add(_ bytes: [UInt8]) {
        count += bytes.count
        let room = Self.largestHead - head.count
        head += bytes.prefix(room)
        tail += bytes.dropFirst(room)
        // Cut only at twice the size, so that what is kept is not moved for every piece.
        if tail.count > 2 * Self.largestTail { tail.removeFirst(tail.count - Self.largestTail) }
    }

    /// As a text; where the middle is left out, it says how much, and begins with a whole line where there is one.
    public var text: String {
        guard count > Self.largestHead + Self.largestTail else { return String(decoding: head + tail, as: UTF8.self) }
        var start = head[...]
        if let last = start.lastIndex(of: UInt8(ascii: "\n")) { start = start[...last] }
        var end = tail.suffix(Self.largestTail)
        if let first = end.firstIndex(of: UInt8(ascii: "\n")) { end = end[(first + 1)...] }
        let left = count - start.count - end.count
        let line = start.last == UInt8(ascii: "\n") ? "" : "\n"
        return String(decoding: start, as: UTF8.self) + "\(line)[… \(left) bytes are left out here …]\n"
            + String(decoding: end, as: UTF8.self)
    }
}
