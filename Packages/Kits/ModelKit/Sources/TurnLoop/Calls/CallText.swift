public import Capabilities
import JSON

extension ToolCall {
    /// What the call does, on one short line: `read README.md`, `make test`.
    public var headline: String { CallText(self).headline }

    /// What the user must see before approving: a command, the changed lines, or else the whole input. Only the end of
    /// a very long text is left out, with a note.
    public var preview: String { CallText(self).preview }
}

/// Describes a call's input. The usual names of tools and members are known; all others are shown unchanged.
struct CallText {
    private let call: ToolCall

    /// The maximum number of lines of one text in a preview.
    static let longestText = 200
    private static let longestObject = 80

    init(_ call: ToolCall) {
        self.call = call
    }

    private static let verbs = [
        "fs_read": "read", "read": "read", "read_file": "read", "fs_write": "write", "write": "write",
        "write_file": "write", "multi_write": "write", "edit_file": "edit", "multi_edit": "edit", "edit": "edit",
        "multiedit": "edit", "ls": "list", "glob": "find", "grep": "search", "grep_search": "search",
    ]

    private static let objects = [
        "path", "file_path", "filename", "file", "pattern", "query", "url", "name", "title", "id",
    ]

    var headline: String {
        if let command = call.input["command"]?.string { return Self.line(command) }
        let verb = Self.verbs[call.name.lowercased().replacing(".", with: "_")] ?? PlainText.escape(call.name)
        guard let object else { return verb }
        return "\(verb) \(object)"
    }

    /// The object of the call.
    private var object: String? {
        if let pattern = call.input["pattern"]?.string {
            let place = call.input["path"]?.string.map { " in \(Self.line($0))" } ?? ""
            return "“\(Self.line(pattern))”\(place)"
        }
        if let files = call.input["files"]?.array, let first = files.first?["path"]?.string {
            return Self.line(first) + (files.count > 1 ? " and \(files.count - 1) more" : "")
        }
        return Self.objects.lazy.compactMap { call.input[$0]?.string }.first { !$0.isEmpty }.map(Self.line)
    }

    /// The first line, shortened.
    private static func line(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        let first = lines.first.map(String.init) ?? ""
        let isCut = lines.count > 1 || first.count > longestObject
        return PlainText.escape(String(first.prefix(longestObject))) + (isCut ? "…" : "")
    }

    var preview: String {
        guard let input = call.input.object else { return PlainText.escapeLines(call.input.text(.pretty)) }
        var rest = input
        var lines: [String] = []
        func take(_ name: String) -> String? {
            guard let text = rest[name]?.string else { return nil }
            rest[name] = nil
            return text
        }
        let path = take("path") ?? take("file_path")
        if let path { lines.append(path) }
        // A command is never cut.
        if let command = take("command") { lines += Self.marked("$ ", command, limit: .max) }
        if let patch = take("patch") { lines += Self.marked("", patch) }
        lines += Self.change(&rest)
        if let edits = rest["edits"]?.array, let all = Self.list(edits, Self.change) {
            rest["edits"] = nil
            lines += all
        }
        if path != nil, let content = take("content") { lines += Self.marked("+ ", content) }
        if let files = rest["files"]?.array, let all = Self.list(files, Self.content) {
            rest["files"] = nil
            lines += all
        }
        if !rest.isEmpty || lines.isEmpty { lines.append(JSON.object(rest).text(.pretty)) }
        return PlainText.escapeLines(lines.joined(separator: "\n"))
    }

    /// A diff, shortened.
    static func shown(diff: String) -> String {
        PlainText.escapeLines(marked("", diff).joined(separator: "\n"))
    }

    /// All elements in words, with their other members; nil if one of them is something else.
    private static func list(
        _ elements: [JSON], _ words: (inout JSONObject) -> [String]
    ) -> [String]? {
        var lines: [String] = []
        for element in elements {
            guard var rest = element.object else { return nil }
            let said = words(&rest)
            guard !said.isEmpty else { return nil }
            lines += said
            if !rest.isEmpty { lines.append(JSON.object(rest).text()) }
        }
        return lines
    }

    /// The removed and the added lines.
    private static func change(_ rest: inout JSONObject) -> [String] {
        for (old, new) in [("old_text", "new_text"), ("old_string", "new_string")] {
            guard let before = rest[old]?.string, let after = rest[new]?.string else { continue }
            (rest[old], rest[new]) = (nil, nil)
            return marked("- ", before) + marked("+ ", after)
        }
        return []
    }

    private static func content(_ rest: inout JSONObject) -> [String] {
        guard let path = rest["path"]?.string, let content = rest["content"]?.string else { return [] }
        (rest["path"], rest["content"]) = (nil, nil)
        return [path] + marked("+ ", content)
    }

    private static func marked(_ mark: String, _ text: String, limit: Int = longestText) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        let shown = lines.prefix(limit).map { mark + $0 }
        return lines.count > limit ? shown + ["… and \(lines.count - limit) more lines"] : shown
    }
}
