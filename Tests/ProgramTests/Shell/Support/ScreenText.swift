/// The rows of a terminal as a text to keep, in which everything that differs from run to run has a placeholder.
struct ScreenText {
    let home: String
    private var name: String { home.split(separator: "/").last.map(String.init) ?? home }

    /// The rows, without spaces at their ends, and many equal ones as one.
    func text(_ rows: some Sequence<String>) throws -> String {
        var lines: [(line: String, count: Int)] = []
        for row in try rows.map(line) {
            if let last = lines.last, last.line == row {
                lines[lines.count - 1].count += 1
            } else {
                lines.append((row, 1))
            }
        }
        return lines.map { line, count in
            count < 3 ? String(repeating: line + "\n", count: count) : "\(line)\n   ⋮ \(count) rows\n"
        }.joined()
    }

    /// What differs, in the order in which it is replaced.
    private static let placeholders = [
        ("[0-9a-f]{8}-([0-9a-f-]*…|([0-9a-f]{4}-){3}[0-9a-f]{12})", "<id>"), (#"martlet-\w{1,5}…"#, "<folder>"),
        (#"\b[0-9a-f]{12}\b"#, "<trace>"), (#"\d{8}t\d{6}-[a-z0-9]+"#, "<run>"),
        (#"\d{8}-\d{6}-[a-z0-9]+|\d{8}-\d*…"#, "<conversation>"),
        (#"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"#, "<time>"),
        (#"just now|\d+ (ms|s|min|h) ago"#, "<ago>"), (#"\d+(\.\d+)? (ms|s|µs)\b"#, "<duration>"),
        (#"\d+(\.\d+)? (KiB|MiB)"#, "<size>"),
        (#"(libutf8proc|libseccomp) .*|\bbubblewrap.*|programs in bundles.*"#, "<found>"),
        (#"\d{4}-\d\d-\d\d"#, "<date>"), (#"\b\d{3,}\b"#, "<count>"),
    ]

    private func line(_ row: String) throws -> String {
        var line = row.replacing(home, with: "<home>")
        // Of a path that is cut, little more than its beginning is left.
        line.replace(/([ │])(?:\/|<home>)[^ ]+…/) { "\($0.output.1)<path>" }
        line.replace(/([ │])\/[^ \/]+\/[^ ]+/) { "\($0.output.1)<path>" }
        line.replace(name, with: "<folder>")
        for (pattern, name) in Self.placeholders { line.replace(try Regex(pattern), with: name) }
        // The columns of a table are as wide as what is in them.
        let isHead = row.contains(/^[ │]*[A-Z]+(  +[A-Z]+)+/)
        if line != row || isHead { line.replace(/\ {2,}/, with: "  ") }
        while line.last == " " { line.removeLast() }
        return line
    }
}
