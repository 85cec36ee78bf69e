import Capabilities
import JSON
import MCPKit
import MCPServers
import Registry
import SchemaKit

/// The words after a tool's name on a command line, read by the schema of the tool:
/// `--repo_path . --max-count 5 --all --label a --label b`, or one JSON object.
struct ToolWords {
    private let tool: MCPTool
    private let properties: JSONObject
    private let required: [String]

    init(_ tool: MCPTool) {
        self.tool = tool
        properties = tool.input["properties"]?.object ?? [:]
        required = tool.input["required"]?.array?.compactMap(\.string) ?? []
    }

    /// What a shell may complete.
    var options: [Completion.Candidate] {
        properties.map { name, schema in
            Completion.Candidate("--\(name)", (schema["description"]?.string ?? "").firstLine)
        } + [Completion.Candidate("--help", "What the tool takes")]
    }

    /// Whether the words ask what the tool takes.
    static func wantHelp(_ words: [String]) -> Bool { words == ["--help"] || words == ["-h"] }

    // MARK: Reading

    /// The arguments that the words give. Whether they are all that the tool needs is not looked at.
    func arguments(_ words: [String]) throws -> JSONObject {
        if words.count == 1, let word = words.first, word.hasPrefix("{") { return try Self.object(word) }
        var found: JSONObject = [:]
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            guard word.hasPrefix("--"), word.count > 2 else {
                throw problem(
                    "takes options such as \(example), or one JSON object, and not \(PlainText.escape(word).quotedForMessage)"
                )
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let given = String(parts[0])
            if let name = name(given) {
                let schema = resolved(properties[name] ?? [:])
                var value = parts.count > 1 ? String(parts[1]) : nil
                if value == nil, types(schema) == ["boolean"] {
                    found[name] = true
                    continue
                }
                if value == nil, index < words.count {
                    value = words[index]
                    index += 1
                }
                guard let value else { throw problem("needs a value for --\(name)") }
                if let element = element(schema), !value.hasPrefix("[") {
                    found[name] = .array((found[name]?.array ?? []) + [try json(value, resolved(element), name)])
                } else {
                    found[name] = try json(value, schema, name)
                }
            } else if given.hasPrefix("no-"), let name = name(String(given.dropFirst(3))), parts.count == 1,
                types(resolved(properties[name] ?? [:])).contains("boolean")
            {
                found[name] = false
            } else {
                throw problem(
                    "has no --\(PlainText.escape(given))\(Suggestion.text(for: given, among: properties.map(\.key)))")
            }
        }
        return found
    }

    /// Reads one JSON object.
    static func object(_ text: String) throws -> JSONObject {
        let json: JSON
        do throws(JSONError) { json = try JSON(parsing: text) } catch {
            throw ServerError(.badArguments, "the arguments are no JSON: \(error.located(in: "the arguments"))")
        }
        guard let object = json.object else {
            throw ServerError(.badArguments, "the arguments must be a JSON object, not \(json.kindName)")
        }
        return object
    }

    /// A name as it is, or with hyphens for underscores.
    private func name(_ given: String) -> String? {
        if properties[given] != nil { return given }
        let plain = given.replacing("-", with: "_")
        return properties.first { $0.key.replacing("-", with: "_") == plain }?.key
    }

    private func json(_ word: String, _ schema: JSON, _ name: String) throws -> JSON {
        let types = types(schema)
        if types.contains("integer"), let number = Int(word) { return .int(number) }
        if types.contains("number"), let number = Double(word), number.isFinite {
            return Int(word).map { .int($0) } ?? .double(number)
        }
        if types.contains("boolean"), word == "true" || word == "false" { return .bool(word == "true") }
        if types.contains("null"), word == "null" { return .null }
        if types.contains("object") || types.contains("array") || types.isEmpty, let parsed = try? JSON(parsing: word) {
            // A word that is no JSON is text, if the tool takes that.
            return parsed
        }
        if types.isEmpty || types.contains("string") { return .string(word) }
        throw problem(
            "needs \(types.joined(separator: " or ")) for --\(name), not \(PlainText.escape(word).quotedForMessage)")
    }

