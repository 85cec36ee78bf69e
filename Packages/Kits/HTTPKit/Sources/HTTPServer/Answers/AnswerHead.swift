import HTTPCore

/// Writes the lines before a body.
struct AnswerHead {
    var status: HTTPStatus
    var headers: HTTPHeaders
    var framing: Framing
    var closes: Bool
    /// Whether the client speaks HTTP/1.0, which keeps a connection only when that is said.
    var isOldClient: Bool

    enum Framing: Equatable {
        /// No body by the meaning of the status.
        case bare
        case length(Int)
        case chunked
        /// The body ends with the connection, for clients that know no chunks.
        case untilClose
    }

    /// The name of a header that must not be sent: its value would begin another line.
    func write(into bytes: inout [UInt8], _ date: DateLine) throws(InvalidHeader) {
        if status == .ok {
            bytes.append(contentsOf: "HTTP/1.1 200 OK\r\n".utf8)
        } else {
            bytes.append(contentsOf: "HTTP/1.1 \(status.code) \(status.reason)\r\n".utf8)
        }
        date.append(to: &bytes)
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.allSatisfy(HTTPHeaders.isTokenByte),
                value.utf8.allSatisfy(HTTPHeaders.isValueByte), !isFraming(name)
            else { throw InvalidHeader(name: name) }
            bytes.append(contentsOf: name.utf8)
            bytes.append(contentsOf: ": ".utf8)
            bytes.append(contentsOf: value.utf8)
            bytes.append(contentsOf: "\r\n".utf8)
        }
        switch framing {
        case .bare, .untilClose: break
        case .length(let count): bytes.append(contentsOf: "Content-Length: \(count)\r\n".utf8)
        case .chunked: bytes.append(contentsOf: "Transfer-Encoding: chunked\r\n".utf8)
        }
        if closes {
            bytes.append(contentsOf: "Connection: close\r\n".utf8)
        } else if isOldClient {
            bytes.append(contentsOf: "Connection: keep-alive\r\n".utf8)
        }
        bytes.append(contentsOf: "\r\n".utf8)
    }

    /// Whether a header would contradict what is written here of the body: two notions of where it ends are two answers to
    /// whoever reads them. A handler that passes an answer on has to leave them out.
    private func isFraming(_ name: String) -> Bool {
        switch name.utf8.count {
        case 10: ![101, 426].contains(status.code) && HTTPHeaders.isSame(name, "Connection")
        case 14: HTTPHeaders.isSame(name, "Content-Length")
        case 17: HTTPHeaders.isSame(name, "Transfer-Encoding")
        default: false
        }
    }

    struct InvalidHeader: Error {
        let name: String
    }
}
