import Capabilities
import JSON

extension ServerEntry {
    /// Members of an entry of Codex that have no counterpart here and are named. `name` is only a title.
    private static let codexMembers: Set<String> = [
        "command", "args", "env", "env_vars", "cwd", "url", "http_headers", "env_http_headers", "bearer_token_env_var",
        "enabled", "required", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "enabled_tools",
        "disabled_tools", "name",
    ]

    /// Reads an entry as Codex writes it.
    ///
    /// - Parameter leftOut: gets a sentence about each member that is not taken over.
    init(codex json: JSON, leavingOut leftOut: inout [String]) throws(ValueError) {
        guard let members = json.object else { throw ValueError("is not a table") }
        let reader = CodexTable(json)
        switch (try reader.member("command", String.self), try reader.member("url", String.self)) {
        case (let command?, nil) where !command.isEmpty:
            self.init(.program(command, try reader.member("args", [String].self) ?? []))
        case (nil, let url?) where url.contains("://"): self.init(.address(url))
        case (nil, .some): throw ValueError("needs an address such as https://tools.example/mcp", at: ["url"])
        case (.some, .some): throw ValueError("has both a command and a url")
        default: throw ValueError("has neither a command nor a url")
        }
        (environment, headers) = (try reader.texts("env"), try reader.texts("http_headers"))
        folder = try reader.member("cwd", String.self)
        // Codex fills in nothing, so that it would mean something else there.
        for (field, text) in templates {
            for variable in text.variables {
                leftOut.append(
                    "${\(PlainText.escape(variable.name))} in \(PlainText.escape(field)) is filled in here, and not by Codex"
                )
            }
        }
        try takeVariables(reader, &leftOut)
        isEnabled = try reader.member("enabled", Bool.self) ?? true
        isRequired = try reader.member("required", Bool.self) ?? false
        startLimit = try reader.seconds("startup_timeout_sec")
        if startLimit == nil {
            startLimit = try reader.member("startup_timeout_ms", Int.self).map { .milliseconds($0) }
        }
        callLimit = try reader.seconds("tool_timeout_sec")
        tools = try reader.member("enabled_tools", [String].self)
        let disabled = try reader.member("disabled_tools", [String].self) ?? []
        if let enabled = tools {
            tools = enabled.filter { !disabled.contains($0) }
        } else if !disabled.isEmpty {
            leftOut.append(
                "'disabled_tools' is not taken over: \(disabled.map { PlainText.escape($0) }.joined(separator: ", ")); 'martlet mcp use --off SERVER/TOOL' switches a tool off"
            )
        }
        for name in members.map(\.key).sorted() where !Self.codexMembers.contains(name) {
            leftOut.append("\(PlainText.escape(name).quotedForMessage) is not taken over")
        }
    }

    /// The variables of the environment that Codex passes on under other members.
    private mutating func takeVariables(_ reader: CodexTable, _ leftOut: inout [String]) throws(ValueError) {
        for variable in reader.json["env_vars"]?.array ?? [] {
            guard let name = variable.string ?? variable["name"]?.string else {
                throw ValueError("needs names of variables", at: ["env_vars"])
            }
            if variable["source"]?.string == "remote" {
                leftOut.append(
                    "the variable \(PlainText.escape(name)) is not taken over, since it is one of another machine")
            } else {
                // Codex passes on those that are set.
                environment[name] = "${\(name):-}"
            }
        }
        for (header, name) in try reader.texts("env_http_headers") { headers[header] = "${\(name)}" }
        if let name = try reader.member("bearer_token_env_var", String.self) {
            headers["Authorization"] = "Bearer ${\(name)}"
        }
    }
}

/// The table of an entry, whose members must have the types that Codex wants.
private struct CodexTable {
    let json: JSON

    init(_ json: JSON) {
        self.json = json
    }

    func member<Value: InputValue>(_ name: String, _ type: Value.Type) throws(ValueError) -> Value? {
        guard let value = json[name] else { return nil }
        if let problem = Value.schema.problems(in: value).first { throw problem.under(name) }
        do { return try Value(json: value) } catch { throw error.under(name) }
    }

    func texts(_ name: String) throws(ValueError) -> [String: String] {
        try member(name, [String: String].self) ?? [:]
    }

    func seconds(_ name: String) throws(ValueError) -> Duration? {
        guard let value = json[name] else { return nil }
        guard let seconds = value.double ?? value.int.map(Double.init), (0...1_000_000_000).contains(seconds) else {
            throw ValueError("needs a number of seconds", at: [name])
        }
        return .milliseconds(Int((seconds * 1_000).rounded()))
    }
}
