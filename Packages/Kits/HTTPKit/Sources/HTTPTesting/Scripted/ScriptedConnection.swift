import Glibc
public import HTTPCore

/// One connection of a `ScriptedServer`, in blocking calls. Every call throws if the peer has left or the test is over.
public final class ScriptedConnection {
    /// 0 for the server's first connection.
    public let number: Int
    private let transport: any ScriptedTransport
    private let record: Watched<ServerRecord>
    private let isStopped: () -> Bool
    /// Bytes received but not read by the script.
    private var rest: [UInt8] = []
    private var isReset = false

    init(
        number: Int, transport: any ScriptedTransport, record: Watched<ServerRecord>, isStopped: @escaping () -> Bool
    ) {
        self.number = number
        self.transport = transport
        self.record = record
        self.isStopped = isStopped
    }

    // MARK: - Receiving

    /// Receives up to the empty line that ends a head, and records the request.
    @discardableResult
    public func receiveHead() throws -> RecordedRequest {
        var searched = 0
        while true {
            if let end = Self.endOfHead(rest, from: searched) {
                let request = RecordedRequest(head: Array(rest[..<end]))
                rest.removeFirst(end)
                change { $0.requests.append(request) }
                return request
            }
            searched = max(0, rest.count - 3)
            try receiveSome()
        }
    }

    /// Receives exactly `count` bytes.
    @discardableResult
    public func receive(_ count: Int) throws -> [UInt8] {
        while rest.count < count { try receiveSome() }
        let bytes = Array(rest[..<count])
        rest.removeFirst(count)
        return bytes
    }

    /// Receives and discards `count` bytes, which may be gigabytes.
    public func discard(_ count: Int) throws {
        var left = count - rest.count
        guard left > 0 else {
            rest.removeFirst(count)
            return
        }
        rest = []
        var block = [UInt8](repeating: 0, count: 1 << 18)
        while left > 0 {
            let got = try receive(into: &block, atMost: left)
            left -= got
        }
    }

    /// Receives the next bytes, at least one.
    public func receiveAny() throws -> [UInt8] {
        if rest.isEmpty { try receiveSome() }
        defer { rest = [] }
        return rest
    }

    private func receiveSome() throws {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        let got = try receive(into: &block, atMost: block.count)
        rest.append(contentsOf: block[..<got])
    }

    private func receive(into block: inout [UInt8], atMost most: Int) throws -> Int {
        let got = try transport.receive(into: &block, atMost: min(most, block.count))
        guard got > 0 else { throw left() }
        change { $0.bytesReceived += got }
        return got
    }

    /// The position after the empty line, for any line ends.
    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            if bytes[index] == 10 {
                if index + 1 < bytes.count, bytes[index + 1] == 10 { return index + 2 }
                if index + 2 < bytes.count, bytes[index + 1] == 13, bytes[index + 2] == 10 { return index + 3 }
            }
            index += 1
        }
        return nil
    }

    // MARK: - Sending

    /// Sends all bytes, waiting while the peer does not read.
    public func send(_ bytes: [UInt8]) throws {
        var start = 0
        while start < bytes.count {
            let sent = try transport.send(bytes, from: start)
            guard sent > 0 else { throw left() }
            start += sent
            change { $0.bytesSent += sent }
        }
    }

    /// Sends the UTF-8 of a text.
    public func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    /// Sends the bytes in pieces with a pause after each.
    public func sendSlowly(_ bytes: [UInt8], piece: Int = 1, pause: Duration) throws {
        var start = 0
        while start < bytes.count {
            let end = min(start + piece, bytes.count)
            try send(Array(bytes[start..<end]))
            start = end
            try self.pause(pause)
        }
    }

    /// Sends the bytes repeatedly until the peer leaves or the test ends.
    public func sendEndlessly(_ bytes: [UInt8]) throws -> Never {
        while true { try send(bytes) }
    }

    // MARK: - Waiting and ending

    /// Neither reads nor writes until the peer leaves or the test ends; then throws which of the two happened.
    public func stall() throws -> Never {
        while true { try pause(.seconds(3600)) }
    }

    /// Waits; throws at once if the peer leaves or the test ends.
    public func pause(_ time: Duration) throws {
        guard try !transport.peerLeaves(within: time) else { throw left() }
    }

    /// Waits for the peer to close its side, discarding received bytes.
    public func receiveEnd() throws {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let got = try transport.receive(into: &block, atMost: block.count)
            guard got > 0 else { break }
            change { $0.bytesReceived += got }
        }
        change { $0.peerLeft = true }
    }

    /// Makes the script end with a reset instead of a close: the peer may lose unread data.
    public func reset() {
        isReset = true
        Sockets.resetOnClose(transport.socket)
    }

    /// Ends the connection without the TLS close_notify, as a broken line or an attacker would. The end of the script
    /// ends it properly.
    public func cut() {
        transport.cut()
    }

    func end() {
        guard !isReset else { return }
        transport.close()
        transport.drain()
    }

    /// Changes the record of the last request.
    func amendLast(_ body: (inout RecordedRequest) -> Void) {
        change { connection in
            if !connection.requests.isEmpty { body(&connection.requests[connection.requests.count - 1]) }
        }
    }

    private func left() -> ScriptError {
        if isStopped() { return .stopped }
        change { $0.peerLeft = true }
        return .peerLeft
    }

    private func change(_ body: (inout ServerRecord.Connection) -> Void) {
        record.change { body(&$0.connections[number]) }
    }
}

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

    /// Sends a response with its length.
    public func answer(_ status: Int = 200, _ headers: HTTPHeaders = [:], _ body: String = "") throws {
        var head = "HTTP/1.1 \(HTTPStatus(status))\r\n"
        for field in headers { head += "\(field.name): \(field.value)\r\n" }
        try send("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Sends the head of an event stream that ends with the connection.
    public func beginEvents() throws {
        try send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    }
}

extension String {
    fileprivate var trimmingCarriageReturn: String {
        utf8.last == 13 ? String(decoding: utf8.dropLast(), as: UTF8.self) : self
    }
}
