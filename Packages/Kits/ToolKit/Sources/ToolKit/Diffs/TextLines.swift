/// A text split into lines, without copying them.
struct TextLines: Sendable {
    let bytes: [UInt8]
    /// The beginning of each line, and the end of the last one.
    private let bounds: [Int]

    init(_ bytes: [UInt8]) {
        var bounds = [0]
        for (place, byte) in bytes.enumerated() where byte == Byte.newline { bounds.append(place + 1) }
        if bounds.last != bytes.count { bounds.append(bytes.count) }
        self.bytes = bytes
        self.bounds = bounds
    }

    var count: Int { bounds.count - 1 }

    /// A line with its line break, which the last line may not have.
    func whole(_ index: Int) -> ArraySlice<UInt8> { bytes[bounds[index]..<bounds[index + 1]] }

    func hasBreak(_ index: Int) -> Bool { bytes[bounds[index + 1] - 1] == Byte.newline }

    /// A line without its line break.
    subscript(index: Int) -> ArraySlice<UInt8> { hasBreak(index) ? whole(index).dropLast() : whole(index) }

    /// Whether the last line has no line break.
    var lacksLastBreak: Bool { count > 0 && !hasBreak(count - 1) }
}

/// Gives equal lines equal numbers, so that texts are compared by numbers.
struct LineNumberer {
    private struct Line: Hashable {
        let bytes: ArraySlice<UInt8>

        func hash(into hasher: inout Hasher) {
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
    }

    private var numbers: [Line: Int32] = [:]

    /// The numbers of the lines of a text. A last line without a line break counts as a different line.
    mutating func numbers(of lines: TextLines) -> [Int32] {
        (0..<lines.count).map { index in
            let line = Line(bytes: lines.whole(index))
            if let number = numbers[line] { return number }
            let number = Int32(numbers.count)
            numbers[line] = number
            return number
        }
    }

    /// The number of different lines.
    var count: Int { numbers.count }
}
