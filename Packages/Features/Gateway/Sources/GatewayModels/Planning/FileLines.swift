/// Lines of a file, as `fs.read` gives them.
struct FileLines {
    /// The number of the first.
    let first: Int
    private(set) var lines: [String] = []
    /// Where the file goes on after these.
    private(set) var next: Int?
    /// Whether all of the file is here.
    var isWhole: Bool { first == 1 && next == nil && !hasGap }
    /// Whether lines in the middle were left out, because the result was too long.
    private(set) var hasGap = false
    /// What the tool said in brackets, such as that the file is no text.
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

    /// The last line here.
    var last: Int { first + lines.count - 1 }

    subscript(number: Int) -> String? {
        lines.indices.contains(number - first) ? lines[number - first] : nil
    }

    /// The smallest block of lines around one that stands in the file once, as far as can be seen.
    func block(around number: Int) -> ClosedRange<Int>? {
        guard self[number] != nil else { return nil }
        let text = lines.joined(separator: "\n")
        // What is not seen may hold the same lines again; some more of the surroundings make that unlikely.
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
