import Capabilities
import JSON
import SchemaKit

/// An answer that does not match the requested schema, or that could not be checked against it.
struct AnswerMismatch: Failure {
    let problems: [String]
    /// Whether a limit of the check was reached.
    private let isUnchecked: Bool

    private static let mostProblems = 5

    var code: String { "chat.schema-mismatch" }
    var message: String {
        let why = isUnchecked ? "could not be checked against" : "does not match"
        return "the answer \(why) the schema: \(problems.joined(separator: "; ")); it is kept unchanged"
    }

    /// Nil if the text is matching JSON. What a schema has that is never checked, such as formats, is not held against it.
    init?(_ text: String, _ schema: AnswerSchema) {
        do {
            var limits = JSONSchema.Limits()
            limits.problems = Self.mostProblems
            let value = try JSON(parsing: Array(text.utf8), reading: .stream)
            let verdict = try JSONSchema(schema.schema, limits: limits).check(value)
            let stops = verdict.unchecked.filter { $0.kind == .limit }
            isUnchecked = verdict.outcome == .unknown && !stops.isEmpty
            problems = isUnchecked ? stops.map(\.description) : verdict.sentences
        } catch let error as SchemaError {
            (problems, isUnchecked) = (error.sentences, true)
        } catch {
            (problems, isUnchecked) = (["it is not valid JSON"], false)
        }
        if problems.isEmpty { return nil }
    }
}
