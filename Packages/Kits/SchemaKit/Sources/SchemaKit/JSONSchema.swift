public import JSON

/// A JSON Schema, compiled once and checked as often as needed, by many tasks at once.
///
/// It knows all keywords of the draft 2020-12, and those of draft-07 that have other names there. Schema and values may come
/// from a hostile server: nothing is ever fetched, and all work is limited.
///
/// ```swift
/// let schema = try JSONSchema(["type": "object", "properties": ["age": ["type": "integer"]], "required": ["name"]])
/// let verdict = schema.check(["age": "seven"])
/// verdict.outcome     // .invalid
/// verdict.sentences   // ["/age needs an integer, not a string", "/name is missing"]
/// ```
public struct JSONSchema: Sendable {
    /// What in the schema is not checked, whatever the value is: formats, references to other documents, and patterns
    /// that PCRE2 cannot match as ECMA-262 does.
    public let gaps: [Gap]

    private let program: Program
    private let limits: Limits

    /// Compiles a schema.
    ///
    /// - Throws: All problems of the schema itself, each with its place: keywords with values of the wrong type, and
    ///   references within the schema that lead nowhere.
    public init(_ schema: JSON, limits: Limits = Limits()) throws(SchemaError) {
        var compiler = SchemaCompiler(schema, limits)
        program = try compiler.program()
        gaps = program.gaps
        self.limits = limits
    }

    /// Whether a value matches the schema, and if not, why.
    public func check(_ value: JSON) -> Verdict {
        // Most values match, so that the first look does not remember where it is.
        var checker = Checker(program, limits, reports: false)
        let outcome = checker.check(value)
        guard outcome == .no else {
            return Verdict(outcome == .yes ? .valid : .unknown, [], hasMore: false, unchecked: checker.gaps)
        }
        var reporter = Checker(program, limits, reports: true)
        _ = reporter.check(value)
        var problems = reporter.problems
        if problems.isEmpty { problems = [Problem(place: "", keyword: "", message: "does not match the schema")] }
        return Verdict(.invalid, problems, hasMore: reporter.hasMore, unchecked: reporter.gaps)
    }
}

extension JSONSchema {
    /// How much work schemas and values may cause.
    public struct Limits: Sendable, Hashable {
        /// The subschemas of a schema.
        public var subschemas = 20_000
        /// How deep the schema may be nested.
        public var nesting = 128
        /// The steps of a check. A subschema at a place of the value is one step; long texts, unique elements and patterns
        /// take more.
        public var steps = 1_000_000
        /// How many subschemas may be applied one inside the other.
        public var depth = 400
        /// The problems that are listed.
        public var problems = 20

        /// The limits for schemas of servers.
        public init() {}
    }

    /// What is wrong at one place of a value.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The JSON pointer of the part of the value; empty for the whole value.
        public let place: String
        /// The JSON pointer of the keyword in the schema.
        public let keyword: String
        /// The rest of a sentence that begins with the place: "needs a string, not an integer".
        public let message: String

        /// The whole sentence; "it" stands for the whole value.
        public var description: String { "\(place.isEmpty ? "it" : place) \(message)" }
    }

    /// A part of a schema that is not checked.
    public struct Gap: Sendable, Hashable, CustomStringConvertible {
        /// Why it is not checked.
        public enum Kind: Sendable {
            /// A format is only an annotation, as the draft 2020-12 says. It has no influence on the outcome.
            case format
            /// A pattern cannot be matched here as ECMA-262 says, or takes too many steps.
            case pattern
            /// A reference leads to another document, or back to itself at the same place of the value.
            case reference
            /// A number is too large, or the schema is written for rules that are not known here.
            case keyword
            /// The check was stopped at one of its limits.
            case limit
        }

        /// Why it is not checked.
        public let kind: Kind
        /// A sentence with the place in the schema.
        public let description: String
    }

    /// The result of a check.
    public struct Verdict: Sendable, Hashable {
        /// Whether the value matches.
        public enum Outcome: Sendable {
            /// It matches.
            case valid
            /// It does not match.
            case invalid
            /// It depends on what is not checked.
            case unknown
        }

        /// Whether the value matches.
        public let outcome: Outcome
        /// What is wrong, up to the limit; empty unless the value is invalid.
        public let problems: [Problem]
        /// Whether there are more problems than those listed.
        public let hasMore: Bool
        /// What was not checked of the parts of the schema that apply to the value.
        public let unchecked: [Gap]

        init(_ outcome: Outcome, _ problems: [Problem], hasMore: Bool, unchecked: [Gap]) {
            self.outcome = outcome
            self.problems = problems
            self.hasMore = hasMore
            self.unchecked = unchecked
        }

        /// Whether the value certainly matches.
        public var isValid: Bool { outcome == .valid }

        /// The problems as sentences, with a last one if there are more.
        public var sentences: [String] {
            problems.map(\.description) + (hasMore ? ["… and more"] : [])
        }
    }
}
