public import JSON

extension Schema {
    /// Everything in which a value differs from the schema, so that a person can mend all of it at once.
    public func problems(in value: JSON) -> [ValueError] {
        switch self {
        case .any:
            return []
        case .optional(let inner):
            return value.isNull ? [] : inner.problems(in: value)
        case .boolean:
            return value.bool == nil ? [needs("true or false", value)] : []
        case .integer(let range):
            guard let number = value.int else { return [needs("a whole number", value)] }
            return outside(number, range)
        case .number(let range):
            guard let number = value.double else { return [needs("a number", value)] }
            return outside(number, range)
        case .string, .path, .url, .secret, .time:
            return value.string == nil ? [needs("text", value)] : textProblems(value)
        case .choice(let names):
            guard let text = value.string else { return [needs("one of \(names.joined(separator: ", "))", value)] }
            return names.contains(text) ? [] : [unknownChoice(text, names)]
        case .duration:
            if let number = value.double {
                if number < 0 { return [ValueError("must not be negative")] }
                return number < 1e12 ? [] : [ValueError("is longer than any duration can be")]
            }
            guard let text = value.string else { return [needs("a duration such as 30s or 1m30s", value)] }
            return Duration(words: text) == nil
                ? [ValueError("needs a duration such as 250ms, 30s or 1m30s, not \(text.quotedForMessage)")] : []
        case .size:
            if let number = value.int { return number >= 0 ? [] : [ValueError("must not be negative")] }
            guard let text = value.string else { return [needs("a size such as 64KiB", value)] }
            return ByteCount(words: text) == nil
                ? [ValueError("needs a size such as 4096, 64KiB or 10MB, not \(text.quotedForMessage)")] : []
        case .array(let element):
            guard let items = value.array else { return [needs("a list", value)] }
            return items.enumerated().flatMap { index, item in
                element.problems(in: item).map { $0.under(String(index)) }
            }
        case .map(let element):
            guard let members = value.object else { return [needs("an object", value)] }
            return members.flatMap { name, item in element.problems(in: item).map { $0.under(name) } }
        case .record(let properties):
            guard let members = value.object else { return [needs("an object", value)] }
            return recordProblems(properties, members)
        }
    }

    private func recordProblems(_ properties: [Property], _ members: JSONObject) -> [ValueError] {
        var problems: [ValueError] = []
        for property in properties {
            if let value = members[property.name] {
                problems += property.schema.problems(in: value).map { $0.under(property.name) }
            } else if !property.schema.isOptional {
                problems.append(ValueError("is missing", at: [property.name]))
            }
        }
        let names = properties.map(\.name)
        for (name, _) in members where !names.contains(name) {
            problems.append(ValueError("is not known here\(Suggestion.text(for: name, among: names))", at: [name]))
        }
        return problems
    }

    private func textProblems(_ value: JSON) -> [ValueError] {
        switch self {
        case .time where value.string.flatMap(Timestamp.init(iso8601:)) == nil:
            [ValueError("needs a time such as 2026-11-20T09:30:00Z")]
        case .url where value.string?.contains("://") != true:
            [ValueError("needs a URL such as https://example.com")]
        case .path where value.string?.isEmpty == true:
            [ValueError("needs a path, not an empty text")]
        default: []
        }
    }

    private func unknownChoice(_ text: String, _ names: [String]) -> ValueError {
        ValueError(
            "needs one of \(names.joined(separator: ", ")), not \(text.quotedForMessage)"
                + Suggestion.text(for: text, among: names))
    }

    private func needs(_ what: String, _ value: JSON) -> ValueError {
        ValueError("needs \(what), not \(value.kindName)")
    }

    private func outside<Number: Comparable>(_ number: Number, _ range: ClosedRange<Number>?) -> [ValueError] {
        guard let range, !range.contains(number) else { return [] }
        return [ValueError("must be from \(range.lowerBound) to \(range.upperBound), not \(number)")]
    }
}
