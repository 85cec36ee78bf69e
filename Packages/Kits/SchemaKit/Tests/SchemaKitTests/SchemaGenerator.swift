import CoreTesting
import JSON

/// Random schemas and values from the same few names, numbers and texts, so that about half of the values match.
struct SchemaGenerator {
    private var generator: SeededGenerator
    private let isOld: Bool
    private static let names = ["a", "b", "c1", "é"]

    init(seed: UInt64, isOld: Bool) {
        generator = SeededGenerator(seed: seed)
        self.isOld = isOld
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &generator)]
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private mutating func list(_ count: ClosedRange<Int>, _ make: (inout SchemaGenerator) -> JSON) -> JSON {
        .array((0..<Int.random(in: count, using: &generator)).map { _ in make(&self) })
    }

    private mutating func named(_ names: [String], _ make: (inout SchemaGenerator) -> JSON) -> JSON {
        var members = JSONObject()
        for name in names where chance(50) { members[name] = make(&self) }
        return .object(members)
    }

    // MARK: Values

    mutating func value(depth: Int = 3) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 7), using: &generator) {
        case 0: .null
        case 1: .bool(chance(50))
        case 2: .int(pick([-1, 0, 1, 2, 3, 10]))
        case 3: pick([.double(1), .double(1.5), .double(-0.5), .double(2), .big("100000000000000000000")])
        case 4, 5, 6: .string(text())
        case 7, 8: list(0...4) { $0.value(depth: depth - 1) }
        default: named(Self.names) { $0.value(depth: depth - 1) }
        }
    }

    private mutating func text() -> String { pick(["", "a", "ab", "b1", "é", "abc", "😀", "x-1"]) }

    // MARK: Schemas

    /// A schema with definitions that refer to each other.
    mutating func document() -> JSON {
        guard case .object(var members) = schema(depth: 3), !chance(3) else { return .bool(chance(50)) }
        var definitions = JSONObject()
        for name in ["x", "y"] { definitions[name] = schema(depth: 2) }
        members[isOld ? "definitions" : "$defs"] = .object(definitions)
        if isOld { members["$schema"] = "http://json-schema.org/draft-07/schema#" }
        return .object(members)
    }

    mutating func schema(depth: Int) -> JSON {
        if chance(6) { return .bool(chance(70)) }
        var members = JSONObject()
        for _ in 0..<Int.random(in: 1...4, using: &generator) { addKeyword(to: &members, depth: depth) }
        return .object(members)
    }

    private mutating func addKeyword(to members: inout JSONObject, depth: Int) {
        switch Int.random(in: 0..<(depth > 0 ? 20 : 7), using: &generator) {
        case 0, 1:
            let types = ["null", "boolean", "integer", "number", "string", "array", "object"]
            members["type"] = chance(70) ? .string(pick(types)) : .array([.string(pick(types.dropLast())), "object"])
        case 2: members["enum"] = list(1...10) { $0.value(depth: 1) }
        case 3: members["const"] = value(depth: 2)
        case 4:
            members[pick(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])] = pick([0, 1, 1.5, 2, -1])
            if chance(30) { members["multipleOf"] = pick([1, 2, 0.5, 3]) }
        case 5:
            members[pick(["minLength", "maxLength"])] = pick([0, 1, 2, 3])
            if chance(50) { members["pattern"] = .string(pattern()) }
        case 6: members[pick(["minItems", "maxItems", "minProperties", "maxProperties"])] = pick([0, 1, 2, 3])
        case 7, 8: members["properties"] = named(Self.names) { $0.schema(depth: depth - 1) }
        case 9: members["required"] = .array(Self.names.filter { _ in chance(30) }.map { .string($0) })
        case 10:
            members["patternProperties"] = [pattern(): schema(depth: depth - 1)]
        case 11: members["additionalProperties"] = schema(depth: depth - 1)
        case 12: addDependencies(to: &members, depth: depth)
        case 13: addElements(to: &members, depth: depth)
        case 14:
            members["contains"] = schema(depth: depth - 1)
            if !isOld, chance(50) { members["minContains"] = pick([0, 1, 2]) }
            if !isOld, chance(30) { members["maxContains"] = pick([0, 1, 2]) }
            if chance(30) { members["uniqueItems"] = true }
        case 15, 16: members[pick(["allOf", "anyOf", "oneOf"])] = list(1...3) { $0.schema(depth: depth - 1) }
        case 17:
            if chance(40) {
                members["not"] = schema(depth: depth - 1)
            } else {
                members["if"] = schema(depth: depth - 1)
                if chance(70) { members["then"] = schema(depth: depth - 1) }
                if chance(70) { members["else"] = schema(depth: depth - 1) }
            }
        case 18:
            // Definitions are at depth 2, and refer to nothing, so that no reference leads back to itself.
            if depth == 3 { members["$ref"] = .string("#/\(isOld ? "definitions" : "$defs")/\(pick(["x", "y"]))") }
        default:
            if isOld {
                members["propertyNames"] = schema(depth: 0)
            } else {
                let isFalse = chance(60)
                members[pick(["unevaluatedProperties", "unevaluatedItems"])] =
                    isFalse ? false : schema(depth: depth - 1)
            }
        }
    }

    private mutating func addDependencies(to members: inout JSONObject, depth: Int) {
        let names: JSON = .array([.string(pick(Self.names))])
        if isOld {
            members["dependencies"] = [pick(Self.names): chance(50) ? names : schema(depth: depth - 1)]
        } else if chance(50) {
            members["dependentRequired"] = [pick(Self.names): names]
        } else {
            members["dependentSchemas"] = [pick(Self.names): schema(depth: depth - 1)]
        }
    }

    private mutating func addElements(to members: inout JSONObject, depth: Int) {
        let first = list(1...2) { $0.schema(depth: depth - 1) }
        if isOld, chance(50) {
            members["items"] = first
            if chance(50) { members["additionalItems"] = schema(depth: depth - 1) }
        } else {
            if !isOld, chance(50) { members["prefixItems"] = first }
            if chance(60) { members["items"] = schema(depth: depth - 1) }
        }
    }

    private mutating func pattern() -> String {
        pick(["^a", "b", "[0-9]$", #"^[a-z]*\d?$"#, "a|é", "^.$", #"^\S+$"#, "(?=a).b", "^(a|b)+$"])
    }
}
