public import HTTPCore

extension ScriptedConnection {
    /// Receives a request with the body that its head announces, and records both.
    @discardableResult
    public func receiveRequest() throws -> RecordedRequest {
        var request = try receiveHead()
        if request.headers.has("Transfer-Encoding", "chunked") {
            request.body = try receiveChunks()
        } else if let length = request.headers["Content-Length"].flatMap({ Int($0) }) {
            request.body = try receive(length)
        }
        amendLast { $0.body = request.body }
        return request
    }

    private func receiveChunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            guard let size = Int(try receiveLine(), radix: 16) else { throw ScriptError.failed("no chunk size came") }
            if size == 0 {
                while try !receiveLine().isEmpty {}
                return body
            }
            body += try receive(size)
            _ = try receive(2)
        }
    }

    private func receiveLine() throws -> String {
        var line: [UInt8] = []
        while line.last != 10 { line += try receive(1) }
        return String(decoding: line.dropLast(), as: UTF8.self).trimmingCarriageReturn
    }

    /// Sends an answer with its length.
    public func answer(_ status: Int = 200, _ headers: HTTPHeaders = [:], _ body: String = "") throws {
        var head = "HTTP/1.1 \(HTTPStatus(status))\r\n"
        for field in headers { head += "\(field.name): \(field.value)\r\n" }
        try send("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Sends the head of an event stream, whose end is the connection's end.
    public func beginEvents() throws {
        try send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    }
}

extension String {
    fileprivate var trimmingCarriageReturn: String {
        utf8.last == 13 ? String(decoding: utf8.dropLast(), as: UTF8.self) : self
    }
}
