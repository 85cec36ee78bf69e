import Capabilities
import JSON
import ModelKit

/// Readable Markdown: a heading for the title, one for each message, and the text unchanged.
///
///     # The weather
///
///     ## User · 2026-11-21T09:30:00Z
///
///     Will it rain?
///
/// Parts that are not text are in fenced blocks named `martlet-…`. A line of text that looks like one of these begins
/// with a backslash, which Markdown does not show before `#` and a backquote.
extension Transcript {
    var markdown: String {
        var text = title.map { $0.isEmpty ? "" : "# \($0)\n\n" } ?? ""
        let facts = [("Model", setup.model), ("Provider", setup.provider), ("Server", setup.server)]
            .compactMap { name, value in value.flatMap { $0.isEmpty ? nil : "- \(name): \(Line.cut($0, 200))\n" } }
        if !facts.isEmpty { text += facts.joined() + "\n" }
        if let system = setup.system, !system.isEmpty {
            text += MarkdownLines.section("## System prompt", [.text(system)])
        }
        for item in path { text += MarkdownLines.section(MarkdownLines.heading(item), item.message.parts) }
        return text
    }

    init(markdown text: String) throws(HistoryError) {
        var reader = MarkdownReader()
        // Not split by characters: "\r\n" is one character.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        var number = 0
        do throws(ValueError) {
            for line in lines {
                number += 1
                try reader.read(String(line))
            }
            try reader.finish()
        } catch {
            throw HistoryError(
                .invalid, "line \(number) is not valid: \(PlainText.escape(error.description))")
        }
        guard !reader.items.isEmpty || reader.setup.system != nil else {
            throw HistoryError(
                .invalid,
                "the Markdown contains no messages; each needs a heading such as '## User' or '## Assistant'")
        }
        self.init(title: reader.title, setup: reader.setup, items: reader.items, head: reader.items.indices.last)
    }
}

/// The lines with a meaning in a transcript.
enum MarkdownLines {
    static let roles: [(word: String, role: Message.Role)] = [
        ("User", .user), ("Assistant", .assistant), ("System", .system), ("Tool", .tool),
    ]
    static let systemPrompt = "## System prompt"
    static let fence = "```martlet-"
    static let separator = " · "

    static func heading(_ item: Transcript.Item) -> String {
        let word = roles.first { $0.role == item.message.role }?.word ?? "User"
        var facts = [word]
        if let model = item.model { facts.append(Line.cut(model, 200)) }
        if let time = item.time { facts.append(time.iso8601) }
        if item.state != .complete { facts.append(StateWord(item.state).rawValue) }
        if case .failed(let code, _) = item.state { facts.append(code) }
        return "## " + facts.joined(separator: separator)
    }

    static func section(_ heading: String, _ parts: [Message.Part]) -> String {
        var lines = [heading, ""]
        for part in parts {
            switch part {
            case .text(let text): lines += escaped(text)
            case .attachment(let attachment):
                lines += escaped(
                    "[attachment: \(attachment.name) (\(attachment.mediaType), \(attachment.bytes.count) bytes)]")
            default:
                let json = [part].inlineJSON[0] ?? [:]
                lines += [fence + (json["type"]?.string ?? ""), json.text(), "```"]
            }
            lines.append("")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func escaped(_ text: String) -> [String] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { scalars in
            let line = String(scalars)
            return isSpecial(line) ? "\\" + line : line
        }
    }

    /// Whether a line, without leading backslashes, would be read as one of these.
    static func isSpecial(_ line: String) -> Bool {
        let bare = line.drop { $0 == "\\" }
        return bare.hasPrefix(fence) || role(of: String(bare)) != nil || isSystemPrompt(String(bare))
    }

    static func isSystemPrompt(_ line: String) -> Bool { line == systemPrompt || line == systemPrompt + "\r" }

    /// The role in a heading, and the rest of it.
    static func role(of line: String) -> (role: Message.Role, facts: [String])? {
        guard line.hasPrefix("## ") else { return nil }
        var text = String(line.dropFirst(3))
        if text.unicodeScalars.last == "\r" { text.unicodeScalars.removeLast() }
        for (word, role) in roles {
            if text == word { return (role, []) }
            guard text.hasPrefix(word + separator) else { continue }
            return (role, facts(text.dropFirst(word.count + separator.count)))
        }
        return nil
    }

    private static func facts(_ text: Substring) -> [String] {
        var facts = [""]
        var rest = text
        while let character = rest.first {
            if rest.hasPrefix(separator) {
                facts.append("")
                rest = rest.dropFirst(separator.count)
            } else {
                facts[facts.count - 1].append(character)
                rest = rest.dropFirst()
            }
        }
        return facts
    }
}

/// Reads the lines of a Markdown transcript, one after the other.
struct MarkdownReader {
    private enum Section {
        case title
        case system
        case message(Message.Role, facts: [String])
    }

