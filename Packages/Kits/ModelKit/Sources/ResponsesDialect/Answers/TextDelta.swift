import JSON

/// A piece of text. It is read without a tree, as nearly all events of a stream are such; what is anything else is nil,
/// and is then read with one.
struct TextDelta {
    private(set) var item = -1
    private(set) var place = 0
    private(set) var text = ""
    private var pieces = 0

    @inline(__always)
    init?(_ data: [UInt8]) {
        do {
            try JSONPullReader.read(data) { reader in
                try reader.object { reader, key in
                    switch key {
                    case "output_index": item = try reader.int()
                    case "content_index": place = try reader.int()
                    case "delta":
                        text = try reader.string()
                        pieces += 1
                    case "error": pieces += 2
                    default: break
                    }
                }
            }
        } catch {
            return nil
        }
        guard pieces == 1, item >= 0 else { return nil }
    }
}
