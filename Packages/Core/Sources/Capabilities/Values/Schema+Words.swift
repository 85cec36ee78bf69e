public import JSON

extension Schema {
    /// A value from one word of a command line or an environment variable.
    ///
    /// - Throws: `ValueError` that says what was expected.
    public func json(fromWord word: String) throws(ValueError) -> JSON {
        switch self {
        case .optional(let inner):
            return try inner.json(fromWord: word)
        case .boolean:
            guard let value = Self.booleanWords[word.lowercased()] else { throw expected("true or false", got: word) }
            return .bool(value)
        case .integer:
            guard let value = Int(word) else { throw expected("a whole number", got: word) }
            return try checked(.int(value))
        case .number:
            guard let value = Double(word), value.isFinite else { throw expected("a number", got: word) }
            return try checked(.double(value))
        case .any, .array, .map, .record:
            return try structured(word)
        case .string, .choice, .path, .url, .host, .duration, .size, .time, .secret, .secretName, .program:
            return try checked(.string(word))
        }
    }

    private static let booleanWords = [
        "true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false,
    ]

    /// Structured values are written as JSON; a list of plain values also with commas, as people do.
    private func structured(_ word: String) throws(ValueError) -> JSON {
        switch self {
        case .array(let element) where !word.hasPrefix("["):
            var items: [JSON] = []
            for part in word.split(separator: ",") {
                items.append(try element.json(fromWord: String(part)))
            }
            return .array(items)
        case .any:
            // Anything that is no JSON is meant as text.
            do { return try JSON(parsing: word, reading: .json5) } catch { return .string(word) }
        default:
            let value: JSON
            do { value = try JSON(parsing: word, reading: .json5) } catch {
                throw ValueError("is no JSON (\(error.message)): \(word.quotedForMessage)")
            }
            return try checked(value)
        }
    }

    private func checked(_ value: JSON) throws(ValueError) -> JSON {
        if let problem = problems(in: value).first { throw problem }
        return value
    }

    private func expected(_ what: String, got word: String) -> ValueError {
        ValueError("needs \(what), not \(word.quotedForMessage)")
    }
}
