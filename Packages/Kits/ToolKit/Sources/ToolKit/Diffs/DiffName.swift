/// How a file is named in the two lines before the hunks.
enum DiffName {
    private static let nothing = "/dev/null"

    /// With the prefix that git gives it. A name that could be misread is quoted as in C.
    static func written(_ name: String?, side: String) -> String {
        guard let name else { return nothing }
        let path = "\(side)/\(name)"
        guard path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\"") || $0 == Byte.backslash })
        else {
            // Without a tab patch takes what follows a space for a time.
            return name.utf8.contains(UInt8(ascii: " ")) ? path + "\t" : path
        }
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "\""), Byte.backslash: quoted += [Byte.backslash, byte]
            case 0x20..<0x7F, 0x80...: quoted.append(byte)
            default:
                let octal = String(byte, radix: 8)
                quoted += (#"\"# + String(repeating: "0", count: 3 - octal.count) + octal).utf8
            }
        }
        return String(decoding: quoted + [UInt8(ascii: "\"")], as: UTF8.self)
    }

    /// The name in such a line, without its prefix and the time after it; nil for no file.
    static func read(_ text: ArraySlice<UInt8>) -> String? {
        var name: [UInt8]
        if text.first == UInt8(ascii: "\"") {
            name = unquoted(text.dropFirst())
        } else {
            name = Array(text.prefix { $0 != UInt8(ascii: "\t") && $0 != Byte.carriageReturn })
        }
        if name.elementsEqual(nothing.utf8) { return nil }
        if name.starts(with: "a/".utf8) || name.starts(with: "b/".utf8) { name.removeFirst(2) }
        return String(decoding: name, as: UTF8.self)
    }

    private static let letters: [UInt8: UInt8] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10, UInt8(ascii: "v"): 11,
        UInt8(ascii: "f"): 12, UInt8(ascii: "r"): 13,
    ]

    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var name: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == Byte.backslash, let escaped = rest.first else {
                name.append(byte)
                continue
            }
            let octal = rest.prefix(3).prefix { (0x30...0x37).contains($0) }
            if octal.isEmpty {
                name.append(letters[escaped] ?? escaped)
                rest.removeFirst()
            } else {
                name.append(UInt8(truncatingIfNeeded: octal.reduce(0) { $0 * 8 + Int($1 - 0x30) }))
                rest.removeFirst(octal.count)
            }
        }
        return name
    }
}
