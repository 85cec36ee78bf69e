import Glibc

/// A chunk like the one before, but for its text.
///
/// Most servers send every piece of text in the same chunk. Where all the bytes around the text are those of a chunk that
/// was read before, and the text has nothing in it that would end it, a parser would find the same again.
struct RepeatedChunk {
    private let head: ArraySlice<UInt8>
    private let tail: ArraySlice<UInt8>

    /// - Parameter delta: what a parser found in the chunk.
    /// - Returns: nil where the text is not all that there is.
    init?(_ data: [UInt8], _ delta: TextDelta) {
        guard let place = delta.place, delta.reasoning == nil else { return nil }
        head = data[...place.lowerBound]
        tail = data[(place.upperBound - 1)...]
    }

    /// The text of another chunk; nil where that has to be parsed.
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
