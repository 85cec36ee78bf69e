import HTTPCore

/// Adapts a response to the request's conditions: the whole body, a part, no body because the client already has it, or
/// a compressed body.
struct AnswerShape {
    var status: HTTPStatus
    var headers: HTTPHeaders
    /// The range of bytes to send.
    var range: Range<Int>

    /// For a body of known length. `hasRanges` means that parts of it may be requested.
    init(_ answer: HTTPAnswer, length: Int, hasRanges: Bool, _ request: HTTPRequestHead) throws(RequestProblem) {
        status = answer.status
        headers = answer.headers
        range = 0..<length
        guard status == .ok, request.method == .get || request.method == .head else { return }
        let etag = headers["ETag"]
        let modified = headers["Last-Modified"]
        if isKnown(etag, modified, to: request.headers) {
            status = .notModified
            range = 0..<0
            // Headers that describe the body are removed with it.
            headers["Content-Type"] = nil
            return
        }
        guard hasRanges else { return }
        headers["Accept-Ranges"] = "bytes"
        guard let asked = request.headers["Range"], request.method == .get else { return }
        if let condition = request.headers["If-Range"] {
            let isSame = etag.map { EntityTag.isSame(condition, $0) } ?? false
            guard isSame || modified == condition else { return }
        }
        switch ByteRange(asked, of: length) {
        case .everything: break
        case .part(let part):
            status = .partialContent
            headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
            range = part
        case .unsatisfiable:
            throw RequestProblem(
                HTTPStatus(416), code: "server.range", "the range is beyond the end; there are \(length) bytes",
                headers: ["Content-Range": "bytes */\(length)"])
        }
    }

    /// `If-Modified-Since` is compared as text: clients send back our own value, and any other date is ignored.
    private func isKnown(_ etag: String?, _ modified: String?, to request: HTTPHeaders) -> Bool {
        if let known = request["If-None-Match"] { return etag.map { EntityTag.matches(known, $0) } ?? false }
        guard let modified else { return false }
        return request["If-Modified-Since"] == modified
    }

    /// Compresses whole text if the client accepts that.
    mutating func compress(_ bytes: inout [UInt8], _ request: HTTPHeaders) {
        guard range.count == bytes.count, Gzip.canCompress(bytes.count, headers) else { return }
        if !headers.has("Vary", "Accept-Encoding") { headers.append("Vary", "Accept-Encoding") }
        guard Gzip.isAccepted(request["Accept-Encoding"]), let smaller = Gzip.compress(bytes) else { return }
        bytes = smaller
        range = 0..<smaller.count
        headers.append("Content-Encoding", "gzip")
        // The bytes differ now, so the tag becomes weak.
        if let etag = headers["ETag"], !etag.hasPrefix("W/") { headers["ETag"] = "W/" + etag }
    }
}

/// The part of the body that a `Range` header requests.
public enum ByteRange: Sendable, Equatable {
    /// The whole body: the header is absent, malformed, in another unit, or requests several ranges, which a server may
    /// ignore.
    case everything
    /// These bytes; never empty.
    case part(Range<Int>)
    /// No requested byte exists.
    case unsatisfiable

    /// What the header requests of a body with this length.
    public init(_ header: String?, of length: Int) {
        self = .everything
        guard let header, header.lowercased().hasPrefix("bytes=") else { return }
        let text = header.dropFirst(6).trimmingSpaces
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        if parts[0].isEmpty {
            guard let count = Self.number(parts[1]) else { return }
            self = count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
            return
        }
        guard let first = Self.number(parts[0]) else { return }
        guard parts[1].isEmpty || Self.number(parts[1]) != nil else { return }
        let last = Self.number(parts[1]) ?? Int.max
        guard first <= last else { return }
        self = first < length ? .part(first..<(min(last, length - 1) + 1)) : .unsatisfiable
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(Byte.isDigit) else { return nil }
        return Int(text) ?? Int.max
    }
}

/// Compares the client's entity tag with the current one.
public enum EntityTag {
    /// Whether a list such as `If-None-Match` contains the tag, ignoring `W/`.
    public static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").map(\.trimmingSpaces).contains { $0 == "*" || strong($0) == strong(tag[...]) }
    }

    /// Whether the bytes are identical, not only equivalent, as ranges require.
    static func isSame(_ header: String, _ tag: String) -> Bool {
        header == tag && !tag.hasPrefix("W/")
    }

    private static func strong(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }
}

/// Decides which responses are sent in gzip: whole ones, to clients that ask for it.
extension Gzip {
    /// Below this size compression saves nothing: the response fits one packet anyway.
    static let smallest = 1 << 10
    /// Above this size compression would delay other requests too long.
    static let largest = 8 << 20

    /// Whether a body of this size and type may be compressed.
    static func canCompress(_ count: Int, _ headers: HTTPHeaders) -> Bool {
        count >= smallest && count <= largest && headers["Content-Encoding"] == nil
            && headers["Content-Type"].map(isWorthwhile) ?? false
    }

    /// Whether the client accepts gzip; a weight of zero refuses it.
    static func isAccepted(_ header: String?) -> Bool {
        guard let header else { return false }
        var any = false
        for member in header.split(separator: ",") {
            let parts = member.split(separator: ";")
            guard let name = parts.first?.trimmingSpaces.lowercased() else { continue }
            let isRefused = parts.dropFirst().contains { weight in
                let text = weight.trimmingSpaces.lowercased()
                return text.hasPrefix("q=") && Double(text.dropFirst(2)) == 0
            }
            if name == "gzip" || name == "x-gzip" { return !isRefused }
            if name == "*" { any = !isRefused }
        }
        return any
    }

    /// Whether the type is some kind of text; pictures, films and archives are already compressed.
    static func isWorthwhile(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" }.trimmingSpaces.lowercased()
        return name.hasPrefix("text/") && name != "text/event-stream" || name.hasSuffix("+json")
            || name.hasSuffix("+xml") || types.contains(name)
    }

    private static let types: Set<String> = [
        "application/json", "application/javascript", "application/xml", "application/x-ndjson",
        "application/openapi+json", "application/yaml", "application/wasm",
    ]
}
