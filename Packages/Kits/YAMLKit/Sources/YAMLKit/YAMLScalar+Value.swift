import JSON

extension YAMLScalar {
    /// What the text stands for.
    ///
    /// Only what JSON has too is more than a text: `true`, `false`, `null`, `~`, nothing at all, and numbers as JSON writes
    /// them. `yes`, `on`, `NO`, `1:20` and `012` stay the texts that they look like.
    func json(at place: YAMLPlace) throws(YAMLError) -> JSON {
        guard isPlain else { return .string(text) }
        switch text {
        case "", "~", "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: return looksLikeNumber ? try number(at: place) : .string(text)
        }
    }

    /// Whether JSON would read it as a number, whatever its size.
    private var looksLikeNumber: Bool {
        var bytes = text.utf8[...]
        func digits() -> Int {
            let count = bytes.prefix { (0x30...0x39).contains($0) }.count
            bytes = bytes.dropFirst(count)
            return count
        }
        if bytes.first == UInt8(ascii: "-") { bytes = bytes.dropFirst() }
        let startsWithZero = bytes.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, whole == 1 || !startsWithZero else { return false }
        if bytes.first == UInt8(ascii: ".") {
            bytes = bytes.dropFirst()
            if digits() == 0 { return false }
        }
        if bytes.first == UInt8(ascii: "e") || bytes.first == UInt8(ascii: "E") {
            bytes = bytes.dropFirst()
            if bytes.first == UInt8(ascii: "+") || bytes.first == UInt8(ascii: "-") { bytes = bytes.dropFirst() }
            if digits() == 0 { return false }
        }
        return bytes.isEmpty
    }

    private func number(at place: YAMLPlace) throws(YAMLError) -> JSON {
        do {
            return try JSON(parsing: Array(text.utf8))
        } catch {
            throw YAMLError(.number, "the number \(text) is too large; quote it if it is a text", at: place)
        }
    }
}
