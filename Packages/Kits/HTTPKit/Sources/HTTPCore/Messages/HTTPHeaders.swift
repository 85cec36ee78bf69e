/// The header lines of a request or response, in order. Names are case-insensitive.
public struct HTTPHeaders: Sendable, Hashable {
    /// One header line.
    public typealias Field = (name: String, value: String)

    private var names: [String] = []
    private var values: [String] = []

    /// No header lines.
    public init() {}

    /// These lines, in this order; names may repeat.
    public init(_ fields: [Field]) {
        for field in fields { append(field.name, field.value) }
    }

    /// The number of lines; a name that repeats counts each time.
    public var count: Int { names.count }
    /// Whether there are no lines.
    public var isEmpty: Bool { names.isEmpty }

    /// The first value of that name. Setting replaces every line of that name, and `nil` removes them.
    public subscript(name: String) -> String? {
        get { names.firstIndex { Self.isSame($0, name) }.map { values[$0] } }
        set {
            guard let newValue else { return remove(name) }
            guard let first = names.firstIndex(where: { Self.isSame($0, name) }) else { return append(name, newValue) }
            values[first] = newValue
            for index in names.indices.reversed() where index > first && Self.isSame(names[index], name) {
                names.remove(at: index)
                values.remove(at: index)
            }
        }
    }

    /// Every value of that name, such as those of `Set-Cookie`.
    public func all(_ name: String) -> [String] {
        names.indices.filter { Self.isSame(names[$0], name) }.map { values[$0] }
    }

    /// The elements of a list header, split at the commas of all its lines and trimmed, without empty ones.
    public func list(_ name: String) -> [Substring] {
        all(name).flatMap { value in
            value.split(separator: ",").map { $0.trimmingSpaces }.filter { !$0.isEmpty }
        }
    }

    /// Whether a list header contains the element, ignoring case: `has("Connection", "close")`.
    public func has(_ name: String, _ member: String) -> Bool {
        list(name).contains { Self.isSame($0, member) }
    }

    /// Adds a line and keeps existing ones of the same name.
    public mutating func append(_ name: String, _ value: String) {
        names.append(name)
        values.append(value)
    }

    /// Removes every line of that name, if there are any.
    public mutating func remove(_ name: String) {
        for index in names.indices.reversed() where Self.isSame(names[index], name) {
            names.remove(at: index)
            values.remove(at: index)
        }
    }

    /// The first line that must not be sent: its name is not a token, or its value would start another line.
    public var firstInvalid: Field? {
        for (name, value) in self {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte), value.utf8.allSatisfy(Self.isValueByte) else {
                return (name, value)
            }
        }
        return nil
    }

    /// Whether a byte is allowed in a name (`token` in RFC 9110).
    public static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether a byte is allowed in a value: no control characters except tab.
    public static func isValueByte(_ byte: UInt8) -> Bool {
        byte == 9 || (byte >= 32 && byte != 127)
    }

    /// Compares two names without allocating strings, ignoring ASCII case.
    public static func isSame(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { $0 == $1 || lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HTTPHeaders {
    /// The token of `Authorization: Bearer …`; nil without such a line, or with several.
    public var bearerToken: String? {
        let lines = all("Authorization")
        guard lines.count == 1, let space = lines[0].firstIndex(of: " "), Self.isSame(lines[0][..<space], "Bearer")
        else { return nil }
        let token = lines[0][space...].trimmingSpaces
        return token.isEmpty ? nil : String(token)
    }
}

extension HTTPHeaders: Sequence {
    public func makeIterator() -> AnyIterator<Field> {
        var index = 0
        return AnyIterator { [names, values] in
            guard index < names.count else { return nil }
            defer { index += 1 }
            return (names[index], values[index])
        }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// For logs: credentials are left out.
    public var description: String {
        map { "\($0.name): \(Self.isCredential($0.name) ? "‹redacted›" : $0.value)" }.joined(separator: "\n")
    }

    /// Whether a header of that name may carry a credential, so that it is never shown.
    public static func isCredential(_ name: String) -> Bool {
        let name = name.lowercased()
        return credentials.contains { name.contains($0) }
    }

    private static let credentials = [
        "auth", "cookie", "credential", "key", "pass", "secret", "session", "signature", "token",
    ]
}

extension StringProtocol {
    /// Without the spaces and tabs at both ends.
    public var trimmingSpaces: SubSequence {
        var rest = self[...]
        while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
        return rest
    }
}
