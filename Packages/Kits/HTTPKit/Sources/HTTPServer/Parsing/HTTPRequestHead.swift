public import HTTPCore

/// The request line and the header lines.
public struct HTTPRequestHead: Sendable {
    /// The method, which need not be one that a route has.
    public let method: HTTPMethod
    /// The request target as received.
    public let target: String
    /// The percent-encoded path, beginning with a slash; `*` for the server as a whole.
    public let path: String
    /// The text after the question mark, as received.
    public let query: String?
    /// The version in the request line.
    public let version: Version
    /// All header lines, in the order received.
    public let headers: HTTPHeaders
    /// The host and port that the client addressed; nil only for HTTP/1.0.
    public let host: String?

    let body: Body
    /// Whether the client waits for a 100 Continue before it sends the body.
    let expectsContinue: Bool
    /// Whether the client may send another request on this connection.
    let keepsAlive: Bool

    /// The supported versions.
    public enum Version: Sendable, Hashable {
        case http10, http11
    }

    /// How the body's end is found.
    enum Body: Sendable, Hashable {
        case none
        case length(Int)
        case chunked
    }
}

/// An incomplete head.
struct HeadBuilder {
    private var line: RequestLine?
    /// The bytes of its lines so far.
    var size: Int
    private var headers = HTTPHeaders()
    private var host: String?
    private var contentLength: Int?
    private var isChunked = false
    private var expectsContinue = false
    private var connection: (closes: Bool, keepsAlive: Bool) = (false, false)

    init() {
        size = 0
    }

    init(_ line: RequestLine, size: Int) {
        self.line = line
        self.size = size
    }

    mutating func add(_ field: FieldLine, limit: Int) throws(RequestRefusal) {
        guard headers.count < limit else { throw RequestRefusal(HTTPStatus(431), "has too many header lines") }
        switch field.kind {
        case .host:
            guard host == nil else { throw RequestRefusal(.badRequest, "names two hosts") }
            guard HostName.isValid(field.value.utf8.span) else {
                throw RequestRefusal(.badRequest, "names a malformed host")
            }
            host = field.value
        case .contentLength:
            guard contentLength == nil else { throw RequestRefusal(.badRequest, "gives the length of its body twice") }
            contentLength = try Self.length(field.value)
        case .transferEncoding:
            guard !isChunked else { throw RequestRefusal(.badRequest, "gives the encoding of its body twice") }
            guard HTTPHeaders.isSame(field.value, "chunked") else {
                throw RequestRefusal(.notImplemented, "has a body in an encoding other than chunked")
            }
            isChunked = true
        case .expect:
            guard HTTPHeaders.isSame(field.value, "100-continue") else {
                throw RequestRefusal(HTTPStatus(417), "expects something other than 100-continue")
            }
            expectsContinue = true
        case .connection:
            for member in field.value.split(separator: ",").map(\.trimmingSpaces) {
                if HTTPHeaders.isSame(member, "close") { connection.closes = true }
                if HTTPHeaders.isSame(member, "keep-alive") { connection.keepsAlive = true }
            }
        case .other: break
        }
        headers.append(field.name, field.value)
    }

    func finish() throws(RequestRefusal) -> HTTPRequestHead {
        guard let line else { throw RequestRefusal(.badRequest, "has no first line") }
        if isChunked, contentLength != nil {
            throw RequestRefusal(.badRequest, "gives both a length and an encoding of its body")
        }
        switch line.version {
        case .http11 where host == nil: throw RequestRefusal(.badRequest, "names no host")
        // A proxy of that age does not know the encoding and would treat the body as the next request.
        case .http10 where isChunked: throw RequestRefusal(.badRequest, "is HTTP/1.0 with a chunked body")
        default: break
        }
        return HTTPRequestHead(
            method: line.method, target: line.target, path: line.path, query: line.query, version: line.version,
            headers: headers, host: line.authority ?? host,
            body: isChunked ? .chunked : contentLength.map { .length($0) } ?? .none,
            expectsContinue: expectsContinue && line.version == .http11,
            keepsAlive: !connection.closes && (line.version == .http11 || connection.keepsAlive))
    }

