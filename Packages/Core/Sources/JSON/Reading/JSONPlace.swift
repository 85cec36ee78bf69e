/// The line, the column and the name of what stands at an offset, for messages.
@safe struct JSONPlace {
    let line: Int
    let column: Int
    /// What stands there, quoted where it can be printed and by number where it cannot.
    let found: String

    init(offset: Int, in bytes: UnsafeRawBufferPointer) {
        var line = 1
        var start = 0
        for place in 0..<offset {
            let byte = unsafe bytes[place]
            let next = place + 1 < bytes.count ? unsafe bytes[place + 1] : 0
            if byte == JSONByte.lineFeed || byte == JSONByte.carriageReturn && next != JSONByte.lineFeed {
                line += 1
                start = place + 1
            }
        }
        var column = 1
        for place in start..<max(start, offset) where unsafe bytes[place] & 0xC0 != 0x80 { column += 1 }
        self.line = line
        self.column = column
        found = unsafe Self.name(of: UnsafeRawBufferPointer(rebasing: bytes[offset...].prefix(4)))
    }

    private static func name(of bytes: UnsafeRawBufferPointer) -> String {
        guard let first = unsafe bytes.first else { return "the end of the text" }
        guard case .scalarValue(let scalar) = unsafe decodeFirst(of: bytes) else {
            return "the byte 0x\(String(first, radix: 16, uppercase: true))"
        }
        let hexadecimal = String(scalar.value, radix: 16, uppercase: true)
        let number = "U+" + String(repeating: "0", count: max(0, 4 - hexadecimal.count)) + hexadecimal
        if scalar == " " { return "a space" }
        if scalar == "'" { return "\"'\"" }
        if scalar.isASCII { return scalar.value > 0x20 && scalar.value < 0x7F ? "'\(scalar)'" : number }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .otherLetter, .decimalNumber, .otherPunctuation, .mathSymbol,
            .currencySymbol, .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation,
            .dashPunctuation:
            return "'\(scalar)' (\(number))"
        default:
            return number
        }
    }

    private static func decodeFirst(of bytes: UnsafeRawBufferPointer) -> UnicodeDecodingResult {
        var decoder = UTF8()
        var iterator = unsafe bytes.makeIterator()
        return unsafe decoder.decode(&iterator)
    }
}
