extension KnownSecrets {
    /// As it stands in Base64, by itself and in the middle of a longer text, for both alphabets.
    ///
    /// Three bytes become four signs, so a text looks different by where it begins. At its ends are signs that also
    /// depend on what stands beside it; these are left out.
    static func base64Forms(of text: String) -> Set<String> {
        let bytes = Array(text.utf8)
        var forms: Set<String> = []
        for alphabet in [Base64Signs.standard, .forAddresses] {
            let whole = alphabet.encode(bytes)
            forms.insert(String(decoding: whole, as: UTF8.self))
            for before in 0..<3 {
                let signs = alphabet.encode(Array(repeating: 0, count: before) + bytes)
                let own = (before * 8 + 5) / 6..<((before + bytes.count) * 8 / 6)
                forms.insert(String(decoding: signs[own], as: UTF8.self))
            }
        }
        return forms
    }
}

/// The two alphabets of Base64, without the signs that only fill up the end.
private struct Base64Signs {
    private let signs: [UInt8]

    static let standard = Base64Signs("+/")
    static let forAddresses = Base64Signs("-_")

    private init(_ last: String) {
        signs = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
    }

    func encode(_ bytes: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            (bits, count) = ((bits << 8 | Int(byte)) & 0xFFFF, count + 8)
            while count >= 6 {
                count -= 6
                encoded.append(signs[bits >> count & 63])
            }
        }
        if count > 0 { encoded.append(signs[bits << (6 - count) & 63]) }
        return encoded
    }
}
