import Capabilities
import JSON
import Testing

@testable import MCPServers

@Suite struct FormFieldsTests {
    private func fields(_ properties: JSONObject, required: JSON = []) -> [Schema.Property] {
        FormFields(["type": "object", "properties": .object(properties), "required": required]).fields
    }

    @Test(
        "each kind of member has its field",
        arguments: [
            (["type": "string"], .string), (["type": "integer"], .integer(nil)), (["type": "number"], .number(nil)),
            (["type": "boolean"], .boolean), (["type": "array", "items": ["type": "integer"]], .array(.integer(nil))),
            (["type": "array", "items": ["type": "array"]], .array(.any)), (["type": "array"], .array(.any)),
            (["type": "object"], .map(.any)), ([:], .any), (["type": ["string", "null"]], .string),
            (["type": ["string", "integer"]], .any),
            (["anyOf": [["type": "integer"], ["type": "null"]]], .integer(nil)),
            (["enum": ["a", "b"]], .choice(["a", "b"])), (["enum": [1, "b"]], .choice(["1", "b"])),
            (["$ref": "#/$defs/mood"], .any), (true, .any),
        ] as [(JSON, Schema)])
    func shapes(member: JSON, shape: Schema) {
        #expect(fields(["x": member], required: ["x"]).map(\.schema) == [shape])
        #expect(fields(["x": member]).map(\.schema) == [.optional(shape)])
    }

    @Test("a local reference is followed, and one that leads nowhere or to itself is harmless")
    func references() {
        let schema: JSON = [
            "properties": ["a": ["$ref": "#/$defs/n"], "b": ["$ref": "#/$defs/none"], "c": ["$ref": "#/properties/c"]],
            "$defs": ["n": ["type": "integer", "description": "A number\nand more"]],
        ]
        let found = FormFields(schema).fields
        #expect(found.map(\.schema) == [.optional(.integer(nil)), .optional(.any), .optional(.any)])
        #expect(found.first?.summary == "A number")
    }

    @Test("a list that is an element of itself ends, however it is written")
    func endless() {
        for list: JSON in [
            ["type": ["array", "null"], "items": ["$ref": "#/$defs/L"]],
            ["anyOf": [["type": "array"], ["type": "null"]], "items": ["$ref": "#/$defs/L"]],
        ] {
            let schema: JSON = ["properties": ["a": ["$ref": "#/$defs/L"]], "$defs": ["L": list]]
            #expect(FormFields(schema).fields.map(\.schema) == [.optional(.array(.any))])
        }
    }

    @Test("choices are shown by their titles, and sent as their values")
    func titles() {
        let form = FormFields([
            "properties": [
                "size": ["oneOf": [["const": 1, "title": "small"], ["const": 2, "title": "large"]], "default": 2],
                "tone": ["enum": ["a", "b"], "enumNames": ["loud", "soft"]],
                "same": ["oneOf": [["const": 1, "title": "x"], ["const": 2, "title": "x"]]],
            ]
        ])
        #expect(
            form.fields.map(\.schema.unwrapped) == [.choice(["small", "large"]), .choice(["loud", "soft"]), .any])
        #expect(form.fields.first?.defaultValue == "large")
        #expect(form.values(["size": "small", "tone": "soft", "same": 2]) == ["size": 1, "tone": "b", "same": 2])
    }

    @Test("defaults that fit are offered, others are not; what is shown has no control characters")
    func defaults() {
        let found = fields([
            "days": ["type": "integer", "default": 3, "description": "how\u{1b}[2J many"],
            "city": ["type": "string", "default": 5, "title": "City"],
        ])
        #expect(found.map(\.defaultValue) == [3, nil] && found.last?.summary == "City")
        #expect(found.first?.summary.unicodeScalars.contains("\u{1b}") == false)
    }

    @Test("only the members that are wanted are asked for")
    func some() {
        let schema: JSON = ["properties": ["a": ["type": "string"], "b": ["type": "string"]]]
        #expect(FormFields(schema) { $0 == "b" }.fields.map(\.name) == ["b"])
        #expect(FormFields([]).fields.isEmpty && FormFields(nil).fields.isEmpty)
    }
}
