import HTTPTesting
import JSON

extension RecordedRequest {
    /// Null without a readable body.
    var json: JSON { (try? JSON(parsing: body)) ?? .null }

    /// The messages for the model, as `role: text`.
    var said: [String] {
        (json["messages"]?.array ?? []).map { message in
            let text =
                message["content"]?.string
                ?? (message["content"]?.array ?? []).compactMap { $0["text"]?.string }.joined()
            // OpenAI's name for the system role.
            let role = message["role"]?.string ?? ""
            return "\(role == "developer" ? "system" : role): \(text)"
        }
    }

    /// The last message for the model.
    var last: String { said.last ?? "" }

    var tools: [String] { (json["tools"]?.array ?? []).compactMap { $0["function"]?["name"]?.string } }
}

extension ScriptedConnection {
    /// Receives a question, and answers with a stream of these events.
    func stream(_ events: String) throws {
        try receiveRequest()
        try begin()
        try send(events)
    }

    func begin(headers: String = "") throws {
        try send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\(headers)Connection: close\r\n\r\n")
    }

    /// Receives a request, and answers with this body.
    func reply(_ body: String, status: Int = 200, headers: String = "") throws {
        try receiveRequest()
        try respond(body, status: status, headers: headers)
    }

    func respond(_ body: String, status: Int = 200, headers: String = "") throws {
        try send(
            "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n\(headers)Content-Length: \(body.utf8.count)\r\n"
                + "Connection: close\r\n\r\n\(body)")
    }
}
