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

/// Lines of a file, parsed from a result of `fs.read`.
struct FileLines {
    /// The number of the first line.
    let first: Int
    private(set) var lines: [String] = []
    /// The line at which the file continues after these.
    private(set) var next: Int?
    /// Whether these are all lines of the file.
    var isWhole: Bool { first == 1 && next == nil && !hasGap }
    /// Whether lines in the middle were omitted, because the result was too long.
    private(set) var hasGap = false
    /// Notes of the tool in brackets, such as that the file is not text.
    private(set) var notes: [String] = []

    init(_ result: String) {
        var first: Int?
        for row in result.split(separator: "\n", omittingEmptySubsequences: true) {
            let digits = row.drop { $0 == " " }.prefix { $0.isASCII && $0.isNumber }
            if let number = Int(digits), row[digits.endIndex...].first == "\t" {
                let text = String(row[digits.endIndex...].dropFirst())
                if let first, number != first + lines.count {
                    hasGap = true
                    lines += Array(repeating: "\u{FFFD}", count: max(0, min(100_000, number - first - lines.count)))
                }
                first = first ?? number
                lines.append(text)
            } else if row.hasPrefix("["), row.last == "]" {
                notes.append(String(row.dropFirst().dropLast()))
            } else {
                hasGap = true
            }
        }
        self.first = first ?? 1
        next = notes.lazy.compactMap(Self.next).first
    }

    /// The number of the last line.
    var last: Int { first + lines.count - 1 }

    subscript(number: Int) -> String? {
        lines.indices.contains(number - first) ? lines[number - first] : nil
    }

    /// The smallest block of lines around one that occurs only once in the visible part of the file.
    func block(around number: Int) -> ClosedRange<Int>? {
        guard self[number] != nil else { return nil }
        let text = lines.joined(separator: "\n")
        // The rest of the file may contain the same lines; more surrounding lines make that unlikely.
        let margin = isWhole ? 0 : 2
        var block = max(first, number - margin)...min(last, number + margin)
        while text.count(of: self.text(block)) != 1 {
            let wider = max(first, block.lowerBound - 1)...min(last, block.upperBound + 1)
            if wider == block { return nil }
            block = wider
        }
        return block
    }

    func text(_ range: ClosedRange<Int>) -> String {
        range.compactMap { self[$0] }.joined(separator: "\n")
    }

    /// "lines 1 to 2000 are shown; go on with offset 2001"
    private static func next(_ note: String) -> Int? {
        guard let range = note.firstRange(of: "go on with offset ") else { return nil }
        return Int(note[range.upperBound...].prefix { $0.isNumber })
    }
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
