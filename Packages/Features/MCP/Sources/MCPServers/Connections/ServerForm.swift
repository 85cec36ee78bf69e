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
                // What is shown counts, and a reference may lead to it.
                let form = FormFields(schema)
                let suspicious = form.fields.first { SecretNames.isSecret($0.name) || SecretNames.isSecret($0.summary) }
                if let suspicious {
                    tell(
                        "the MCP server \(name) asked for \(PlainText.escape(suspicious.name).quotedForMessage), which reads like a secret, so it was declined; "
                            + "a secret belongs into the entry of the server, as ${secret:NAME}")
                    return .decline
                }
                let asked = "The MCP server \(name) asks: \(PlainText.escape(message, limit: 1_000))"
                // A form can be declined as a whole.
                if !interaction.showsForms || fields.isEmpty {
                    guard try await interaction.confirm("mcp.form", "\(asked)\nAnswer it?") else { return .decline }
                }
                guard !fields.isEmpty else { return .accept([:]) }
                let prompt = interaction.showsForms ? asked : "What to answer"
                // To tell a server something is for the person to decide, and not for a program in between.
                let entered = try await interaction.form("mcp.form", prompt, ValueForm(form.fields), for: .decision)
                return .accept(form.values(entered))
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
        } catch InteractionError.declined {
            return .decline
        } catch let error as InteractionError {
            tell("a question of the MCP server \(name) was not answered: \(error.message)")
            return .cancel
        }
    }
}
