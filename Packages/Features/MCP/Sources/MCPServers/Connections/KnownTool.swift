import Capabilities
public import JSON
public import MCPKit
import SchemaKit
import Synchronization

/// A tool as its server has listed it, with what each call needs of it, made once.
public final class KnownTool: Sendable {
    /// The tool.
    public let tool: MCPTool
    /// Everything that a model or the person is told of it, which an approval is for.
    public let text: JSON
    /// Differs if the text does. Comparable only within one process.
    public let state: Int
    private let schema = Mutex(Schema.unread)

    private enum Schema {
        case unread
        case compiled(JSONSchema)
        /// Not a schema. The server knows what it means.
        case none
    }

    init(_ tool: MCPTool) {
        self.tool = tool
        text = tool.json
        state = text.hashValue
    }

    /// What of the arguments does not fit the tool's schema; empty if they fit, or if that cannot be said.
    public func problems(in arguments: JSON) -> [String] {
        let schema = schema.withLock { known -> JSONSchema? in
            if case .unread = known {
                do throws(SchemaError) { known = .compiled(try JSONSchema(tool.input)) } catch { known = .none }
            }
            return if case .compiled(let schema) = known { schema } else { nil }
        }
        guard let verdict = schema?.check(arguments), verdict.outcome == .invalid else { return [] }
        return verdict.sentences
    }
}

/// All tools of a server, as it listed them.
public struct ToolListing: Sendable {
    /// Grows with each listing of a server.
    public let number: Int
    /// In the order of the server.
    public let tools: [KnownTool]
    private let places: [String: Int]

    init(_ number: Int, _ tools: [MCPTool]) {
        self.number = number
        self.tools = tools.map(KnownTool.init)
        places = Dictionary(tools.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// The tool with this name.
    public subscript(name: String) -> KnownTool? { places[name].map { tools[$0] } }
}
