import FileKit
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("Clients that disconnect during an answer", .timeLimit(.minutes(5)))
struct VanishAttackTests {
    /// Sends a request on its own connection, and waits until its stream shows that the turn is running.
    private func begin(
        _ gateway: GatewayClient, _ words: String, _ more: JSONObject = [:], mark: String
    ) async throws -> (connection: RawConnection, session: String?) {
        var more = more
        more["stream"] = true
        let body = GatewayClient.saying(words, more).text()
        let connection = try gateway.connect()
        try await connection.send(
            GatewayClient.raw("POST", "/v1/chat/completions", ["Content-Type: application/json"], body: body))
        let seen = try await connection.receive(until: mark)
        #expect(seen.contains(mark), "\(seen)")
        let line = seen.split(separator: "\r\n").first { $0.lowercased().hasPrefix("x-session-id: ") }
        return (connection, line.map { String($0.dropFirst(14)) })
    }

    @Test(
        "Disconnected clients leave no turn, process or descriptor", .onlyRootSeesDescriptors, arguments: [true, false])
    func stopped(byReset: Bool) async throws {
        try await GatewayClient.with { gateway in
            let project = try await gateway.makeProject()
            let place: JSONObject = ["project_id": .string(project.id)]
            // A duration that no other process on this machine sleeps for.
            let sleep = "90\(gateway.process).25"
            let command = "echo begun; sleep \(sleep) & (trap '' TERM; sleep \(sleep)); sleep \(sleep)"
            let long = "repeat: " + String(repeating: "word ", count: 200_000)
            try await gateway.waitForQuiet()
            let before = try Processes.descriptors(of: gateway.process)
            var sessions: [String] = []
            for round in 0..<30 {
                let (connection, session) =
                    switch round % 3 {
                    case 0: try await begin(gateway, long, mark: "word")
                    case 1: try await begin(gateway, long, place, mark: "word")
                    default:
                        try await begin(
                            gateway, "use bash.run with {\"command\": \(JSON.string(command).text())}", place,
                            mark: "tool_output")
                    }
                if let session { sessions.append(session) }
                if byReset { connection.reset() } else { connection.close() }
            }
            #expect(sessions.count == 20)
            try await gateway.waitForQuiet()
            // A command has 200 ms to end, and is killed otherwise.
            while try !Processes.with(sleep).isEmpty {}
            while try !Processes.children(of: gateway.process).isEmpty {}
            // Readers of the databases, that of the audit log among them, and the client that discovers servers open on
            // first use; a leak in each of the thirty rounds would be more.
            while try Processes.descriptors(of: gateway.process) > before + 20 {
                try await gateway.json(.get, "/health")
            }
            for session in sessions {
                try await gateway.expectSound(session: session)
                let audit = try await gateway.json(.get, "/v1/sessions/\(session)/audit")["data"]?.array ?? []
                #expect(audit.contains { $0["action"] == "turn.stopped" && $0["detail"]?["reason"] == "vanished" })
                let again = GatewayClient.saying("repeat: free", ["session_id": .string(session)])
                let reply = try await gateway.json(.post, "/v1/chat/completions", again)
                #expect(reply["choices"]?[0]?["message"]?["content"] == "free")
            }
        }
    }

    @Test("If the settings say so, a turn continues without its client and can be stopped and read later")
    func kept() async throws {
        try await GatewayClient.with("{gateway: {'keeps-running': true}}") { gateway in
            let project = try await gateway.makeProject()
            let place: JSONObject = ["project_id": .string(project.id)]
            func command(_ mark: String) -> String {
                "use bash.run with {\"command\": \"echo begun; while [ ! -e \(mark) ]; do sleep 0.05; done; echo end\"}"
            }
            let (first, one) = try await begin(gateway, command("go"), place, mark: "tool_output")
            let (second, two) = try await begin(gateway, command("never"), place, mark: "tool_output")
            let (going, stopping) = (try #require(one), try #require(two))
            first.reset()
            second.reset()
            for session in [going, stopping] {
                let status = try await gateway.json(.get, "/v1/chat/completions/\(session)/status")
                #expect(status["is_running"] == true)
            }
            try write("", to: "\(project.folder)/go")
            try await gateway.waitForEnd(of: going)
            let last = try #require(try await gateway.messages(of: going).last)
            #expect(last["role"] == "assistant" && last["is_whole"] == true)
            #expect(last["content"]?.string?.contains("end") == true, "\(last.text())")
            let stopped = try await gateway.json(.delete, "/v1/chat/completions/\(stopping)")
            #expect(stopped["status"] == "stopped")
            for session in [going, stopping] { try await gateway.expectSound(session: session) }
            try await gateway.waitForQuiet()
            while try !Processes.children(of: gateway.process).isEmpty {}
        }
    }

    @Test("An open approval request is withdrawn when its client disconnects")
    func asked() async throws {
        try await GatewayClient.with { gateway in
            let project = try await gateway.makeProject(rules: [])
            let words = "use bash.run with {\"command\": \"touch done\"}"
            let (connection, id) = try await begin(
                gateway, words, ["project_id": .string(project.id)], mark: "approval_request")
            let session = try #require(id)
            let open = try await gateway.json(.get, "/v1/sessions/\(session)/approvals")["data"]?.array ?? []
            let approval = try #require(open.first?["id"]?.string)
            connection.reset()
            try await gateway.waitForEnd(of: session)
            // An answer is too late now.
            try await gateway.json(
                .post, "/v1/sessions/\(session)/approvals/\(approval)", ["allow": true], status: 404)
            #expect(try await gateway.json(.get, "/v1/sessions/\(session)/approvals")["data"] == [])
            #expect(!Files.exists("\(project.folder)/done"))
            try await gateway.expectSound(session: session)
        }
    }
}
