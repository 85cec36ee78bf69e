import JSON

extension Desk {
    /// Some lines before and after one, so that an edit finds its place.
    mutating func lines(of path: String, around line: Int) throws(Stop) -> FileLines {
        FileLines(try content(.read, ["path": .string(path), "offset": .int(max(1, line - 100)), "limit": 200]))
    }

    /// The last lines of a file.
    mutating func lastLines(of path: String) throws(Stop) -> FileLines {
        var lines = FileLines(try content(.read, ["path": .string(path), "limit": 500]))
        var reads = 1
        while let next = lines.next {
            guard reads < 20 else { throw .impossible("\(Markdown.code(path)) is too long for me to find its end.") }
            // Two hundred lines more than are needed, so that the end has something in front of it.
            lines = FileLines(
                try content(.read, ["path": .string(path), "offset": .int(max(1, next - 200)), "limit": 2000]))
            reads += 1
        }
        return lines
    }

    /// Replaces texts in a file and says what became of it.
    mutating func edit(
        _ path: String, _ edits: [(old: String, new: String)], everywhere: Bool = false, isPreview: Bool
    ) throws(Stop) {
        let edits = edits.map { edit -> JSON in
            var json: JSONObject = ["old_text": .string(edit.old), "new_text": .string(edit.new)]
            if everywhere { json["replace_all"] = true }
            return .object(json)
        }
        var input: JSONObject = ["path": .string(path), "edits": .array(edits)]
        if isPreview { input["dry_run"] = true }
        let change = ToolText(try content(.edit, input))
        if isPreview {
            say("This would change \(Markdown.code(path)); nothing is written yet:")
        } else {
            say("I changed \(Markdown.code(path)):")
        }
        if !change.body.isEmpty { say(Markdown.block(change.body, "diff")) }
        if let remark = change.remark { say(remark) }
        if isPreview { say("Say **apply it** to make the change.") }
    }
}
