/// The result of a tool, without the notes in brackets at its end.
struct ToolText {
    let body: String
    let notes: [String]

    init(_ text: String) {
        var rows = text.split(separator: "\n", omittingEmptySubsequences: false)
        var notes: [String] = []
        while let last = rows.last, last.isEmpty || last.hasPrefix("[") && last.last == "]" {
            if !last.isEmpty { notes.insert(String(last.dropFirst().dropLast()), at: 0) }
            rows.removeLast()
        }
        body = rows.joined(separator: "\n")
        self.notes = notes
    }

    /// The notes as a paragraph; nil if there are none.
    var remark: String? { notes.isEmpty ? nil : "*\(notes.joined(separator: "; "))*" }
}

/// A line found by a search.
struct Hit: Hashable {
    var path: String
    var line: Int
    var text: String

    var place: String { "\(path):\(line)" }

    /// Reads rows of `path:line:text`; ignores notes and anything else.
    static func all(in result: String) -> [Hit] {
        result.split(separator: "\n").compactMap(Hit.init)
    }

    private init?(_ row: Substring) {
        guard !row.hasPrefix("[") || row.last != "]" else { return nil }
        var search = row.startIndex
        while let colon = row[search...].firstIndex(of: ":") {
            let rest = row[row.index(after: colon)...]
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            if colon > row.startIndex, let line = Int(digits), rest[digits.endIndex...].first == ":" {
                path = String(row[..<colon])
                self.line = line
                text = String(rest[rest.index(after: digits.endIndex)...])
                return
            }
            search = row.index(after: colon)
        }
        return nil
    }
}

/// Shows found lines.
enum HitList {
    /// Adds the lines, and the notes of the search.
    static func say(_ hits: [Hit], most: Int, _ result: String, at desk: inout Desk) {
        desk.say(text(hits, most: most))
        if let remark = ToolText(result).remark { desk.say(remark) }
    }

    static func text(_ hits: [Hit], most: Int) -> String {
        var rows = hits.prefix(most).enumerated().map { index, hit in
            "\(index + 1). \(Markdown.code(hit.place)): \(Markdown.code(hit.text))"
        }
        if hits.count > most { rows.append("\nand \(hits.count - most) more, not shown.") }
        return rows.joined(separator: "\n")
    }
}

/// The results of `glob` and `ls`.
struct Listing {
    /// The found paths.
    private(set) var files: [String] = []
    /// The number of files, including those not listed.
    private(set) var total = 0

    /// Reads one path per line, and a note "N files fit, of which …".
    init(files text: String) {
        var noted: Int?
        for row in text.split(separator: "\n") {
            if row.hasPrefix("["), row.last == "]" {
                if row.contains("files fit, of which") { noted = Int(row.dropFirst().prefix { $0.isNumber }) }
            } else {
                files.append(String(row))
            }
        }
        total = max(noted ?? 0, files.count)
    }

    /// The rows of a tree: the depth and the name, which ends in a slash for a folder.
    static func tree(_ text: String) -> [(depth: Int, name: String)] {
        text.split(separator: "\n").compactMap { row in
            guard !row.hasPrefix("["), row.count > 34 else { return nil }
            // Size and time take 34 columns, and each level is indented by two.
            let rest = row.dropFirst(34)
            let name = rest.drop { $0 == " " }
            return name.isEmpty ? nil : ((rest.count - name.count) / 2, String(name))
        }
    }
}
