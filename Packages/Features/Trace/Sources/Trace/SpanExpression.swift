import Capabilities
import ExpressionKit
import JSON
import TraceStore

/// A condition on a span in the language of bundles. The database decides what it can, then what the columns tell, and only
/// for what is left the line of the span is read.
struct SpanExpression: Sendable {
    /// What the database decides.
    private(set) var filter = SpanFilter()
    /// The conditions for which no line is needed.
    private var cheap: [Condition] = []
    private var costly: [Condition] = []

    /// A part of the expression, all of which must hold.
    private struct Condition: Sendable {
        let expression: Expression
        let references: [Expression.Reference]

        init(_ expression: Expression) { (self.expression, references) = (expression, expression.references) }

        var names: Set<String> { Set(references.compactMap(\.path.first)) }
    }

    /// The names that an expression may use. The help of `trace search` tells what they are.
    static let names: Set<String> = [
        "name", "service", "feature", "kind", "status", "error", "duration", "start", "trace", "span", "tool", "model",
        "attributes", "text",
    ]

    /// The names for which the line of a span is read.
    private static let inLine: Set<String> = ["kind", "tool", "model", "attributes", "text"]

    /// - Throws: a `TraceError` that says where the expression is wrong, and what is allowed.
    init(parsing text: String, now: Timestamp) throws(TraceError) {
        do throws(ExpressionError) {
            var expression = try Expression(parsing: text)
            try expression.requireNames(among: Self.names)
            expression = try expression.converting(constantsFor: "start", to: "a time such as '2026-11-20' or '2h'") {
                $0.string.flatMap { Timestamp(words: $0, now: now) { _ in .zero } }.map { .string($0.sortable) }
            }
            expression = try expression.converting(constantsFor: "duration", to: "seconds or a text such as '250ms'") {
                if $0.double != nil { return $0 }
                return $0.string.flatMap { Duration(words: $0) }.map { .double($0 / .seconds(1)) }
            }
            for name in ["trace", "span"] {
                expression = try expression.converting(constantsFor: name, to: "an id") {
                    $0.string.map { .string($0.lowercased()) }
                }
            }
            for part in expression.conjuncts where !require(part) {
                let condition = Condition(part)
                if condition.names.isDisjoint(with: Self.inLine) {
                    cheap.append(condition)
                } else {
                    costly.append(condition)
                }
            }
        } catch {
            throw TraceError(error)
        }
    }

    /// Whether the lines of spans are needed.
    var needsLines: Bool { !costly.isEmpty }

    /// Whether the database decides all of it.
    var isDecided: Bool { cheap.isEmpty && costly.isEmpty }

    // MARK: What the database decides

    /// - Returns: whether the filter has all of it, so that nothing is left to evaluate.
    private mutating func require(_ part: Expression) -> Bool {
        guard let comparison = part.comparison, comparison.path.count == 1 else { return false }
        let (sign, constant) = (SpanFilter.Sign(comparison.sign), comparison.constant)
        let isEquality = sign == .equal || sign == .unequal
        switch (comparison.path[0], constant) {
        case ("name", .string(let text)): filter.require(.name, sign, text)
        case ("service", .string(let text)): filter.require(.service, sign, text)
        case ("feature", .string(let text)): filter.require(.feature, sign, text)
        case ("error", .string(let text)) where isEquality: filter.require(.failure, sign, text)
        case ("error", .null) where isEquality: filter.require(.failure, sign, String?.none)
        case ("status", "ok") where isEquality: filter.require(.failure, sign, String?.none)
        case ("status", "error") where isEquality:
            filter.require(.failure, sign == .equal ? .unequal : .equal, String?.none)
        case ("duration", let number):
            guard let seconds = number.double, seconds.isFinite else { return false }
            filter.require(.duration, sign, (seconds * 1e9).rounded())
        case ("start", .string(let text)):
            guard let time = Timestamp(iso8601: text) else { return false }
            filter.require(.began, sign, time)
        case ("trace", .string(let text)) where isEquality:
            guard text.utf8.count == 32, let bytes = Hexadecimal.decode(text) else { return false }
            filter.require(.trace, sign, bytes)
        default: return false
        }
        return true
    }

    // MARK: What is left

    /// What a span is to the expression.
    enum Verdict: Sendable {
        /// It holds, or it does not; where a value is missing, it does not.
        case decided(Bool)
        /// It has no value for this span, such as where a text is compared with a number.
        case undefined(TraceError)
    }

    func verdict(on found: FoundSpan) throws -> Verdict {
        var span: TraceSpan?
        for condition in cheap + costly {
            if span == nil, !condition.names.isDisjoint(with: Self.inLine) { span = try found.read() }
            var scope = Scope()
            for name in condition.names { scope.values[name] = Self.value(of: name, found, span) }
            do throws(ExpressionError) {
                guard try condition.expression.bool(in: scope) else { return .decided(false) }
            } catch {
                // Most spans lack most attributes, which is not a mistake of the expression.
                return condition.references.contains { scope[$0.path].isNull }
                    ? .decided(false) : .undefined(TraceError(error))
            }
        }
        return .decided(true)
    }

    private static func value(of name: String, _ found: FoundSpan, _ span: TraceSpan?) -> JSON {
        switch name {
        case "name": .string(found.name)
        case "service": .string(found.service)
        case "feature": .string(found.feature)
        case "status": found.failure == nil ? "ok" : "error"
        case "error": found.failure.map { .string($0) } ?? .null
        case "duration": .double(found.duration / .seconds(1))
        case "start": .string(found.began.sortable)
        case "trace": .string(Hexadecimal.encode(found.trace))
        case "span": .string(Hexadecimal.encode(found.id))
        case "kind": span.map { .string("\($0.kind)") } ?? .null
        case "tool": span?.attributes["gen_ai.tool.name"] ?? .null
        case "model": span?.attributes["gen_ai.request.model"] ?? span?.attributes["gen_ai.response.model"] ?? .null
        case "attributes": .object(span?.attributes ?? [:])
        case "text": .string(span?.words ?? "")
        default: .null
        }
    }
}

extension SpanFilter.Sign {
    fileprivate init(_ sign: Expression.Comparison.Sign) {
        self =
            switch sign {
            case .equal: .equal
            case .unequal: .unequal
            case .less: .less
            case .atMost: .atMost
            case .greater: .greater
            case .atLeast: .atLeast
            }
    }
}

extension TraceError {
    fileprivate init(_ error: ExpressionError) { self = .expression(error.message, character: error.offset + 1) }
}

extension Scope {
    /// The value at a path, as far as that is one of members.
    fileprivate subscript(path: [String]) -> JSON {
        var value = path.first.flatMap { values[$0] } ?? .null
        for name in path.dropFirst() { value = value[name] ?? .null }
        return value
    }
}

extension Timestamp {
    /// With six digits of the fraction, so that later times are greater as texts.
    fileprivate var sortable: String {
        let parts = iso8601.dropLast().split(separator: ".")
        let fraction = parts.count > 1 ? String(parts[1]) : ""
        return "\(parts[0]).\(fraction)\(String(repeating: "0", count: 6 - fraction.count))Z"
    }
}

extension TraceSpan {
    /// The name and the values of all attributes, a line each.
    fileprivate var words: String {
        var words = name
        for (_, value) in attributes { words += "\n" + (value.string ?? value.text()) }
        return words
    }
}
