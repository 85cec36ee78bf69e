public import Capabilities
public import JSON

/// What is decided beforehand for the calls that it fits.
///
///     {"verdict": "allow", "tool": "read_*", "source": "files", "arguments": {"/path": "/srv/notes/**"}}
///
/// In patterns `*` stands for anything but `/`, `**` for anything at all, `?` for one character, and `\` takes the
/// meaning from the next. A denial of a path holds for every spelling of it, for what leads there, for what lies beneath,
/// and for every tool of the workspace that would come there. Commands are compared word by word; one that does more than
/// name programs and their arguments is allowed by no such rule, and none is outside of a sandbox.
public struct ApprovalRule: InputValue, OutputValue, Hashable {
    public var verdict: ApprovalVerdict
    /// Which tools, by the name that their source gives them.
    public var tool: String
    /// Which sources; any when nil.
    public var source: String?
    /// Patterns for values of the input, by JSON pointer. All of them have to fit.
    public var arguments: [String: String]
    public var scope: ApprovalScope

    public init(
        _ verdict: ApprovalVerdict, tool: String = "*", source: String? = nil, arguments: [String: String] = [:],
        scope: ApprovalScope = .always
    ) {
        self.verdict = verdict
        self.tool = tool
        self.source = source
        self.arguments = arguments
        self.scope = scope
    }

    public static let schema = Schema.record([
        .init("verdict", "What happens to the calls", ApprovalVerdict.schema),
        .init("tool", "Pattern for the tool's name; any when absent", .optional(.string)),
        .init("source", "Pattern for who offers it; any when absent", .optional(.string)),
        .init(
            "arguments", "Patterns for values of the input, by JSON pointer", .optional(.map(.string)),
            keywords: ["propertyNames": ["pattern": "^(/|$)"]]),
        .init(
            "scope", "For how long it counts; always when absent", .optional(ApprovalScope.schema),
            keywords: ["enum": .array(ApprovalScope.allCases.filter { $0 != .once }.map(\.json))]),
    ])

    public init(json: JSON) throws(ValueError) {
        if let problem = Self.schema.problems(in: json).first { throw problem }
        func member<Value: InputValue>(_ name: String, _ type: Value.Type) throws(ValueError) -> Value? {
            guard let json = json[name], !json.isNull else { return nil }
            do { return try Value(json: json) } catch { throw error.under(name) }
        }
        guard let verdict = try member("verdict", ApprovalVerdict.self) else {
            throw ValueError("needs a verdict: allow, ask or deny")
        }
        self.init(
            verdict, tool: try member("tool", String.self) ?? "*", source: try member("source", String.self),
            arguments: try member("arguments", [String: String].self) ?? [:],
            scope: try member("scope", ApprovalScope.self) ?? .always)
        if scope == .once { throw ValueError("cannot be 'once': such an answer is not kept", at: ["scope"]) }
        for pointer in arguments.keys where !JSONPointer.isValid(pointer) {
            throw ValueError("is no JSON pointer; it begins with '/', as in '/path'", at: ["arguments", pointer])
        }
    }

    public var json: JSON {
        var object: JSONObject = ["verdict": verdict.json, "tool": .string(tool)]
        if let source { object["source"] = .string(source) }
        if !arguments.isEmpty { object["arguments"] = arguments.json }
        object["scope"] = scope.json
        return .object(object)
    }
}
