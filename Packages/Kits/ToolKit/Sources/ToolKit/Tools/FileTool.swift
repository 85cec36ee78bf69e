import Capabilities
import JSON

/// One of the tools.
protocol FileTool: Sendable {
    var name: String { get }
    /// What it does, for a model that decides what to use.
    var summary: String { get }
    var properties: [Schema.Property] { get }

    /// The text that the model is given.
    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String
}

extension FileTool {
    var description: ToolDescription {
        ToolDescription(
            name: name, summary: summary, input: .object(Schema.record(properties).jsonSchema), effect: .reads)
    }
}

extension Schema.Property {
    static func optional(_ name: String, _ summary: String, _ schema: Schema) -> Schema.Property {
        Schema.Property(name, summary, .optional(schema))
    }

    static func path(_ summary: String) -> Schema.Property { optional("path", summary, .path(.any)) }

    static var hidden: Schema.Property {
        optional("hidden", "Also look at names that begin with a dot (default: false)", .boolean)
    }

    static var ignored: Schema.Property {
        optional("ignored", "Also look at what .gitignore leaves out (default: false)", .boolean)
    }
}
