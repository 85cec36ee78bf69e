public import JSON

/// A value whose texts may hold expressions, as `with` of a step is.
public indirect enum JSONTemplate: Sendable {
    case value(JSON)
    case text(Template)
    case list([JSONTemplate])
    case object([(name: String, value: JSONTemplate)])

    /// A mistake in one of the texts, and the way to it.
    public struct Problem: Error, Sendable, Hashable {
        public var path: [String]
        public let error: ExpressionError
    }

    public init(_ json: JSON) throws(Problem) {
        switch json {
        case .string(let text):
            do throws(ExpressionError) {
                let template = try Template(parsing: text)
                self = template.isPlain ? .value(json) : .text(template)
            } catch {
                throw Problem(path: [], error: error)
            }
        case .array(let items):
            var list: [JSONTemplate] = []
            for (index, item) in items.enumerated() { list.append(try Self.make(item, under: String(index))) }
            self = .list(list)
        case .object(let members):
            var object: [(String, JSONTemplate)] = []
            for (name, value) in members { object.append((name, try Self.make(value, under: name))) }
            self = .object(object)
        default: self = .value(json)
        }
    }

    private static func make(_ json: JSON, under name: String) throws(Problem) -> JSONTemplate {
        do throws(Problem) {
            return try JSONTemplate(json)
        } catch {
            throw Problem(path: [name] + error.path, error: error.error)
        }
    }

    public func value(in scope: Scope) throws(Problem) -> JSON {
        switch self {
        case .value(let value): return value
        case .text(let template):
            do throws(ExpressionError) { return try template.value(in: scope) } catch {
                throw Problem(path: [], error: error)
            }
        case .list(let items):
            var list: [JSON] = []
            for (index, item) in items.enumerated() { list.append(try Self.value(of: item, in: scope, String(index))) }
            return .array(list)
        case .object(let members):
            var object = JSONObject()
            for (name, value) in members { object.append(name, try Self.value(of: value, in: scope, name)) }
            return .object(object)
        }
    }

    private static func value(of item: JSONTemplate, in scope: Scope, _ name: String) throws(Problem) -> JSON {
        do throws(Problem) {
            return try item.value(in: scope)
        } catch {
            throw Problem(path: [name] + error.path, error: error.error)
        }
    }

    /// Every expression with the way to its text.
    public var expressions: [(path: [String], expression: Expression, offset: Int)] {
        switch self {
        case .value: return []
        case .text(let template): return template.expressions.map { ([], $0.expression, $0.offset) }
        case .list(let items):
            return items.enumerated().flatMap { index, item in
                item.expressions.map { ([String(index)] + $0.path, $0.expression, $0.offset) }
            }
        case .object(let members):
            return members.flatMap { name, value in
                value.expressions.map { ([name] + $0.path, $0.expression, $0.offset) }
            }
        }
    }
}
