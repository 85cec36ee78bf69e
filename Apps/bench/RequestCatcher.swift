import Glibc

/// A port that receives requests one by one with blocking calls, so that our own code is not measured.
struct RequestCatcher: ~Copyable {
    let port: Int
    private let socket: Int32

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = socket
        let result = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe bind(descriptor, address, length) == 0, listen(descriptor, 16) == 0 else {
                    return Int32(-1)
                }
                return unsafe getsockname(descriptor, address, &length)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard result == 0 else { throw BenchmarkError("no port can be listened at") }
    }

    deinit { close(socket) }

    /// The next request, returned at its first byte.
    func next() throws -> CaughtRequest {
        try Self.wait(for: socket)
        let connection = accept(socket, nil, nil)
        guard connection >= 0, fcntl(connection, F_SETFD, FD_CLOEXEC) == 0 else {
            throw BenchmarkError("no connection came")
        }
        try Self.wait(for: connection)
        return CaughtRequest(connection: connection)
    }

    fileprivate static func wait(for socket: Int32) throws {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&descriptor, 1, 60_000) == 1 else { throw BenchmarkError("nothing came for a minute") }
    }
}

/// A request whose first byte has arrived. Releasing it closes its connection.
struct CaughtRequest: ~Copyable {
    private let connection: Int32
    /// When the first byte arrived.
    let time: ContinuousClock.Instant

    fileprivate init(connection: Int32) {
        time = .now
        self.connection = connection
        var on: Int32 = 1
        unsafe setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(connection) }

    /// Reads the whole request. Requests here are neither longer than their announced length nor chunked.
    func read() throws {
        var request: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { throw BenchmarkError("a request broke off") }
            request += chunk.prefix(count)
            let text = String(decoding: request, as: UTF8.self)
            guard let head = text.firstRange(of: "\r\n\r\n") else { continue }
            let field = text[..<head.lowerBound].split(separator: "\r\n").first {
                $0.lowercased().hasPrefix("content-length:")
            }
            let length = field.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
            if text[head.upperBound...].utf8.count >= length { return }
        }
    }

    /// Sends a text; returns false if the client has closed.
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Waits until the client has closed the connection, and returns the time.
    func closing() throws -> ContinuousClock.Instant {
        var byte: UInt8 = 0
        try RequestCatcher.wait(for: connection)
        guard unsafe recv(connection, &byte, 1, 0) <= 0 else { throw BenchmarkError("the client sent more") }
        return .now
    }

    // MARK: An answer

    static let head = """
        HTTP/1.1 200 OK\r
        Content-Type: text/event-stream\r
        Connection: close\r
        \r

        """

    static func chunk(_ text: String, finish: String = "null") -> String {
        """
        data: {"id":"chatcmpl-9a7b1c","object":"chat.completion.chunk","created":1763600000,"model":"gpt-5-mini",\
        "choices":[{"index":0,"delta":{"role":"assistant","content":"\(text)"},"finish_reason":\(finish)}]}


        """
    }

    static let end = "data: [DONE]\n\n"

    /// Reads the request and answers it with two words.
    func answer() throws {
        try read()
        guard send(Self.head + Self.chunk("Good day", finish: #""stop""#) + Self.end) else {
            throw BenchmarkError("the client did not wait for its answer")
        }
    }
}
