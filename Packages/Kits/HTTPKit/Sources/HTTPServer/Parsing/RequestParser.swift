import Glibc
import HTTPCore

/// Parses the requests in the bytes of one connection, however they are split.
///
/// It is strict: ambiguous input is refused, because a request that a proxy parses differently can smuggle in another
/// one. It keeps only an unfinished line and decides by whole lines, so that every split of the same bytes gives the
/// same events and the same refusal.
struct RequestParser {
    struct Limits: Sendable {
        /// The request line with all header lines.
        var head = 16 << 10
        var target = 8 << 10
        var fields = 100
        /// The line before a chunk, including extensions.
        var chunkLine = 256
        /// The trailer lines, which are checked and dropped.
        var trailers = 8 << 10
    }

    enum Event {
        case head(HTTPRequestHead)
        /// A piece of the body, as a range of the given bytes.
        case body(Range<Int>)
        /// The request is complete; the next byte begins another request.
        case end
    }

    private enum State {
        /// Before a request. One empty line is allowed here, as RFC 9112 advises.
        case start(mayBeEmpty: Bool)
        case fields
        /// The head was returned, and its body is empty.
        case end
        case data(left: Int)
        case chunkSize
        case chunkData(left: Int)
        case chunkEnd
        case trailers(used: Int)
        case refused(RequestRefusal)
    }

    private let limits: Limits
    private var state = State.start(mayBeEmpty: true)
    /// The beginning of an incomplete line.
    private var unfinished: [UInt8] = []
    private var head = HeadBuilder()

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Whether the next byte begins a request; then the connection may be closed without loss.
    var isBetweenRequests: Bool {
        switch state {
        case .start, .end: unfinished.isEmpty
        default: false
        }
    }

    /// The next event from `offset` on, which moves past the used bytes; nil once all bytes are used.
    mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) throws(RequestRefusal) -> Event? {
        do throws(RequestRefusal) {
            return try advance(bytes, &offset)
        } catch {
            state = .refused(error)
            throw error
        }
    }

    /// The next head; skips the end of the previous request.
    mutating func nextHead(
        _ bytes: Span<UInt8>, _ offset: inout Int
    ) throws(RequestRefusal) -> HTTPRequestHead? {
        while let event = try next(bytes, &offset) {
            if case .head(let head) = event { return head }
        }
        return nil
    }

    private mutating func advance(_ bytes: Span<UInt8>, _ offset: inout Int) throws(RequestRefusal) -> Event? {
        while true {
            switch state {
            case .start(let mayBeEmpty):
                guard
                    let range = try line(bytes, &offset, limit: limits.target + 32, orElse: .targetTooLong)
                else { return nil }
                try startRequest(bytes, range, mayBeEmpty: mayBeEmpty)
            case .fields:
                let left = limits.head - head.size
                guard let range = try line(bytes, &offset, limit: left, orElse: .headTooLarge) else { return nil }
                if let head = try addField(bytes, range) { return .head(head) }
            case .end:
                state = .start(mayBeEmpty: true)
                return .end
            case .data(let left):
                guard let range = take(left, bytes, &offset) else { return nil }
                state = range.count == left ? .end : .data(left: left - range.count)
                return .body(range)
            case .chunkSize:
                let refusal = RequestRefusal(.badRequest, "has a chunk with a size line that is too long")
                guard let range = try line(bytes, &offset, limit: limits.chunkLine, orElse: refusal) else { return nil }
                let size = try withLine(bytes, range) { (line) throws(RequestRefusal) in try ChunkLine.size(line) }
                state = size == 0 ? .trailers(used: 0) : .chunkData(left: size)
            case .chunkData(let left):
                guard let range = take(left, bytes, &offset) else { return nil }
                state = range.count == left ? .chunkEnd : .chunkData(left: left - range.count)
                return .body(range)
            case .chunkEnd:
                let refusal = RequestRefusal(.badRequest, "has a chunk that is longer than its size")
                guard let range = try line(bytes, &offset, limit: 2, orElse: refusal) else { return nil }
                guard range.isEmpty, unfinished.isEmpty else { throw refusal }
                state = .chunkSize
            case .trailers(let used):
                let refusal = RequestRefusal(HTTPStatus(431), "has too much after its last chunk")
                guard let range = try line(bytes, &offset, limit: limits.trailers - used, orElse: refusal)
                else { return nil }
                let length = unfinished.count + range.count
                if length == 0 {
                    state = .start(mayBeEmpty: true)
                    return .end
                }
                _ = try withLine(bytes, range) { (line) throws(RequestRefusal) in try FieldLine(line) }
                state = .trailers(used: used + length + 2)
            case .refused(let refusal):
                throw refusal
            }
        }
    }

    private func take(_ left: Int, _ bytes: Span<UInt8>, _ offset: inout Int) -> Range<Int>? {
        let start = offset
        guard start < bytes.count else { return nil }
        offset = min(bytes.count, start + left)
        return start..<offset
    }
}

