import JSON

/// Names a value inside of JSON (RFC 6901), such as `/files/0/path`.
enum JSONPointer {
    static func isValid(_ pointer: String) -> Bool { pointer.isEmpty || pointer.hasPrefix("/") }

    static func value(at pointer: String, in json: JSON) -> JSON? {
        guard isValid(pointer) else { return nil }
        var value = json
        for token in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let next = member(unescaped(token), of: value) else { return nil }
            value = next
        }
        return value
    }

    private static func member(_ name: String, of json: JSON) -> JSON? {
        if case .object(let members) = json { return members[name] }
        guard let index = Int(name), String(index) == name else { return nil }
        return json[index]
    }

    /// "~1" stands for "/" and "~0" for "~", and are undone in this order.
    private static func unescaped(_ token: Substring) -> String {
        guard token.contains("~") else { return String(token) }
        var name = ""
        var isEscaped = false
        for character in token {
            switch (isEscaped, character) {
            case (true, "1"): name += "/"
            case (true, "0"): name += "~"
            case (true, _): name += "~\(character)"
            case (false, "~"): break
            case (false, _): name.append(character)
            }
            isEscaped = !isEscaped && character == "~"
        }
        return isEscaped ? name + "~" : name
    }
}
