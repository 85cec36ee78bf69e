import CoreTesting
import JSON
import SchemaKit
import Testing

@Suite("Hostile schemas and values", .timeLimit(.minutes(10)))
struct BoundsTests {
    /// A check that must be stopped, in time; mostly with fewer steps than usual, since nothing is optimised here.
    private func expectStop(_ schema: JSON, _ value: JSON, _ reason: String? = nil, steps: Int = 100_000) throws {
        var limits = JSONSchema.Limits()
        limits.steps = steps
        let reason = reason ?? "stopped after \(steps) steps"
        let schema = try JSONSchema(schema, limits: limits)
        var verdict = schema.check(nil)
        let seconds = threadSeconds { verdict = schema.check(value) }
        #expect(verdict.outcome == .unknown && verdict.problems.isEmpty, "\(verdict.outcome)")
        #expect(verdict.unchecked.contains { $0.kind == .limit && $0.description.contains(reason) })
        #expect(seconds < 20)
    }

    private static func nested(_ depth: Int, _ innermost: JSON, _ around: (JSON) -> JSON) -> JSON {
        (0..<depth).reduce(innermost) { inner, _ in around(inner) }
    }

    @Test("Nested alternatives that double their work are stopped")
    func doubling() throws {
        var definitions: JSONObject = ["d0": ["type": "string"]]
        for level in 1...30 {
            let below: JSON = ["$ref": .string("#/$defs/d\(level - 1)")]
            definitions["d\(level)"] = ["anyOf": [below, below]]
        }
        try expectStop(["$ref": "#/$defs/d30", "$defs": .object(definitions)], 1)
        definitions["u"] = ["$ref": "#/$defs/d30", "unevaluatedProperties": false]
        definitions["d0"] = true
        try expectStop(["$ref": "#/$defs/u", "$defs": .object(definitions)], ["a": 1])
        // A failure that is reported is checked again level by level, which stays bounded.
        definitions["d0"] = false
        let verdict = try JSONSchema(["$ref": "#/$defs/d12", "$defs": .object(definitions)]).check(1)
        #expect(verdict.outcome == .invalid)
    }

    @Test("Values as deep as they are read are checked, and deeper checks are stopped")
    func deep() throws {
        let tree: JSON = [
            "$defs": ["n": ["anyOf": [["type": "array", "items": ["$ref": "#/$defs/n"]], ["type": "null"]]]],
            "$ref": "#/$defs/n",
        ]
        #expect(try JSONSchema(tree).check(Self.nested(64, nil) { [$0] }).isValid)
        try expectStop(tree, Self.nested(500, nil) { [$0] }, "at a depth of 400 subschemas")
        #expect(try JSONSchema(["items": ["$ref": "#"]]).check(Self.nested(190, nil) { [$0] }).isValid)
        // A wrong part is found with all the parts around it.
        let wrong = try JSONSchema(tree).check(Self.nested(40, 1) { [$0] })
        #expect(wrong.sentences == [String(repeating: "/0", count: 40) + " needs an array or null, not an integer"])
    }

