public import JSON

/// Several values that a person is asked for together, such as the arguments of a tool.
///
/// A surface that can shows them as one form. Elsewhere they are asked one after the other, each under the id of the form
/// with the name of the value: `mcp.call.city`.
public struct ValueForm: Sendable {
    /// The values. Those that are not optional are needed.
    public let fields: [Schema.Property]
    /// The values to begin with.
    public let given: JSONObject

    /// By default it is empty when it is shown.
    public init(_ fields: [Schema.Property], given: JSONObject = [:]) {
        self.fields = fields
        self.given = given
    }

    /// The values if they fit the declarations.
    ///
    /// - Parameter id: the question that they answer.
    /// - Throws: `InteractionError.unfit`, which names what is wrong.
    public func checked(_ values: JSONObject, of id: String) throws(InteractionError) -> JSONObject {
        let problems = problems(in: values)
        guard problems.isEmpty else {
            throw .unfit(id: id, why: problems.map(\.description).joined(separator: "; "))
        }
        return values
    }

    /// What the declarations find wrong.
    public func problems(in values: JSONObject) -> [ValueError] {
        Schema.record(fields).problems(in: .object(values))
    }

    /// Asks for what was not given, one value after the other. An empty line leaves an optional value out.
    ///
    /// - Parameters:
    ///   - id: of the question that the form is part of.
    ///   - ask: asks a question with one value.
    public func filled(_ id: String, one ask: (Question) async throws -> Answer) async throws -> JSONObject {
        var values = given
        for field in fields where values[field.name] == nil {
            if let value = try await value(of: field, "\(id).\(field.name)", ask) { values[field.name] = value }
        }
        return try checked(values, of: id)
    }

    private func value(
        of field: Schema.Property, _ id: String, _ ask: (Question) async throws -> Answer
    ) async throws -> JSON? {
        let name = PlainText.escape(field.name)
        let prompt = field.summary.isEmpty ? name : "\(name) (\(PlainText.escape(field.summary, limit: 300)))"
        switch field.schema {
        case .choice(let words):
            let shown = words.map { PlainText.escape($0, limit: 100) }
            guard case .choice(let index) = try await ask(Question(id, prompt, .choice(shown), for: .value)),
                words.indices.contains(index)
            else { throw InteractionError.wrongKind(id) }
            return .string(words[index])
        case .boolean:
            guard case .confirm(let yes) = try await ask(Question(id, prompt, .confirm)) else {
                throw InteractionError.wrongKind(id)
            }
            return .bool(yes)
        default:
            let usual = field.defaultValue?.unlessNull
            let shown = usual.map { $0.string ?? $0.text() } ?? (field.schema.isOptional ? "" : nil)
            guard case .text(let text) = try await ask(Question(id, prompt, .text(default: shown))) else {
                throw InteractionError.wrongKind(id)
            }
            if text.isEmpty, let usual { return usual }
            if text.isEmpty, field.schema.isOptional { return nil }
            do throws(ValueError) { return try field.schema.json(fromWord: text) } catch {
                throw InteractionError.unfit(id: id, why: error.message)
            }
        }
    }
}

extension Interaction {
    /// Asks for several values.
    ///
    /// - Parameter purpose: `decision` if only the person may give them.
    /// - Returns: all values that were given or entered, which fit the declarations.
    public func form(
        _ id: String, _ prompt: String, _ form: ValueForm, for purpose: Question.Purpose = .value
    ) async throws -> JSONObject {
        guard case .form(let values) = try await ask(Question(id, prompt, .form(form), for: purpose)) else {
            throw InteractionError.wrongKind(id)
        }
        return try form.checked(values, of: id)
    }
}