    private static func length(_ text: String) throws(RequestRefusal) -> Int {
        guard !text.isEmpty, text.utf8.allSatisfy(Byte.isDigit) else {
            throw RequestRefusal(.badRequest, "has a malformed length of its body")
        }
        guard text.utf8.count <= 18, let length = Int(text) else {
            throw RequestRefusal(.contentTooLarge, "has a body that is too large")
        }
        return length
    }
}

/// The first line of a request: `GET /v1/models HTTP/1.1`.
struct RequestLine {
    let method: HTTPMethod
    let target: String
    let path: String
    let query: String?
    /// The host in the target when it is a whole URL, as proxies receive it.
    let authority: String?
    let version: HTTPRequestHead.Version

    init(_ line: Span<UInt8>, longestTarget: Int) throws(RequestRefusal) {
        guard let first = line.first(Byte.space), let second = line.first(Byte.space, from: first + 1) else {
            throw RequestRefusal(.badRequest, "has a first line without method, address and version")
        }
        method = try Self.method(line, 0..<first)
        let target = (first + 1)..<second
        guard target.count <= longestTarget else { throw .targetTooLong }
        version = try Self.version(line, (second + 1)..<line.count)
        for place in target {
            // A fragment is never sent, and everything except printable ASCII must be percent-encoded.
            guard line[place] > 32, line[place] < 127, line[place] != UInt8(ascii: "#") else {
                throw RequestRefusal(.badRequest, "has an address with characters that must be percent-encoded")
            }
        }
        self.target = line.text(target)
        guard !target.isEmpty else { throw RequestRefusal(.badRequest, "has no address") }
        var start = target.lowerBound
        var authority: Range<Int>?
        if line[start] != Byte.slash, method == .options, target.count == 1, line[start] == UInt8(ascii: "*") {
            (path, query, self.authority) = ("*", nil, nil)
            return
        }
        if line[start] != Byte.slash {
            authority = try Self.authority(line, target)
            start = authority?.upperBound ?? start
        }
        let question = line.extracting(0..<target.upperBound).first(UInt8(ascii: "?"), from: start)
        let path = line.text(start..<(question ?? target.upperBound))
        // The path of a whole URL may be omitted.
        self.path = path.isEmpty ? "/" : path
        query = question.map { line.text(($0 + 1)..<target.upperBound) }
        self.authority = authority.map { line.text($0) }
    }

    private static func method(_ line: Span<UInt8>, _ range: Range<Int>) throws(RequestRefusal) -> HTTPMethod {
        let text = line.extracting(range)
        for place in text.indices {
            guard HTTPHeaders.isTokenByte(text[place]) else {
                throw RequestRefusal(.badRequest, "has a malformed method")
            }
        }
        guard !range.isEmpty, range.count <= 32 else { throw RequestRefusal(.notImplemented, "has an unknown method") }
        return HTTPMethod(rawValue: line.text(range))
    }

    private static func version(
        _ line: Span<UInt8>, _ range: Range<Int>
    ) throws(RequestRefusal) -> HTTPRequestHead.Version {
        let text = line.extracting(range)
        // RFC 9112 defines the name in upper case, so the comparison is case-sensitive.
        let prefix: StaticString = "HTTP/"
        guard text.count == 8, text.isWord(0..<5, "http/"), unsafe text[0] == prefix.utf8Start[0],
            text.text(0..<5) == "HTTP/", Byte.isDigit(text[5]), text[6] == UInt8(ascii: "."), Byte.isDigit(text[7])
        else { throw RequestRefusal(.badRequest, "has a malformed version") }
        guard text[5] == UInt8(ascii: "1"), text[7] <= UInt8(ascii: "1") else {
            throw RequestRefusal(HTTPStatus(505), "has a version other than HTTP/1.1 and HTTP/1.0")
        }
        return text[7] == UInt8(ascii: "1") ? .http11 : .http10
    }

    /// The host in a whole URL; the range ends where the path begins.
    private static func authority(_ line: Span<UInt8>, _ target: Range<Int>) throws(RequestRefusal) -> Range<Int> {
        let rest = line.extracting(0..<target.upperBound)
        for scheme in ["http://", "https://"] where target.count > scheme.utf8.count {
            let start = target.lowerBound + scheme.utf8.count
            guard line.text(target.lowerBound..<start).lowercased() == scheme else { continue }
            var end = start
            while end < rest.count, rest[end] != Byte.slash, rest[end] != UInt8(ascii: "?") { end += 1 }
            guard HostName.isValid(line.extracting(start..<end)) else { break }
            return start..<end
        }
        throw RequestRefusal(.badRequest, "has an address that begins with neither a slash nor http://")
    }
}

