public import JSON

extension Schema {
    /// Everything in which a value differs from the schema, so that a person can mend all of it at once; of a value that
    /// is wrong in more than `SchemaProblems.limit` places, the first of them.
    public func problems(in value: JSON) -> [ValueError] {
        var problems = SchemaProblems()
        check(value, &problems)
        return problems.all
    }

    func check(_ value: JSON, _ problems: inout SchemaProblems) {
        switch self {
        case .optional(let inner):
            if !value.isNull { inner.check(value, &problems) }
        case .array(let element):
            guard let items = value.array else { return problems.add(needs("a list", value)) }
            for (index, item) in items.enumerated() {
                if problems.isFull { return }
                problems.check(item, element, at: String(index))
            }
        case .map(let element):
            guard let members = value.object else { return problems.add(needs("an object", value)) }
            for (name, item) in members {
                if problems.isFull { return }
                problems.check(item, element, at: name)
            }
        case .record(let properties):
            guard let members = value.object else { return problems.add(needs("an object", value)) }
            checkRecord(properties, members, &problems)
        default:
            if let problem = problem(in: value) { problems.add(problem) }
        }
    }

    /// What is wrong with a value that holds no others.
    private func problem(in value: JSON) -> String? {
        switch self {
        case .any, .optional, .array, .map, .record:
            return nil
        case .boolean:
            return value.bool == nil ? needs("true or false", value) : nil
        case .integer(let range):
            guard let number = value.wholeNumber else { return JSON.wholeNumberProblem(value) }
            return outside(number, range)
        case .number(let range):
            guard let number = value.double else { return needs("a number", value) }
            return outside(number, range)
        case .string, .path, .url, .host, .secret, .secretName, .program, .time:
            return value.string == nil ? needs("text", value) : textProblem(value)
        case .choice(let names):
            guard let text = value.string else { return needs("one of \(names.joined(separator: ", "))", value) }
            return names.contains(text) ? nil : unknownChoice(text, names)
        case .duration:
            if let number = value.double {
                if number < 0 { return "must not be negative" }
                return number < 1e12 ? nil : "is longer than any duration can be"
            }
            guard let text = value.string else { return needs("a duration such as 30s or 1m30s", value) }
            return Duration(words: text) == nil
                ? "needs a duration such as 250ms, 30s or 1m30s, not \(text.quotedForMessage)" : nil
        case .size(let range):
            if let number = value.int {
                return number >= 0 ? outside(ByteCount(number), range) : "must not be negative"
            }
            guard let text = value.string else { return needs("a size such as 64KiB", value) }
            guard let size = ByteCount(words: text) else {
                return "needs a size such as 4096, 64KiB or 10MB, not \(text.quotedForMessage)"
            }
            return outside(size, range)
        }
    }

    private func checkRecord(_ properties: [Property], _ members: JSONObject, _ problems: inout SchemaProblems) {
        for property in properties {
            if problems.isFull { return }
            if let value = members[property.name] {
                problems.check(value, property.schema, at: property.name)
            } else if !property.schema.isOptional {
                problems.add("is missing", at: property.name)
            }
        }
        let names = properties.map(\.name)
        for (name, _) in members where !names.contains(name) {
            if problems.isFull { return }
            problems.add("is not known here\(Suggestion.text(for: name, among: names))", at: name)
        }
    }

    private func textProblem(_ value: JSON) -> String? {
        switch self {
        case .time where value.string.flatMap(Timestamp.init(iso8601:)) == nil:
            "needs a time such as 2026-11-20T09:30:00Z"
        case .url where value.string?.contains("://") != true:
            "needs a URL such as https://example.com"
        case .path where value.string?.isEmpty == true:
            "needs a path, not an empty text"
        case .path where value.string?.utf8.contains(0) == true:
            "cannot hold a zero byte"
        case .host where value.string?.isEmpty == true:
            "needs a host, not an empty text"
        case .secretName where value.string?.isEmpty == true:
            "needs the name of a secret, not an empty text"
        case .program where value.string?.isEmpty == true:
            "needs the name of a program, not an empty text"
        default: nil
        }
    }

    private func unknownChoice(_ text: String, _ names: [String]) -> String {
        "needs one of \(names.joined(separator: ", ")), not \(text.quotedForMessage)"
            + Suggestion.text(for: text, among: names)
    }

    private func needs(_ what: String, _ value: JSON) -> String {
        "needs \(what), not \(value.kindName)"
    }

    private func outside(_ size: ByteCount, _ range: ClosedRange<Int>?) -> String? {
        guard let range, !range.contains(size.bytes) else { return nil }
        let (least, most) = (ByteCount(range.lowerBound).words, ByteCount(range.upperBound).words)
        return "must be from \(least) to \(most), not \(size.words)"
    }

    private func outside<Number: Comparable>(_ number: Number, _ range: ClosedRange<Number>?) -> String? {
        guard let range, !range.contains(number) else { return nil }
        if range.upperBound as? Int == .max { return "must be at least \(range.lowerBound), not \(number)" }
        return "must be from \(range.lowerBound) to \(range.upperBound), not \(number)"
    }
}
