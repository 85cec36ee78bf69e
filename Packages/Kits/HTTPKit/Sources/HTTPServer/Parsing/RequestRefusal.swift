import HTTPCore

/// Why bytes are no request that may be answered. The connection closes after it, because nobody can tell where the
/// next request would begin.
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
