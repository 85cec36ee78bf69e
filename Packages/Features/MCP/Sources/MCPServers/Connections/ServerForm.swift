import Capabilities
import JSON
import MCPKit

/// A question of a server to the person. What the server says is not trusted: its words are shown as such, and nothing that
/// reads like a secret is asked for.
struct ServerForm {
    private let question: MCPElicitation
    private let server: String

    /// No person fills in more.
    private static let mostFields = 30

    init(_ question: MCPElicitation, of server: String) {
        self.question = question
        self.server = server
    }

    /// Asks the person.
    ///
    /// - Parameter tell: is told what was declined, and why.
    func answer(from interaction: any Interaction, telling tell: (String) -> Void) async throws -> MCPAnswer {
        let name = PlainText.escape(server).quotedForMessage
        do {
            switch question {
            case .form(let message, let schema):
                let fields = schema["properties"]?.object ?? [:]
                guard fields.count <= Self.mostFields else {
                    tell(
                        "a question of the MCP server \(name) was declined: it has more than \(Self.mostFields) fields")
                    return .decline
                }
                let suspicious = fields.first { field, form in
                    SecretNames.isSecret(field)
                        || [form["title"]?.string, form["description"]?.string].contains {
                            $0.map(SecretNames.isSecret) ?? false
                        }
                }
                if let (field, _) = suspicious {
                    tell(
                        "the MCP server \(name) asked for \(PlainText.escape(field).quotedForMessage), which reads like a secret, so it was declined; "
                            + "a secret belongs into the entry of the server, as ${secret:NAME}")
                    return .decline
                }
                let shown = PlainText.escape(message, limit: 1_000)
                guard try await interaction.confirm("mcp.form", "The MCP server \(name) asks: \(shown)\nAnswer it?")
                else {
                    return .decline
                }
                let required = schema["required"]?.array?.compactMap(\.string) ?? []
                var values: JSONObject = [:]
                for (field, form) in fields {
                    values[field] = try await value(field, form, isRequired: required.contains(field), interaction)
                }
                return .accept(values)
            case .address(let message, let address, _):
                let shown = PlainText.escape(message, limit: 1_000)
                let isPlain = address.hasPrefix("https://") || address.hasPrefix("http://")
                guard isPlain else {
                    tell(
                        "the MCP server \(name) wanted you to visit \(PlainText.escape(address, limit: 200)), which is no web page, so it was declined"
                    )
                    return .decline
                }
                let visited = try await interaction.confirm(
                    "mcp.visit",
                    "The MCP server \(name) asks you to visit \(PlainText.escape(address, limit: 500)): \(shown)\nHave you done that?"
                )
                return visited ? .accept([:]) : .decline
            }
        } catch let error as InteractionError {
            tell("a question of the MCP server \(name) was not answered: \(error.message)")
            return .cancel
        }
    }

    /// The value of one field; nil if it is left out.
    private func value(
        _ field: String, _ form: JSON, isRequired: Bool, _ interaction: any Interaction
    ) async throws -> JSON? {
        let id = "mcp.form.\(field)"
        let title = form["title"]?.string ?? field
        let about = form["description"]?.string.map { " (\(PlainText.escape($0, limit: 300)))" } ?? ""
        let prompt = "\(PlainText.escape(title, limit: 100))\(about)"
        if let options = form["enum"]?.array?.compactMap(\.string), !options.isEmpty {
            let names = form["enumNames"]?.array?.compactMap(\.string) ?? options
            let shown = (names.count == options.count ? names : options).map { PlainText.escape($0, limit: 100) }
            return .string(options[try await interaction.choice(id, prompt, among: shown)])
        }
        if let options = form["oneOf"]?.array, !options.isEmpty {
            let shown = options.map { PlainText.escape($0["title"]?.string ?? $0["const"]?.string ?? "", limit: 100) }
            return options[try await interaction.choice(id, prompt, among: shown)]["const"] ?? nil
        }
        let defaultValue = form["default"]?.unlessNull
        switch form["type"]?.string {
        case "boolean": return .bool(try await interaction.confirm(id, prompt))
        case "integer", "number":
            let text = try await interaction.text(id, prompt, default: defaultValue?.text() ?? (isRequired ? nil : ""))
            if text.isEmpty { return nil }
            guard let number = Double(text), number.isFinite else {
                throw InteractionError.unfit(id: id, why: "must be a number")
            }
            return Int(exactly: number).map { .int($0) } ?? .double(number)
        default:
            let text = try await interaction.text(id, prompt, default: defaultValue?.string ?? (isRequired ? nil : ""))
            return text.isEmpty && !isRequired ? nil : .string(text)
        }
    }
}
