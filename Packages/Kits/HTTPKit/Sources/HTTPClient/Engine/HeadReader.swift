import Glibc
import HTTPCore

/// Assembles the head of a response from the lines that libcurl delivers one by one.
struct HeadReader {
    enum Step: Equatable {
        /// A line of the head, or one after it.
        case line
        /// An interim response, such as `100 Continue`, is complete.
        case interim
        /// The head is complete.
        case complete
        /// All lines together exceed the limit.
        case tooLarge
    }

    private(set) var status = HTTPStatus(0)
    private(set) var version = HTTPVersion.http11
    private var fields: [HTTPHeaders.Field] = []
    private(set) var isComplete = false
    private let limit: Int
    private var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    var headers: HTTPHeaders { HTTPHeaders(fields) }

    mutating func read(_ line: UnsafeRawBufferPointer) -> Step {
        count += line.count
        guard count <= limit else { return .tooLarge }
        // Lines after the head are trailers, which are ignored.
        if isComplete { return .line }
        var end = line.count
        while end > 0, unsafe Self.isLineEnd(line[end - 1]) { end -= 1 }
        let text = unsafe UnsafeRawBufferPointer(rebasing: line[..<end])
        if end == 0 {
            if (100..<200).contains(status.code) { return .interim }
            isComplete = true
            return .complete
        }
        if end > 5, unsafe text.prefix(5).elementsEqual("HTTP/".utf8) {
            unsafe begin(text)
        } else {
            unsafe append(text)
        }
        return .line
    }

    /// `HTTP/1.1 200 OK`, or `HTTP/2 200` as libcurl writes it for HTTP/2.
    private mutating func begin(_ text: UnsafeRawBufferPointer) {
        fields.removeAll(keepingCapacity: true)
        let parts = unsafe Self.text(text[5...]).split(separator: " ", maxSplits: 2)
        guard parts.count >= 2 else { return }
        let numbers = parts[0].split(separator: ".", maxSplits: 1).map { Int($0) ?? 0 }
        version = HTTPVersion(major: numbers.first ?? 0, minor: numbers.count > 1 ? numbers[1] : 0)
        status = HTTPStatus(Int(parts[1]) ?? 0)
    }

    private mutating func append(_ text: UnsafeRawBufferPointer) {
        guard let start = text.baseAddress else { return }
        if Self.isSpace(unsafe text[0]) {
            // A folded line, which HTTP/1.1 deprecates but old servers send.
            guard let last = fields.popLast() else { return }
            let more = unsafe Self.trimmed(text)
            fields.append((last.name, last.value + " " + more))
            return
        }
        guard let colon = unsafe memchr(start, 58, text.count) else { return }
        let length = unsafe start.distance(to: UnsafeRawPointer(colon))
        let name = unsafe Self.text(text[..<length])
        let value = unsafe Self.trimmed(UnsafeRawBufferPointer(rebasing: text[(length + 1)...]))
        fields.append((name, value))
    }

    private static func trimmed(_ text: UnsafeRawBufferPointer) -> String {
        var (start, end) = (0, text.count)
        while start < end, unsafe isSpace(text[start]) { start += 1 }
        while end > start, unsafe isSpace(text[end - 1]) { end -= 1 }
        return unsafe Self.text(text[start..<end])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 10 || byte == 13 }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        unsafe String(decoding: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self)
    }
}
