import JSON

/// Secrets in every form in which they may come back, found by their first four bytes.
struct KnownSecrets {
    /// So many are kept. A server that renews its tokens every few minutes would hold all of them for as long as it runs.
    private static let limit = 1000

    private struct Form {
        let bytes: [UInt8]
        /// What the secret is called, where somebody has said it.
        let name: String?
        /// How many secrets look like this somewhere.
        var count = 1
    }

    private var byBeginning: [UInt32: [Form]] = [:]
    /// When each was told last, as a count.
    private var told: [[UInt8]: Int] = [:]
    private var lastTold = 0
    /// No form that was ever told is longer.
    private(set) var longest = 0

    mutating func insert(_ text: String, named name: String? = nil) {
        lastTold += 1
        if told.updateValue(lastTold, forKey: Array(text.utf8)) == nil { addForms(of: text, name) }
        guard told.count > Self.limit, let oldest = told.min(by: { $0.value < $1.value })?.key else { return }
        told[oldest] = nil
        removeForms(of: String(decoding: oldest, as: UTF8.self))
    }

    private mutating func addForms(of text: String, _ name: String?) {
        for form in Self.forms(of: text) {
            let (key, bytes) = Self.entry(form)
            longest = max(longest, bytes.count)
            if let place = byBeginning[key]?.firstIndex(where: { $0.bytes == bytes }) {
                byBeginning[key]?[place].count += 1
            } else {
                byBeginning[key, default: []].append(Form(bytes: bytes, name: name))
            }
        }
    }

    private mutating func removeForms(of text: String) {
        for form in Self.forms(of: text) {
            let (key, bytes) = Self.entry(form)
            guard let place = byBeginning[key]?.firstIndex(where: { $0.bytes == bytes }) else { continue }
            byBeginning[key]?[place].count -= 1
            if byBeginning[key]?[place].count == 0 { byBeginning[key]?.remove(at: place) }
            if byBeginning[key]?.isEmpty == true { byBeginning[key] = nil }
        }
    }

    private static func entry(_ form: String) -> (key: UInt32, bytes: [UInt8]) {
        let bytes = Array(form.utf8)
        return (key(bytes[0], bytes[1], bytes[2], bytes[3]), bytes)
    }

    func ranges(in text: [UInt8]) -> [Range<Int>] { found(in: text).map(\.range) }

    /// Where they stand, and what they are called.
    func found(in text: [UInt8]) -> [(range: Range<Int>, name: String?)] {
        guard !byBeginning.isEmpty, text.count >= 4 else { return [] }
        var found: [(Range<Int>, String?)] = []
        for start in 0...(text.count - 4) {
            guard let forms = byBeginning[Self.key(text[start], text[start + 1], text[start + 2], text[start + 3])]
            else { continue }
            for form in forms {
                let shared = Self.shared(text, from: start, form.bytes)
                if shared == form.bytes.count || shared >= Self.tellingBeginning {
                    found.append((start..<(start + shared), form.name))
                }
            }
        }
        return found
    }

    /// Where at the end of a text a secret may begin of which not all is there; its end where none does.
    func beginning(atEndOf text: [UInt8]) -> Int {
        guard longest > 0 else { return text.count }
        for start in max(0, text.count - longest)..<text.count {
            let rest = text[start...]
            if rest.count >= 4 {
                let forms = byBeginning[Self.key(text[start], text[start + 1], text[start + 2], text[start + 3])] ?? []
                if forms.contains(where: { $0.bytes.count > rest.count && $0.bytes.starts(with: rest) }) {
                    return start
                }
            } else if byBeginning.values.contains(where: { $0.contains { $0.bytes.starts(with: rest) } }) {
                return start
            }
        }
        return text.count
    }

    /// So many bytes of a secret's beginning are taken out even where the rest is not there: somebody may have cut the
    /// text that it stood in.
    private static let tellingBeginning = 16

    /// How many bytes agree.
    private static func shared(_ text: [UInt8], from start: Int, _ form: [UInt8]) -> Int {
        var count = 0
        while count < form.count, start + count < text.count, text[start + count] == form[count] { count += 1 }
        return count
    }

    private static func key(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> UInt32 {
        UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
    }

    /// As it is, in addresses and forms, in Base64, and in JSON texts: programs differ in what they escape, and how.
    private static func forms(of text: String) -> Set<String> {
        var forms: Set<String> = [text, escaped(text, unicode: false), escaped(text, unicode: true)]
        for kept in ["-._~", "-._*", "-._~!$'()*,;:@/"] {
            let upper = percentEncoded(text, kept: kept, isUpper: true)
            forms.formUnion([
                upper, upper.split(separator: "%20", omittingEmptySubsequences: false).joined(separator: "+"),
            ])
            forms.insert(percentEncoded(text, kept: kept, isUpper: false))
        }
        return forms.union(base64Forms(of: text))
    }

    /// As it stands in an address or a form, where `kept` is what a program leaves as it is beside letters and digits.
    private static func percentEncoded(_ text: String, kept: String, isUpper: Bool) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122: encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where kept.utf8.contains(byte): encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: isUpper)
            }
        }
        return encoded
    }

    /// As it stands in a JSON text; some programs write everything beyond ASCII as `\u00e4`.
    private static func escaped(_ text: String, unicode: Bool) -> String {
        let json = JSON.string(text).text().dropFirst().dropLast()
        guard unicode else { return String(json) }
        var escaped = ""
        for scalar in json.unicodeScalars {
            guard !scalar.isASCII else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for unit in scalar.utf16 {
                let digits = String(unit, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return escaped
    }
}

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