    private(set) var title: String?
    private(set) var setup = ConversationSetup()
    private(set) var items: [Transcript.Item] = []

    private var section = Section.title
    private var parts: [Message.Part] = []
    private var lines: [String] = []
    /// The contents of the current block so far.
    private var block: String?

    mutating func read(_ line: String) throws(ValueError) {
        if let content = block {
            if line.hasPrefix("```") {
                block = nil
                parts.append(try part(content))
            } else {
                block = content + line
            }
        } else if MarkdownLines.isSystemPrompt(line) {
            begin(.system)
        } else if let (role, facts) = MarkdownLines.role(of: line) {
            begin(.message(role, facts: facts))
        } else if case .title = section {
            readFact(line)
        } else if line.hasPrefix(MarkdownLines.fence) {
            endText()
            block = ""
        } else {
            lines.append(line.hasPrefix("\\") && MarkdownLines.isSpecial(line) ? String(line.dropFirst()) : line)
        }
    }

    mutating func finish() throws(ValueError) {
        if block != nil { throw ValueError("the last block does not end with ```") }
        // Each section ends with a blank line and a line end; a hand-written last one may not.
        if case .title = section {} else if lines.last == "" { lines.removeLast() }
        begin(.title)
    }

    private func part(_ text: String) throws(ValueError) -> Message.Part {
        let json: JSON
        do {
            json = try JSON(parsing: text, reading: .deep)
        } catch {
            throw ValueError("the block before it is not valid JSON: \(error.message)")
        }
        return try MessageCoding.inline.part(json)
    }

    private mutating func readFact(_ line: String) {
        let line = line.unicodeScalars.last == "\r" ? String(line.unicodeScalars.dropLast()) : line
        if title == nil, line.hasPrefix("# ") { title = Line.cut(String(line.dropFirst(2)), 200) }
        func value(_ name: String) -> String? {
            line.hasPrefix("- \(name): ") ? String(line.dropFirst(name.count + 4)) : nil
        }
        if let model = value("Model") { setup.model = model }
        if let provider = value("Provider") { setup.provider = provider }
        if let server = value("Server") { setup.server = server }
    }

    /// The text between two blocks or headings, without the blank lines around it.
    private mutating func endText() {
        if lines.first == "" || lines.first == "\r" { lines.removeFirst() }
        if lines.last == "" || lines.last == "\r" { lines.removeLast() }
        let text = lines.joined(separator: "\n")
        if !text.isEmpty { parts.append(.text(text)) }
        lines = []
    }

    private mutating func begin(_ next: Section) {
        endText()
        switch section {
        case .title: break
        case .system: setup.system = Message(.system, parts).text
        case .message(let role, let facts): items.append(item(role, facts))
        }
        section = next
        parts = []
    }

    private func item(_ role: Message.Role, _ facts: [String]) -> Transcript.Item {
        var (model, time): (String?, Timestamp?)
        var state = Entry.State.complete
        for fact in facts {
            if let found = Timestamp(iso8601: fact) {
                time = found
            } else if let word = StateWord(rawValue: fact), word != .streaming {
                state = word.state(code: nil, message: nil)
            } else if case .failed = state {
                state = .failed(code: fact, message: "it failed")
            } else {
                model = fact
            }
        }
        return Transcript.Item(
            parent: items.isEmpty ? nil : items.count - 1, Message(role, parts), state: state, model: model, time: time)
    }
}
