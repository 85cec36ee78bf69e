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

    /// The edit that removes lines. It includes a neighbouring line, so that a line break is removed too.
    func removing(_ range: ClosedRange<Int>) -> (old: String, new: String)? {
        guard self[range.lowerBound] != nil, self[range.upperBound] != nil,
            let first = block(around: range.lowerBound), let last = block(around: range.upperBound)
        else { return nil }
        var block = min(first.lowerBound, range.lowerBound)...max(last.upperBound, range.upperBound)
        // Without a neighbour the line break of the removed lines would stay.
        if block.lowerBound == range.lowerBound, block.lowerBound > self.first {
            block = (block.lowerBound - 1)...block.upperBound
        } else if block == range, block.upperBound < self.last {
            block = block.lowerBound...(block.upperBound + 1)
        }
        let kept = block.filter { !range.contains($0) }.compactMap { self[$0] }
        // At the start of the file, the following line break is removed.
        return (text(block), kept.joined(separator: "\n"))
    }

    /// "lines 1 to 2000 are shown; go on with offset 2001"
    private static func next(_ note: String) -> Int? {
        guard let range = note.firstRange(of: "go on with offset ") else { return nil }
        return Int(note[range.upperBound...].prefix { $0.isNumber })
    }
}
