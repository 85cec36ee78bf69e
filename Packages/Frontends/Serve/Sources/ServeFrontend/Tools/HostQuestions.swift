import Capabilities
import JSON
import MCPKit

/// Asks the user of an MCP host, for values only: what allows something, or is a secret, is not asked there.
///
/// A host answers what it likes, so that its answer must not widen what it may do. Only a grant with the scope `approve`
/// trusts it with decisions. Secrets are never asked, since the protocol forbids it: they would pass through the host.
struct HostQuestions: Interaction {
    let context: MCPCallContext
    let redactor: Redactor
    /// Whether the host's user may decide what a person decides.
    let approves: Bool

    var canAsk: Bool { context.peer.capabilities.forms }
    var showsForms: Bool { true }

    /// No program may have the streams on which the protocol is spoken.
    func lendTerminal(to command: [String], environment: [String: String]) async throws -> Int32? {
        throw ServeFailure(
            .notForHosts,
            "\(PlainText.escape(command.first ?? "")) needs a terminal, which a host does not have; do it yourself",
            exit: .unanswered)
    }

    func answer(_ question: Question) async throws -> Answer {
        guard canAsk, approves || question.purpose == .value else {
            return try await HeadlessInteraction().answer(question)
        }
        if case .form(let form) = question.kind { return .form(try await fill(form, of: question)) }
        guard let form = Form(question) else { return try await HeadlessInteraction().answer(question) }
        let message = redactor.redact(question.prompt)
        switch try await context.elicit(.form(message: message, schema: form.schema)) {
        case .accept(let values): return try form.answer(values[Form.member] ?? nil)
        case .decline, .cancel: throw InteractionError.declined(id: question.id)
        }
    }

    /// Asks for several values at once. A host's form has texts, numbers, switches and choices only, so that all else is
    /// written as JSON.
    private func fill(_ form: ValueForm, of question: Question) async throws -> JSONObject {
        let fields = form.fields.filter { form.given[$0.name] == nil }
        let properties = fields.map { field in
            Schema.Property(
                field.name, field.summary, Self.isPlain(field.schema) ? field.schema : .optional(.string),
                defaultValue: field.defaultValue)
        }
        let schema = JSON.object(Schema.record(properties).jsonSchema)
        let message = redactor.redact(question.prompt)
        guard case .accept(let given) = try await context.elicit(.form(message: message, schema: schema)) else {
            throw InteractionError.declined(id: question.id)
        }
        var values = form.given
        for field in fields {
            guard let value = given[field.name]?.unlessNull else { continue }
            do throws(ValueError) {
                let word = Self.isPlain(field.schema) ? nil : value.string
                values[field.name] =
                    try word.map { word throws(ValueError) in try field.schema.json(fromWord: word) } ?? value
            } catch { throw InteractionError.unfit(id: "\(question.id).\(field.name)", why: error.message) }
        }
        return try form.checked(values, of: question.id)
    }

    private static func isPlain(_ schema: Schema) -> Bool {
        switch schema.unwrapped {
        case .any, .array, .map, .record: false
        default: true
        }
    }

    /// A question as a form with one value.
    private struct Form {
        static let member = "answer"
        let question: Question
        private let property: JSONObject

        /// Nil for a secret.
        init?(_ question: Question) {
            self.question = question
            var property: JSONObject = [:]
            switch question.kind {
            case .secret, .form: return nil
            case .text(let suggestion):
                property["type"] = "string"
                property["default"] = suggestion.map { .string($0) }
            case .composition: property["type"] = "string"
            case .choice(let options):
                property["type"] = "string"
                property["enum"] = .array(options.map { .string($0) })
            case .confirm: property["type"] = "boolean"
            }
            self.property = property
        }

        var schema: JSON {
            [
                "type": "object", "properties": [Self.member: .object(property)],
                "required": [.string(Self.member)],
            ]
        }

        /// - Throws: `InteractionError.unfit` for an answer that is none to the question.
        func answer(_ value: JSON) throws -> Answer {
            func unfit(_ why: String) -> InteractionError { .unfit(id: question.id, why: why) }
            switch question.kind {
            case .text(let suggestion):
                guard let text = value.string ?? (value.isNull ? suggestion : nil) else { throw unfit("is no text") }
                return .text(text)
            case .composition:
                guard let text = value.string else { throw unfit("is no text") }
                return .composition(WrittenText(text))
            case .choice(let options):
                guard let place = value.string.flatMap(options.firstIndex(of:)) else {
                    throw unfit("is none of \(options.joined(separator: ", "))")
                }
                return .choice(place)
            case .confirm:
                guard let yes = value.bool else { throw unfit("is neither true nor false") }
                return .confirm(yes)
            case .secret, .form: throw InteractionError.wrongKind(question.id)
            }
        }
    }
}
