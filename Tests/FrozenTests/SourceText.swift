import WorkspaceSupport

/// A Swift file as these lists need it: its code, and the texts of its string literals.
struct SourceText {
    /// Below the root of the checkout.
    let path: String
    /// Without comments. A string literal is its number in quotes: `case .noFile: "3"`. Before it are those that are in it.
    let code: String
    /// By their numbers. An interpolation is `…`.
    let literals: [String]

    init(_ path: String) throws {
        var reader = SourceReader(try Workspace.current.text(path))
        code = String(decoding: reader.code(), as: UTF8.self)
        literals = reader.literals
        self.path = path
    }

    /// The files in a folder that are part of the product, and not of its tests.
    static func product(in folder: String) throws -> [SourceText] {
        try Workspace.current.files(in: folder, ending: ".swift").filter { path in
            guard let module = Self.module(of: path) else { return path.hasPrefix("Apps/") }
            return !module.hasSuffix("Testing") && !module.hasPrefix("Test")
        }.map { try SourceText($0) }
    }

    /// The whole product.
    static func product() throws -> [SourceText] {
        try product(in: "Packages") + product(in: "Apps/martlet")
    }

    /// The module that the file belongs to; empty in a program.
    var module: String { Self.module(of: path) ?? "" }

    private static func module(of path: String) -> String? {
        let parts = path.split(separator: "/")
        guard let sources = parts.firstIndex(of: "Sources"), sources + 1 < parts.count else { return nil }
        return String(parts[sources + 1])
    }

    /// The literals whose numbers a pattern finds in a piece of the code.
    func texts(in code: Substring, _ pattern: Regex<(Substring, Substring)> = /"(\d+)"/) -> [String] {
        code.matches(of: pattern).compactMap { Int($0.output.1) }.map { literals[$0] }
    }

    /// The literals whose numbers a pattern finds anywhere in the code.
    func texts(_ pattern: Regex<(Substring, Substring)>) -> [String] {
        texts(in: code[...], pattern)
    }

    /// The code from the bracket that ends a match to the one that closes it.
    func block(after match: Range<String.Index>) -> Substring {
        let start = code.index(before: match.upperBound)
        let (opening, closing): (Character, Character) = code[start] == "(" ? ("(", ")") : ("{", "}")
        var depth = 0
        for place in code[start...].indices {
            if code[place] == opening { depth += 1 }
            if code[place] == closing { depth -= 1 }
            if depth == 0 { return code[start...place] }
        }
        return code[start...]
    }
}

/// Tells the code, the comments and the literals of a Swift file apart.
private struct SourceReader {
    private(set) var literals: [String] = []
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The code up to the end, or to the parenthesis that ends an interpolation.
    mutating func code(inInterpolation: Bool = false) -> [UInt8] {
        var code: [UInt8] = []
        var depth = 0
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
                while let next = peek(), next != UInt8(ascii: "\n") { place += 1 }
                continue
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
                while peek() != nil, !isNext("*/") { place += 1 }
                place += 2
                continue
            case UInt8(ascii: "\""), UInt8(ascii: "#"):
                if let hashes = hashesOfLiteral {
                    let first = literals.count
                    let last = literal(hashes)
                    for number in first...last { code += Array("\"\(number)\"".utf8) }
                    continue
                }
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if inInterpolation, depth < 0 {
                    place += 1
                    return code
                }
            default: break
            }
            code.append(byte)
            place += 1
        }
        return code
    }

    private func peek(_ offset: Int = 0) -> UInt8? {
        place + offset < bytes.count ? bytes[place + offset] : nil
    }

    private func isNext(_ word: String) -> Bool {
        bytes[min(place, bytes.count)...].starts(with: word.utf8)
    }

    /// How many number signs are before the quote that begins a literal here; nil where none begins.
    private var hashesOfLiteral: Int? {
        let hashes = bytes[place...].prefix { $0 == UInt8(ascii: "#") }.count
        return peek(hashes) == UInt8(ascii: "\"") ? hashes : nil
    }

    /// Reads a literal and gives its number.
    private mutating func literal(_ hashes: Int) -> Int {
        place += hashes
        let quotes = isNext("\"\"\"") ? 3 : 1
        place += quotes
        let end = String(repeating: "\"", count: quotes) + String(repeating: "#", count: hashes)
        let escape = "\\" + String(repeating: "#", count: hashes)
        var text: [UInt8] = []
        while let byte = peek() {
            if byte == UInt8(ascii: "\""), isNext(end) { break }
            if byte == UInt8(ascii: "\\"), isNext(escape) {
                place += 1 + hashes
                text += escaped()
            } else {
                text.append(byte)
                place += 1
            }
        }
        place += end.utf8.count
        literals.append(String(decoding: text, as: UTF8.self))
        return literals.count - 1
    }

    /// What stands for the rest of an escape.
    private mutating func escaped() -> [UInt8] {
        guard let byte = peek() else { return [] }
        place += 1
        switch byte {
        case UInt8(ascii: "("):
            _ = code(inInterpolation: true)
            return Array("…".utf8)
        case UInt8(ascii: "n"), UInt8(ascii: "r"): return [UInt8(ascii: "\n")]
        case UInt8(ascii: "t"): return [UInt8(ascii: "\t")]
        // The line goes on in the next one.
        case UInt8(ascii: "\n"):
            while peek() == UInt8(ascii: " ") { place += 1 }
            return []
        default: return [byte]
        }
    }
}
