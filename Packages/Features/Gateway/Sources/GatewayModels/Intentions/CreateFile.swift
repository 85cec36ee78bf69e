import Capabilities
import JSON

/// "create NOTES.md with "…"", "write "…" to NOTES.md", "overwrite NOTES.md with …".
struct CreateFile: Intention {
    private let path: String
    private let content: String
    private let overwrites: Bool

    init?(_ clause: Clause) {
        guard Vocabulary.create.contains(clause.verb) else { return nil }
        let with: Set<String> = ["with", "containing", "saying", "content", "contents"]
        if let start = clause.index(of: with, from: clause.head + 1),
            let file = Clause(Array(clause.tokens[clause.head..<start])).places.first,
            let text = clause.subject(
                (start + 1)..<clause.tokens.count,
                dropping: ["the", "content", "contents", "text", "following", "line"])
        {
            (path, content) = (file.path, text)
        } else if let end = clause.index(of: ["to", "into", "in"], from: clause.head + 1),
            let file = clause.file(from: end),
            let quoted = clause.quoted.first, clause.verb != "make"
        {
            (path, content) = (file.path, quoted)
        } else {
            return nil
        }
        overwrites = clause.verb == "overwrite"
    }

    var words: String { "\(overwrites ? "overwrite" : "create") \(Markdown.code(path))" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard desk.offers(.write) else { throw .lacks(.write) }
        if !overwrites {
            // What is there already must not be lost by a word like "create".
            let there = try desk.ask(.read, ["path": .string(path), "limit": 1])
            guard there.isError else {
                throw .impossible(
                    "\(Markdown.code(path)) is there already, so I leave it alone. Say **overwrite \(path) with …** if you mean it."
                )
            }
        }
        let text = content.last?.isNewline == true ? content : content + "\n"
        let answer = try desk.content(
            .write, ["path": .string(path), "content": .string(text), "create_folders": true])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        desk.say("I wrote \(Markdown.code(path)), \(Markdown.count(lines, "line")).")
        let report = ToolText(answer)
        if !report.body.isEmpty { desk.say(Markdown.block(report.body, "diff")) }
        if let remark = report.remark { desk.say(remark) }
    }
}