    /// The types that a schema names, also those of its alternatives, which are not looked into deeper.
    private func types(_ schema: JSON, deep: Bool = true) -> [String] {
        if let type = schema["type"]?.string { return [type] }
        if let types = schema["type"]?.array { return types.compactMap(\.string) }
        if let options = (schema["anyOf"] ?? schema["oneOf"])?.array {
            return deep ? options.flatMap { types(resolved($0), deep: false) } : []
        }
        return schema["enum"]?.array?.allSatisfy { $0.string != nil } == true ? ["string"] : []
    }

    private func element(_ schema: JSON) -> JSON? {
        if let items = schema["items"], types(schema).contains("array") { return items }
        return (schema["anyOf"] ?? schema["oneOf"])?.array?.lazy.map(resolved).compactMap { $0["items"] }.first
    }

    /// The schema that a local reference names.
    private func resolved(_ schema: JSON) -> JSON {
        guard let reference = schema["$ref"]?.string, reference.hasPrefix("#/") else { return schema }
        var found: JSON? = tool.input
        for part in reference.dropFirst(2).split(separator: "/") { found = found?[String(part)] }
        return found ?? schema
    }

    private var example: String { properties.first { _ in true }.map { "--\($0.key) VALUE" } ?? "none at all" }

    private func problem(_ words: String) -> ServerError {
        ServerError(
            .badArguments, "\(PlainText.escape(tool.name)) \(words); '--help' after the tool shows what it takes")
    }

    // MARK: Asking

    /// Asks for what is missing.
    ///
    /// - Parameter asksAll: whether a form, where one is shown, has the optional arguments too.
    func complete(
        _ given: JSONObject, asking interaction: any Interaction, forAll asksAll: Bool
    ) async throws -> JSONObject {
        guard interaction.canAsk else { return given }
        let asksAll = asksAll && interaction.showsForms
        let form = FormFields(tool.input) { asksAll || required.contains($0) && given[$0] == nil }
        guard !form.fields.isEmpty else { return given }
        var arguments = given
        let entered = try await interaction.form(
            "mcp.call", "The arguments of \(PlainText.escape(tool.name))", ValueForm(form.fields))
        for (name, value) in form.values(entered) { arguments[name] = value }
        return arguments
    }

    /// Throws if the arguments do not fit the tool, with all that is wrong.
    func check(_ arguments: JSONObject) throws {
        let schema: JSONSchema
        do throws(SchemaError) { schema = try JSONSchema(tool.input) } catch {
            // The server knows what it means.
            return
        }
        let verdict = schema.check(.object(arguments))
        guard verdict.outcome == .invalid else { return }
        throw problem(
            "cannot be called so: \(PlainText.escape(verdict.sentences.joined(separator: "; "), limit: 1_500))")
    }

    /// What the tool takes, for a person.
    var help: String {
        var lines = [PlainText.escapeLines(tool.summary ?? tool.title ?? tool.name), ""]
        let width = properties.map(\.key.count).max() ?? 0
        for (name, schema) in properties {
            let schema = resolved(schema)
            let type = types(schema).joined(separator: " or ")
            let options = schema["enum"]?.array.map {
                "one of \($0.map { $0.string ?? $0.text() }.joined(separator: ", "))"
            }
            let usual = schema["default"]?.unlessNull.map { "by default \($0.string ?? $0.text())" }
            let about = [(schema["description"]?.string ?? "").firstLine, options ?? "", usual ?? ""]
            let words = ([required.contains(name) ? "required" : "", type] + about).filter { !$0.isEmpty }
            let shown = PlainText.escape(words.joined(separator: ", "), limit: 300)
            lines.append("  --\(PlainText.escape(name.padded(to: width)))  \(shown)")
        }
        if properties.isEmpty { lines.append("  It takes no arguments.") }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
