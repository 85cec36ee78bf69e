import Glibc
import JSON
import LoopKit
import RPCKit
import Synchronization

@testable import MCPKit

/// A client that writes and reads lines as a test tells it to.
final class LineClient: Sendable {
    private let channel: DescriptorChannel
    private let rest = Mutex([UInt8]())

    init(_ channel: DescriptorChannel) {
        self.channel = channel
    }

    func write(_ bytes: [UInt8]) async throws {
        var written = 0
        while written < bytes.count {
            let count = try channel.writeNow(bytes, from: written)
            written += count
            if count == 0 { try await channel.waitUntilWritable() }
        }
    }

    func write(_ text: String) async throws { try await write(Array((text + "\n").utf8)) }

    func send(_ id: JSON?, _ method: String, _ params: JSON = [:]) async throws {
        var members: JSONObject = ["jsonrpc": "2.0", "method": .string(method), "params": params]
        members["id"] = id
        try await write(JSON.object(members).text())
    }

    /// The next line as JSON; null at the end.
    func line() async throws -> JSON {
        while true {
            let line = rest.withLock { rest -> [UInt8]? in
                guard let end = rest.firstIndex(of: 0x0A) else { return nil }
                defer { rest.removeFirst(end + 1) }
                return Array(rest[..<end])
            }
            if let line { return try JSON(parsing: line) }
            guard let piece = try await channel.read() else { return nil }
            rest.withLock { $0 += piece }
        }
    }

    /// Sends a request and returns the next line.
    func ask(_ id: JSON, _ method: String, _ params: JSON = [:]) async throws -> JSON {
        try await send(id, method, params)
        return try await line()
    }

    /// Begins in the legacy era.
    func open(_ version: String = "2025-11-25", capabilities: JSON = [:]) async throws -> JSON {
        let answer = try await ask(
            "open", "initialize",
            [
                "protocolVersion": .string(version), "capabilities": capabilities,
                "clientInfo": ["name": "raw", "version": "1"],
            ])
        try await send(nil, "notifications/initialized")
        return answer
    }
}

extension JSON {
    /// Parameters of the modern era.
    static func modern(
        _ params: JSONObject = [:], capabilities: JSON = ["elicitation": [:]], version: String = "2026-07-28",
        _ meta: JSONObject = [:]
    ) -> JSON {
        var (params, meta) = (params, meta)
        meta["io.modelcontextprotocol/protocolVersion"] = .string(version)
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities
        params["_meta"] = .object(meta)
        return .object(params)
    }
}

/// An HTTP client that sends exactly what a test tells it to.
final class RawHTTP: Sendable {
    private let descriptor: LoopDescriptor

    init(port: Int) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw RPCFailure(.closed, "cannot connect: \(errno)") }
        descriptor = try LoopDescriptor(owning: socket, loop: EventLoop())
    }

    func send(_ text: String) async throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let attempt = descriptor.attempt(.writable) { socket in
                unsafe rest.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            switch attempt {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: _ = try await descriptor.writable()
            // The server has answered before it has read all.
            case .failed, .closed: return
            }
        }
    }

    /// Everything received up to a text, or until the end.
    func receive(until mark: String? = nil) async throws -> String {
        var all: [UInt8] = []
        while true {
            let text = String(decoding: all, as: UTF8.self)
            if let mark, text.contains(mark) { return text }
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let attempt = descriptor.attempt(.readable) { socket in
                unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            }
            switch attempt {
            case .moved(0), .failed, .closed: return text
            case .moved(let count): all += buffer[..<count]
            case .wouldBlock: _ = try await descriptor.readable()
            }
        }
    }

    func close() { descriptor.close() }

    // MARK: Requests

    /// The usual headers, which a test may replace; an empty value leaves one out.
    static func request(_ method: String, _ body: String, _ headers: KeyValuePairs<String, String>) -> String {
        var lines = [
            "Host": "127.0.0.1", "Authorization": "Bearer secret", "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json", "Content-Length": "\(body.utf8.count)", "Connection": "close",
        ]
        for (name, value) in headers { lines[name] = value }
        let head = lines.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return "\(method) /mcp HTTP/1.1\r\n\(head)\r\n\(body)"
    }

    /// Sends a request and returns the whole answer.
    static func ask(
        _ port: Int, _ method: String = "POST", _ body: JSON? = nil, _ headers: KeyValuePairs<String, String> = [:]
    ) async throws -> String {
        let client = try RawHTTP(port: port)
        defer { client.close() }
        try await client.send(request(method, body?.text() ?? "", headers))
        return try await client.receive()
    }

    /// Begins a session and returns its id.
    static func open(_ port: Int, version: String = "2025-11-25", token: String = "secret") async throws -> String {
        let opening: JSON = [
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": [
                "protocolVersion": .string(version), "capabilities": ["elicitation": [:]],
                "clientInfo": ["name": "raw", "version": "1"],
            ],
        ]
        let answer = try await ask(port, "POST", opening, ["Authorization": "Bearer \(token)"])
        guard let line = answer.split(separator: "\r\n").first(where: { $0.hasPrefix("Mcp-Session-Id: ") }) else {
            throw RPCFailure(.closed, "no session: \(answer)")
        }
        let session = String(line.dropFirst(16))
        _ = try await ask(
            port, "POST", ["jsonrpc": "2.0", "method": "notifications/initialized"],
            ["Mcp-Session-Id": session, "Authorization": "Bearer \(token)"])
        return session
    }

    /// A request of the modern era with the headers that it needs.
    static func modern(
        _ port: Int, _ method: String, _ params: JSON, id: JSON = 1, _ more: KeyValuePairs<String, String> = [:]
    ) -> String {
        var headers: [(String, String)] = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)]
        if let name = (params["name"] ?? params["uri"] ?? params["taskId"])?.string {
            headers.append(("Mcp-Name", name))
        }
        for (name, value) in more {
            headers.removeAll { $0.0 == name }
            headers.append((name, value))
        }
        let body: JSON = ["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params]
        var text = request("POST", body.text(), [:])
        let lines = headers.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1)\r\n" }.joined()
        text.replace("Connection: close\r\n", with: "Connection: close\r\n" + lines, maxReplacements: 1)
        return text
    }

    static func askModern(
        _ port: Int, _ method: String, _ params: JSON, id: JSON = 1, _ more: KeyValuePairs<String, String> = [:]
    ) async throws -> String {
        let client = try RawHTTP(port: port)
        defer { client.close() }
        try await client.send(modern(port, method, params, id: id, more))
        return try await client.receive()
    }
}

extension String {
    /// The status code in the first line of an answer.
    var status: Int? { split(separator: " ").dropFirst().first.flatMap { Int($0) } }

    /// The JSON after the head of an answer.
    var json: JSON {
        get throws {
            guard let end = split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first else { return nil }
            return try JSON(parsing: String(end))
        }
    }

    /// The messages of the events of an answer.
    var messages: [JSON] {
        get throws {
            try split(whereSeparator: \.isNewline).filter { $0.hasPrefix("data: {") }.map {
                try JSON(parsing: String($0.dropFirst(6)))
            }
        }
    }

    /// The ids of the events of an answer.
    var eventIDs: [String] {
        split(whereSeparator: \.isNewline).filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }
}
