import Capabilities
import JSON
import Registry
import Screens

/// The lines that an action wrote with `--format ndjson`, as a transcript. What they mean is declared with the events of
/// the actions, so those of every feature can be read.
struct Recording: Sendable {
    let feed = Feed<Transcript.Entry>()
    /// How many lines are no events.
    private(set) var skipped = 0
    private let declarations: [String: [EventDeclaration]]
    private var open: (type: String, text: String, isMarkdown: Bool)?
    private var count = 0

    /// The bytes of a file that are read.
    static let mostBytes = 64 << 20

    init(_ text: String, _ actions: [Action]) {
        let declared = actions.flatMap { $0.events ?? [] }
        declarations = Dictionary(grouping: declared, by: \.type)
        for line in text.split(whereSeparator: \.isNewline) {
            do {
                guard let event = try JSON(parsing: String(line)).object, let type = event["type"]?.string else {
                    skipped += 1
                    continue
                }
                add(event, type)
            } catch {
                // The last line of a program that was killed is cut.
                skipped += 1
            }
        }
        close()
    }

    /// The transcript, with what could not be read.
    var block: Block {
        let transcript = Block(.transcript(Transcript(feed)))
        guard skipped > 0 else { return transcript }
        let words = skipped == 1 ? "1 line is no event" : "\(skipped) lines are no events"
        return .stack([Block(.text(RichText(words, .warning)), id: "skipped"), transcript])
    }

    private mutating func add(_ event: JSONObject, _ type: String) {
        let declaration = declarations[type]?.first { $0.text.map { event[$0]?.string != nil } ?? false }
        if let declaration, let text = declaration.text.flatMap({ event[$0]?.string }) {
            if open?.type != type { close() }
            add(text, type, isMarkdown: declaration.format == .markdown)
            return
        }
        // Pieces without a text of their own, such as reasoning, belong together as well.
        if let delta = event["delta"]?.string, event.count == 2 {
            if open?.type != type { close() }
            add(delta, type, isMarkdown: false)
            return
        }
        close()
        let name = event["name"]?.string ?? event["title"]?.string
        let isFailure = event["is_error"] == true || type == "error"
        let members = event.filter { !["type", "name", "title", "id", "tool_id"].contains($0.key) }
        let text = members.map { "\($0.key)  \($0.value.string ?? $0.value.text())" }.joined(separator: "\n")
        append(
            type.hasPrefix("tool") ? .tool : .notice, text,
            title: [type.words, name].compactMap { $0 }.joined(separator: " "), state: isFailure ? "failed" : nil)
    }

    /// Adds a piece in place: a text may have a hundred thousand of them.
    private mutating func add(_ text: String, _ type: String, isMarkdown: Bool) {
        if open == nil { open = (type, "", isMarkdown) }
        open?.text += text
    }

    /// Ends a text that came in pieces.
    private mutating func close() {
        guard let piece = open else { return }
        open = nil
        append(piece.isMarkdown ? .model : .thought, piece.text, title: piece.type.words)
    }

    private mutating func append(_ author: Transcript.Author, _ text: String, title: String, state: String? = nil) {
        feed.append(Transcript.Entry(String(count), author, text, title: title, state: state))
        count += 1
    }
}

extension String {
    /// `tool_use` as words.
    fileprivate var words: String { String(map { $0 == "_" ? " " : $0 }) }
}
