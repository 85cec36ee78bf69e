/// Shows lines that were found.
enum HitList {
    /// Says the lines, and what the search itself has to say about them.
    static func say(_ hits: [Hit], most: Int, _ result: String, at desk: inout Desk) {
        desk.say(text(hits, most: most))
        if let remark = ToolText(result).remark { desk.say(remark) }
    }

    static func text(_ hits: [Hit], most: Int) -> String {
        var rows = hits.prefix(most).enumerated().map { index, hit in
            "\(index + 1). \(Markdown.code(hit.place)): \(Markdown.code(hit.text))"
        }
        if hits.count > most { rows.append("\nand \(hits.count - most) more, which I leave out.") }
        return rows.joined(separator: "\n")
    }
}
