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
            #expect(wrong.exit == .failed && wrong.notices.contains("/name needs string, not an integer"))
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

    @Test("A value is checked by the schema keywords that providers understand")
    func words() throws {
        func problems(_ value: JSON, _ schema: JSON) -> [String] { SchemaCheck(schema).problems(in: value) }
        let closed: JSON = ["type": "object", "properties": ["a": ["type": "integer"]], "additionalProperties": false]
        #expect(problems(["a": 1], closed).isEmpty && problems(["a": 1.0], closed).isEmpty)
        #expect(problems(["a": 1.5], closed).count == 1)
        #expect(problems(["b": 1], closed) == ["/b is not allowed"])
        let list: JSON = ["type": "array", "items": ["enum": ["x", 2]], "minItems": 1, "maxItems": 2]
        #expect(problems(["x", 2.0], list).isEmpty)
        #expect(problems(["y"], list) == [#"/0 needs one of "x", 2"#])
        #expect(problems([], list) == ["it needs at least 1 elements"] && problems(["x", "x", "x"], list).count == 1)
        #expect(problems(5, ["minimum": 1, "maximum": 4]) == ["it needs at most 4"])
        #expect(problems("abc", ["type": ["string", "null"], "minLength": 4]).count == 1)
        #expect(problems(.null, ["type": ["string", "null"]]).isEmpty)
        let either: JSON = ["anyOf": [["type": "string"], ["type": "null"]]]
        #expect(problems("a", either).isEmpty && problems(1, either).count == 1)
        let tree: JSON = [
            "$defs": ["node": ["type": "object", "properties": ["next": ["$ref": "#/$defs/node"]], "required": ["v"]]],
            "$ref": "#/$defs/node",
        ]
        #expect(problems(["v": 1, "next": ["v": 2]], tree).isEmpty)
        #expect(problems(["v": 1, "next": [:]], tree) == ["/next/v is missing"])
        #expect(problems(1, ["$ref": "#"]).isEmpty)
        #expect(problems(1, ["const": 2]).count == 1 && problems(1, ["oneOf": [["type": "number"], [:]]]).count == 1)
    }
}
