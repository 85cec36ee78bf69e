import CUTF8Proc
import Glibc

/// What the text of a link says about where it leads.
enum LinkText {
    /// Whether a person would take a word of the text for an address or a host, so that it must not hide another one.
    ///
    /// Letters on both sides of a dot, a colon or an at sign are enough, or of a sign that is none of ASCII's: many of
    /// them look like those.
    static func looksLikeAddress(_ text: String) -> Bool {
        words(text).contains { word in
            let inner = word.drop { !isLetter($0) }.reversed().drop { !isLetter($0) }
            return inner.contains(where: isTelling) && !isVersion(inner)
        }
    }

    private static func isTelling(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ".", ":", "@": true
        // Apostrophes and dashes, which prose has in words.
        case "\u{2010}"..."\u{2015}", "\u{2018}", "\u{2019}": false
        default: !scalar.isASCII && !isLetter(scalar)
        }
    }

    /// `3.12` is no host; four numbers are.
    private static func isVersion(_ word: some Collection<Unicode.Scalar>) -> Bool {
        word.allSatisfy { $0 == "." || ("0"..."9").contains($0) } && word.count { $0 == "." } < 3
    }

    /// Whether the text is the address, as far as people write it out.
    static func names(_ address: String, _ text: String) -> Bool {
        ["", "http://", "https://", "mailto:"].contains { address == $0 + text }
    }

    private static func words(_ text: String) -> [[Unicode.Scalar]] {
        compatible(text).unicodeScalars.split { $0.properties.isWhitespace }.map(Array.init)
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark:
            true
        default: false
        }
    }

    /// The text with full-width and other variants of a character as that character (NFKC).
    private static func compatible(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var text = text
        return text.withUTF8 { bytes in
            let options = UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue | UTF8PROC_COMPAT.rawValue
            var mapped: UnsafeMutablePointer<UInt8>?
            let count = unsafe utf8proc_map(
                bytes.baseAddress, bytes.count, &mapped, utf8proc_option_t(rawValue: options))
            defer { unsafe free(mapped) }
            guard count >= 0, let mapped = unsafe mapped else { return unsafe String(decoding: bytes, as: UTF8.self) }
            return unsafe String(decoding: UnsafeBufferPointer(start: mapped, count: count), as: UTF8.self)
        }
    }
}
