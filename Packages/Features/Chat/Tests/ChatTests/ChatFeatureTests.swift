import Capabilities
import CoreTesting
import HTTPTesting
import HostKit
import HostTesting
import JSON
import Settings
import Testing

@testable import Chat

@Suite("Chat feature")
struct ChatFeatureTests {
    @Test("Chat keeps the rules of every feature") func conforms() async {
        await #expect(processExitsWith: .success) {
            let answer: ScriptedServer.Script = { connection in
                let request = try connection.receiveRequest()
                guard request.method == "POST" else {
                    return try connection.respond(#"{"object":"list","data":[{"id":"small-1"}]}"#)
                }
                let isAnswered = String(decoding: request.body, as: UTF8.self).contains("7 planks")
                try connection.begin()
                try connection.send(
                    isAnswered ? Answers.say("Good day") : Answers.call("shop.stock", input: ["thing": "planks"]))
            }
            let id: JSON = "20260101-000000-k7f3qd8z"
            try await Desk.run(answer) { desk in
                let violations = try await ChatServices.$localServers.withValue([]) {
                    try await FeatureConformance.violations(
                        of: ChatFeature.self, with: [HostFeature.self, Workshop.self], in: desk.folder,
                        settings: "{chat: {approvals: [{verdict: 'deny', tool: 'dry'}]}}",
                        environment: desk.environment,
                        doing: [
                            "chat.send": ["message": "Hello", "model": "openai/small-1", "session-id": id],
                            "chat.send": ["message": "Hello", "model": "openai/small-1"],
                            "chat.search": ["words": ["hello"]], "chat.delete": ["conversation": "none"],
                            "chat.disallow": [:], "chat.found": ["words": ["hello"]],
                            "chat.tools": ["conversation": id], "chat.call": ["conversation": id, "call": 1],
                        ],
                        texts: Dictionary(
                            uniqueKeysWithValues: ["send", "retry", "use", "run"].map {
                                ("chat.\($0).model", "of a server that is set up, which is asked about")
                            }))
                }
                #expect(violations.isEmpty, "\(violations)")
                #expect(!desk.asked.isEmpty)
            }
        }
    }

    @Test(
        "Settings outside of their range are refused",
        arguments: [
            ("buffer", "1", "must be from 16.0 KiB to 512.0 KiB, not 1 B"),
            ("buffer", "1MiB", "must be from 16.0 KiB to 512.0 KiB, not 1.0 MiB"),
            ("max-rounds", "0", "must be at least 1, not 0"),
        ])
    func ranges(key: String, word: String, message: String) throws {
        let setting = try #require(ChatSettings.declarations.first { $0.key == [key] })
        let problem = #expect(throws: ValueError.self) { try setting.schema.json(fromWord: word) }
        #expect(problem?.message == message)
    }

    @Test("Each setting sets its property, and each property has a setting") func bindings() {
        let names = [
            "stream": "streams", "approvals": "policy", "keep-secrets": "keepsSecrets", "max-rounds": "rounds",
            "openai-responses": "usesResponses", "attribution": "sendsAttribution",
        ]
        #expect(SettingsConformance.violations(of: ChatSettings.self, names: names) == [])
    }
}
