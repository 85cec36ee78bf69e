import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON

/// Parts of streams in OpenAI's format.
enum Stream {
    static let first = chunk(#"{"role":"assistant","content":""}"#)
    static let done = "data: [DONE]\n\n"
    static let end = chunk("{}", finish: "\"stop\"") + usage + done
    static let usage =
        #"data: {"id":"c1","model":"small-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"# + "\n\n"

    static func text(_ text: String) -> String {
        chunk("{\"content\":\(JSON.string(text).text())}")
    }

    static func chunk(_ delta: String, finish: String = "null") -> String {
        "data: {\"id\":\"c1\",\"model\":\"small-1\",\"choices\":[{\"index\":0,\"delta\":\(delta),"
            + "\"finish_reason\":\(finish)}]}\n\n"
    }

    static let hello = first + text("Hel") + text("lo") + end

    static let whole = #"""
        {"id":"c2","object":"chat.completion","model":"small-1","choices":[{"index":0,"message":{"role":"assistant",
        "content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}
        """#

    static func error(_ message: String, code: String = "null", type: String = "error") -> String {
        #"{"error":{"message":\#(JSON.string(message).text()),"type":"\#(type)","code":\#(code)}}"#
    }
}

extension ScriptedConnection {
    /// Receives a request and answers with these events.
    func stream(_ events: String, headers: String = "") throws {
        try receiveRequest()
        try begin(headers: headers)
        try send(events)
    }

    func begin(headers: String = "") throws {
        try send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\(headers)Connection: close\r\n\r\n")
    }

    func reply(_ body: String, type: String = "application/json") throws {
        try reply(200, body, type: type)
    }

    /// Receives a request and answers with this body.
    func reply(_ status: Int, _ body: String, type: String = "application/json", headers: String = "") throws {
        try receiveRequest()
        try send(
            "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n"
                + "Connection: close\r\n\r\n\(body)")
    }
}

extension RecordedRequest {
    var json: JSON { (try? JSON(parsing: body)) ?? .null }
}
