import Capabilities
import Cryptography

/// The request and the response that turn an HTTP/1.1 connection into a WebSocket.
public enum WebSocketHandshake {
    /// A key for one request: 16 random bytes in base64.
    public static func makeKey(using generator: inout some RandomNumberGenerator) -> String {
        Base64.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The value with which a server must answer a key.
    public static func accept(for key: String) -> String {
        Base64.encode(Digest.sha1(Array(key.utf8) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
    }
}

// MARK: A client's part

extension WebSocketHandshake {
    /// The headers with which a client requests a WebSocket. No extension is offered.
    public static func request(key: String, subprotocols: [String] = [], origin: String? = nil) -> HTTPHeaders {
        var headers: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13",
        ]
        if !subprotocols.isEmpty { headers["Sec-WebSocket-Protocol"] = subprotocols.joined(separator: ", ") }
        if let origin { headers["Origin"] = origin }
        return headers
    }

    /// Checks the headers of a 101 and returns the server's subprotocol.
    public static func subprotocol(
        in answer: HTTPHeaders, key: String, offered: [String]
    ) throws(HTTPError) -> String? {
        guard answer.has("Upgrade", "websocket"), answer.has("Connection", "upgrade") else {
            throw bad("it did not switch to WebSocket")
        }
        // Exactly one: an intermediary could have added a second.
        guard answer.all("Sec-WebSocket-Accept").map(\.trimmingSpaces) == [accept(for: key)[...]] else {
            throw bad("its key does not match; a cache or a server without WebSocket may have answered")
        }
        guard answer.list("Sec-WebSocket-Extensions").isEmpty else {
            throw bad("it uses an extension that was not offered")
        }
        let chosen = answer.list("Sec-WebSocket-Protocol")
        guard chosen.count <= 1, chosen.allSatisfy({ offered.contains(String($0)) }) else {
            throw bad("it chose the subprotocol \"\(chosen.joined(separator: ", "))\", which was not offered")
        }
        return chosen.first.map(String.init)
    }

    private static func bad(_ reason: String) -> HTTPError {
        HTTPError(.badAnswer, "the server did not open a WebSocket: \(reason)", status: HTTPStatus(101))
    }
}

// MARK: A server's part

extension WebSocketHandshake {
    /// Why a request does not open a WebSocket, and how to respond.
    public struct Refusal: Error, Sendable {
        /// The status of the response.
        public let status: HTTPStatus
        /// Headers that the response needs, such as `Upgrade` for 426.
        public let headers: HTTPHeaders
        /// What is wrong and what to do, for the body of the response.
        public let message: String
    }

    /// The headers of the 101 response to an HTTP/1.1 request. It selects the client's first subprotocol that is in
    /// `supported`.
    public static func answer(
        to method: HTTPMethod, _ headers: HTTPHeaders, supported: [String] = []
    ) throws(Refusal) -> HTTPHeaders {
        guard method == .get, headers.has("Upgrade", "websocket"), headers.has("Connection", "upgrade") else {
            throw Refusal(
                status: HTTPStatus(426), headers: ["Upgrade": "websocket", "Connection": "Upgrade"],
                message: "this address is only for WebSockets: use GET with Upgrade: websocket")
        }
        guard headers.all("Sec-WebSocket-Version").map(\.trimmingSpaces) == ["13"] else {
            throw Refusal(
                status: HTTPStatus(426), headers: ["Sec-WebSocket-Version": "13"],
                message: "only version 13 of WebSocket is supported")
        }
        let keys = headers.all("Sec-WebSocket-Key").map(\.trimmingSpaces)
        guard keys.count == 1, isKey(keys[0]) else {
            throw Refusal(
                status: .badRequest, headers: [:], message: "Sec-WebSocket-Key must be 16 bytes in Base64")
        }
        var answer: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept(for: String(keys[0])),
        ]
        if let chosen = headers.list("Sec-WebSocket-Protocol").first(where: { supported.contains(String($0)) }) {
            answer["Sec-WebSocket-Protocol"] = String(chosen)
        }
        return answer
    }

    private static func isKey(_ text: Substring) -> Bool {
        guard text.utf8.count == 24, text.hasSuffix("==") else { return false }
        return text.utf8.dropLast(2).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}
