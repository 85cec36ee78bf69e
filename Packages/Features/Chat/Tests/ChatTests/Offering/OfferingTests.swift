import Capabilities
import CoreTesting
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@testable import Chat

@Suite("Models of several features", .timeLimit(.minutes(5)))
struct OfferingTests {
    /// A desk with a neighbour.
    private func withNeighbour(
        _ answers: [String], isolation: isolated (any Actor)? = #isolation, _ body: (inout Desk) async throws -> Void
    ) async throws {
        let next = Counter()
        try await Desk.run { connection in
            guard try connection.receiveRequest().method == "POST" else {
                return try connection.respond(#"{"object":"list","data":[{"id":"listed-1"}]}"#)
            }
            try connection.begin()
            try connection.send(answers[next.next()])
        } _: { desk in
            desk.features.append(BuiltInFeature(Neighbour.self))
            try await body(&desk)
        }
    }

    @Test("Vendors, configured servers, environment servers and local servers are offered to other features")
    func offered() async throws {
        try await withNeighbour([]) { desk in
            desk.settings = "{profiles: {lab: {server: 'http://127.0.0.1:1', kind: 'gateway'}}}"
            desk.environment["KAMIWAZA_BASE_URL"] = "http://127.0.0.1:1"
            let ids = try await desk.run("next.ids").json.array?.compactMap(\.string) ?? []
            #expect(
                Set(ids) == [
                    "anthropic false", "openai false", "openrouter false", "lab true", "kamiwaza false",
                    "martlet false", "ollama false", "lmstudio false", "llama.cpp false", "vllm false",
                ])
        }
    }

    @Test("A gateway is an agent server for other features, no other provider is one, and nothing is sent to find out")
    func gateways() async throws {
        try await withNeighbour([]) { desk in
            desk.settings = "{profiles: {lab: {server: 'http://127.0.0.1:1', kind: 'gateway'}}}"
            let found = try await desk.run("next.gateways").json
            #expect(found == ["lab lab"])
            #expect(desk.server.record.requests.isEmpty)
            desk.settings = "{profiles: {lab: {server: 'http://x y', kind: 'gateway'}}}"
            let broken = try await desk.attempt("next.gateways").failure
            #expect(broken != nil, "It tells why it is none.")
        }
    }

    @Test("Other features use the models with the keys that Chat has")
    func used() async throws {
        try await withNeighbour([Answers.say("Good day")]) { desk in
            #expect(try await desk.run("next.models", ["provider": "openai"]).json == ["listed-1"])
            let done = try await desk.run("next.ask", ["provider": "openai", "model": "house-model"])
            #expect(done.json == "Good day")
            #expect(desk.asked.first?.last == "user: Hi from next door")
            #expect(desk.asked.first?.headers["Authorization"] == "Bearer \(Desk.key)")
        }
    }

    @Test("Models of other features are used if they are named")
    func named() async throws {
        try await withNeighbour([]) { desk in
            for name in ["martlet", "martlet/small"] {
                let done = try await desk.say("Hello", ["model": .string(name)])
                #expect(done["result"] == "echo of Hello by small" && done["provider"] == "martlet")
                // A user who names a model knows which one answers.
                #expect(!done.notices.contains("no other model"))
            }
            let all = try await desk.run("chat.models").json.array ?? []
            #expect(all.contains { $0["provider"] == "martlet" && $0["id"] == "small" })
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("Models of other features are used if there is nothing else, with a notice")
    func lastResort() async throws {
        try await withNeighbour([Answers.say("Real")]) { desk in
            let real = try await desk.say("Hello")
            #expect(real["provider"] == "openai")
            desk.environment = [:]
            let done = try await desk.say("Hello")
            #expect(done["result"] == "echo of Hello by small")
            let lines = done.output.notices
            #expect(lines.count == 1, "\(lines)")
            #expect(lines.first?.contains("small (The neighbour) answers") == true)
            #expect(lines.first?.contains("OPENAI_API_KEY") == true)
        }
    }

    @Test("Other features can read the conversations")
    func store() async throws {
        try await withNeighbour([Answers.say("The fox is red")]) { desk in
            try await desk.say("What is the fox?")
            let read = try await desk.run("next.read", ["words": "red"]).json
            #expect(read["said"] == ["user complete: What is the fox?", "assistant complete: The fox is red"])
            #expect(read["list"]?[0]?["title"] == "What is the fox?" && read["list"]?[0]?["messages"] == 2)
            #expect(read["hits"]?[0]?["text"]?.string?.contains("red") == true)
            #expect(read["hits"]?[0]?["conversation"] == read["list"]?[0]?["id"])
        }
    }

    @Test("A model that uses its own tools gets no others")  // row K-14
    func ownTools() async throws {
        try await withNeighbour([Answers.say("Done"), Answers.say("Done")]) { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            let agent = try await desk.say("Do it", ["tools": true, "model": "gateway/agent"])
            #expect(desk.asked[0].tools.isEmpty)
            #expect(agent.notices.contains("gateway uses its own tools"))
            #expect(agent.output.events.first?.fields["tools"] == [])
            try await desk.say("Do it", ["tools": true])
            #expect(desk.asked[1].tools.contains("saw"))
        }
    }
}
