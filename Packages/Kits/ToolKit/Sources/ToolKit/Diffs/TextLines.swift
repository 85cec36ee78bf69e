/// A text cut at its line breaks, without copies of the lines.
struct TextLines: Sendable {
    let bytes: [UInt8]
    /// Where each line begins, and after the last one where it ends.
    private let bounds: [Int]

    init(_ bytes: [UInt8]) {
        var bounds = [0]
        for (place, byte) in bytes.enumerated() where byte == Byte.newline { bounds.append(place + 1) }
        if bounds.last != bytes.count { bounds.append(bytes.count) }
        self.bytes = bytes
        self.bounds = bounds
    }

    var count: Int { bounds.count - 1 }

    /// A line with its break, which the last one may lack.
    func whole(_ index: Int) -> ArraySlice<UInt8> { bytes[bounds[index]..<bounds[index + 1]] }

    func hasBreak(_ index: Int) -> Bool { bytes[bounds[index + 1] - 1] == Byte.newline }

    /// A line without its break.
    subscript(index: Int) -> ArraySlice<UInt8> { hasBreak(index) ? whole(index).dropLast() : whole(index) }

    /// Whether there is a last line that lacks its break.
    var lacksLastBreak: Bool { count > 0 && !hasBreak(count - 1) }
}

/// Gives equal lines equal numbers, so that a difference is found by comparing numbers.
struct LineNumbering {
    private struct Line: Hashable {
        let bytes: ArraySlice<UInt8>

        func hash(into hasher: inout Hasher) {
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
    }

    private var numbers: [Line: Int32] = [:]

    /// The numbers of a text's lines; the last one is another line for lacking its break.
    mutating func numbers(of lines: TextLines) -> [Int32] {
        (0..<lines.count).map { index in
            let line = Line(bytes: lines.whole(index))
            if let number = numbers[line] { return number }
            let number = Int32(numbers.count)
            numbers[line] = number
            return number
        }
    }

    /// How many different lines there were.
    var count: Int { numbers.count }
}
