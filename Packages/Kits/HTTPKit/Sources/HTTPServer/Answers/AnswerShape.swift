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
                HTTPStatus(416), code: "server.range", "the range lies behind the end; there are \(length) bytes",
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
