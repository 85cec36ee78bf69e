import Capabilities
import JSON

/// Checks a value against a JSON Schema, as far as providers support it: types, members, elements, choices, limits of
/// numbers and lengths, `anyOf`, `oneOf`, `allOf` and references within the schema. Other keywords are ignored.
struct SchemaCheck {
    private let root: JSON

    /// The limit for following references, because they may be circular.
    private static let deepest = 64
    private static let mostProblems = 5
    private static let types = ["object", "array", "string", "number", "integer", "boolean", "null"]

    init(_ schema: JSON) {
        root = schema
    }

    /// The problems of the schema; empty if it is valid.
    var faults: [String] { faults(in: root, at: "", depth: 0) }

    /// The problems of a value; empty if it matches the schema.
    func problems(in value: JSON) -> [String] {
        Array(problems(in: value, by: root, at: "", depth: 0).prefix(Self.mostProblems))
    }

    // MARK: The schema itself

    private func faults(in schema: JSON, at path: String, depth: Int) -> [String] {
        if schema.bool != nil || depth > Self.deepest { return [] }
        guard let members = schema.object else {
            return ["\(Self.place(path)) needs an object, not \(schema.kindName)"]
        }
        var faults: [String] = []
        if let type = members["type"] {
            let names = type.array ?? [type]
            for name in names where !Self.types.contains(name.string ?? "") {
                faults.append("\(Self.place(path)) has the unknown type \(name.text())")
            }
        }
        if let reference = members["$ref"]?.string, target(of: reference) == nil {
            faults.append("\(Self.place(path)) refers to \(reference), which is not in the schema")
        }
        for name in ["properties", "$defs", "definitions"] {
            for (key, inner) in members[name]?.object ?? [:] {
                faults += self.faults(in: inner, at: "\(path)/\(name)/\(key)", depth: depth + 1)
            }
        }
        for name in ["items", "additionalProperties"] {
            if let inner = members[name] { faults += self.faults(in: inner, at: "\(path)/\(name)", depth: depth + 1) }
        }
        for name in ["anyOf", "oneOf", "allOf"] {
            for (index, inner) in (members[name]?.array ?? []).enumerated() {
                faults += self.faults(in: inner, at: "\(path)/\(name)/\(index)", depth: depth + 1)
            }
        }
        return faults
    }

    /// The target of `#/$defs/name`.
    private func target(of reference: String) -> JSON? {
        guard reference.hasPrefix("#") else { return nil }
        return reference.dropFirst().split(separator: "/").reduce(root as JSON?) { place, name in
            place?[String(name).replacing("~1", with: "/").replacing("~0", with: "~")]
        }
    }

    // MARK: A value

    private func problems(in value: JSON, by schema: JSON, at path: String, depth: Int) -> [String] {
        if schema.bool == false { return ["\(Self.place(path)) is not allowed"] }
        guard let rules = schema.object, depth <= Self.deepest else { return [] }
        if let type = rules["type"] {
            let names = (type.array ?? [type]).compactMap(\.string)
            guard names.contains(where: { Self.fits(value, $0) }) else {
                return ["\(Self.place(path)) needs \(names.joined(separator: " or ")), not \(value.kindName)"]
            }
        }
        var problems: [String] = []
        if let reference = rules["$ref"]?.string, let target = target(of: reference) {
            problems += self.problems(in: value, by: target, at: path, depth: depth + 1)
        }
        if let choices = rules["enum"]?.array, !choices.contains(where: { Self.same($0, value) }) {
            problems.append("\(Self.place(path)) needs one of \(choices.map { $0.text() }.joined(separator: ", "))")
        }
        if let only = rules["const"], !Self.same(only, value) {
            problems.append("\(Self.place(path)) needs \(only.text())")
        }
        problems += combined(value, rules, path, depth)
        if let number = value.double { problems += limits(number, rules, path, "minimum", "maximum") }
        if let text = value.string {
            problems += limits(
                Double(text.unicodeScalars.count), rules, path, "minLength", "maxLength", of: "characters")
        }
        if let items = value.array {
            problems += limits(Double(items.count), rules, path, "minItems", "maxItems", of: "elements")
            for (index, item) in items.enumerated() {
                guard let inner = rules["items"] else { break }
                problems += self.problems(in: item, by: inner, at: "\(path)/\(index)", depth: depth + 1)
            }
        }
        if let members = value.object { problems += inside(members, rules, path, depth) }
        return problems
    }

    private func inside(_ members: JSONObject, _ rules: JSONObject, _ path: String, _ depth: Int) -> [String] {
        let known = rules["properties"]?.object ?? [:]
        let missing = (rules["required"]?.array ?? []).compactMap(\.string).filter { members[$0] == nil }
        var problems = missing.map { "\(Self.place("\(path)/\($0)")) is missing" }
        for (name, value) in members {
            let place = "\(path)/\(name)"
            if let rule = known[name] ?? rules["additionalProperties"] {
                problems += self.problems(in: value, by: rule, at: place, depth: depth + 1)
            }
        }
        return problems
    }

    private func combined(_ value: JSON, _ rules: JSONObject, _ path: String, _ depth: Int) -> [String] {
        func count(_ name: String) -> Int? {
            rules[name]?.array?.count { self.problems(in: value, by: $0, at: path, depth: depth + 1).isEmpty }
        }
        var problems: [String] = []
        if count("anyOf") == 0 { problems.append("\(Self.place(path)) matches none of the alternatives") }
        if let fitting = count("oneOf"), fitting != 1 {
            problems.append("\(Self.place(path)) must match exactly one alternative, not \(fitting)")
        }
        for rule in rules["allOf"]?.array ?? [] {
            problems += self.problems(in: value, by: rule, at: path, depth: depth + 1)
        }
        return problems
    }

    private func limits(
        _ number: Double, _ rules: JSONObject, _ path: String, _ lowest: String, _ highest: String, of what: String = ""
    ) -> [String] {
        let unit = what.isEmpty ? "" : " \(what)"
        var problems: [String] = []
        if let limit = rules[lowest], let least = limit.double, number < least {
            problems.append("\(Self.place(path)) needs at least \(limit.text())\(unit)")
        }
        if let limit = rules[highest], let most = limit.double, number > most {
            problems.append("\(Self.place(path)) needs at most \(limit.text())\(unit)")
        }
        return problems
    }

    private static func fits(_ value: JSON, _ type: String) -> Bool {
        switch type {
        case "object": value.object != nil
        case "array": value.array != nil
        case "string": value.string != nil
        case "boolean": value.bool != nil
        case "null": value.isNull
        case "integer": value.double.map { $0 == $0.rounded() } ?? false
        default: value.double != nil
        }
    }

    /// `1` and `1.0` are equal.
    private static func same(_ left: JSON, _ right: JSON) -> Bool {
        if let left = left.double, let right = right.double { return left == right }
        return left == right
    }

    private static func place(_ path: String) -> String { path.isEmpty ? "it" : PlainText.escape(path) }
}

/// An answer that does not match the requested schema.
struct AnswerMismatch: Failure {
    let problems: [String]

    var code: String { "chat.schema-mismatch" }
    var message: String {
        "the answer does not match the schema: \(problems.joined(separator: "; ")); it is kept unchanged"
    }

    /// Nil if the text is matching JSON.
    init?(_ text: String, _ schema: AnswerSchema) {
        do {
            problems = SchemaCheck(schema.schema).problems(in: try JSON(parsing: Array(text.utf8), reading: .stream))
        } catch {
            problems = ["it is not valid JSON"]
        }
        if problems.isEmpty { return nil }
    }
}
