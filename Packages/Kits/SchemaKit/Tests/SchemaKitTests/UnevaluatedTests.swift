import SchemaKit
import Testing

@Suite("Unevaluated parts")
struct UnevaluatedTests {
    @Test(
        "unevaluatedProperties",
        arguments: [
            Case(
                #"{"properties":{"a":true},"unevaluatedProperties":false}"#, valid: [#"{"a":1}"#, "[]"],
                invalid: [#"{"a":1,"b":1}"#]),
            Case(
                #"{"allOf":[{"properties":{"a":true}},{"patternProperties":{"^x":true}}],"unevaluatedProperties":false}"#,
                valid: [#"{"a":1,"x1":1}"#], invalid: [#"{"b":1}"#]),
            Case(
                #"{"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":true},"required":["b"]}],"unevaluatedProperties":false}"#,
                valid: [#"{"a":1}"#, #"{"b":1}"#, #"{"a":1,"b":1}"#], invalid: [#"{"a":2,"b":1}"#, #"{"a":1,"c":1}"#]),
            Case(
                #"{"oneOf":[{"properties":{"a":true},"required":["a"]},{"properties":{"b":true},"required":["b"]}],"unevaluatedProperties":false}"#,
                valid: [#"{"a":1}"#, #"{"b":1}"#], invalid: [#"{"a":1,"b":1}"#, #"{"a":1,"c":1}"#]),
            Case(
                #"{"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},"else":{"properties":{"c":true}},"unevaluatedProperties":false}"#,
                valid: [#"{"a":1,"b":1}"#, #"{"c":1}"#], invalid: [#"{"a":1,"c":1}"#, #"{"a":2}"#, #"{"b":1}"#]),
            Case(
                ##"{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"a":true}}},"unevaluatedProperties":false}"##,
                valid: [#"{"a":1}"#], invalid: [#"{"b":1}"#]),
            Case(
                #"{"dependentSchemas":{"a":{"properties":{"a":true,"b":true}}},"unevaluatedProperties":false}"#,
                valid: [#"{"a":1,"b":1}"#], invalid: [#"{"b":1}"#]),
            Case(
                #"{"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false}"#, valid: ["{}"],
                invalid: [#"{"a":1}"#]),
            Case(
                #"{"allOf":[{"properties":{"a":true},"unevaluatedProperties":false}],"properties":{"b":true}}"#,
                valid: [#"{"a":1}"#], invalid: [#"{"a":1,"b":1}"#]),
            Case(
                #"{"allOf":[{"unevaluatedProperties":{"type":"integer"}}],"unevaluatedProperties":false}"#,
                valid: [#"{"a":1}"#], invalid: [#"{"a":"x"}"#]),
            Case(
                #"{"allOf":[{"additionalProperties":true}],"unevaluatedProperties":false}"#, valid: [#"{"a":1}"#]),
            Case(
                #"{"properties":{"a":{"properties":{"x":true}}},"unevaluatedProperties":false}"#,
                valid: [#"{"a":{"x":1,"y":2}}"#], invalid: [#"{"x":1}"#]),
            Case(
                #"{"properties":{"a":true},"unevaluatedProperties":{"type":"string"}}"#, valid: [#"{"a":1,"b":"x"}"#],
                invalid: [#"{"b":1}"#]),
        ])
    func members(_ one: Case) throws { try one.run() }

    @Test(
        "unevaluatedItems",
        arguments: [
            Case(#"{"prefixItems":[true],"unevaluatedItems":false}"#, valid: ["[]", "[1]", "{}"], invalid: ["[1,2]"]),
            Case(#"{"items":true,"unevaluatedItems":false}"#, valid: ["[1,2]"]),
            Case(
                #"{"prefixItems":[true],"contains":{"type":"string"},"unevaluatedItems":false}"#,
                valid: [#"[1,"a"]"#, #"["a"]"#], invalid: [#"[1,"a",2]"#]),
            Case(
                #"{"allOf":[{"prefixItems":[true,true]}],"anyOf":[{"contains":{"const":9}},true],"unevaluatedItems":false}"#,
                valid: ["[1,2]", "[1,2,9]"], invalid: ["[1,2,3]", "[1,2,9,3]"]),
            Case(
                #"{"if":{"prefixItems":[{"const":1}]},"then":{"prefixItems":[true,true]},"unevaluatedItems":{"type":"null"}}"#,
                valid: ["[1,2]", "[1,2,null]", "[null]"], invalid: ["[2]", "[1,2,3]"]),
        ])
    func elements(_ one: Case) throws { try one.run() }
}
