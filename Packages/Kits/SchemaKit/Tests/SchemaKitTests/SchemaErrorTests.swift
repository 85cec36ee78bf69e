import JSON
import SchemaKit
import Testing

@Suite("Invalid schemas and messages")
struct SchemaErrorTests {
    @Test(
        "What is wrong with a schema is named with its place",
        arguments: [
            ("7", "it needs to be an object or a boolean, not an integer"),
            (#"{"type":"wat"}"#, #"/type has the unknown type "wat""#),
            (#"{"type":["string",1]}"#, "/type/1 needs to be a string, not an integer"),
            (#"{"type":[]}"#, "/type needs at least one type"),
            (#"{"properties":{"a/b":{"minimum":"1"}}}"#, "/properties/a~1b/minimum needs to be a number, not a string"),
            (#"{"properties":[]}"#, "/properties needs to be an object, not an array"),
            (#"{"properties":{"a":1}}"#, "/properties/a needs to be an object or a boolean, not an integer"),
            (#"{"items":3}"#, "/items needs to be an object or a boolean, not an integer"),
            (#"{"not":[]}"#, "/not needs to be an object or a boolean, not an array"),
            (#"{"allOf":{}}"#, "/allOf needs to be an array, not an object"),
            (#"{"anyOf":[]}"#, "/anyOf needs at least one schema"),
            (#"{"enum":1}"#, "/enum needs to be an array, not an integer"),
            (#"{"required":"a"}"#, "/required needs to be an array of strings, not a string"),
            (#"{"required":[1]}"#, "/required/0 needs to be a string, not an integer"),
            (#"{"minLength":-1}"#, "/minLength needs to be a whole number that is not negative, not an integer"),
            (#"{"maxItems":1.5}"#, "/maxItems needs to be a whole number that is not negative, not a number"),
            (#"{"multipleOf":0}"#, "/multipleOf needs to be greater than 0"),
            (#"{"uniqueItems":1}"#, "/uniqueItems needs to be a boolean, not an integer"),
            (#"{"pattern":1}"#, "/pattern needs to be a string, not an integer"),
            (##"{"$ref":"#/$defs/x"}"##, "/$ref refers to #/$defs/x, which is not in the schema"),
            (##"{"$ref":"#x"}"##, "/$ref refers to #x, which is not in the schema"),
            (##"{"$ref":"#/a","a":5}"##, "/$ref refers to #/a, which is not in the schema"),
            (#"{"dependentRequired":{"a":"b"}}"#, "/dependentRequired/a needs to be an array of strings, not a string"),
            (#"{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}"#, "/$defs/b/$id has the same $id as /$defs/a"),
            (
                #"{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}"#,
                "/$defs/b/$anchor names the same anchor as /$defs/a"
            ),
        ])
    func faults(text: String, sentence: String) throws {
        let schema = try JSON(parsing: text)
        let error = #expect(throws: SchemaError.self) { try JSONSchema(schema) }
        #expect(error?.sentences == [sentence])
        #expect(error?.code == "schema.invalid" && error?.message == "the JSON Schema is not valid: \(sentence)")
    }

    @Test("All problems of a schema are found at once, up to the limit")
    func manyFaults() throws {
        let bad = (0..<100).map { ("p\($0)", ["type": "x", "minimum": nil] as JSON) }
        let error = #expect(throws: SchemaError.self) { try JSONSchema(["properties": .object(JSONObject(bad))]) }
        #expect(error?.problems.count == 20 && error?.sentences.last == "… and more")
    }

    @Test("Problems are sentences with the place in the value, and know the keyword")
    func messages() throws {
        let schema: JSON = [
            "type": "object", "required": ["name"], "additionalProperties": false,
            "properties": [
                "name": ["type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[a-z]*$"],
                "age": ["type": "integer", "minimum": 0, "exclusiveMaximum": 200, "multipleOf": 5],
                "tags": ["items": ["enum": ["x", 2]], "minItems": 1, "maxItems": 2, "uniqueItems": true],
                "kind": ["const": "a"], "any": ["anyOf": [["type": "string"], ["type": "null"]]],
                "map": ["propertyNames": ["maxLength": 2], "minProperties": 2],
                "list": ["contains": ["type": "string"], "maxContains": 1],
            ],
        ]
        #expect(
            try sentences(schema, ["age": -3, "tags": ["y", "y", "x"], "kind": "b", "any": 1, "more/~": 1]) == [
                "/age needs to be at least 0, not -3", "/age needs to be a multiple of 5, not -3",
                "/tags needs at most 2 elements, not 3", #"/tags/0 needs one of "x", 2"#,
                #"/tags/1 needs one of "x", 2"#,
                "/tags/1 is the same as element 0, and each may be there once only", #"/kind needs to be "a""#,
                "/any needs a string or null, not an integer", "/more~1~0 is not allowed", "/name is missing",
            ])
        #expect(
            try sentences(schema, ["name": "ABCD", "age": 200, "tags": [], "map": ["abc": 1], "list": ["a", "b"]]) == [
                "/name needs at most 3 characters, not 4", "/name does not match the pattern ^[a-z]*$",
                "/age needs to be less than 200, not 200", "/tags needs at least 1 element, not 0",
                "/map needs at least 2 members, not 1", "/map/abc has a name that needs at most 2 characters, not 3",
                "/list needs at most 1 element as in contains, not 2",
            ])
        #expect(try sentences(schema, [1]) == ["it needs an object, not an array"])
        let problem = try JSONSchema(schema).check(["name": 1]).problems.first
        #expect(problem?.place == "/name" && problem?.keyword == "/properties/name/type")
        #expect(problem?.message == "needs a string, not an integer")
    }

    @Test("If one alternative only has the right type, its problems are those of the value")
    func alternatives() throws {
        let schema: JSON = [
            "$defs": ["point": ["type": "object", "required": ["x"]]],
            "anyOf": [["$ref": "#/$defs/point"], ["type": "null"], ["type": "array", "items": ["type": "integer"]]],
        ]
        #expect(try sentences(schema, [:]) == ["/x is missing"])
        #expect(try sentences(schema, [1, "a"]) == ["/1 needs an integer, not a string"])
        #expect(try sentences(schema, 1) == ["it needs an object, an array or null, not an integer"])
        #expect(
            try sentences(["oneOf": [["minimum": 5], ["maximum": 0]]], 3) == ["it matches none of the 2 alternatives"])
        #expect(
            try sentences(["oneOf": [true, ["type": "null"], true]], 3)
                == ["it matches the alternatives 1 and 3, and may match only one"])
        #expect(try sentences(["not": ["type": "integer"]], 3) == ["it matches what is excluded by not"])
    }

    @Test("Control characters of hostile schemas and values are not printed")
    func hostileTexts() throws {
        let schema: JSON = ["additionalProperties": ["const": "\u{1B}[31m"]]
        let told = try sentences(schema, ["a\u{1B}[2J\u{202E}": 1]).joined()
        #expect(told.contains("const") == false && !told.unicodeScalars.contains("\u{1B}"))
        #expect(!told.unicodeScalars.contains("\u{202E}"))
        let long = try sentences(["additionalProperties": false], [String(repeating: "x", count: 100_000): 1])
        #expect(long.joined().utf8.count < 500)
    }
}
