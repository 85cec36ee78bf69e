import Capabilities
import JSON
import Testing

@Suite("JSON Schema")
struct JSONSchemaTests {
    @Test(
        "The schema of every kind is exact",
        arguments: [
            (.any, "{}"),
            (.boolean, #"{"type":"boolean"}"#),
            (.integer(nil), #"{"type":"integer"}"#),
            (.integer(1...9), #"{"type":"integer","minimum":1,"maximum":9}"#),
            (.integer(1 ... .max), #"{"type":"integer","minimum":1}"#),
            (.number(nil), #"{"type":"number"}"#),
            (.number(0...1.5), #"{"type":"number","minimum":0.0,"maximum":1.5}"#),
            (.string, #"{"type":"string"}"#),
            (.path(.own), #"{"type":"string"}"#), (.host, #"{"type":"string"}"#),
            (.secretName, #"{"type":"string"}"#),
            (.secret, #"{"type":"string","writeOnly":true}"#),
            (.choice(["a", "b"]), #"{"type":"string","enum":["a","b"]}"#),
            (.url, #"{"type":"string","format":"uri"}"#),
            (.time, #"{"type":"string","format":"date-time"}"#),
            (
                .duration,
                #"{"type":["string","number"],"description":"a duration such as 30s or 1m30s; a number means seconds"}"#
            ),
            (.size(nil), #"{"type":["integer","string"],"description":"bytes, or a size such as 64KiB"}"#),
            (.array(.string), #"{"type":"array","items":{"type":"string"}}"#),
            (.map(.boolean), #"{"type":"object","additionalProperties":{"type":"boolean"}}"#),
            (.optional(.optional(.string)), #"{"type":"string"}"#),
            (.record([]), #"{"type":"object","properties":{},"additionalProperties":false}"#),
        ] as [(Schema, String)])
    func exact(schema: Schema, expected: String) {
        #expect(schema.jsonSchema.description == expected)
    }

    @Test("The schema of a record describes its members and requires the mandatory ones")
    func record() {
        let inner = Schema.record([.init("x", "Across", .integer(nil))])
        let schema = Schema.record([
            .init("name", "What it is called", .string), .init("note", "A note", .optional(.string)),
            .init("points", "Where it is", .array(inner)),
        ])
        #expect(
            schema.jsonSchema.description
                == #"{"type":"object","properties":{"#
                + #""name":{"type":"string","description":"What it is called"},"#
                + #""note":{"type":"string","description":"A note"},"#
                + #""points":{"type":"array","items":{"type":"object","properties":{"#
                + #""x":{"type":"integer","description":"Across"}},"additionalProperties":false,"required":["x"]},"#
                + #""description":"Where it is"}},"#
                + #""additionalProperties":false,"required":["name","points"]}"#)
    }

    @Test("A lenient schema allows null for optional members, and unknown members")
    func lenient() {
        let inner = Schema.record([.init("x", "Across", .optional(.optional(.integer(0...9))))])
        let schema = Schema.record([
            .init("name", "What it is called", .string), .init("kind", "Which", .optional(.choice(["a"]))),
            .init("point", "Where it is", .optional(inner)), .init("more", "Anything", .optional(.any)),
            .init("input", "Some", .optional(.any), keywords: ["minItems": 1]),
        ])
        let nulls: JSONObject = schema.jsonSchema(accepting: .nulls)
        #expect(nulls["additionalProperties"] == false)
        #expect(nulls["required"] == ["name"])
        let members = nulls["properties"]
        #expect(members?["name"] == ["type": "string", "description": "What it is called"])
        #expect(
            members?["kind"] == [
                "anyOf": [["type": "string", "enum": ["a"]], ["type": "null"]], "description": "Which",
            ])
        #expect(members?["point"]?["type"] == ["object", "null"])
        #expect(members?["point"]?["additionalProperties"] == false)
        #expect(
            members?["point"]?["properties"]?["x"] == [
                "type": ["integer", "null"], "minimum": 0, "maximum": 9, "description": "Across",
            ])
        #expect(members?["more"] == ["description": "Anything"])
        #expect(members?["input"]?["anyOf"] == [["minItems": 1], ["type": "null"]])

        let all = schema.jsonSchema(accepting: [.nulls, .unknownMembers])
        #expect(all["additionalProperties"] == nil)
        #expect(all["properties"]?["point"]?["additionalProperties"] == nil)
    }

    @Test("A record that names a member twice has it once")
    func twice() {
        let schema = Schema.record([.init("x", "First", .string), .init("x", "Second", .string)])
        #expect(schema.jsonSchema["properties"]?.object?.keys == ["x"])
    }
}
