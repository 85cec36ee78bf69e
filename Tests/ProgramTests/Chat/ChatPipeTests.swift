import HTTPTesting
import JSON
import Testing

@Suite("Questions from the shell", .timeLimit(.minutes(5)))
struct ChatPipeTests {
    @Test("Only the answer is printed, as it came")
    func raw() async throws {
        try await ChatHome.with(answer: "# Title\n\n**bold** <b> \u{1F426}") { home in
            let run = try await home.martlet("ask", "What", "is", "this?")
            #expect(run.code == 0, "\(run.errors)")
            #expect(run.output == "# Title\n\n**bold** <b> \u{1F426}\n")
            #expect(run.errors == "")
            #expect(home.server.record.requests.first?.body.contains("What is this?") == true)
        }
    }

    @Test("Piped input is sent with the question")
    func piped() async throws {
        try await ChatHome.with(answer: "Fine.") { home in
            let run = try await home.shell(
                "printf 'diff --git\\n+ let b = 1\\n' | martlet ask 'Review this' | tr a-z A-Z")
            #expect(run.output == "FINE.\n" && run.code == 0)
            #expect(try await home.stored() == ["user: Review this\n\ndiff --git\n+ let b = 1\n", "assistant: Fine."])
        }
    }

    @Test("Each event is a line for programs, with the result last")
    func ndjson() async throws {
        try await ChatHome.with({ try $0.answer(streaming: ["Hel", "lo"]) }) { home in
            let run = try await home.martlet("ask", "--format", "ndjson", "Hi")
            let lines = try run.output.lines.map { try $0.json() }
            #expect(lines.first?["type"] == "init" && lines.last?["type"] == "result")
            #expect(lines.dropFirst().dropLast().allSatisfy { $0["type"] == "message" })
            #expect(lines.compactMap { $0["delta"]?.string }.joined() == "Hello")
            #expect(lines.last?["is_error"] == false && lines.last?["result"] == "Hello")
            #expect(lines.last?["session_id"] == lines.first?["session_id"])
        }
    }

    @Test("A failed question ends its lines with an error result")
    func failedLines() async throws {
        try await ChatHome.with({ try $0.begin(["Hel"]) }) { home in
            let run = try await home.martlet("ask", "--format", "ndjson", "Hi")
            #expect(run.code != 0)
            let lines = try run.output.lines.map { try $0.json() }
            #expect(lines.last?["type"] == "result" && lines.last?["is_error"] == true)
            #expect(lines.last?["error"]?["code"]?.string?.isEmpty == false)
            let stored = try await home.stored()
            #expect(stored.count == 2 && stored[1].hasPrefix("assistant: Hel (failed: "))
        }
    }

    @Test("The command ends when its reader is gone")
    func closed() async throws {
        try await ChatHome.with { connection in
            try connection.begin([])
            try connection.sendEndlessly(Array(ScriptedConnection.piece("more and more ").utf8))
        } _: { home in
            let run = try await home.shell("martlet ask Hi | head -c 9")
            #expect(run.output == "more and ")
            try await home.server.until { $0.openNow == 0 }
            let stored = try await home.stored()
            #expect(stored.count == 2 && stored[1].hasPrefix("assistant: more and more "))
        }
    }

    @Test("No key is shown or stored, even if the server repeats it")
    func key() async throws {
        let key = "sk-test-0123456789abcdefghij"
        try await ChatHome.with { connection in
            try connection.receiveRequest()
            let body = #"{"error":{"message":"Incorrect API key provided: \#(key)","type":"x","code":null}}"#
            try connection.send(
                "HTTP/1.1 401 X\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)")
        } _: { home in
            for format in ["text", "ndjson", "json"] {
                let run = try await home.martlet("ask", "--format", format, "--verbose", "Hi")
                #expect(run.code == 3, "\(run.errors)")
                #expect(!run.output.contains(key) && !run.errors.contains(key), "\(run.output)\(run.errors)")
            }
            let kept = try AuthHome.files(below: home.path).filter {
                String(decoding: $0.bytes, as: UTF8.self).contains(key)
            }
            #expect(kept.map(\.path) == [])
        }
    }

    @Test("Without any provider, three lines say what can be done")
    func nobody() async throws {
        try await withHome { path in
            let run = try await Program.martlet.run(
                ["--only", "auth,chat", "ask", "Hi"], home: path, adding: ["MARTLET_HOME": "\(path)/martlet"])
            #expect(run.code != 0 && run.output == "")
            #expect(run.errors.lines.count == 3, "\(run.errors)")
            #expect(run.errors.contains("OPENAI_API_KEY") && run.errors.contains("Ollama"))
        }
    }
}

extension ChatPipeTests {
    @Test("Without any other provider, the gateway's own model answers, with a notice")
    func embedded() async throws {
        try await withHome { path in
            let run = try await Program.martlet.run(
                ["ask", "Hi"], home: path, adding: ["MARTLET_HOME": "\(path)/martlet"])
            #expect(run.code == 0 && run.output != "")
            #expect(run.errors.lines.count == 2 && run.errors.contains("no other model is available"), "\(run.errors)")
            #expect(run.errors.contains("is now a project of the gateway"), "\(run.errors)")
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool { String(decoding: self, as: UTF8.self).contains(text) }
}
