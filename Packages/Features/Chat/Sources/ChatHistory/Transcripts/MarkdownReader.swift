import Capabilities
import JSON
import ModelKit

/// Reads the lines of a transcript in Markdown, one after the other.
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
    /// Within one of our blocks: its contents so far.
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
        // Each section ends with a blank line and the end of that; a hand-written last one may not.
        if case .title = section {} else if lines.last == "" { lines.removeLast() }
        begin(.title)
    }

    private func part(_ text: String) throws(ValueError) -> Message.Part {
        let json: JSON
        do {
            json = try JSON(parsing: text, reading: .deep)
        } catch {
            throw ValueError("the block before it is no JSON: \(error.message)")
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

    /// The text between two blocks or headings, without the blank line on either side.
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