// MARK: Lines

extension RequestParser {
    /// The next line without its end, as a range of `bytes` that continues `unfinished`; nil when the line is
    /// incomplete. `limit` includes the line end.
    private mutating func line(
        _ bytes: Span<UInt8>, _ offset: inout Int, limit: Int, orElse refusal: RequestRefusal
    ) throws(RequestRefusal) -> Range<Int>? {
        let start = offset
        guard let end = bytes.firstLineFeed(from: start) else {
            guard unfinished.count + bytes.count - start < limit else { throw refusal }
            unfinished.append(bytes, start..<bytes.count)
            offset = bytes.count
            return nil
        }
        guard unfinished.count + end + 1 - start <= limit else { throw refusal }
        offset = end + 1
        if end > start {
            guard bytes[end - 1] == Byte.carriageReturn else { throw .bareLineFeed }
            return start..<(end - 1)
        }
        // The two bytes of the line end were split.
        guard unfinished.last == Byte.carriageReturn else { throw .bareLineFeed }
        unfinished.removeLast()
        return start..<start
    }

    /// Passes the whole line to the closure, then discards its stored beginning.
    private mutating func withLine<Result>(
        _ bytes: Span<UInt8>, _ range: Range<Int>,
        _ body: (Span<UInt8>) throws(RequestRefusal) -> Result
    ) throws(RequestRefusal) -> Result {
        if unfinished.isEmpty { return try body(bytes.extracting(range)) }
        unfinished.append(bytes, range)
        let whole = unfinished
        unfinished = []
        return try body(whole.span)
    }

    private mutating func startRequest(
        _ bytes: Span<UInt8>, _ range: Range<Int>, mayBeEmpty: Bool
    ) throws(RequestRefusal) {
        if range.isEmpty, unfinished.isEmpty {
            guard mayBeEmpty else { throw RequestRefusal(.badRequest, "starts with empty lines") }
            state = .start(mayBeEmpty: false)
            return
        }
        let size = unfinished.count + range.count + 2
        let limits = limits
        let request = try withLine(bytes, range) { (line) throws(RequestRefusal) in
            try RequestLine(line, longestTarget: limits.target)
        }
        guard size <= limits.head else { throw .headTooLarge }
        head = HeadBuilder(request, size: size)
        state = .fields
    }

    /// Adds one line of the head; returns the head after the empty line.
    private mutating func addField(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestRefusal) -> HTTPRequestHead?
    {
        let length = unfinished.count + range.count
        guard length == 0 else {
            head.size += length + 2
            let field = try withLine(bytes, range) { (line) throws(RequestRefusal) in try FieldLine(line) }
            try head.add(field, limit: limits.fields)
            return nil
        }
        let finished = try head.finish()
        head = HeadBuilder()
        switch finished.body {
        case .none, .length(0): state = .end
        case .length(let count): state = .data(left: count)
        case .chunked: state = .chunkSize
        }
        return finished
    }
}

/// Why a request was refused. The connection closes afterwards, because the start of the next request is unknown.
struct RequestRefusal: Error, Hashable {
    let status: HTTPStatus
    /// What is wrong, as the end of a sentence that begins with "the request".
    let reason: String

    init(_ status: HTTPStatus = .badRequest, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    static let headTooLarge = RequestRefusal(HTTPStatus(431), "has a head that is too large")
    static let targetTooLong = RequestRefusal(HTTPStatus(414), "has an address that is too long")
    static let bareLineFeed = RequestRefusal(.badRequest, "has a line that does not end in CR LF")
}