    @Test("A schema that is too deep or too large is refused, with the limit")
    func largeSchemas() {
        let deep = #expect(throws: SchemaError.self) { try JSONSchema(Self.nested(200, true) { ["not": $0] }) }
        #expect(deep?.sentences == ["it is nested deeper than 128 levels"])
        let many = JSON.object(["allOf": .array([JSON](repeating: true, count: 30_000))])
        let large = #expect(throws: SchemaError.self) { try JSONSchema(many) }
        #expect(large?.sentences == ["it has more than 20000 subschemas"])
        // Parts with long names, whose places are not spelled out for each.
        let name = String(repeating: "x", count: 100_000)
        let parts = JSONObject((0..<10_000).map { ("\($0)", ["minimum": "1"] as JSON) })
        let error = #expect(throws: SchemaError.self) {
            try JSONSchema(["$defs": [name: ["properties": .object(parts)]]])
        }
        #expect(error?.problems.count == 20 && (error?.message.utf8.count ?? 0) < 20_000)
    }

    @Test("References that lead through each other in a circle end")
    func chains() throws {
        var definitions = JSONObject()
        for index in 0..<1_000 { definitions["d\(index)"] = ["$ref": .string("#/$defs/d\((index + 1) % 1_000)")] }
        let schema = try JSONSchema(["$ref": "#/$defs/d0", "$defs": .object(definitions)])
        #expect(schema.check(1).outcome == .unknown)
    }

    @Test("A million elements are checked or stopped, and so is whether they differ")
    func manyElements() throws {
        let numbers = JSON.array((0..<1_000_000).map { .int($0) })
        #expect(JSONSchema.Limits().steps == 1_000_000)
        try expectStop(["items": ["type": "integer"]], numbers, steps: 1_000_000)
        var limits = JSONSchema.Limits()
        limits.steps = 10_000_000
        #expect(try JSONSchema(["items": ["type": "integer"]], limits: limits).check(numbers).isValid)
        #expect(try JSONSchema(["uniqueItems": true]).check(.array((0..<900_000).map { .int($0) })).isValid)
        try expectStop(["uniqueItems": true], .array((0..<300_000).map { [.int($0), [:], nil] }))
        var repeated = (0..<500_000).map { JSON.string("element \($0)") }
        repeated.append("element 7")
        #expect(
            try JSONSchema(["uniqueItems": true]).check(.array(repeated)).sentences
                == ["/500000 is the same as element 7, and each may be there once only"])
    }

    @Test("Many problems are cut, and one sentence says that there are more")
    func manyProblems() throws {
        let verdict = try JSONSchema(["items": ["type": "string"]]).check(.array([JSON](repeating: 1, count: 500_000)))
        #expect(verdict.problems.count == 20 && verdict.hasMore && verdict.sentences.last == "… and more")
        let required = JSON.array((0..<100_000).map { .string("n\($0)") })
        #expect(try JSONSchema(["required": required]).check([:]).problems.count == 20)
        let exact = try JSONSchema(["items": ["type": "string"]]).check(.array([JSON](repeating: 1, count: 20)))
        #expect(exact.problems.count == 20 && !exact.hasMore)
    }

    @Test("Large numbers and long texts cost what they are long")
    func largeNumbers() throws {
        let digits = String(repeating: "7", count: 200_000)
        let schema = try JSONSchema(["items": ["multipleOf": 7, "minimum": 0]])
        #expect(schema.check([.big(digits)]).isValid)
        try expectStop(["items": ["multipleOf": 7]], .array([JSON](repeating: .big(digits), count: 1_000)))
        let text = JSON.string(String(repeating: "é", count: 1_000_000))
        #expect(try JSONSchema(["maxLength": 1_000_000]).check(text).isValid)
        try expectStop(["items": ["maxLength": 1_000_000]], .array([JSON](repeating: text, count: 1_000)))
        #expect(try JSONSchema(["multipleOf": .big("99999999999999999999999")]).check(1).outcome == .unknown)
        #expect(try JSONSchema(["multipleOf": 1e-300]).check(1e300).isValid)
    }

    @Test("Large parts of a schema are compared once, or not at all")
    func largeParts() throws {
        let huge = JSON.big(String(repeating: "9", count: 1_000_000))
        let numbers = JSON.array([JSON](repeating: 1, count: 100_000))
        #expect(try JSONSchema(["items": ["minimum": huge]]).check(numbers).outcome == .unknown)
        try expectStop(["items": ["enum": [huge, 1]]], numbers)
        let nested: JSON = [.array([JSON](repeating: "long", count: 100_000))]
        #expect(try sentences(["const": nested], 1) == ["it needs to be an array of 1 element"])
        var chain: JSON = true
        for _ in 0..<100 { chain = ["$id": .string(String(repeating: "a", count: 100) + "/"), "not": chain] }
        let error = #expect(throws: SchemaError.self) { try JSONSchema(chain) }
        #expect(error?.sentences.first?.hasSuffix("/$id leads to an address of more than 4096 bytes") == true)
        var resources: JSONObject = ["start": ["$dynamicRef": "#a"]]
        for index in 0..<5_000 {
            resources["r\(index)"] = [
                "$id": .string("r\(index)"), "$dynamicAnchor": "a", "items": ["$dynamicRef": "#a"],
            ]
        }
        let schema = try JSONSchema(["$ref": "r7", "$defs": .object(resources), "$dynamicAnchor": "a"])
        #expect(schema.check([[[[]]]]).isValid)
    }

    @Test("A check is stopped wherever it is, in any schema", arguments: 0..<8 as Range<UInt64>)
    func stopsAnywhere(seed: UInt64) throws {
        var generator = SchemaGenerator(seed: seed, isOld: seed % 2 == 0)
        for _ in 0..<10 {
            let (json, value) = (generator.document(), generator.value())
            let whole = try JSONSchema(json).check(value)
            for steps in [0, 1, 2, 3, 5, 8, 13, 21, 34] {
                var limits = JSONSchema.Limits()
                limits.steps = steps
                let part = try JSONSchema(json, limits: limits).check(value)
                #expect(part.outcome == whole.outcome || part.outcome == .unknown, "\(json) \(value) \(steps)")
            }
            var limits = JSONSchema.Limits()
            limits.depth = Int(seed % 4)
            let shallow = try JSONSchema(json, limits: limits).check(value)
            #expect(shallow.outcome == whole.outcome || shallow.outcome == .unknown, "\(json) \(value) shallow")
        }
    }

    @Test("One schema may be used by many tasks at once")
    func concurrent() async throws {
        let schema = try JSONSchema([
            "properties": ["a": ["type": "string", "pattern": "^[a-z]+$"]], "required": ["a"],
        ])
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).allSatisfy { round in
                        let isRight = (task + round) % 2 == 0
                        return schema.check(["a": isRight ? "word" : "Word"]).isValid == isRight
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
