public import Capabilities
import HTTPCore
public import JSON

/// One value that a route takes from a request, declared with its type.
///
/// ```swift
/// .path("id", "The project")                               // {id} in the path
/// .query("limit", "Maximum number of results", default: 20) // ?limit=5
/// .query("tag", "Only files with this tag", as: [String].self)    // ?tag=a&tag=b
/// .header("Idempotency-Key", "…", as: String?.self)
/// .body(NewProject.self, "What to make")                     // JSON
/// .upload("The file")                                        // bytes as they come
/// ```
public struct RouteInput<Value: Sendable>: Sendable {
    private(set) var declaration: RouteInputDeclaration
    private let read: @Sendable (RawInputs) throws(ValueErrors) -> Value

    /// Adds JSON Schema keywords for constraints that only the handler checks, such as `minLength`.
    public func documented(_ keywords: JSONObject) -> RouteInput {
        var copy = self
        copy.declaration.property.keywords = keywords
        return copy
    }

    /// The value, or nil with its problems.
    func value(_ raw: RawInputs, _ problems: inout [InputProblem]) -> Value? {
        do throws(ValueErrors) {
            return try read(raw)
        } catch {
            for problem in error.all {
                let name = declaration.place == .body ? problem.path : [declaration.name] + problem.path
                problems.append(
                    InputProblem(
                        place: declaration.place.rawValue, name: name.joined(separator: "."),
                        message: problem.message))
            }
            return nil
        }
    }
}

/// An input without its static type; documents are built from it.
public struct RouteInputDeclaration: PropertyDeclaration {
    /// The part of the request that has the value. A `body` is parsed as JSON, an `upload` is read as bytes.
    public enum Place: String, Sendable {
        case path, query, header, body, upload
    }

    /// Where the value comes from.
    public let place: Place
    /// The name is the one in the path, query or headers, or `body`. The summary of a body may be empty. Keywords describe
    /// constraints that only the handler checks.
    public internal(set) var property: Schema.Property
    /// Whether a request without it is refused.
    public let isRequired: Bool
    /// Whether members unknown to the schema are allowed.
    public var isLenient = false
}

/// All problems of one value.
struct ValueErrors: Error {
    let all: [ValueError]
}

/// The unparsed inputs of a request. It is an object so that tasks hold one reference.
final class RawInputs: Sendable {
    /// The decoded path segments, by their names in the template.
    let path: [(name: String, value: String)]
    let query: [(name: String, value: String)]
    let request: ServerRequest
    let body: JSON?

    init(
        path: [(name: String, value: String)], query: [(name: String, value: String)], request: ServerRequest,
        body: JSON?
    ) {
        (self.path, self.query, self.request, self.body) = (path, query, request, body)
    }
}

extension RouteInput where Value: InputValue {
    private init(
        word place: RouteInputDeclaration.Place, _ name: String, _ summary: String, schema: Schema,
        defaultValue: Value?,
        shown: JSON?, _ words: @escaping @Sendable (RawInputs) -> [String]
    ) {
        let absent = defaultValue ?? Value.whenAbsent
        declaration = RouteInputDeclaration(
            place: place, property: Schema.Property(name, summary, schema, defaultValue: shown),
            isRequired: absent == nil)
        read = { (raw) throws(ValueErrors) in
            let given = words(raw)
            guard let word = given.first else {
                guard let absent else { throw ValueErrors(all: [ValueError("is missing")]) }
                return absent
            }
            do throws(ValueError) {
                guard schema.element != nil else {
                    return try Value(json: try Self.checked(try schema.json(fromWord: word), schema))
                }
                var items: [JSON] = []
                for one in given {
                    let value = try schema.json(fromWord: one)
                    items += value.array ?? [value]
                }
                return try Value(json: try Self.checked(.array(items), schema))
            } catch {
                throw ValueErrors(all: [error])
            }
        }
    }

    private static func checked(_ value: JSON, _ schema: Schema) throws(ValueError) -> JSON {
        if let problem = schema.problems(in: value).first { throw problem }
        return value
    }

    /// A path segment in braces; `{name...}` is the rest of the path.
    public static func path(_ name: String, _ summary: String, as type: Value.Type = Value.self) -> RouteInput {
        RouteInput(word: .path, name, summary, schema: Value.schema, defaultValue: nil, shown: nil) { raw in
            raw.path.filter { $0.name == name }.map(\.value)
        }
    }

