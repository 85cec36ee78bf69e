import Capabilities
import ChatProviders
import CoreTesting
import FileKit
import HTTPTesting
import HostTesting
import JSON
import OpenAIDialect
import Testing

@testable import Chat

@Suite("Where messages are sent", .timeLimit(.minutes(5)))
struct PlaceTests {
    private static let list = #"{"object":"list","data":[{"id":"tiny","object":"model","owned_by":"x"}]}"#

    /// A desk whose only server is found at a usual port.
    private func withFound(_ body: (inout Desk) async throws -> Void) async throws {
        try await Desk.run { connection in
            guard try connection.receiveRequest().method == "POST" else { return try connection.respond(Self.list) }
            try connection.begin()
            try connection.send(Answers.say("Hello"))
        } _: { desk in
            desk.environment = [:]
            desk.localServers = [
                LocalServer(id: "llama.cpp", name: "llama.cpp", port: desk.server.port, quirks: .llamaCpp)
            ]
            try await body(&desk)
        }
    }

    @Test("A server merely found is not used without approval", arguments: [nil, "tiny"])
    func headless(model: String?) async throws {
        try await withFound { desk in
            var arguments: JSONObject = ["message": "secret"]
            arguments["model"] = model.map { .string($0) }
            let done = try await desk.attempt("chat.send", arguments)
            #expect(done.exit == .usage && done.failure?.code == "chat.not-agreed")
            let words = done.failure?.message ?? ""
            #expect(words.contains("--model llama.cpp") && words.contains("chat.local-servers"), "\(words)")
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("A server named in the command or the settings is used")
    func named() async throws {
        try await withFound { desk in
            let said1 = try await desk.say("Hi", ["model": "llama.cpp"])
            #expect(said1["result"] == "Hello")
            let said2 = try await desk.say("Hi", ["model": "llama.cpp/tiny"])
            #expect(said2["result"] == "Hello")
            desk.settings = "{chat: {'local-servers': ['llama.cpp']}}"
            let said3 = try await desk.say("Hi")
            #expect(said3["result"] == "Hello")
        }
    }

    @Test("A server is used once the user approves it, and the user is asked once")
    func agreed() async throws {
        try await withFound { desk in
            desk.person = ScriptedPerson(["chat.local-server": [false]])
            let no = try await desk.attempt("chat.send", ["message": "Hi"])
            #expect(no.failure?.code == "chat.no-provider" && desk.asked.isEmpty)
            desk.person = ScriptedPerson(["chat.local-server": [true]])
            let said4 = try await desk.say("Hi")
            #expect(said4["result"] == "Hello")
            let settings = try Files.read("\(desk.folder)/config/config.json", limit: 1 << 20)
            #expect(String(decoding: settings, as: UTF8.self).contains("llama.cpp"))
            desk.person = HeadlessInteraction()
            let said5 = try await desk.say("Hi")
            #expect(said5["result"] == "Hello")
        }
    }

    @Test("A changed address is not used without approval, whatever its name")
    func otherServer() async throws {
        try await Desk.run(answers: Answers.say("A")) { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            let id = try #require(try await desk.say("the plan of company A", ["model": "gateway"])["session_id"])
            let shown = try #require(try await desk.run("chat.list").json[0]?["server"]?.string)
            #expect(shown.hasPrefix("http://127.0.0.1:\(desk.server.port)/"), "\(shown)")
            try await ScriptedServer.run { connection in
                try connection.receiveRequest()
                try connection.begin()
                try connection.send(Answers.say("B"))
            } during: { [desk] other in
                var desk = desk
                desk.environment["GATEWAY_BASE_URL"] = "http://127.0.0.1:\(other.port)/v1"
                let alone = try await desk.attempt("chat.send", ["message": "go on", "conversation": id])
                #expect(alone.exit == .unanswered && alone.failure?.message.contains("\(other.port)") == true)
                desk.person = ScriptedPerson(["chat.other-server": [false]])
                let no = try await desk.attempt("chat.send", ["message": "go on", "conversation": id])
                #expect(no.exit == .failed && no.failure?.code == "interaction.declined")
                #expect(other.record.requests.isEmpty)
                desk.person = ScriptedPerson(["chat.other-server": [true]])
                let said6 = try await desk.say("go on", ["conversation": id])
                #expect(said6["result"] == "B")
                desk.person = HeadlessInteraction()
                let said7 = try await desk.say("go on", ["conversation": id])
                #expect(said7["result"] == "B")
            }
        }
    }

    @Test("A conversation whose server is no longer set up is refused")
    func goneServer() async throws {
        try await Desk.run(answers: Answers.say("A"), Answers.say("B")) { desk in
            desk.environment["GATEWAY_BASE_URL"] = desk.environment["OPENAI_BASE_URL"]
            let id = try #require(try await desk.say("one", ["model": "gateway/agent"])["session_id"])
            desk.environment["GATEWAY_BASE_URL"] = nil
            let done = try await desk.attempt("chat.send", ["message": "two", "conversation": id])
            #expect(done.exit == .usage && done.failure?.message.contains("no longer set up") == true)
            let named = try await desk.say("two", ["conversation": id, "model": "openai/small"])
            #expect(named["result"] == "B")
            #expect(try await desk.run("chat.list").json[0]?["provider"] == "openai")
        }
    }
}
