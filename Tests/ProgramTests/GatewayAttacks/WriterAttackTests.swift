import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Several writers of one session", .timeLimit(.minutes(5)))
struct WriterAttackTests {
    @Test("One writer at a time is accepted, and others are told that the session is busy")  // row G-05
    func together() async throws {
        try await GatewayClient.with { gateway in
            let project = try await gateway.makeProject().id
            let session = try #require(
                try await gateway.json(.post, "/v1/sessions", ["project_id": .string(project)])["id"]?.string)
            let answers = try await withThrowingTaskGroup(of: (status: Int, body: JSON).self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let asked = GatewayClient.saying("repeat: writer \(number)", ["session_id": .string(session)])
                        let answer = try await gateway.send(.post, "/v1/chat/completions", asked)
                        return (answer.status.code, try JSON(parsing: answer.body))
                    }
                }
                var all: [(status: Int, body: JSON)] = []
                for try await answer in group { all.append(answer) }
                return all
            }
            let done = answers.filter { $0.status == 200 }
            let busy = answers.filter { $0.status == 409 }
            #expect(done.count + busy.count == 60 && done.count >= 1)
            #expect(busy.allSatisfy { $0.body["error"]?["code"] == "session_busy" })
            // Each accepted writer has its question followed by its own answer, and nothing else was written.
            let messages = try await gateway.messages(of: session).compactMap { $0["content"]?.string }
            #expect(messages.count == done.count * 2)
            for index in stride(from: 0, to: messages.count, by: 2) {
                #expect(messages[index] == "repeat: \(messages[index + 1])")
            }
            try await gateway.expectSound(session: session)
        }
    }

    @Test("A gateway and a command in another process do not mix their turns either")
    func programs() async throws {
        try await GatewayClient.with { gateway in
            let project = try await gateway.makeProject()
            let mark = "\(project.folder)/go"
            let stream = try await gateway.open(
                GatewayClient.saying(
                    "use bash.run with {\"command\": \"echo begun; while [ ! -e go ]; do sleep 0.05; done\"}",
                    ["project_id": .string(project.id), "stream": true]))
            let session = try #require(stream.headers["X-Session-ID"])
            for try await event in stream.events() where event.text.contains("\"tool_output\"") {
                // The turn is running and cannot end before the mark exists.
                let asked = GatewayClient.saying("repeat: me too", ["session_id": .string(session)])
                let refused = try await gateway.json(.post, "/v1/chat/completions", asked, status: 409)
                #expect(refused["error"]?["code"] == "session_busy")
                try await gateway.json(.delete, "/v1/sessions/\(session)", status: 409)
                try await gateway.json(.delete, "/v1/projects/\(project.id)", status: 409)
                // Another process reads the same data.
                let list = try await gateway.home.martlet("gateway", "session", "list", "--json")
                #expect(try list.output.json().array?.first?["running"] == true, "\(list.errors)")
                try write("", to: mark)
            }
            try await gateway.waitForEnd(of: session)
            let again = GatewayClient.saying("repeat: free", ["session_id": .string(session)])
            #expect(
                try await gateway.json(.post, "/v1/chat/completions", again)["choices"]?[0]?["message"]?["content"]
                    == "free")
            try await gateway.expectSound(session: session)
        }
    }
}
