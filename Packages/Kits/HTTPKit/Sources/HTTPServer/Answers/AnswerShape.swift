import HTTPCore

/// What becomes of an answer when the client's wishes are heard: the same, a part, nothing because the client has it
/// already, or a shorter form.
struct AnswerShape {
    var status: HTTPStatus
    var headers: HTTPHeaders
    /// Which of the bytes are sent.
    var range: Range<Int>

    /// For a body of known length. `hasRanges` says that parts of it may be asked for.
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
            // What describes the body goes with it.
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

    /// `If-Modified-Since` is compared as text: we get back what we sent, and another date says nothing.
    private func isKnown(_ etag: String?, _ modified: String?, to request: HTTPHeaders) -> Bool {
        if let known = request["If-None-Match"] { return etag.map { EntityTag.matches(known, $0) } ?? false }
        guard let modified else { return false }
        return request["If-Modified-Since"] == modified
    }

    /// Compresses whole text where the client takes it.
    mutating func compress(_ bytes: inout [UInt8], _ request: HTTPHeaders) {
        guard range.count == bytes.count, Gzip.canCompress(bytes.count, headers) else { return }
        if !headers.has("Vary", "Accept-Encoding") { headers.append("Vary", "Accept-Encoding") }
        guard Gzip.isAccepted(request["Accept-Encoding"]), let smaller = Gzip.compress(bytes) else { return }
        bytes = smaller
        range = 0..<smaller.count
        headers.append("Content-Encoding", "gzip")
        // The bytes are others, so that the tag holds for their meaning only.
        if let etag = headers["ETag"], !etag.hasPrefix("W/") { headers["ETag"] = "W/" + etag }
    }
}

/// What a `Range` header asks for of so many bytes.
enum ByteRange: Equatable {
    /// Everything: the header is absent, malformed, of another unit, or asks for several ranges at once, which a
    /// server may answer with everything.
    case everything
    case part(Range<Int>)
    /// Nothing of it is there.
    case unsatisfiable

    init(_ header: String?, of length: Int) {
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

/// Compares what a client has with what there is.
enum EntityTag {
    /// Whether a list such as that of `If-None-Match` has the tag, without regard to `W/`.
    static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").map(\.trimmingSpaces).contains { $0 == "*" || strong($0) == strong(tag[...]) }
    }

    /// Whether the bytes are the same and not only their meaning, as ranges need it.
    static func isSame(_ header: String, _ tag: String) -> Bool {
        header == tag && !tag.hasPrefix("W/")
    }

    private static func strong(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }
}

/// Which answers are sent in gzip: whole ones, to clients that ask for it.
extension Gzip {
    /// Below this a compressed answer saves nothing: it fits one packet anyway.
    static let smallest = 1 << 10
    /// Above this the work would hold up others for too long.
    static let largest = 8 << 20

    /// Whether a body of that size and kind may be compressed at all.
    static func canCompress(_ count: Int, _ headers: HTTPHeaders) -> Bool {
        count >= smallest && count <= largest && headers["Content-Encoding"] == nil
            && headers["Content-Type"].map(isWorthwhile) ?? false
    }

    /// Whether a client takes gzip: a weight of zero refuses it.
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

    /// Whether a type is text of some kind; pictures, films and archives are compressed already.
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
