import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import TestTraits
import Testing

@Suite("A gateway killed in the middle of turns", .serialized, .alone, .timeLimit(.minutes(5)))
struct KillAttackTests {
    /// Turns that are running when the program is killed.
    private static func words(_ round: Int) -> String {
        switch round % 4 {
        case 0: "repeat: " + String(repeating: "word\(round) ", count: 40_000)
        case 1: "use bash.run with {\"command\": \"echo begun; sleep 3\"}"
        case 2: "find the TODOs and mark the first as done, then list the files"
        default: "search for \"TODO\" and then run `sleep 3`"
        }
    }

    @Test("The history is consistent after each kill, and the session continues at once")
    func killed() async throws {
        let rounds = Rounds.of(20)
        try await GatewayHome.with { home in
            let folder = "\(home.path)/project"
            let todos = (0..<60).map { "# TODO: number \($0)" }.joined(separator: "\n")
            try write(todos + "\n", to: "\(folder)/todo.py")
            let settings = "{gateway: {folders: ['\(folder)']}}"
            try write(settings, to: "\(home.path)/martlet/config/config.json")
            var session = ""
            var told = 0
            for round in 0..<rounds {
                try await home.attack { gateway in
                    if round == 0 {
                        let project = try await gateway.makeProject(folder).id
                        session = try #require(
                            try await gateway.json(.post, "/v1/sessions", ["project_id": .string(project)])["id"]?
                                .string)
                    }
                    // Everything reported before is stored exactly once, and the session is free.
                    try await gateway.expectSound(session: session)
                    let asked = GatewayClient.saying("repeat: alive \(round)", ["session_id": .string(session)])
                    let reply = try await gateway.json(.post, "/v1/chat/completions", asked)
                    #expect(reply["choices"]?[0]?["message"]?["content"] == .string("alive \(round)"))
                    told += 2
                    #expect(try await gateway.messages(of: session).count >= told)
                    let stream = try await gateway.open(
                        GatewayClient.saying(Self.words(round), ["session_id": .string(session), "stream": true]))
                    var seen = 0
                    do {
                        for try await event in stream.events() {
                            seen += 1
                            // Each time at a different point.
                            if seen == 2 + round % 5 || event.text.contains("tool_output") {
                                gateway.gateway.child.send(.kill)
                            }
                        }
                    } catch is HTTPError {}
                    gateway.gateway.child.send(.kill)
                    #expect(try await gateway.gateway.child.exitStatus() == .signalled(9))
                    told += 1
                }
            }
            try await home.attack { gateway in
                try await gateway.expectSound(session: session)
                let messages = try await gateway.messages(of: session)
                let said = messages.filter { $0["role"] == "user" }.compactMap { $0["content"]?.string }
                #expect(said.count == 2 * rounds, "\(said.map { $0.prefix(40) })")
                #expect(said.indices.allSatisfy { $0 % 2 == 1 || said[$0] == "repeat: alive \($0 / 2)" })
                #expect(try await gateway.json(.get, "/v1/sessions/stats")["active_claude_sessions"] == 0)
                // The edited file is complete.
                let text = String(decoding: try Files.read("\(folder)/todo.py", limit: 1 << 20), as: UTF8.self)
                #expect(text.split(separator: "\n").count == 60)
            }
        }
    }
}
