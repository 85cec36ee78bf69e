public import Capabilities
public import JSON

/// The members of an object's JSON Schema as values to ask a person for. All of it comes from a server, so what is shown is
/// escaped, and what is not understood is entered as JSON.
public struct FormFields: Sendable {
    /// The values to ask for, in the order of the schema.
    public let fields: [Schema.Property]
    /// What the choices with titles stand for, by field and title.
    private let meanings: [String: [String: JSON]]

    /// Reads a schema.
    ///
    /// - Parameter isIncluded: which members; nil for all.
    public init(_ schema: JSON, only isIncluded: ((String) -> Bool)? = nil) {
        let required = schema["required"]?.array?.compactMap(\.string) ?? []
        var fields: [Schema.Property] = []
        var meanings: [String: [String: JSON]] = [:]
        for (name, member) in schema["properties"]?.object ?? [:] where isIncluded?(name) ?? true {
            let member = Self.resolved(member, in: schema)
            let options = Self.options(of: member)
            var shape = Self.shape(of: member, in: schema)
            if let options {
                shape = .choice(options.map(\.title))
                meanings[name] = Dictionary(options.map { ($0.title, $0.value) }) { first, _ in first }
            }
            let about = [member["title"]?.string, member["description"]?.string].compactMap(\.self)
                .joined(separator: ": ").prefix { !$0.isNewline }
            // A choice is shown by its title, and so is the default among them.
            var usual = member["default"]?.unlessNull
            if let options { usual = options.first { $0.value == usual }.map { .string($0.title) } }
            let isUsable = usual.map { shape.problems(in: $0).isEmpty } ?? false
            fields.append(
                Schema.Property(
                    name, PlainText.escape(String(about), limit: 200),
                    required.contains(name) ? shape : .optional(shape), defaultValue: isUsable ? usual : nil))
        }
        (self.fields, self.meanings) = (fields, meanings)
    }

    /// The values for the server: those that were entered, with what the titles of choices stand for.
    public func values(_ entered: JSONObject) -> JSONObject {
        var values = entered
        for (name, meanings) in meanings {
            if let title = entered[name]?.string, let meaning = meanings[title] { values[name] = meaning }
        }
        return values
    }

    /// The options of a choice with their titles; nil if it is none.
    private static func options(of member: JSON) -> [(title: String, value: JSON)]? {
        var options: [(title: String, value: JSON)] = []
        if let titled = (member["oneOf"] ?? member["anyOf"])?.array, titled.allSatisfy({ $0["const"] != nil }) {
            options = titled.map { ($0["title"]?.string ?? $0["const"]?.string ?? "", $0["const"] ?? .null) }
        } else if let values = member["enum"]?.array {
            let names = member["enumNames"]?.array?.compactMap(\.string) ?? []
            options = values.enumerated().map { index, value in
                (names.count == values.count ? names[index] : value.string ?? value.text(), value)
            }
        }
        guard !options.isEmpty else { return nil }
        let shown = options.map { (title: PlainText.escape($0.title, limit: 100), value: $0.value) }
        // Options that look the same could not be told apart.
        return Set(shown.map(\.title)).count == shown.count ? shown : nil
    }

    private static func shape(of member: JSON, in schema: JSON) -> Schema {
        let types = types(of: member, in: schema).filter { $0 != "null" }
        guard types.count == 1 else { return .any }
        switch types[0] {
        case "boolean": return .boolean
        case "integer": return .integer(nil)
        case "number": return .number(nil)
        case "string": return .string
        case "array":
            let element = resolved(member["items"] ?? [:], in: schema)
            // Deeper lists are written as JSON, and so is one that is an element of itself.
            guard !self.types(of: element, in: schema).contains("array") else { return .array(.any) }
            return .array(shape(of: element, in: schema))
        case "object": return .map(.any)
        default: return .any
        }
    }

    /// The types that a schema names, also those of its alternatives.
    private static func types(of member: JSON, in schema: JSON) -> [String] {
        if let type = member["type"]?.string { return [type] }
        if let types = member["type"]?.array { return types.compactMap(\.string) }
        guard let options = (member["anyOf"] ?? member["oneOf"])?.array else { return [] }
        return options.map { resolved($0, in: schema) }.compactMap { $0["type"]?.string }
    }

    /// The schema that a local reference names.
    private static func resolved(_ member: JSON, in schema: JSON) -> JSON {
        guard let reference = member["$ref"]?.string, reference.hasPrefix("#/") else { return member }
        var found: JSON? = schema
        for part in reference.dropFirst(2).split(separator: "/") { found = found?[String(part)] }
        return found ?? member
    }
}
