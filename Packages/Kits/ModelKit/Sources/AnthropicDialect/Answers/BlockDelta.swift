import JSON

/// A piece of a block. It is read without a tree, as nearly all events of a stream are such; what is anything else is
/// nil, and is then read with one.
struct BlockDelta {
    enum Kind: Sendable {
        case text, thinking, input, signature

        /// The type of a piece and the member that has its text.
        static let all: [(type: String, key: String, kind: Kind)] = [
            ("text_delta", "text", .text), ("thinking_delta", "thinking", .thinking),
            ("input_json_delta", "partial_json", .input), ("signature_delta", "signature", .signature),
        ]
    }

    private(set) var index = -1
    private(set) var text = ""
    private(set) var kind = Kind.text
    private var type = ""
    private var pieces = 0

    @inline(__always)
    init?(_ data: [UInt8]) {
        do {
            try JSONPullReader.read(data) { reader in try read(&reader) }
        } catch {
            return nil
        }
        guard pieces == 1, index >= 0 else { return nil }
        switch kind {
        case .text: if type != "text_delta" { return nil }
        case .thinking: if type != "thinking_delta" { return nil }
        case .input: if type != "input_json_delta" { return nil }
        case .signature: return nil
        }
    }

    @inline(__always)
    private mutating func read(_ reader: inout JSONPullReader) throws {
        try reader.object { reader, key in
            switch key {
            case "index": index = try reader.int()
            case "delta": try readDelta(&reader)
            case "error": pieces += 2
            default: break
            }
        }
    }

    @inline(__always)
    private mutating func readDelta(_ reader: inout JSONPullReader) throws {
        try reader.object { reader, key in
            switch key {
            case "type": type = try reader.string()
            case "text" where !reader.isNull: try take(.text, &reader)
            case "thinking" where !reader.isNull: try take(.thinking, &reader)
            case "partial_json" where !reader.isNull: try take(.input, &reader)
            default: break
            }
        }
    }

    @inline(__always)
    private mutating func take(_ kind: Kind, _ reader: inout JSONPullReader) throws {
        self.kind = kind
        text = try reader.string()
        pieces += 1
    }
}
