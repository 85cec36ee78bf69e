import HTTPTesting
import JSON
import Testing

/// A user's home whose provider is a scripted server.
struct ChatHome: Sendable {
    let path: String
    let server: ScriptedServer
    /// The environment of every command.
    var variables: [String: String]

    static func with(
        _ script: @escaping ScriptedServer.Script, isolation: isolated (any Actor)? = #isolation,
        _ body: (ChatHome) async throws -> Void
    ) async throws {
        try await ScriptedServer.run(script) { server in
            try await withHome { path in
                let variables = [
                    "MARTLET_HOME": "\(path)/martlet", "OPENAI_BASE_URL": "http://127.0.0.1:\(server.port)/v1",
                    "OPENAI_API_KEY": "sk-test-0123456789abcdefghij",
                ]
                // Nothing of a test stays in the kernel's keyring.
                try write("{auth: {'keep-unlocked': '0s'}}", to: "\(path)/martlet/config/config.json")
                try await body(ChatHome(path: path, server: server, variables: variables))
            }
        }
    }

    /// The same with one answer to every question.
    static func with(
        answer: String, isolation: isolated (any Actor)? = #isolation, _ body: (ChatHome) async throws -> Void
    ) async throws {
        try await with({ try $0.answer(streaming: [answer]) }, body)
    }

    func martlet(_ words: String..., input: String = "") async throws -> Program.Run {
        try await Program.martlet.run(words, home: path, adding: variables, input: input)
    }

    /// Runs a line of shell in which `martlet` is the program.
    func shell(_ script: String) async throws -> Program.Run {
        let folder = Program.martlet.path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        return try await Program.martlet.shell("PATH=\(folder):$PATH; \(script)", home: path, adding: variables)
    }

    /// The stored messages of the newest conversation, as `role: text`, with the state if it is not complete.
    func stored() async throws -> [String] {
        let list = try await martlet("chat", "list", "--json").output.json()
        guard let id = list.array?.first?["id"]?.string else { return [] }
        let shown = try await martlet("chat", "show", id, "--json")
        #expect(shown.code == 0, "\(shown.errors)")
        return (try shown.output.json()["messages"]?.array ?? []).map { message in
            let state = message["state"]?.string ?? ""
            return "\(message["role"]?.string ?? ""): \(message["text"]?.string ?? "")"
                + (state == "complete" ? "" : " (\(state))")
        }
    }
}

extension ScriptedConnection {
    /// Receives a question and answers with these pieces of text.
    func answer(streaming pieces: [String]) throws {
        try begin(pieces)
        try send(Self.chunk("{}", finish: "\"stop\"") + "data: [DONE]\n\n")
    }

    /// The same without an end.
    func begin(_ pieces: [String]) throws {
        try receiveRequest()
        try send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        try send(Self.chunk(#"{"role":"assistant","content":""}"#))
        for piece in pieces { try send(Self.piece(piece)) }
    }

    static func piece(_ text: String) -> String { chunk("{\"content\":\(JSON.string(text).text())}") }

    private static func chunk(_ delta: String, finish: String = "null") -> String {
        "data: {\"id\":\"c1\",\"model\":\"small-1\",\"choices\":[{\"index\":0,\"delta\":\(delta),"
            + "\"finish_reason\":\(finish)}]}\n\n"
    }
}