    /// A query value. An optional may be omitted, a list may be given several times.
    public static func query(
        _ name: String, _ summary: String, as type: Value.Type = Value.self
    ) -> RouteInput {
        query(name, summary, Value.schema, nil, nil)
    }

    private static func query(
        _ name: String, _ summary: String, _ schema: Schema, _ defaultValue: Value?, _ shown: JSON?
    ) -> RouteInput {
        RouteInput(word: .query, name, summary, schema: schema, defaultValue: defaultValue, shown: shown) { raw in
            raw.query.filter { $0.name == name }.map(\.value)
        }
    }

    /// The value of a header line.
    public static func header(_ name: String, _ summary: String, as type: Value.Type = Value.self) -> RouteInput {
        RouteInput(word: .header, name, summary, schema: Value.schema, defaultValue: nil, shown: nil) { raw in
            raw.request.headers.all(name)
        }
    }

    /// The body as JSON. Unknown members are refused, unless `unknown` allows them, as an API with many kinds of
    /// clients must.
    public static func body(
        _ type: Value.Type = Value.self, _ summary: String = "", unknown: UnknownMembers = .refused
    ) -> RouteInput {
        let absent = Value.whenAbsent
        var declaration = RouteInputDeclaration(
            place: .body, property: Schema.Property("body", summary, Value.schema), isRequired: absent == nil)
        declaration.isLenient = unknown != .refused
        return RouteInput(declaration: declaration) { (raw) throws(ValueErrors) in
            guard let body = raw.body else {
                guard let absent else { throw ValueErrors(all: [ValueError("needs a JSON body")]) }
                return absent
            }
            let schema = Value.schema
            let known = unknown == .refused ? body : schema.withoutUnknown(body)
            let problems = schema.problems(in: known)
            guard problems.isEmpty else { throw ValueErrors(all: problems) }
            do throws(ValueError) {
                return try Value(json: unknown == .kept ? body : known)
            } catch {
                throw ValueErrors(all: [error])
            }
        }
    }
}

/// How unknown members of a body are handled.
public enum UnknownMembers: Sendable {
    case refused, ignored
    /// They are allowed and passed to the type.
    case kept
}

extension RouteInput where Value: InputValue & OutputValue {
    /// A query value with a default.
    public static func query(_ name: String, _ summary: String, default defaultValue: Value) -> RouteInput {
        query(name, summary, Value.schema, defaultValue, defaultValue.json)
    }
}

extension RouteInput where Value == Int {
    /// A whole number within limits, with a default.
    public static func query(
        _ name: String, _ summary: String, in range: ClosedRange<Int>, default defaultValue: Int
    ) -> RouteInput {
        query(name, summary, .integer(range), defaultValue, .int(defaultValue))
    }
}

extension RouteInput where Value == String {
    /// A part of the path as text.
    public static func path(_ name: String, _ summary: String) -> RouteInput {
        path(name, summary, as: String.self)
    }
}

extension RouteInput where Value == RequestBody {
    /// The body as bytes, read by the handler while they arrive.
    public static func upload(_ summary: String) -> RouteInput {
        let declaration = RouteInputDeclaration(
            place: .upload, property: Schema.Property("body", summary, .string), isRequired: true)
        return RouteInput(declaration: declaration) { (raw) throws(ValueErrors) in raw.request.body }
    }
}

extension Schema {
    /// The value without record members unknown to this schema.
    fileprivate func withoutUnknown(_ value: JSON) -> JSON {
        switch (self, value) {
        case (.optional(let inner), _): return inner.withoutUnknown(value)
        case (.array(let element), .array(let items)): return .array(items.map(element.withoutUnknown))
        case (.map(let element), .object(let members)):
            return .object(JSONObject(members.map { ($0.key, element.withoutUnknown($0.value)) }))
        case (.record(let properties), .object(let members)):
            var known = JSONObject()
            for property in properties {
                if let member = members[property.name] {
                    known.append(property.name, property.schema.withoutUnknown(member))
                }
            }
            return .object(known)
        default: return value
        }
    }
}
