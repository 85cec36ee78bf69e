public import Capabilities
public import JSON

/// What is decided beforehand for the calls that it fits.
///
///     {"verdict": "allow", "tool": "read_*", "source": "files", "arguments": {"/path": "/srv/notes/**"}}
///
/// In patterns `*` stands for anything but `/`, `**` for anything at all, `?` for one character, and `\` takes the
/// meaning from the next. A rule compares text; it does not know what a tool makes of its input, so that a rule about
/// paths or commands is a convenience and no wall.
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

// MARK: Matching

extension ApprovalRule {
    /// Longer values are not compared: they fit whatever asks or denies, and nothing that allows.
    static let longestValue = 65_536

    func fits(_ request: ApprovalRequest) -> Bool {
        Glob.matches(tool, request.tool) && source.map { Glob.matches($0, request.source) } != false
            && arguments.allSatisfy { pointer, pattern in fits(request.call.input, at: pointer, pattern) }
    }

    private func fits(_ input: JSON, at pointer: String, _ pattern: String) -> Bool {
        guard let value = JSONPointer.value(at: pointer, in: input) else { return false }
        let text = value.string ?? value.text()
        if text.utf8.count > Self.longestValue { return verdict != .allow }
        // A pattern of a folder would otherwise allow what lies outside of it.
        if verdict == .allow, text.split(separator: "/").contains("..") { return text == pattern }
        return Glob.matches(pattern, text)
    }

    /// How closely a rule describes calls: first by their input, then by the tool.
    var precision: [Int] {
        [arguments.count, arguments.values.reduce(0) { $0 + Glob.precision(of: $1) }, Glob.precision(of: tool)]
    }
}
