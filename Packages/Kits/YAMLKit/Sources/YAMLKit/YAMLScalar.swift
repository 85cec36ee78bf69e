import JSON

/// A scalar value.
struct YAMLScalar {
    let text: String
    /// Whether it is written without quotes, so that it may be a number, a boolean or null.
    let isPlain: Bool

    /// The value of the text.
    ///
    /// Only what JSON also has is more than text: `true`, `false`, `null`, `~`, an empty value, and numbers in JSON
    /// syntax. `yes`, `on`, `NO`, `1:20` and `012` stay texts.
    func json(at place: YAMLPlace) throws(YAMLError) -> JSON {
        guard isPlain else { return .string(text) }
        switch text {
        case "", "~", "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: return looksLikeNumber ? try number(at: place) : .string(text)
        }
    }

    /// Whether it has the syntax of a JSON number, whatever its size.
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
            throw YAMLError(.number, "the number \(text) is too large; quote it if it is text", at: place)
        }
    }
}
