import JSON
import SchemaKit
import Testing

@Suite("Keywords")
struct KeywordTests {
    @Test(
        "Types",
        arguments: [
            Case("true", valid: ["1", "null"]),
            Case("false", invalid: ["1", "null", "{}"]),
            Case("{}", valid: ["1", "[]"]),
            Case(#"{"type":"null"}"#, valid: ["null"], invalid: ["0", "false", #""""#]),
            Case(#"{"type":"boolean"}"#, valid: ["true", "false"], invalid: ["0", "null"]),
            Case(
                #"{"type":"integer"}"#, valid: ["0", "-7", "1.0", "1e3", "99999999999999999999"],
                invalid: ["1.5", "1e-1", #""1""#]),
            Case(#"{"type":"number"}"#, valid: ["1", "1.5", "99999999999999999999"], invalid: ["null", #""1""#]),
            Case(#"{"type":"string"}"#, valid: [#""""#], invalid: ["1"]),
            Case(#"{"type":"array"}"#, valid: ["[]"], invalid: ["{}"]),
            Case(#"{"type":"object"}"#, valid: ["{}"], invalid: ["[]"]),
            Case(#"{"type":["string","null"]}"#, valid: [#""a""#, "null"], invalid: ["1", "[]"]),
        ])
    func types(_ one: Case) throws { try one.run() }

    @Test(
        "enum and const",
        arguments: [
            Case(
                #"{"enum":[1,"a",null,[1],{"a":1}]}"#, valid: ["1", "1.0", #""a""#, "null", "[1.0]", #"{"a":1.0}"#],
                invalid: ["2", #""A""#, "true", "[1,1]", #"{"a":1,"b":2}"#, "[]"]),
            Case(#"{"enum":[0]}"#, valid: ["0", "0.0", "-0.0"], invalid: ["false"]),
            Case(#"{"enum":[[false]]}"#, valid: ["[false]"], invalid: ["[0]"]),
            Case(
                #"{"enum":[1,2,3,4,5,6,7,8,"nine",10.5,{"a":[1]}]}"#,
                valid: ["8.0", #""nine""#, "10.5", #"{"a":[1.0]}"#], invalid: ["9", #""8""#, #"{"a":[2]}"#]),
            Case(#"{"enum":[]}"#, invalid: ["1", "null"]),
            Case(#"{"const":null}"#, valid: ["null"], invalid: ["0"]),
            Case(#"{"const":{"a":1,"b":2}}"#, valid: [#"{"b":2,"a":1}"#], invalid: [#"{"a":1}"#]),
            Case(#"{"const":"é"}"#, valid: [#""é""#], invalid: [#""e\u0301""#]),
            Case(#"{"const":100000000000000000000}"#, valid: ["100000000000000000000", "1e20"], invalid: ["1e19"]),
            Case(#"{"const":9007199254740993}"#, valid: ["9007199254740993"], invalid: ["9007199254740992.0"]),
        ])
    func choices(_ one: Case) throws { try one.run() }

    @Test(
        "Limits of numbers",
        arguments: [
            Case(
                #"{"minimum":1.5}"#, valid: ["1.5", "2", "1e9", #""a""#],
                invalid: ["1.4", "1", "-99999999999999999999"]),
            Case(#"{"maximum":3}"#, valid: ["3", "3.0", "-5"], invalid: ["3.5", "4", "99999999999999999999"]),
            Case(#"{"exclusiveMinimum":0}"#, valid: ["1", "0.1"], invalid: ["0", "0.0", "-1"]),
            Case(#"{"exclusiveMaximum":0.5}"#, valid: ["0.4"], invalid: ["0.5", "1"]),
            Case(
                #"{"minimum":9007199254740993}"#, valid: ["9007199254740993", "9007199254740994.0"],
                invalid: ["9007199254740992", "9007199254740992.0"]),
            Case(
                #"{"maximum":18446744073709551615}"#, valid: ["18446744073709551615", "1e19"],
                invalid: ["18446744073709551616", "1e20"]),
            Case(#"{"minimum":3,"exclusiveMinimum":true}"#, valid: ["4"], invalid: ["3"]),
            Case(#"{"minimum":3,"exclusiveMinimum":false}"#, valid: ["3"], invalid: ["2"]),
        ])
    func numbers(_ one: Case) throws { try one.run() }

    @Test(
        "Multiples are exact",
        arguments: [
            Case(#"{"multipleOf":2}"#, valid: ["0", "4", "-4", "4.0", "1e300"], invalid: ["3", "1.5"]),
            Case(#"{"multipleOf":0.1}"#, valid: ["0.3", "0.7", "1", "1e10", "123456.7"], invalid: ["0.35", "0.01"]),
            Case(#"{"multipleOf":0.01}"#, valid: ["19.99", "4.35", "1.1"], invalid: ["0.001", "1e-9"]),
            Case(#"{"multipleOf":1e-8}"#, valid: ["12391239123", "1e-8", "0.00000003"], invalid: ["1.5e-8"]),
            Case(#"{"multipleOf":10}"#, valid: ["20", "-10", "1e2", "30.0"], invalid: ["25", "1"]),
            Case(#"{"multipleOf":10.0}"#, valid: ["20", "30.0"], invalid: ["25", "2.5"]),
            Case(#"{"multipleOf":1.5}"#, valid: ["3", "4.5", "-1.5"], invalid: ["4", "1"]),
            Case(
                #"{"multipleOf":3}"#, valid: ["100000000000000000000000000000000000000000000000000002"],
                invalid: ["100000000000000000000000000000000000000000000000000001", "1e40"]),
            Case(#"{"multipleOf":7000}"#, valid: ["7000", "14000.0", "7e50"], invalid: ["700", "1e10"]),
            Case(
                #"{"multipleOf":9223372036854775807}"#, valid: ["18446744073709551614"],
                invalid: ["9223372036854775806"]),
        ])
    func multiples(_ one: Case) throws { try one.run() }

    @Test(
        "Strings",
        arguments: [
            Case(#"{"minLength":2}"#, valid: [#""ab""#, #""😀😀""#, "1"], invalid: [#""a""#, #""😀""#, #""é""#]),
            Case(#"{"maxLength":2}"#, valid: [#""ab""#, #""😀😀""#, #""e\u0301""#], invalid: [#""abc""#, #""😀😀😀""#]),
            Case(#"{"minLength":2.0,"maxLength":1e30}"#, valid: [#""ab""#], invalid: [#""a""#]),
            Case(#"{"pattern":"^a+$"}"#, valid: [#""aaa""#, "1"], invalid: [#""ab""#, #""""#, #""a\n""#]),
            Case(#"{"pattern":"b"}"#, valid: [#""abc""#], invalid: [#""ac""#]),
        ])
    func strings(_ one: Case) throws { try one.run() }

    @Test(
        "Arrays",
        arguments: [
            Case(#"{"minItems":1,"maxItems":2}"#, valid: ["[1]", "[1,2]", "{}"], invalid: ["[]", "[1,2,3]"]),
            Case(#"{"items":{"type":"integer"}}"#, valid: ["[]", "[1,2]", "1"], invalid: [#"[1,"a"]"#]),
            Case(#"{"items":false}"#, valid: ["[]"], invalid: ["[1]"]),
            Case(
                #"{"prefixItems":[{"type":"string"},{"type":"integer"}]}"#,
                valid: ["[]", #"["a"]"#, #"["a",1,true]"#], invalid: ["[1]", #"["a","b"]"#]),
            Case(
                #"{"prefixItems":[true],"items":{"type":"integer"}}"#, valid: [#"["a",1]"#], invalid: [#"["a","b"]"#]),
            Case(
                #"{"items":[{"type":"string"}],"additionalItems":false}"#, valid: [#"["a"]"#],
                invalid: [#"["a",1]"#, "[1]"]),
            Case(#"{"contains":{"type":"string"}}"#, valid: [#"[1,"a"]"#], invalid: ["[]", "[1]"]),
            Case(
                #"{"contains":{"type":"string"},"minContains":2,"maxContains":3}"#,
                valid: [#"["a","b"]"#, #"["a","b",1,"c"]"#], invalid: [#"["a"]"#, #"["a","b","c","d"]"#]),
            Case(#"{"contains":false,"minContains":0}"#, valid: ["[]", "[1]"]),
            Case(#"{"minContains":2,"maxContains":0}"#, valid: ["[1]"]),
            Case(
                #"{"uniqueItems":true}"#,
                valid: ["[]", "[1]", "[1,true]", "[0,false]", #"["1",1]"#, "[[1],[true]]", #"[{"a":1},{"a":2}]"#],
                invalid: ["[1,1]", "[1,1.0]", #"[{"a":1,"b":2},{"b":2,"a":1.0}]"#, #"["a","b","a"]"#]),
            Case(
                #"{"uniqueItems":true}"#,
                valid: ["[1,2,3,4,5,6,7,8]", #"["é","e\u0301",1,2,3,4,5,6]"#],
                invalid: [
                    "[1,2,3,4,5,6,7,8,1.0]", "[100000000000000000000,2,3,4,5,6,7,1e20]",
                    "[1000000000000000000,2,3,4,5,6,7,1e18]", #"[[{"a":1}],2,3,4,5,6,7,[{"a":1.0}]]"#,
                ]),
            Case(#"{"uniqueItems":false}"#, valid: ["[1,1]"]),
        ])
    func arrays(_ one: Case) throws { try one.run() }

    @Test(
        "Objects",
        arguments: [
            Case(
                #"{"properties":{"a":{"type":"integer"},"b":false}}"#, valid: ["{}", #"{"a":1,"c":2}"#, "[]"],
                invalid: [#"{"a":"x"}"#, #"{"b":1}"#]),
            Case(#"{"required":["a","b"]}"#, valid: [#"{"a":1,"b":null}"#, "1"], invalid: [#"{"a":1}"#, "{}"]),
            Case(
                #"{"properties":{"a":{}},"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false}"#,
                valid: [#"{"a":"s","x1":1}"#], invalid: [#"{"b":1}"#, #"{"x1":"s"}"#]),
            Case(
                #"{"patternProperties":{"a":{"type":"integer"},"b":{"minimum":5}}}"#, valid: [#"{"ab":5,"b":"x"}"#],
                invalid: [#"{"ab":4}"#, #"{"ab":5.5}"#]),
            Case(#"{"additionalProperties":{"type":"integer"}}"#, valid: [#"{"a":1}"#], invalid: [#"{"a":"x"}"#]),
            Case(#"{"propertyNames":{"maxLength":2}}"#, valid: [#"{"ab":1}"#], invalid: [#"{"abc":1}"#]),
            Case(#"{"propertyNames":false}"#, valid: ["{}"], invalid: [#"{"a":1}"#]),
            Case(
                #"{"minProperties":1,"maxProperties":2}"#, valid: [#"{"a":1}"#],
                invalid: ["{}", #"{"a":1,"b":1,"c":1}"#]),
            Case(
                #"{"dependentRequired":{"a":["b","c"]}}"#, valid: ["{}", #"{"b":1}"#, #"{"a":1,"b":1,"c":1}"#],
                invalid: [#"{"a":1}"#, #"{"a":1,"c":1}"#]),
            Case(
                #"{"dependentSchemas":{"a":{"required":["b"]}}}"#, valid: [#"{"a":1,"b":1}"#, #"{"c":1}"#],
                invalid: [#"{"a":1}"#]),
            Case(#"{"properties":{"é":{"type":"integer"}}}"#, valid: [#"{"e\u0301":"s"}"#], invalid: [#"{"é":"s"}"#]),
        ])
    func objects(_ one: Case) throws { try one.run() }

    @Test("More names than fit in a word are found and required as well")
    func manyNames() throws {
        let names = (0..<200).map { "name\($0)" }
        let properties = JSON.object(JSONObject(names.map { ($0, ["type": "integer"]) }))
        let schema = try JSONSchema(["properties": properties, "required": .array(names.map { .string($0) })])
        var value = JSONObject(names.map { ($0, 1) })
        #expect(schema.check(.object(value)).isValid)
        value["name150"] = "x"
        value["name199"] = nil
        value["name3"] = nil
        #expect(
            schema.check(.object(value)).sentences == [
                "/name150 needs an integer, not a string", "/name3 is missing", "/name199 is missing",
            ])
    }

    @Test(
        "Combinations",
        arguments: [
            Case(#"{"allOf":[{"type":"integer"},{"minimum":2}]}"#, valid: ["2"], invalid: ["1", "2.5"]),
            Case(
                #"{"anyOf":[{"type":"integer"},{"minLength":2}]}"#, valid: ["1", #""ab""#, "1.5"], invalid: [#""a""#]),
            Case(#"{"oneOf":[{"type":"integer"},{"minimum":2}]}"#, valid: ["1", "2.5"], invalid: ["3", "1.5"]),
            Case(#"{"not":{"type":"integer"}}"#, valid: ["1.5"], invalid: ["1"]),
            Case(#"{"not":true}"#, invalid: ["1"]),
            Case(
                #"{"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"string"}}"#, valid: ["5", #""a""#],
                invalid: ["4", "1.5"]),
            Case(#"{"if":false,"else":{"type":"string"}}"#, valid: [#""a""#], invalid: ["1"]),
            Case(#"{"then":false,"else":false}"#, valid: ["1"]),
            Case(#"{"anyOf":[{"not":{"anyOf":[true,false]}},{"type":"null"}]}"#, valid: ["null"], invalid: ["1"]),
        ])
    func combinations(_ one: Case) throws { try one.run() }

    @Test("Unknown keywords are ignored, and annotations say nothing")
    func annotations() throws {
        try Case(
            #"{"title":1,"default":{},"examples":[],"x-order":3,"contentMediaType":"text/plain","deprecated":true}"#,
            valid: ["1", "null"]
        ).run()
    }

    @Test("A format is named as not checked, where it applies")
    func format() throws {
        let schema = try JSONSchema(["properties": ["mail": ["type": "string", "format": "email"]]])
        #expect(schema.gaps.map(\.kind) == [.format])
        let verdict = schema.check(["mail": "nobody"])
        #expect(verdict.isValid && verdict.unchecked.map(\.description) == ["the format email is not checked"])
        #expect(schema.check([:]).unchecked.isEmpty)
    }
}
