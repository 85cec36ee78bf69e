import Capabilities
import JSON

/// One of the tools.
protocol WorkspaceTool: Sendable {
    var name: String { get }
    /// What it does, for a model that decides what to use.
    var summary: String { get }
    var properties: [Schema.Property] { get }
    var effect: Effect { get }
    /// How long it may take, where that is longer than usual.
    var limit: Duration? { get }

    /// What a call would reach.
    func reach(_ input: ToolInput, in workspace: Workspace) async throws -> ToolReach

    /// - Parameter agreed: what the call reached when somebody agreed to it; nil where nobody has to.
    func outcome(
        _ input: ToolInput, in workspace: Workspace, reaching agreed: ToolReach?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolOutcome
}

/// What a model is given, and what its frontend shows beside it.
struct ToolOutcome: Sendable {
    var text: String
    var isError = false
    var exitCode: Int?
}

extension WorkspaceTool {
    var limit: Duration? { nil }

    var description: ToolDescription {
        ToolDescription(
            name: name, summary: summary, input: .object(Schema.record(properties).jsonSchema), effect: effect,
            limit: limit)
    }
}

/// One that looks at files and has nothing to tell before it is done.
protocol FileTool: WorkspaceTool {
    /// The text that the model is given.
    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String
}

extension FileTool {
    var effect: Effect { .reads }

    func reach(_ input: ToolInput, in workspace: Workspace) async throws -> ToolReach {
        let path = try input.path
        return try await workspace.work { _ in
            let place = try workspace.location(path)
            return ToolReach(paths: [place], state: place.hashValue)
        }
    }

    func outcome(
        _ input: ToolInput, in workspace: Workspace, reaching agreed: ToolReach?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolOutcome {
        if let agreed, try await reach(input, in: workspace) != agreed { throw ToolReachChanged() }
        return ToolOutcome(text: try await run(input, in: workspace))
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
