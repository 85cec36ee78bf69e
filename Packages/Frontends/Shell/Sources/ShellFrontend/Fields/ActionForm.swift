import Capabilities
import JSON
import Registry
import TerminalKit

/// The parameters of an action or a screen as fields to fill in. The declaration checks them.
struct ActionForm: Sendable {
    /// What the values are for.
    enum Target: Sendable, Hashable {
        case action(String)
        case screen(String)
    }

    /// What a key did.
    enum Step: Sendable {
        case unfinished
        case submitted(JSONObject)
        case cancelled
    }

    /// A parameter that is being filled in.
    struct Field: Sendable {
        /// How a value is entered.
        enum Input: Sendable {
            case text(ComposerField)
            case flag(Bool)
            /// One of these words; nil for none.
            case choice([String], Int?)
        }

        let declaration: ParameterDeclaration
        var input: Input
        var problem: String?

        var isSecret: Bool { declaration.isSecret }
    }

    let target: Target
    let title: String
    private(set) var fields: [Field]
    /// The selected field; the one after the last is the button.
    private(set) var selected = 0
    /// The values that cannot be changed.
    private let fixed: JSONObject

    /// - Parameters:
    ///   - values: the values to begin with.
    ///   - names: the parameters to enter; nil for all.
    init(
        _ target: Target, title: String, _ parameters: [ParameterDeclaration], values: JSONObject, only names: [String]?
    ) {
        self.target = target
        self.title = title
        let shown = parameters.filter { names?.contains($0.name) ?? true }
        var fixed = values
        for parameter in shown { fixed[parameter.name] = nil }
        self.fixed = fixed
        // What is required comes first.
        fields = (shown.filter(\.isRequired) + shown.filter { !$0.isRequired }).map { Field($0, values[$0.name]) }
        // What is still missing is what the person came for; on a command line it would be the first word.
        let missing = fields.indices.filter { values[fields[$0].declaration.name] == nil }
        selected =
            missing.first { fields[$0].declaration.isRequired }
            ?? missing.first { fields[$0].declaration.form == .positional } ?? (names == nil ? fields.count : 0)
    }

    var isButtonSelected: Bool { selected == fields.count }

    // MARK: Keys

    mutating func receive(_ event: InputEvent) -> Step {
        if case .key(let press) = event {
            switch (press.key, press.modifiers) {
            case (.escape, []), (.character("c"), .ctrl): return .cancelled
            case (.up, _), (.tab, .shift): move(-1)
            case (.down, _), (.tab, []): move(1)
            case (.enter, []):
                if isButtonSelected { return submit() }
                move(1)
            default: edit(event, press)
            }
            return .unfinished
        }
        edit(event, nil)
        return .unfinished
    }

    private mutating func move(_ step: Int) { selected = min(max(0, selected + step), fields.count) }

    private mutating func edit(_ event: InputEvent, _ press: KeyPress?) {
        guard fields.indices.contains(selected) else { return }
        fields[selected].problem = nil
        switch fields[selected].input {
        case .text(var field):
            _ = field.receive(event)
            fields[selected].input = .text(field)
        case .flag(let isOn):
            if [.character(" "), .left, .right].contains(press?.key) { fields[selected].input = .flag(!isOn) }
        case .choice(let words, let chosen):
            let step = press?.key == .left ? -1 : [.character(" "), .right].contains(press?.key) ? 1 : 0
            guard step != 0, !words.isEmpty else { return }
            // A parameter that may be missing has one more choice: none.
            let count = words.count + (fields[selected].declaration.isRequired ? 0 : 1)
            let next = chosen.map { ($0 + step + count) % count } ?? (step > 0 ? 0 : words.count - 1)
            fields[selected].input = .choice(words, next < words.count ? next : nil)
        }
    }

    /// The values if all are right; otherwise the problems are shown beside their fields.
    private mutating func submit() -> Step {
        var values = fixed
        var first: Int?
        for index in fields.indices {
            fields[index].problem = nil
            do throws(ValueError) {
                if let value = try fields[index].value { values[fields[index].declaration.name] = value }
            } catch {
                fields[index].problem = error.message
                first = first ?? index
            }
        }
        if let first {
            selected = first
            return .unfinished
        }
        return .submitted(values)
    }

    /// The same with all values but the secrets.
    var withoutSecrets: ActionForm {
        var form = self
        for index in form.fields.indices where form.fields[index].isSecret {
            form.fields[index].input = .text(ComposerField())
        }
        return form
    }

    /// Shows what the declaration finds wrong, and selects the first field with a problem.
    mutating func blame(_ problems: [ValueError]) {
        for problem in problems {
            guard let index = fields.firstIndex(where: { $0.declaration.name == problem.path.first }) else { continue }
            // A message may quote the value.
            fields[index].problem = fields[index].isSecret ? "is not accepted" : problem.message
        }
        selected = fields.firstIndex { $0.problem != nil } ?? selected
    }
}

