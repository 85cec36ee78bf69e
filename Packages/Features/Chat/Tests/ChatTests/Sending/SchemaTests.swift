import Capabilities
import CoreTesting
import HTTPTesting
import HostTesting
import JSON
import Testing

@testable import Chat

@Suite("Answers with a schema", .timeLimit(.minutes(5)))
struct SchemaTests {
    private static let schema = #"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#

    @Test("A mismatching answer is kept and shown, and the command fails with the reason")
    func checked() async throws {
        try await Desk.run(
            answers: Answers.say(#"{"name":"Ada"}"#), Answers.say("Hello"), Answers.say(#"{"name":7}"#)
        ) { desk in
            let file = try desk.write(Array(Self.schema.utf8), to: "schema.json")
            let good = try await desk.say("Who?", ["schema": .string(file)])
            #expect(good.exit == .done && good.notices.isEmpty)
            let prose = try await desk.say("Who?", ["schema": .string(file)])
            #expect(prose.exit == .failed && prose["result"] == "Hello" && prose.output.text == "Hello\n")
            #expect(prose.notices.contains("does not match the schema: it is not valid JSON"))
            #expect(prose.types.last == "error")
            #expect(try await desk.stored() == ["user: Who?", "assistant: Hello"])
            let wrong = try await desk.say("Who?", ["schema": .string(file)])
            #expect(wrong.exit == .failed && wrong.notices.contains("/name needs a string, not an integer"))
        }
    }

    @Test(
        "An invalid schema file is refused before the model is asked",
        arguments: [#"{"type":"wat"}"#, "7", ##"{"$ref":"#/$defs/x"}"##])
    func bad(text: String) async throws {
        try await Desk.run(answers: Answers.say("x")) { desk in
            let file = try desk.write(Array(text.utf8), to: "schema.json")
            let done = try await desk.attempt("chat.send", ["message": "Who?", "schema": .string(file)])
            #expect(done.exit == .usage && done.failure?.message.contains("is not a valid JSON Schema") == true)
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("A schema that refers to another document is refused, because nothing is fetched")
    func remote() async throws {
        try await Desk.run(answers: Answers.say("x")) { desk in
            let file = try desk.write(Array(#"{"$ref":"https://example.com/a.json"}"#.utf8), to: "schema.json")
            let done = try await desk.attempt("chat.send", ["message": "Who?", "schema": .string(file)])
            #expect(done.exit == .usage && done.failure?.message.contains("nothing is fetched") == true)
            #expect(desk.asked.isEmpty)
        }
    }

    @Test("An answer is held against what its schema says, and not against what is never checked")
    func mismatches() {
        func problems(_ text: String, _ schema: JSON) -> [String] {
            AnswerMismatch(text, AnswerSchema(name: "answer", schema: schema))?.problems ?? []
        }
        let closed: JSON = ["properties": ["a": ["type": "integer"]], "additionalProperties": false]
        #expect(problems(#"{"a":1.0}"#, closed).isEmpty)
        #expect(problems(#"{"b":1}"#, closed) == ["/b is not allowed"])
        #expect(problems("[1,2,3,4,5,6]", ["items": false]).count == 6)
        #expect(problems("[1,2,3,4,5,6]", ["items": false]).last == "… and more")
        #expect(problems(#""x""#, ["format": "email", "pattern": #"\A"#]).isEmpty)
        #expect(problems("1", ["$ref": "#"]).isEmpty)
    }

    @Test("An answer whose check was stopped is no matching one")
    func stopped() throws {
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        let both: JSON = ["$ref": "#/$defs/a"]
        let schema: JSON = [
            "$defs": ["a": ["items": ["anyOf": [["allOf": [both, both]], ["type": "string"]]]]], "allOf": [both],
        ]
        let mismatch = try #require(AnswerMismatch(deep, AnswerSchema(name: "answer", schema: schema)))
        #expect(
            mismatch.message.hasPrefix("the answer could not be checked against the schema: the check stopped after"))
    }
}