/// One line of the head: a name, a colon and a value.
struct FieldLine {
    let kind: Kind
    let name: String
    let value: String

    /// The few names that affect how the request is parsed.
    enum Kind {
        case host, contentLength, transferEncoding, connection, expect, other
    }

    init(_ line: Span<UInt8>) throws(RequestRefusal) {
        guard !line.isEmpty, line[0] != Byte.space, line[0] != Byte.tab else {
            throw RequestRefusal(.badRequest, "has a header line that continues in the next one")
        }
        guard let colon = line.first(Byte.colon), colon > 0 else {
            throw RequestRefusal(.badRequest, "has a header line without a name and a colon")
        }
        for place in 0..<colon where !HTTPHeaders.isTokenByte(line[place]) {
            throw RequestRefusal(.badRequest, "has a header with a malformed name")
        }
        var (start, end) = (colon + 1, line.count)
        while start < end, line[start] == Byte.space || line[start] == Byte.tab { start += 1 }
        while end > start, line[end - 1] == Byte.space || line[end - 1] == Byte.tab { end -= 1 }
        for place in start..<end where !HTTPHeaders.isValueByte(line[place]) {
            throw RequestRefusal(.badRequest, "has a header with a control character")
        }
        kind = Self.kind(line, 0..<colon)
        name = line.text(0..<colon)
        value = line.text(start..<end)
    }

    private static func kind(_ line: Span<UInt8>, _ range: Range<Int>) -> Kind {
        switch range.count {
        case 4 where line.isWord(range, "host"): .host
        case 6 where line.isWord(range, "expect"): .expect
        case 10 where line.isWord(range, "connection"): .connection
        case 14 where line.isWord(range, "content-length"): .contentLength
        case 17 where line.isWord(range, "transfer-encoding"): .transferEncoding
        default: .other
        }
    }
}

/// The line before a chunk: its size in hexadecimal digits, and optional extensions, which are ignored.
enum ChunkLine {
    static func size(_ line: Span<UInt8>) throws(RequestRefusal) -> Int {
        var size = 0
        var place = 0
        while place < line.count, let digit = Byte.hex(line[place]) {
            // Fifteen digits cannot overflow, and no body is that large.
            guard place < 15 else { throw RequestRefusal(.contentTooLarge, "has a chunk that is too large") }
            size = size << 4 | Int(digit)
            place += 1
        }
        guard place > 0, place == line.count || line[place] == UInt8(ascii: ";") else {
            throw RequestRefusal(.badRequest, "has a chunk with a malformed size")
        }
        for index in place..<line.count where !HTTPHeaders.isValueByte(line[index]) {
            throw RequestRefusal(.badRequest, "has a chunk with a control character before it")
        }
        return size
    }
}

/// A host with an optional port, as in requests.
enum HostName {
    /// Whether the bytes are a valid host: a name, an IPv4 address, or an IPv6 address in brackets, and an optional
    /// numeric port.
    static func isValid(_ bytes: Span<UInt8>) -> Bool {
        var place = 0
        if !bytes.isEmpty, bytes[0] == UInt8(ascii: "[") {
            guard let end = bytes.first(UInt8(ascii: "]")), end > 1 else { return false }
            for index in 1..<end {
                let byte = bytes[index]
                guard Byte.hex(byte) != nil || byte == Byte.colon || byte == UInt8(ascii: ".") else { return false }
            }
            place = end + 1
        } else {
            while place < bytes.count, isNameByte(bytes[place]) { place += 1 }
            guard place > 0 else { return false }
        }
        guard place < bytes.count else { return true }
        guard bytes[place] == Byte.colon, bytes.count - place <= 6 else { return false }
        for index in (place + 1)..<bytes.count where !Byte.isDigit(bytes[index]) { return false }
        return true
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The host without its port and brackets, in lower case.
    static func withoutPort(_ text: String) -> String {
        if text.hasPrefix("[") { return text.dropFirst().prefix { $0 != "]" }.lowercased() }
        return text[..<(text.utf8.firstIndex(of: Byte.colon) ?? text.endIndex)].lowercased()
    }
}
