import JSON
import SchemaKit
import Testing

@Suite("References")
struct ReferenceTests {
    @Test(
        "References within the document",
        arguments: [
            Case(##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"integer"}}}"##, valid: ["1"], invalid: [#""a""#]),
            Case(
                ##"{"$ref":"#/definitions/a","definitions":{"a":{"type":"integer"}}}"##, valid: ["1"],
                invalid: [#""a""#]),
            Case(##"{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"integer"}}}"##, valid: ["1"], invalid: [#""a""#]),
            Case(
                ##"{"$ref":"#/$defs/a~1b/c%25d~0e","$defs":{"a/b":{"c%d~e":{"type":"integer"}}}}"##, valid: ["1"],
                invalid: [#""a""#]),
            Case(##"{"allOf":[{"$ref":"#/x/0"}],"x":[{"type":"integer"}]}"##, valid: ["1"], invalid: [#""a""#]),
            Case(
                ##"{"$ref":"#/$defs/a","maximum":5,"$defs":{"a":{"type":"integer"}}}"##, valid: ["1"],
                invalid: ["6", #""a""#]),
            Case(
                ##"{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"required":["v"]}"##,
                valid: [#"{"v":1,"next":{"v":2,"next":{"v":3}}}"#], invalid: [#"{"v":1,"next":{"v":2,"next":{}}}"#]),
            Case(
                ##"{"$id":"https://example.com/root","$ref":"item","$defs":{"i":{"$id":"item","type":"integer"}}}"##,
                valid: ["1"], invalid: [#""a""#]),
            Case(
                ##"{"$id":"https://example.com/a/root","$ref":"../b/item#part","$defs":{"i":{"$id":"/b/item","$defs":{"p":{"$anchor":"part","type":"integer"}}}}}"##,
                valid: ["1"], invalid: [#""a""#]),
            Case(
                ##"{"$ref":"urn:x:item","$defs":{"i":{"$id":"urn:x:item","$ref":"#/$defs/p","$defs":{"p":{"type":"integer"}}}}}"##,
                valid: ["1"], invalid: [#""a""#]),
            Case(
                ##"{"$id":"https://example.com/root","$ref":"https://example.com/root#/$defs/a","$defs":{"a":{"type":"integer"}}}"##,
                valid: ["1"], invalid: [#""a""#]),
            Case(
                ##"{"const":{"$ref":"#/nowhere"},"enum":[{"$ref":"#/nowhere"}]}"##, valid: [##"{"$ref":"#/nowhere"}"##]),
        ])
    func local(_ one: Case) throws { try one.run() }

    @Test(
        "Dynamic references",
        arguments: [
            Case(
                ##"{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a","type":"integer"}}}"##, valid: ["1"],
                invalid: [#""a""#]),
            Case(##"{"$dynamicRef":"#/$defs/x","$defs":{"x":{"type":"integer"}}}"##, valid: ["1"], invalid: [#""a""#]),
            Case(
                ##"""
                {"$id":"https://example.com/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,
                "$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","type":"object",
                "properties":{"data":true,"children":{"type":"array","items":{"$dynamicRef":"#node"}}}}}}
                """##, valid: [#"{"children":[{"data":1}]}"#], invalid: [#"{"children":[{"daat":1}]}"#, #"{"x":1}"#]),
            Case(
                ##"""
                {"$id":"https://example.com/strings","$ref":"list","$defs":{
                "here":{"$dynamicAnchor":"item","type":"string"},
                "list":{"$id":"list","items":{"$dynamicRef":"#item"},"$defs":{"other":{"$dynamicAnchor":"item"}}}}}
                """##, valid: [#"["a"]"#], invalid: ["[1]"]),
            Case(
                ##"""
                {"$id":"https://example.com/strings","$ref":"list","$defs":{
                "here":{"$anchor":"item","type":"string"},
                "list":{"$id":"list","items":{"$dynamicRef":"#item"},"$defs":{"other":{"$dynamicAnchor":"item"}}}}}
                """##, valid: [#"["a"]"#, "[1]"]),
        ])
    func dynamic(_ one: Case) throws { try one.run() }

    @Test(
        "The spelling of draft-07",
        arguments: [
            Case(
                ##"{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","maximum":5,"definitions":{"a":{"type":"integer"}}}"##,
                valid: ["1", "6"], invalid: [#""a""#]),
            Case(
                #"{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}"#,
                valid: [#"{"a":1,"b":1}"#, #"{"c":1,"d":1}"#], invalid: [#"{"a":1}"#, #"{"c":1}"#]),
            Case(
                #"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"}],"additionalItems":{"type":"string"}}"#,
                valid: [#"[1,"a"]"#], invalid: [#"["a"]"#, "[1,2]"]),
            Case(
                ##"{"$schema":"http://json-schema.org/draft-07/schema","$ref":"#a","definitions":{"x":{"$id":"#a","type":"integer"}}}"##,
                valid: ["1"], invalid: [#""a""#]),
            Case(#"{"dependencies":{"a":["b"]}}"#, valid: [#"{"a":1}"#]),
        ])
    func old(_ one: Case) throws { try one.run() }

    @Test("Nothing is fetched: a reference to another document leaves the outcome open, and is named")
    func remote() throws {
        let schema = try JSONSchema([
            "properties": ["a": ["$ref": "https://example.com/a.json"], "b": ["type": "integer"]]
        ])
        #expect(schema.gaps.map(\.kind) == [.reference])
        let open = schema.check(["a": 1, "b": 1])
        #expect(open.outcome == .unknown && !open.isValid && open.problems.isEmpty)
        #expect(
            open.unchecked.first?.description == "the reference at /properties/a/$ref to https://example.com/a.json"
                + " cannot be checked: it is another document, and nothing is fetched")
        #expect(schema.check(["b": 1]).isValid)
        #expect(schema.check(["a": 1, "b": "x"]).outcome == .invalid)
        for (combined, outcome): (JSON, JSONSchema.Verdict.Outcome) in [
            (["anyOf": [["$ref": "x:y"], true]], .valid), (["anyOf": [["$ref": "x:y"], false]], .unknown),
            (["not": ["$ref": "x:y"]], .unknown), (["allOf": [["$ref": "x:y"], false]], .invalid),
            (["oneOf": [["$ref": "x:y"], true, true]], .invalid), (["oneOf": [["$ref": "x:y"], true]], .unknown),
            (["if": ["$ref": "x:y"], "then": false, "else": false], .invalid),
            (["if": ["$ref": "x:y"], "then": true, "else": false], .unknown),
            (["if": ["$ref": "x:y"], "then": ["type": "object"]], .valid),
            (["$ref": "x:y", "unevaluatedProperties": false], .unknown),
        ] {
            #expect(try JSONSchema(combined).check(["b": 1]).outcome == outcome, "\(combined)")
        }
    }

    @Test(
        "A reference that leads back to itself for the same value is named",
        arguments: [
            ##"{"$ref":"#"}"##, ##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
            ##"{"allOf":[{"anyOf":[{"$ref":"#"}]}]}"##, ##"{"not":{"$ref":"#"}}"##,
            ##"{"$dynamicRef":"#a","$dynamicAnchor":"a"}"##,
        ])
    func circular(_ text: String) throws {
        let verdict = try JSONSchema(JSON(parsing: text)).check(1)
        #expect(verdict.outcome == .unknown)
        #expect(verdict.unchecked.contains { $0.description.contains("leads back to itself") })
    }
}
