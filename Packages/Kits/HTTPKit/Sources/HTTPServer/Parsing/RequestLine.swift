import HTTPCore

/// The first line of a request: `GET /v1/models HTTP/1.1`.
struct RequestLine {
    let method: HTTPMethod
    let target: String
    let path: String
    let query: String?
    /// The host that the target names when it is a whole URL, as it is for a proxy.
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
            // A fragment is never sent, and anything outside of printable ASCII has to be percent-encoded.
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
        // The path of a whole URL may be left out.
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
        // The name is upper-case by the standard, so that the comparison is exact.
        let prefix: StaticString = "HTTP/"
        guard text.count == 8, text.isWord(0..<5, "http/"), unsafe text[0] == prefix.utf8Start[0],
            text.text(0..<5) == "HTTP/", Byte.isDigit(text[5]), text[6] == UInt8(ascii: "."), Byte.isDigit(text[7])
        else { throw RequestRefusal(.badRequest, "has a malformed version") }
        guard text[5] == UInt8(ascii: "1"), text[7] <= UInt8(ascii: "1") else {
            throw RequestRefusal(HTTPStatus(505), "has a version other than HTTP/1.1 and HTTP/1.0")
        }
        return text[7] == UInt8(ascii: "1") ? .http11 : .http10
    }

    /// The host in a whole URL; its range ends where the path begins.
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
