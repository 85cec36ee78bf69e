import HTTPCore

/// A head of which not all lines have come.
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
            guard contentLength == nil else { throw RequestRefusal(.badRequest, "says the length of its body twice") }
            contentLength = try Self.length(field.value)
        case .transferEncoding:
            guard !isChunked else { throw RequestRefusal(.badRequest, "says the encoding of its body twice") }
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
            throw RequestRefusal(.badRequest, "says both a length and an encoding of its body")
        }
        switch line.version {
        case .http11 where host == nil: throw RequestRefusal(.badRequest, "names no host")
        // A proxy of that age does not know the encoding and would see the next request inside of the body.
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