extension ActionForm.Field {
    fileprivate init(_ declaration: ParameterDeclaration, _ value: JSON?) {
        self.declaration = declaration
        let value = value ?? declaration.property.defaultValue
        switch declaration.schema.unwrapped {
        case .boolean: input = .flag(value?.bool ?? false)
        case .choice(let words): input = .choice(words, value?.string.flatMap(words.firstIndex(of:)))
        default: input = .text(ComposerField(value.map(Self.text) ?? ""))
        }
    }

    private static func text(of value: JSON) -> String {
        if value.isNull { return "" }
        if let items = value.array {
            let words = items.map { $0.string ?? $0.text() }
            // Words with spaces would become several.
            let areWords = words.allSatisfy { !$0.isEmpty && !$0.contains(where: \.isWhitespace) }
            return areWords && words.first?.hasPrefix("[") != true ? words.joined(separator: " ") : value.text()
        }
        return value.string ?? value.text()
    }

    /// The value; nil for none.
    fileprivate var value: JSON? {
        get throws(ValueError) {
            switch input {
            case .flag(let isOn):
                let isDefault = isOn == (declaration.property.defaultValue?.bool ?? false)
                return isDefault && !declaration.isRequired ? nil : .bool(isOn)
            case .choice(let words, let chosen):
                guard let chosen else { return try missing() }
                return .string(words[chosen])
            case .text(let field):
                let text = field.text
                guard !text.isEmpty else { return try missing() }
                if isSecret { return .string(text) }
                if let element = declaration.schema.element, !text.hasPrefix("[") {
                    var items: [JSON] = []
                    for word in text.split(whereSeparator: \.isWhitespace) {
                        items.append(try element.json(fromWord: String(word)))
                    }
                    return .array(items)
                }
                return try declaration.schema.json(fromWord: text)
            }
        }
    }

    private func missing() throws(ValueError) -> JSON? {
        guard !declaration.isRequired else { throw ValueError("is needed") }
        return nil
    }
}

// MARK: Drawing

extension ActionForm {
    /// The rows of the form, the first row of the selected field, and the place of the caret.
    func rows(columns: Int) -> (rows: [StyledText], selected: Int, caret: CellPosition) {
        var rows: [StyledText] = []
        var first = 0
        var caret = CellPosition(row: 0, column: 0)
        for (index, field) in fields.enumerated() {
            let isSelected = index == selected
            let mark = field.declaration.isRequired ? " *" : ""
            if isSelected { first = rows.count }
            rows.append(
                StyledText(isSelected ? "▸ " : "  ", Style(.ring, bold: true))
                    + StyledText(field.declaration.name + mark, Style(bold: true))
                    + StyledText("  \(field.declaration.summary)", Style(.mutedForeground)))
            let (input, place) = self.rows(of: field, columns: columns - 4)
            if isSelected { caret = CellPosition(row: rows.count + place.row, column: 4 + place.column) }
            rows += input.map { StyledText("    ") + $0 }
            if let problem = field.problem {
                let lines = StyledText("▲ \(problem)", Style(.error)).wrapped(to: max(1, columns - 4))
                rows += lines.map { StyledText("    ") + $0 }
            }
        }
        if isButtonSelected {
            first = rows.count
            caret = CellPosition(row: rows.count, column: 2)
        }
        rows.append(
            StyledText(
                "  [ \(title) ]",
                isButtonSelected ? Style(.primaryForeground, bold: true, background: .primary) : .plain))
        return (rows.map { $0.onOneLine.truncated(to: columns) }, first, caret)
    }

    private func rows(of field: Field, columns: Int) -> (rows: [StyledText], caret: CellPosition) {
        switch field.input {
        case .flag(let isOn):
            return ([StyledText(isOn ? "[x] yes" : "[ ] no")], CellPosition(row: 0, column: 1))
        case .choice(let words, let chosen):
            var line = StyledText()
            for (index, word) in words.enumerated() {
                let isChosen = index == chosen
                line.append(isChosen ? "(•) \(word)  " : "( ) \(word)  ", isChosen ? Style(bold: true) : .plain)
            }
            return (line.wrapped(to: max(1, columns)), CellPosition(row: 0, column: 0))
        case .text(let text):
            if field.isSecret {
                // As long as every other one: the length of a secret is nobody's business.
                let shown = text.text.isEmpty ? "" : "••••••••"
                return ([StyledText("› \(shown)")], CellPosition(row: 0, column: 2 + shown.count))
            }
            return text.rows(prompt: "› ", columns: max(4, columns), rows: 4)
        }
    }
}

extension ParameterDeclaration {
    /// Whether its value is never shown.
    var isSecret: Bool { form == .secret || schema.unwrapped == .secret }
}
