import Capabilities
import JSON

extension Schema {
    /// The schema on one line, in words that no renamed case of the enumeration changes.
    var line: String {
        switch self {
        case .any: "any"
        case .boolean: "boolean"
        case .integer(let range): "integer" + Self.words(range)
        case .number(let range): "number" + Self.words(range)
        case .string: "string"
        case .choice(let names): "one of \(names.joined(separator: ", "))"
        case .path(let purpose): "path" + purpose.words
        case .url: "url"
        case .host: "host"
        case .duration: "duration"
        case .size(let range): "size" + Self.words(range)
        case .time: "time"
        case .secret: "secret"
        case .secretName: "name of a secret"
        case .program: "program"
        case .array(let element): "list of \(element.line)"
        case .map(let element): "map of \(element.line)"
        case .record(let properties): "record of \(Self.names(properties))"
        case .optional(let inner): "optional \(inner.line)"
        }
    }

    /// A line for the value at a place, and for everything in it that has a name: `chat.list[].title: string`.
    ///
    /// - Parameter keywords: what only the reader of the value checks, as words of JSON Schema.
    func lines(at place: String, _ keywords: JSONObject = [:]) -> [String] {
        let optional = isOptional ? "optional " : ""
        var lines: [String]
        switch unwrapped {
        case .record(let properties):
            lines = ["\(place): \(optional)record of \(Self.names(properties))"]
            for property in properties {
                lines += property.schema.lines(at: "\(place).\(property.name)", property.keywords)
            }
        case .array(let element) where element.holdsRecord:
            lines = ["\(place): \(optional)list"] + element.lines(at: "\(place)[]")
        case .map(let element) where element.holdsRecord:
            lines = ["\(place): \(optional)map"] + element.lines(at: "\(place){}")
        default:
            lines = ["\(place): \(line)"]
        }
        if !keywords.isEmpty { lines.append("\(place) checks \(JSON.object(keywords).withoutWords.text(.sorted))") }
        return lines
    }

    private var holdsRecord: Bool {
        switch self {
        case .record: true
        case .array(let inner), .map(let inner), .optional(let inner): inner.holdsRecord
        default: false
        }
    }

    /// The order counts: it is that of the columns of a table.
    private static func names(_ properties: [Property]) -> String {
        properties.isEmpty ? "nothing" : properties.map(\.name).joined(separator: ", ")
    }

    private static func words<Bound>(_ range: ClosedRange<Bound>?) -> String {
        range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? ""
    }
}

extension PathPurpose {
    fileprivate var words: String {
        switch self {
        case .read: " to read"
        case .write: " to write"
        case .tree: " to work in"
        case .own: " that only a person names"
        case .any: ""
        }
    }
}

extension JSON {
    /// A JSON Schema without what it says to people.
    var withoutWords: JSON {
        switch self {
        case .array(let items): return .array(items.map(\.withoutWords))
        case .object(let members):
            var kept = JSONObject()
            for (name, value) in members {
                // A member that is called so has a schema, and no text.
                if ["title", "description"].contains(name), value.string != nil { continue }
                kept.append(name, value.withoutWords)
            }
            return .object(kept)
        default: return self
        }
    }
}
