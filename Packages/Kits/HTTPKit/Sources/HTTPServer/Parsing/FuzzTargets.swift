import HTTPCore

/// The functions for fuzzers: they accept any bytes and trap when an invariant is violated.
@_spi(Fuzzing) public enum FuzzTargets {
    /// Parses a connection's bytes: every split must give the same requests.
    public static func requests(_ bytes: [UInt8]) {
        let whole = trace([bytes])
        let cut = bytes.count / 2
        precondition(trace([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "a cut changed the requests")
        if bytes.count < 512 {
            precondition(trace(bytes.map { [$0] }) == whole, "single bytes changed the requests")
        }
    }

    /// Parses the bytes as a chunked body.
    public static func chunks(_ bytes: [UInt8]) {
        requests(Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + bytes)
    }

    /// Parses the bytes as a path and as a query.
    public static func address(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        for segment in text.split(separator: "/") {
            guard let decoded = PercentDecoding.decode(segment) else { continue }
            precondition(!decoded.utf8.contains(0), "a NUL came through")
        }
        _ = PercentDecoding.pairs(text)
        _ = PathTemplate(text)
        _ = ByteRange(text, of: bytes.count)
        _ = Gzip.isAccepted(text)
    }

    private static func trace(_ pieces: [[UInt8]]) -> [String] {
        var parser = RequestParser()
        var lines: [String] = []
        var body: [UInt8] = []
        do throws(RequestRefusal) {
            for piece in pieces {
                var offset = 0
                while let event = try parser.next(piece.span, &offset) {
                    switch event {
                    case .head(let head): lines.append("\(head.method) \(head.target) \(head.headers)")
                    case .body(let range): body += piece[range]
                    case .end:
                        lines.append(String(decoding: body, as: UTF8.self))
                        body = []
                    }
                }
            }
        } catch {
            lines.append("\(error.status) \(error.reason)")
        }
        return lines
    }
}
