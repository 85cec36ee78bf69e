import COpenSSL

/// Bytes as letters, four for every three bytes, as `Sec-WebSocket-Accept`, `Authorization` and PEM need them.
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        precondition(bytes.count <= Int(Int32.max) / 2, "more than 1 GiB is not encoded at once")
        return unsafe String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 1) { buffer in
            Int(unsafe EVP_EncodeBlock(buffer.baseAddress, bytes, Int32(bytes.count)))
        }
    }

    /// The bytes behind a text, or nil when it is no such text. Line breaks and missing padding are taken, as in mail and
    /// in what people paste; padding that is there has to be right.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var letters = ""
        letters.reserveCapacity(text.utf8.count)
        for character in text.unicodeScalars {
            switch character {
            case "\n", "\r": continue
            case "+": letters.unicodeScalars.append("-")
            case "/": letters.unicodeScalars.append("_")
            case "-", "_": return nil
            default: letters.unicodeScalars.append(character)
            }
        }
        let padding = letters.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding == 0 || padding <= 2 && letters.utf8.count % 4 == 0 else { return nil }
        return Base64URL.decode(letters.dropLast(padding))
    }
}
