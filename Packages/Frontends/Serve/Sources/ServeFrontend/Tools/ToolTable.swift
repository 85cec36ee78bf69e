import Capabilities
import JSON
import MCPKit
import Registry

/// The actions of a composition as tools, as far as a host is offered them.
struct ToolTable: Sendable {
    /// The tools, in the order of the actions.
    let tools: [MCPTool]
    private let entries: [String: (action: Action, place: Int)]

    init(_ actions: [Action], _ rights: ServeRights, _ grant: Grant) {
        var tools: [MCPTool] = []
        var entries: [String: (action: Action, place: Int)] = [:]
        for action in actions where !action.isHidden && rights.offers(action, to: grant) {
            // Nobody gives a secret to a model, which would have to send it.
            if action.parameters.contains(where: { $0.isRequired && $0.isSecret }) { continue }
            let tool = MCPTool(action)
            entries[tool.name] = (action, tools.count)
            tools.append(tool)
        }
        (self.tools, self.entries) = (tools, entries)
    }

    /// The action of a tool.
    func action(_ name: String) -> Action? { entries[name]?.action }

    /// One tool.
    func tool(_ name: String) -> MCPTool? { entries[name].map { tools[$0.place] } }
}

extension MCPTool {
    /// An action as a tool.
    ///
    /// Models are given tools by names without dots. Ids have no underscores, so that the names stay different.
    init(_ action: Action) {
        let farthest = action.destroyingFlag == nil ? action.effect : .destroys
        let output = action.result
        self.init(
            name: String(action.id.map { $0 == "." ? "_" : $0 }), title: action.summary,
            summary: action.details.isEmpty ? action.summary : "\(action.summary).\n\n\(action.details)",
            input: .object(Self.input(of: action)),
            output: output == Nothing.schema ? nil : .object(output.jsonSchema(accepting: .unknownMembers)),
            hints: Hints(
                readsOnly: farthest == .reads, destroys: farthest == .destroys,
                // What only reads can be repeated. Of anything else nothing is known.
                isIdempotent: farthest == .reads ? true : nil, reachesOut: action.sends),
            // What waits for nothing is over before a host has asked for it.
            tasks: action.isInstant ? .forbidden : .optional)
    }

    /// The schema without the secrets, which a host does not give.
    private static func input(of action: Action) -> JSONObject {
        var schema = action.inputSchema
        guard var properties = schema["properties"]?.object else { return schema }
        for parameter in action.parameters where parameter.isSecret { properties[parameter.name] = nil }
        schema["properties"] = .object(properties)
        return schema
    }
}

extension Action {
    /// The arguments that no host gives, whatever its rights: secrets, and the standard input, on which the protocol is
    /// spoken.
    func problemsForHosts(in arguments: JSONObject) -> [ValueError] {
        parameters.compactMap { parameter in
            guard let value = arguments[parameter.name] else { return nil }
            if parameter.isSecret { return ValueError("is a secret, which no host gives", at: [parameter.name]) }
            let isFile = (parameter.schema.element ?? parameter.schema).unwrapped == .path(.read)
            guard isFile, value == "-" || value.array?.contains("-") == true else { return nil }
            return ValueError("is the standard input, which belongs to the host", at: [parameter.name])
        }
    }
}

extension ParameterDeclaration {
    /// Whether its value is a secret.
    var isSecret: Bool { form == .secret || schema.unwrapped == .secret }
}
