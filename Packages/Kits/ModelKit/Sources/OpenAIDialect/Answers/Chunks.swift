import Glibc
import JSON

/// A chunk with only a piece of text or reasoning, read without a JSON tree because nearly all chunks are such. It is
/// nil for any other chunk, which is then parsed.
struct TextDelta {
    private(set) var content: String?
    private(set) var reasoning: String?
    /// The range of the content in the chunk, with its quotes.
    private(set) var place: Range<Int>?
    private var choices = 0
    private var isPlain = true

    @inline(__always)
    init?(_ data: [UInt8]) {
        do {
            try JSONPullReader.read(data) { reader in try read(&reader) }
        } catch {
            return nil
        }
        guard isPlain, choices == 1 else { return nil }
    }

    @inline(__always)
    private mutating func read(_ reader: inout JSONPullReader) throws {
        try reader.object { reader, key in
            switch key {
            case "choices" where reader.kind == .array:
                try reader.array { reader in
                    choices += 1
                    try readChoice(&reader)
                }
            case "usage", "error": isPlain = isPlain && reader.isNull
            default: break
            }
        }
    }

    @inline(__always)
    private mutating func readChoice(_ reader: inout JSONPullReader) throws {
        try reader.object { reader, key in
            switch key {
            case "delta": try readDelta(&reader)
            case "index": isPlain = try isPlain && reader.int() == 0
            case "finish_reason", "usage", "message": isPlain = isPlain && reader.isNull
            default: break
            }
        }
    }

    @inline(__always)
    private mutating func readDelta(_ reader: inout JSONPullReader) throws {
        try reader.object { reader, key in
            switch key {
            case "content" where !reader.isNull:
                let start = reader.offset
                content = try reader.string()
                place = start..<reader.offset
            // Some servers send the same reasoning under both names.
            case "reasoning" where !reader.isNull, "reasoning_content" where !reader.isNull:
                let text = try reader.string()
                if reasoning?.isEmpty ?? true { reasoning = text }
            case "refusal", "tool_calls", "reasoning_details", "function_call": isPlain = isPlain && reader.isNull
            default: break
            }
        }
    }
}

/// A chunk that differs from the previous one only in its text.
///
/// Most servers send every piece of text in the same chunk. If all bytes around the text match a chunk that was parsed
/// before, and nothing in the text would end it, a parser would give the same result.
struct RepeatedChunk {
    private let head: ArraySlice<UInt8>
    private let tail: ArraySlice<UInt8>

    /// - Parameter delta: what a parser found in the chunk.
    /// - Returns: nil if the chunk has more than the text.
    init?(_ data: [UInt8], _ delta: TextDelta) {
        guard let place = delta.place, delta.reasoning == nil else { return nil }
        head = data[...place.lowerBound]
        tail = data[(place.upperBound - 1)...]
    }

    /// The text of another chunk; nil if it has to be parsed.
    func text(in data: [UInt8]) -> String? {
        let end = data.count - tail.count
        guard end >= head.count, Self.isSame(head, data, at: 0), Self.isSame(tail, data, at: end) else { return nil }
        let isPlain = data[head.count..<end].allSatisfy {
            $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        guard isPlain else { return nil }
        // `String(validating:as:)` is not specialised and takes three times as long for a few bytes.
        do { return String(copying: try UTF8Span(validating: data.span.extracting(head.count..<end))) } catch {
            return nil
        }
    }

    private static func isSame(_ part: ArraySlice<UInt8>, _ data: [UInt8], at start: Int) -> Bool {
        unsafe part.withUnsafeBytes { part in
            unsafe data.withUnsafeBytes { data in
                guard let left = part.baseAddress, let right = data.baseAddress else { return false }
                return unsafe memcmp(left, right + start, part.count) == 0
            }
        }
    }
}

/// Joins the two halves of a character that a server has split: proxies in JavaScript split texts between the escapes
/// of a surrogate pair, `\ud83d` at the end of one chunk and `\udc26` at the beginning of the next.
struct SurrogateSeam: Sendable {
    /// The escape of a first half that waits for its second.
    private var half: ArraySlice<UInt8> = []

    var isOpen: Bool { !half.isEmpty }

    /// The chunk with the halves joined, or without a half that has to wait.
    mutating func mend(_ data: [UInt8]) -> [UInt8] {
        var data = data
        if isOpen, let place = Self.secondHalf(in: data) {
            data.insert(contentsOf: half, at: place)
            half = []
        }
        if let place = Self.firstHalf(in: data) {
            half = data[place..<(place + 6)]
            data.removeSubrange(place..<(place + 6))
        }
        return data
    }

    private static let backslash = UInt8(ascii: "\\")
    private static let quote = UInt8(ascii: "\"")

    /// Where a string ends in the escape of a first half.
    private static func firstHalf(in data: [UInt8]) -> Int? {
        escapes(in: data, "89aAbB").first { place in
            place + 6 < data.count && data[place + 6] == quote
        }
    }

    /// Where a string begins with the escape of a second half.
    private static func secondHalf(in data: [UInt8]) -> Int? {
        escapes(in: data, "cdefCDEF").first { $0 > 0 && data[$0 - 1] == quote }
    }

    /// Where surrogate escapes are whose second digit is one of these.
    private static func escapes(in data: [UInt8], _ digits: String) -> some Sequence<Int> {
        let digits = Array(digits.utf8)
        return data.indices.dropLast(5).lazy.filter { place in
            guard data[place] == backslash, data[place + 1] == UInt8(ascii: "u"),
                data[place + 2] | 0x20 == UInt8(ascii: "d"), digits.contains(data[place + 3])
            else { return false }
            // An escaped backslash does not begin an escape.
            var before = place
            while before > 0, data[before - 1] == backslash { before -= 1 }
            return (place - before).isMultiple(of: 2)
        }
    }
}
