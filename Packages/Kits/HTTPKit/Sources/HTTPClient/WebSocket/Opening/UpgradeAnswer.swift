import Glibc
import HTTPCore

/// The answer to the request for a WebSocket, as its bytes come.
struct UpgradeAnswer {
    /// What was found when the head was complete.
    struct Head {
        let status: HTTPStatus
        let headers: HTTPHeaders
        /// What came after the head: the first frames, or the body of a refusal.
        let rest: [UInt8]
    }

    private let limit: Int
    private let server: String
    private var bytes: [UInt8] = []
    private var reader: HeadReader
    private var start = 0
    private var isBegun = false

    init(limit: Int, server: String) {
        self.limit = limit
        self.server = server
        // The count of all lines is kept here, over several heads.
        reader = HeadReader(limit: .max)
    }

    /// Takes bytes; gives the head once it is complete. Answers before the answer, such as 103, are passed over.
    mutating func append(_ new: ArraySlice<UInt8>) throws(HTTPError) -> Head? {
        bytes += new
        while let end = newline() {
            guard end < limit else { throw tooLarge }
            let line = bytes[start...end]
            start = end + 1
            try check(line)
            let step = unsafe line.withUnsafeBytes { unsafe reader.read($0) }
            if step == .complete || (step == .interim && reader.status.code == 101) {
                return Head(status: reader.status, headers: reader.headers, rest: Array(bytes[start...]))
            }
            if step == .interim { isBegun = false }
        }
        guard bytes.count < limit else { throw tooLarge }
        return nil
    }

    private func newline() -> Int? {
        unsafe bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress, let found = unsafe memchr(base + start, 10, all.count - start) else {
                return nil
            }
            return unsafe base.distance(to: UnsafeRawPointer(found))
        }
    }

    /// A status line stands first and nowhere else.
    private mutating func check(_ line: ArraySlice<UInt8>) throws(HTTPError) {
        let isStatus = line.starts(with: "HTTP/".utf8)
        guard isStatus != isBegun, !isStatus || line.starts(with: "HTTP/1.".utf8), isBegun || line.count >= 12 else {
            throw HTTPError(
                .badAnswer, "what \(server) sent is no answer by the rules of HTTP; check host and port",
                server: server)
        }
        isBegun = true
    }

    private var tooLarge: HTTPError {
        HTTPError(
            .headTooLarge, "\(server) sent more than \(limit) bytes of header lines, which is the limit",
            server: server)
    }
}
