import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import ProcessKit
import Synchronization
import Testing

@Suite("Changed settings of a running gateway", .timeLimit(.minutes(5)))
struct GatewaySettingsTests {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    private func change(_ home: GatewayHome, to settings: String) throws {
        try write(settings, to: "\(home.path)/martlet/config/config.json")
    }

    /// The status of a request to the default model. The gateway reads the settings at most once a second.
    private func ask(_ home: GatewayHome, _ gateway: RunningGateway) async throws -> HTTPStatus {
        try await home.post(
            "\(gateway.address)/v1/chat/completions",
            ["model": "", "messages": [["role": "user", "content": "Hello"]]]
        ).status
    }

    private func wait(for status: HTTPStatus, _ home: GatewayHome, _ gateway: RunningGateway) async throws {
        while try await ask(home, gateway) != status {}
    }

    /// The next line of its standard error that contains these words.
    private func line(of gateway: RunningGateway, with words: String) async throws -> String {
        while let bytes = try await gateway.child.errors.nextLine() {
            let line = String(decoding: bytes, as: UTF8.self)
            if line.contains(words) { return line }
        }
        throw Conversation.Failure(message: "it never said: \(words)")
    }

    @Test("Changed settings apply to the next request, with a notice about those that need a restart")
    func taken() async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                #expect(try await ask(home, gateway) == .ok)
                try change(home, to: "{gateway: {model: 'nobody/none', hosts: ['elsewhere.example']}}")
                try await wait(for: .notFound, home, gateway)
                let told = try await line(of: gateway, with: "the settings have changed")
                #expect(told.contains("apply to new requests; restart the gateway to apply gateway.hosts"))
                // More often than generations may exist at a time.
                for _ in 0..<3 {
                    try change(home, to: "{gateway: {hosts: ['elsewhere.example']}}")
                    try await wait(for: .ok, home, gateway)
                    try change(home, to: "{gateway: {model: 'nobody/none'}}")
                    try await wait(for: .notFound, home, gateway)
                }
            }
        }
    }

    @Test("A running gateway finds a new server and authenticates its requests to it")
    func server() async throws {
        let script: ScriptedServer.Script = { connection in
            let request = try connection.receiveRequest()
            let isKnown = request.headers["Authorization"] == "Bearer sk-lab-0123456789"
            let body =
                isKnown ? #"{"object":"list","data":[{"id":"small-1","object":"model"}]}"# : #"{"error":"who?"}"#
            try connection.answer(
                isKnown ? 200 : 401, ["Content-Type": "application/json", "Connection": "close"], body)
        }
        try await ScriptedServer.run(script) { server in
            try await GatewayHome.with { home in
                try await home.serve { gateway in
                    #expect(try await !home.get("\(gateway.address)/v1/models").text.contains("lab/small-1"))
                    let address = "http://127.0.0.1:\(server.port)/v1"
                    let added = try await home.martlet("auth", "server", "add", "lab", address, "--kind", "openai")
                    #expect(added.code == 0, "\(added.errors)")
                    let known = try await Program.martlet.run(
                        ["auth", "login", "lab", "--token-stdin"], home: home.path, adding: home.variables,
                        input: "sk-lab-0123456789")
                    #expect(known.code == 0, "\(known.errors)")
                    while try await !home.get("\(gateway.address)/v1/models").text.contains("lab/small-1") {}
                }
            }
        }
    }

    @Test("Invalid settings leave the previous ones in use, and the error is reported")
    func broken() async throws {
        try await GatewayHome.with("{gateway: {model: 'nobody/none'}}") { home in
            try await home.serve { gateway in
                #expect(try await ask(home, gateway) == .notFound)
                try change(home, to: "{gateway: {modle: 'martlet/martlet-offline'}}")
                // Each request makes it read the settings, at most once a second.
                let said = Flag()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        let words = try await line(of: gateway, with: "are not valid")
                        #expect(
                            words.contains("the previous ones stay in use") && words.contains("gateway.model"),
                            "\(words)")
                        said.isSet.store(true, ordering: .relaxed)
                    }
                    while !said.isSet.load(ordering: .relaxed) { #expect(try await ask(home, gateway) == .notFound) }
                    try await group.waitForAll()
                }
                try change(home, to: "{}")
                try await wait(for: .ok, home, gateway)
            }
        }
    }
}
