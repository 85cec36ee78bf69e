import FileKit
import Glibc
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("Stopping a gateway", .timeLimit(.minutes(5)))
struct GatewayDrainTests {
    private func question(
        _ gateway: RunningGateway, _ words: String, session: String? = nil
    ) throws -> HTTPRequest {
        var request = HTTPRequest(
            .post, try HTTPURL("\(gateway.address)/v1/chat/completions"),
            headers: ["Authorization": "Bearer \(GatewayHome.token)", "Content-Type": "application/json"])
        var body: JSONObject = [
            "model": "martlet/martlet-offline", "stream": true,
            "messages": [["role": "user", "content": .string(words)]],
        ]
        if let session { body["session_id"] = .string(session) }
        request.body = .bytes(Array(JSON.object(body).text().utf8))
        request.retry = .none
        return request
    }

    /// A text that takes the offline model a while to send.
    private static let long = "repeat: " + String(repeating: "word ", count: 40_000)

    @Test("A stopping gateway finishes running requests and accepts no new ones")
    func finishes() async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                let client = HTTPClient(.standalone)
                let exchange = try await client.open(try question(gateway, Self.long)).requireSuccess()
                var events = exchange.events().makeAsyncIterator()
                _ = try #require(try await events.next())
                gateway.child.send(.terminate)
                var last = ""
                while let event = try await events.next() { last = event.text }
                #expect(last == "[DONE]")
                #expect(try await gateway.child.exitStatus() == .exited(143))
                await #expect(throws: HTTPError.self) { try await home.get("\(gateway.address)/health", [:]) }
                await client.close()
            }
        }
    }

    @Test("A stopping gateway does not wait for a client that has stopped reading")
    func impatient() async throws {
        try await GatewayHome.with("{gateway: {'drain-limit': '300ms'}}") { home in
            try await home.serve { gateway in
                let client = HTTPClient(.standalone)
                // More than all buffers in between can hold.
                let words = "repeat: " + String(repeating: "word ", count: 1_600_000)
                let exchange = try await client.open(try question(gateway, words)).requireSuccess()
                gateway.child.send(.terminate)
                #expect(try await gateway.child.exitStatus() == .exited(143))
                // It shut down in order and was not cut off.
                #expect(!Files.exists("\(home.path)/martlet/runtime/gateway.json"))
                await #expect(throws: HTTPError.self) { for try await _ in exchange.events() {} }
                await client.close()
            }
        }
    }

    @Test("A session is usable after its gateway was killed in the middle of a turn")
    func killed() async throws {
        try await GatewayHome.with { home in
            let client = HTTPClient(.standalone)
            var session = ""
            try await home.serve { gateway in
                let exchange = try await client.open(try question(gateway, "repeat: before")).requireSuccess()
                for try await _ in exchange.events() {}
                let made = try await home.post("\(gateway.address)/v1/sessions", [:])
                session = try #require(try JSON(parsing: made.body)["id"]?.string)
                let running = try await client.open(try question(gateway, Self.long, session: session)).requireSuccess()
                var events = running.events().makeAsyncIterator()
                _ = try #require(try await events.next())
                gateway.child.send(.kill)
                let end = try await gateway.child.exitStatus()
                #expect(end == .signalled(SIGKILL))
            }
            try await home.serve { gateway in
                let status = try await home.get("\(gateway.address)/v1/chat/completions/\(session)/status")
                #expect(try JSON(parsing: status.body)["is_running"] == false)
                let exchange = try await client.open(
                    try question(gateway, "repeat: after all", session: session)
                ).requireSuccess()
                var text = ""
                for try await event in exchange.events() {
                    guard event.text != "[DONE]" else { continue }
                    let delta = try JSON(parsing: event.text)["choices"]?.array?.first?["delta"]
                    text += delta?["content"]?.string ?? ""
                }
                #expect(text == "after all")
                let sound = try await home.martlet("data", "check", "gateway.database", "--json")
                #expect(sound.code == 0, "\(sound.output)")
            }
            await client.close()
        }
    }
}
