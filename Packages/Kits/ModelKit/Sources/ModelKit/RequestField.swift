import Capabilities
package import JSON

/// A value of a request with its path, so that an error can name it.
package struct RequestField {
    package let value: JSON
    /// Such as `messages[2].content`.
    package let path: String

    package init(value: JSON, path: String) {
        self.value = value
        self.path = path
    }

    /// A member; nil if it is missing or null, which mean the same.
    package subscript(_ key: String) -> RequestField? {
        guard let member = value[key], !member.isNull else { return nil }
        return RequestField(value: member, path: path.isEmpty ? key : "\(path).\(key)")
    }

    /// A member that is an object; nil if it is missing or null.
    package func group(_ key: String) throws(DialectError) -> RequestField? {
        guard let member = self[key] else { return nil }
        _ = try member.members()
        return member
    }

    package func required(_ key: String) throws(DialectError) -> RequestField {
        if let member = self[key] { return member }
        let name = path.isEmpty ? key : "\(path).\(key)"
        throw Self.problem("\(name) is missing", name, code: "missing_required_parameter")
    }

    package func string() throws(DialectError) -> String {
        guard let text = value.string else { throw wrong("a string") }
        return text
    }

    package func nonEmptyString() throws(DialectError) -> String {
        let text = try string()
        if text.isEmpty { throw problem("must be a name, but is empty") }
        return text
    }

    package func bool() throws(DialectError) -> Bool {
        guard let bool = value.bool else { throw wrong("true or false") }
        return bool
    }

    package func double() throws(DialectError) -> Double {
        guard let number = value.double else { throw wrong("a number") }
        return number
    }

    package func int() throws(DialectError) -> Int {
        // Clients in languages with only one kind of number write 100.0.
        guard let number = value.wholeNumber else { throw wrong("an integer") }
        return number
    }

    package func elements() throws(DialectError) -> [RequestField] {
        guard let elements = value.array else { throw wrong("an array") }
        return elements.enumerated().map { RequestField(value: $1, path: "\(path)[\($0)]") }
    }

    package func members() throws(DialectError) -> JSONObject {
        guard let members = value.object else { throw wrong("an object") }
        return members
    }

    /// The error for a value of the wrong type.
    package func wrong(_ expected: String) -> DialectError {
        problem("must be \(expected), not \(value.kindName)", code: "invalid_type")
    }

    package func problem(_ words: String, code: String = "invalid_value") -> DialectError {
        Self.problem("\(path) \(words)", path, code: code)
    }

    package static func problem(_ words: String, _ field: String?, code: String?) -> DialectError {
        let words = PlainText.excerpt(words)
        let refusal = ServerRefusal(
            message: words, type: "invalid_request_error", code: code, field: field.map { PlainText.excerpt($0) })
        return DialectError(.malformed, "the request is not valid: \(words)", refusal: refusal)
    }

    /// The body of a request, which must be an object.
    package static func root(parsing body: [UInt8]) throws(DialectError) -> RequestField {
        let value: JSON
        do {
            value = try JSON(parsing: body, reading: .stream)
        } catch {
            throw problem("the body is not JSON: \(error)", nil, code: "invalid_json")
        }
        return try root(value)
    }

    /// The body, if it was already parsed.
    package static func root(_ body: JSON) throws(DialectError) -> RequestField {
        guard body.object != nil else {
            throw problem("the body must be an object, not \(body.kindName)", nil, code: nil)
        }
        return RequestField(value: body, path: "")
    }
}
