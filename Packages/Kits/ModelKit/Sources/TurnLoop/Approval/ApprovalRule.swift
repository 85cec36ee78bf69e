public import Capabilities
public import JSON

/// A decision in advance about matching calls.
///
///     {"verdict": "allow", "tool": "read_*", "source": "files", "arguments": {"/path": "/srv/notes/**"}}
///
/// In patterns, `*` stands for anything but `/`, `**` for anything, `?` for one character, and `\` escapes the next
/// character. A denial of a path applies to every spelling of it, to links that lead there, to everything beneath, and
/// to every tool of the workspace. Commands are compared word by word. No such rule allows a command that does more
/// than name programs and their arguments, or one outside of a sandbox.
public struct ApprovalRule: InputValue, OutputValue, Hashable {
    /// What happens to matching calls.
    public var verdict: ApprovalVerdict
    /// A pattern for tools, by the name that their source uses.
    public var tool: String
    /// A pattern for sources. Nil is any for a denial or a question; a rule that allows then covers only the tools of
    /// this program.
    public var source: String?
    /// Patterns for input values, by JSON pointer. All of them must match.
    public var arguments: [String: String]
    /// How long it applies; never `.once`, except for a rule that is not stored.
    public var scope: ApprovalScope

    /// A rule; by default for all tools of all sources.
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
        .init("verdict", "What happens to matching calls", ApprovalVerdict.schema),
        .init("tool", "Pattern for the tool's name; any if absent", .optional(.string)),
        .init(
            "source", "Pattern for the tool's source; if absent any, and for allow those of this program",
            .optional(.string)),
        .init(
            "arguments", "Patterns for input values, by JSON pointer", .optional(.map(.string)),
            keywords: ["propertyNames": ["pattern": "^(/|$)"]]),
        .init(
            "scope", "How long it applies; always if absent", .optional(ApprovalScope.schema),
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
        if scope == .once { throw ValueError("cannot be 'once': such an answer is not stored", at: ["scope"]) }
        for pointer in arguments.keys where !JSONPointer.isValid(pointer) {
            throw ValueError("is not a JSON pointer; it begins with '/', as in '/path'", at: ["arguments", pointer])
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

extension ApprovalRule {
    /// Reads a stored rule. An unreadable rule denies, because it may have been a denial.
    ///
    /// - Parameters:
    ///   - scope: the scope of the place where it is stored, whatever the rule contains.
    ///   - tell: receives the reason for a denial.
    public static func remembered(_ json: JSON, _ scope: ApprovalScope, telling tell: (String) -> Void) -> ApprovalRule
    {
        do throws(ValueError) {
            var rule = try ApprovalRule(json: json)
            rule.scope = scope
            return rule
        } catch {
            let tool = json["tool"]?.string
            let what = tool.map { "'\(PlainText.escape($0))' is" } ?? "all tools are"
            tell(
                "\(what) denied, because a rule stored for this \(scope.rawValue) cannot be read (it \(error.message))")
            return ApprovalRule(.deny, tool: tool ?? "*", scope: scope)
        }
    }

    static func readable(_ json: JSON) -> ApprovalRule? {
        do throws(ValueError) { return try ApprovalRule(json: json) } catch { return nil }
    }

    func isAbout(sameCallsAs json: JSON) -> Bool {
        guard let other = Self.readable(json) else { return false }
        return (tool, source, arguments) == (other.tool, other.source, other.arguments)
    }
}

extension ApprovalRule {
    /// Longer values are not compared: they match every rule that asks or denies, and none that allows.
    private static let longestValue = 65_536

    /// Whether the rule matches a call. A rule that denies or asks also matches other spellings of its value, and links
    /// that lead there. A rule that allows matches only if the call is unambiguous.
    ///
    /// - Parameter words: the command to match, if there are several; nil for the whole call.
    func fit(_ request: ApprovalRequest, _ words: [String]? = nil, in places: PathGlob.Places) -> CommandFit {
        guard matches(tool, request.tool), source.map({ matches($0, request.source) }) != false else { return .no }
        // What was approved before is not what it is now. And a name that servers choose themselves is allowed only by a rule
        // that names the server.
        if verdict == .allow, request.reach.renewal != nil || source == nil && !request.isBuiltIn { return .no }
        // Outside of a sandbox, rules allow no command.
        if verdict == .allow, request.reach.command?.isSandboxed == false { return .no }
        return arguments.map { pointer, pattern in fit(request, words, at: pointer, pattern, places) }.min() ?? .yes
    }

    /// Why a rule that allows commands has no effect, such as one from before commands were compared word by word; nil
    /// if it can have one, and for all other rules.
    public var emptiness: String? {
        guard verdict == .allow else { return nil }
        for (pointer, pattern) in arguments.sorted(by: { $0.key < $1.key }) where JSONPointer.namesCommand(pointer) {
            let words = pattern.split(whereSeparator: \.isWhitespace).map(String.init)
            if let word = words.first(where: {
                $0.allSatisfy("&|;<>".contains) || $0.contains("$(") || $0.contains("`")
            }) {
                return "allows nothing: commands are compared word by word, and \(word) is not a word"
            }
            if CommandReach.runsOthers(words) {
                return
                    "allows nothing: \(words.first ?? "it") runs other programs or writes, so you are asked each time"
            }
        }
        return nil
    }

    /// In a rule that denies or asks, a star matches any name.
    private func matches(_ pattern: String, _ name: String) -> Bool {
        verdict == .allow ? Glob.matches(pattern, name) : Glob.matchesWide(pattern, name)
    }

    private func fit(
        _ request: ApprovalRequest, _ words: [String]?, at pointer: String, _ pattern: String,
        _ places: PathGlob.Places
    ) -> CommandFit {
        guard let value = JSONPointer.value(at: pointer, in: request.call.input) else {
            // Another tool may name it elsewhere.
            guard verdict != .allow, JSONPointer.namesPath(pointer) else { return .no }
            return request.reach.paths.contains(where: PathGlob(pattern, in: places).covers) ? .yes : .no
        }
        if verdict != .allow, let elements = value.array {
            let texts = elements.map { $0.string ?? $0.text() }
            return texts.map { fit(request, words, $0, at: pointer, pattern, places) }.max() ?? .no
        }
        return fit(request, words, value.string ?? value.text(), at: pointer, pattern, places)
    }

    private func fit(
        _ request: ApprovalRequest, _ words: [String]?, _ text: String, at pointer: String, _ pattern: String,
        _ places: PathGlob.Places
    ) -> CommandFit {
        if text.utf8.count > Self.longestValue { return verdict == .allow ? .no : .yes }
        if JSONPointer.namesCommand(pointer) {
            // Patterns for another member do not apply to this one.
            let words = text == request.command ? words : nil
            let commands = CommandPattern(pattern)
            if verdict == .allow { return allows(words, text, request, commands) ? .yes : .no }
            if Glob.matches(pattern, text) { return .yes }
            return words.map(commands.concerns) ?? commands.concerns(text)
        }
        if verdict == .allow { return allows(text, request, at: pointer, pattern, places) ? .yes : .no }
        if Glob.matches(pattern, text) { return .yes }
        let paths = PathGlob(pattern, in: places)
        return ([places.path(text)] + request.reach.paths).contains(where: paths.covers) ? .yes : .no
    }

    private func allows(
        _ words: [String]?, _ text: String, _ request: ApprovalRequest, _ pattern: CommandPattern
    ) -> Bool {
        guard request.reach.command?.isSandboxed == true else { return false }
        var parts: [[String]] = words.map { [$0] } ?? []
        if words == nil {
            guard case .plain(let all) = ShellCommand(text) else { return false }
            parts = all
        }
        // The meaning of a relative path depends on the folder.
        let folder = request.call.input["folder"]?.string ?? ""
        let isElsewhere = !["", "."].contains(folder)
        return parts.allSatisfy { words in
            pattern.fits(words) && !CommandReach.runsOthers(words)
                && !(isElsewhere && words.first?.contains("/") == true)
        }
    }

    private func allows(
        _ text: String, _ request: ApprovalRequest, at pointer: String, _ pattern: String, _ places: PathGlob.Places
    ) -> Bool {
        // Otherwise a folder pattern would allow what lies outside of it.
        if text.split(separator: "/").contains(".."), text != pattern { return false }
        guard JSONPointer.namesPath(pointer) else { return Glob.matches(pattern, text) }
        let paths = PathGlob(pattern, in: places)
        return (Glob.matches(pattern, text) || paths.fits(places.path(text)))
            && request.reach.paths.allSatisfy(paths.fits)
    }

    /// How closely a rule describes calls: first by their input, then by the tool.
    private var precision: [Int] {
        [arguments.count, arguments.values.reduce(0) { $0 + Glob.precision(of: $1) }, Glob.precision(of: tool)]
    }

    func outweighs(_ other: ApprovalRule) -> Bool {
        if precision != other.precision { return other.precision.lexicographicallyPrecedes(precision) }
        let (own, others) = (sourcePrecision, other.sourcePrecision)
        if own != others { return own > others }
        if scope != other.scope { return scope.nearness > other.scope.nearness }
        return verdict == .ask && other.verdict == .allow
    }

    private var sourcePrecision: Int { source.map { 1 + Glob.precision(of: $0) } ?? 0 }
}

extension JSONPointer {
    /// Whether it names a shell command, by the names that tools use.
    static func namesCommand(_ pointer: String) -> Bool { commandNames.contains(String(lastName(of: pointer))) }

    static let commandNames = ["command", "cmd", "script"]

    /// Whether it names a file or a folder.
    static func namesPath(_ pointer: String) -> Bool {
        let name = lastName(of: pointer)
        return ["path", "file", "folder", "dir", "directory", "filename", "cwd"].contains(name)
            || name.hasSuffix("_path") || name.hasSuffix("_file") || name.hasSuffix("_dir")
    }

    private static func lastName(of pointer: String) -> Substring { pointer.split(separator: "/").last ?? "" }
}

/// Names a value inside of JSON (RFC 6901), such as `/files/0/path`.
enum JSONPointer {
    static func isValid(_ pointer: String) -> Bool { pointer.isEmpty || pointer.hasPrefix("/") }

    static func value(at pointer: String, in json: JSON) -> JSON? {
        guard isValid(pointer) else { return nil }
        var value = json
        for token in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let next = member(unescaped(token), of: value) else { return nil }
            value = next
        }
        return value
    }

    private static func member(_ name: String, of json: JSON) -> JSON? {
        if case .object(let members) = json { return members[name] }
        guard let index = Int(name), String(index) == name else { return nil }
        return json[index]
    }

    /// "~1" stands for "/" and "~0" for "~"; they are replaced in this order.
    private static func unescaped(_ token: Substring) -> String {
        guard token.contains("~") else { return String(token) }
        var name = ""
        var isEscaped = false
        for character in token {
            switch (isEscaped, character) {
            case (true, "1"): name += "/"
            case (true, "0"): name += "~"
            case (true, _): name += "~\(character)"
            case (false, "~"): break
            case (false, _): name.append(character)
            }
            isEscaped = !isEscaped && character == "~"
        }
        return isEscaped ? name + "~" : name
    }
}
