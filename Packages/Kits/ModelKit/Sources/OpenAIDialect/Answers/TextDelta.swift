import JSON

/// A chunk that has nothing but a piece of text or of thoughts. It is read without a tree, as such chunks are nearly all
/// of a stream; any other is nil, and is then read with one.
struct TextDelta {
    private(set) var content: String?
    private(set) var reasoning: String?
    /// Where the content stands in the chunk, with its quotes.
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
            // Some servers send the same thoughts under both names.
            case "reasoning" where !reader.isNull, "reasoning_content" where !reader.isNull:
                let text = try reader.string()
                if reasoning?.isEmpty ?? true { reasoning = text }
            case "refusal", "tool_calls", "reasoning_details", "function_call": isPlain = isPlain && reader.isNull
            default: break
            }
        }
    }
}
