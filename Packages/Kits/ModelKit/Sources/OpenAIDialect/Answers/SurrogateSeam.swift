/// Joins the two halves of a character that a server has cut apart: proxies in JavaScript split texts between the escapes
/// of a surrogate pair, `\ud83d` at the end of one chunk and `\udc26` at the beginning of the next.
struct SurrogateSeam: Sendable {
    /// The escape of a first half that waits for its second.
    private var half: ArraySlice<UInt8> = []

    var isOpen: Bool { !half.isEmpty }

    /// The chunk with what was cut put together, or without a half that has to wait.
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

    /// Where escapes of surrogates stand whose second digit is one of these.
    private static func escapes(in data: [UInt8], _ digits: String) -> some Sequence<Int> {
        let digits = Array(digits.utf8)
        return data.indices.dropLast(5).lazy.filter { place in
            guard data[place] == backslash, data[place + 1] == UInt8(ascii: "u"),
                data[place + 2] | 0x20 == UInt8(ascii: "d"), digits.contains(data[place + 3])
            else { return false }
            // A backslash that is escaped itself begins no escape.
            var before = place
            while before > 0, data[before - 1] == backslash { before -= 1 }
            return (place - before).isMultiple(of: 2)
        }
    }
}
