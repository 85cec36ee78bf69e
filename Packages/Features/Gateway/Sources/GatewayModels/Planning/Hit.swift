/// A line that a search has found.
struct Hit: Hashable {
    var path: String
    var line: Int
    var text: String

    var place: String { "\(path):\(line)" }

    /// Reads `path:line:text`, one a line; notes and anything else are passed over.
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
