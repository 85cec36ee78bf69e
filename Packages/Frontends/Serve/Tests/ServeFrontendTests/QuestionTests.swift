import Capabilities
import JSON
import MCPKit
import Registry
import ServeTesting
import Testing

@testable import ServeFrontend

@Suite("Questions to the user of a host", .timeLimit(.minutes(5)))
struct QuestionTests {
    /// The tools that ask for what only a person decides, or knows.
    private static let decisions = ["lab_trust", "lab_approve", "lab_unlock"]

    @Test("Values and choices are asked, each by a form", arguments: Era.allCases)
    func values(era: Era) async throws {
        let user = HostUser { schema in
            .accept(["answer": schema["enum"] == ["red", "green"] ? "green" : "Ada"])
        }
        try await ServedLab().host(era, user) { client async throws in
            #expect(try await client.call("lab_name").text == "hello Ada")
            #expect(try await client.call("lab_color").text == "green")
        }
        guard case .form("What is your name?", let schema)? = user.questions.first else {
            Issue.record("\(user.questions)")
            return
        }
        #expect(schema["properties"]?["answer"] == ["type": "string", "default": "nobody"])
        #expect(schema["required"] == ["answer"] && user.questions.count == 2)
    }

    @Test("Several values are asked by one form, and checked", arguments: Era.allCases)
    func forms(era: Era) async throws {
        let user = HostUser { _ in .accept(["city": "Bern", "days": 3, "tags": "a,b"]) }
        try await ServedLab().host(era, user) { client async throws in
            #expect(try await client.call("lab_trip").text == #"{"city":"Bern","days":3,"tags":["a","b"]}"#)
        }
        guard case .form("Where to?", let schema)? = user.questions.first else {
            Issue.record("\(user.questions)")
            return
        }
        #expect(schema["properties"]?.object?.map(\.key) == ["city", "days", "tags"] && schema["required"] == ["city"])
        #expect(schema["properties"]?["tags"]?["type"] == "string" && user.questions.count == 1)
        for answer: JSONObject in [[:], ["city": 5], ["city": "Bern", "days": 10]] {
            try await ServedLab().host(era, HostUser { _ in .accept(answer) }) { client async throws in
                #expect(try await client.call("lab_trip").code == "interaction.unfit-answer")
            }
        }
        try await ServedLab().host(era, HostUser { _ in .decline }) { client async throws in
            #expect(try await client.call("lab_trip").code == "interaction.declined")
        }
    }

    @Test("A host that says yes to everything gains nothing", arguments: Era.allCases)
    func yes(era: Era) async throws {
        let lab = try ServedLab(exposing: Exposure.allCases, allowing: [.reads, .writes, .destroys, .sends])
        let user = HostUser.sayingYes()
        try await lab.host(era, user) { client async throws in
            for tool in Self.decisions + ["lab_wipe"] {
                let result = try await client.call(tool)
                #expect(result.isError && result.code == "serve.not-for-hosts", "\(tool): \(result.text)")
            }
            #expect(try await client.call("lab_clear", ["all": true]).code == "serve.not-for-hosts")
            // Its user is asked for values, which shows that it could have answered.
            #expect(try await client.call("lab_name").text == "hello yes")
        }
        #expect(user.questions.count == 1)
        #expect(lab.state.counts.granted == 0 && lab.state.counts.destroyed == 0)
    }

    @Test("With 'approves' its user decides, and secrets are still not asked", arguments: Era.allCases)
    func approves(era: Era) async throws {
        let lab = try ServedLab(allowing: [.destroys, .approves])
        let user = HostUser.sayingYes()
        try await lab.host(era, user) { client async throws in
            #expect(try await client.call("lab_trust").text == "trusted")
            #expect(try await client.call("lab_approve").text == "allowed")
            #expect(try await client.call("lab_wipe").isError == false)
            #expect(try await client.call("lab_unlock").code == "serve.not-for-hosts")
        }
        #expect(lab.state.counts.granted == 2 && lab.state.counts.destroyed == 1 && user.questions.count == 3)
    }

    @Test("What is no answer to the question counts as none", arguments: Era.allCases)
    func unfit(era: Era) async throws {
        let lab = try ServedLab(allowing: [.approves])
        for answer: JSON in [5, "purple", ["red"], nil] {
            try await lab.host(era, HostUser { _ in .accept(["answer": answer]) }) { client async throws in
                #expect(try await client.call("lab_color").code == "interaction.unfit-answer")
                #expect(try await client.call("lab_trust").code == "interaction.unfit-answer")
            }
        }
        try await lab.host(era, HostUser { _ in .accept([:]) }) { client async throws in
            // What the host leaves out is the default, where there is one.
            #expect(try await client.call("lab_name").text == "hello nobody")
            #expect(try await client.call("lab_trust").isError)
        }
        for answer in [MCPAnswer.decline, .cancel] {
            try await lab.host(era, HostUser { _ in answer }) { client async throws in
                #expect(try await client.call("lab_color").code == "interaction.declined")
                #expect(try await client.call("lab_trust").code == "interaction.declined")
            }
        }
        #expect(lab.state.counts.granted == 0)
    }

    @Test("A host that cannot be asked gets defaults, and a failure where there is none", arguments: Era.allCases)
    func silent(era: Era) async throws {
        try await ServedLab(allowing: [.approves]).host(era) { client async throws in
            #expect(try await client.call("lab_name").text == "hello nobody")
            #expect(try await client.call("lab_color").code == "serve.not-for-hosts")
            #expect(try await client.call("lab_trust").code == "serve.not-for-hosts")
        }
    }
}
