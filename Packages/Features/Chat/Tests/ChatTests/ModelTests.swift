import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("List of models", .timeLimit(.minutes(5)))
struct ModelTests {
    private static let list = #"{"object":"list","data":[{"id":"gpt-5-mini","object":"model","owned_by":"x"}]}"#

    @Test("The list has the models of all providers that answer, and names those that do not")
    func some() async throws {
        try await Desk.run({ try $0.reply(Self.list) }) { desk in
            try await RefusingPort.run { [desk] port in
                var desk = desk
                desk.environment["GATEWAY_BASE_URL"] = "http://127.0.0.1:\(port)"
                let done = try await desk.run("chat.models")
                #expect(done.json.array?.contains { $0["id"] == "gpt-5-mini" && $0["provider"] == "openai" } == true)
                #expect(done.notices.contains("gateway: "))
            }
        }
    }

    @Test("The list fails if no configured provider answers")
    func refused() async throws {
        try await Desk.run({ try $0.reply(#"{"detail":"revoked"}"#, status: 401) }) { desk in
            desk.environment = [
                "KAMIWAZA_BASE_URL": "http://127.0.0.1:\(desk.server.port)/api", "KAMIWAZA_API_KEY": Desk.key,
            ]
            desk.features.append(BuiltInFeature(Neighbour.self))
            let done = try await desk.run("chat.models")
            #expect(done.exit == .denied && done.notices.contains("kamiwaza: "))
            #expect(done.json.array?.map { $0["provider"] } == ["martlet"])
        }
    }

    @Test("The list of one provider has prices and context sizes too")
    func one() async throws {
        try await Desk.run({ try $0.reply(Self.list) }) { desk in
            let all = try await desk.run("chat.models").json.array?.first { $0["id"] == "gpt-5-mini" }
            let models = try await desk.run("chat.models", ["provider": "openai"]).json.array ?? []
            #expect(models.count == 1 && models.first == all)
            #expect(models.first?["context"]?.int != nil || models.first?["context_length"]?.int != nil, "\(models)")
        }
    }

    @Test("An unknown provider is an error that names the known ones")
    func unknown() async throws {
        try await Desk.run({ try $0.reply(Self.list) }) { desk in
            let done = try await desk.attempt("chat.models", ["provider": "opnai"])
            #expect(done.exit == .usage && done.failure?.message.contains("openai") == true)
        }
    }
}
