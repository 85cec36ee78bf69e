import Capabilities
import JSON
import Registry
import TerminalKit

/// Values as fields to fill in: the parameters of an action or a screen, or what a question asks for. The declarations
/// check them.
struct ActionForm: Sendable {
    /// What the values are for.
    enum Target: Sendable, Hashable {
        case action(String)
        case screen(String)
    }

    /// What a key did.
    enum Step: Sendable {
        case unfinished
        /// The word before the cursor is to be completed.
        case completing(OpenWord)
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
        /// What it may be, as far as its completion knows without what is typed.
        fileprivate(set) var words: [String] = []

        var isSecret: Bool { declaration.isSecret }
    }

    let title: String
    private(set) var fields: [Field]
    /// The selected field; the one after the last is the button.
    private(set) var selected = 0
    /// The values that cannot be changed.
    private let fixed: JSONObject
    /// The field whose words were last asked for, with the other values, on which they may depend.
    private var asked: (field: Int, given: JSONObject)?

    /// - Parameters:
    ///   - values: the values to begin with.
    ///   - names: the parameters to enter; nil for all.
    init(
        title: String, _ parameters: [ParameterDeclaration], values: JSONObject, only names: [String]? = nil
    ) {
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
            case (.tab, []):
                if let word = unfinishedWord { return .completing(word) }
                move(1)
            case (.down, _): move(1)
            case (.right, []) where takeNextWord(): break
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

    mutating func move(_ step: Int) { selected = min(max(0, selected + step), fields.count) }

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

    // MARK: Completion

    /// The word before the cursor, which may be empty; nil in a field that nothing completes.
    private var word: OpenWord? {
        guard fields.indices.contains(selected), case .text(let field) = fields[selected].input,
            fields[selected].isCompleted
        else { return nil }
        return OpenWord(value: field.aroundCursor, isList: fields[selected].declaration.schema.element != nil)
    }

    /// The word that Tab completes. Where none is begun, Tab goes on.
    private var unfinishedWord: OpenWord? { word.flatMap { $0.typed.isEmpty ? nil : $0 } }

    /// The values besides that of the selected field, as far as they are right.
    private var given: JSONObject {
        var values = fixed
        for index in fields.indices where index != selected && !fields[index].isSecret {
            // What is still wrong is told when the form is submitted.
            do throws(ValueError) {
                if let value = try fields[index].value { values[fields[index].declaration.name] = value }
            } catch { continue }
        }
        return values
    }

    func request(_ word: OpenWord, for target: Target, isOnlyForWords: Bool = false) -> CompletionRequest {
        CompletionRequest(
            place: .form, word: word, target: target, parameter: fields[selected].declaration.name, given: given,
            isOnlyForWords: isOnlyForWords)
    }

    /// Asks for the words of the selected field, if they are not those that were last asked for.
    mutating func wordsRequest(for target: Target) -> CompletionRequest? {
        guard fields.indices.contains(selected), fields[selected].isCompleted,
            let word = OpenWord(value: ("", ""), isList: false)
        else { return nil }
        let given = given
        if let asked, asked == (selected, given) { return nil }
        asked = (selected, given)
        return request(word, for: target, isOnlyForWords: true)
    }

    /// Whether an answer is about what the form shows now.
    func isCurrent(_ request: CompletionRequest) -> Bool {
        guard request.place == .form, fields.indices.contains(selected),
            fields[selected].declaration.name == request.parameter, given == request.given
        else { return false }
        return request.isOnlyForWords || word == request.word
    }

    /// Takes what a field may be.
    mutating func take(words: [String]) { fields[selected].words = Array(words.prefix(Self.mostWords)) }

    /// Completes the word before the cursor, or goes on if that adds nothing.
    ///
    /// - Returns: the names to choose from, if there are several.
    mutating func take(_ matches: [OpenWord.Match], for word: OpenWord) -> [String] {
        guard case .text(var field) = fields[selected].input else { return [] }
        // One that is written out is finished, although others may begin with it.
        if matches.isEmpty || matches.contains(where: { $0.text == word.typed && !$0.isOpen }) {
            move(1)
            return []
        }
        if let replacement = word.replacement(matches) {
            field.replace(last: word.count, with: replacement)
            fields[selected].input = .text(field)
            fields[selected].problem = nil
        }
        return matches.count > 1 ? matches.map(\.name) : []
    }

    /// Puts the next of its words in the place of one that is written out; false if something else is written.
    private mutating func takeNextWord() -> Bool {
        guard fields.indices.contains(selected), case .text(var field) = fields[selected].input,
            field.aroundCursor.after.isEmpty, fields[selected].declaration.schema.element == nil
        else { return false }
        let words = fields[selected].words
        let current = words.firstIndex(of: field.text)
        guard !words.isEmpty, current != nil || field.text.isEmpty else { return false }
        field.begin(words[current.map { ($0 + 1) % words.count } ?? 0])
        fields[selected].input = .text(field)
        fields[selected].problem = nil
        return true
    }

    /// Nobody goes through more with a key.
    private static let mostWords = 500

    /// The keys of the selected field that are not those of every field.
    var hints: [(key: String, title: String)] {
        guard fields.indices.contains(selected) else { return [] }
        switch fields[selected].input {
        case .flag, .choice: return [("Space", "change")]
        case .text:
            guard fields[selected].isCompleted else { return [] }
            let next = fields[selected].declaration.schema.element == nil && !fields[selected].words.isEmpty
            return [("Tab", "complete")] + (next ? [("→", "next word")] : [])
        }
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
    /// Whether its value can be completed.
    fileprivate var isCompleted: Bool {
        guard !isSecret, case .text = input else { return false }
        if case .nothing = declaration.completion { return false }
        return true
    }

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
                    + StyledText(PlainText.escape(field.declaration.name) + mark, Style(bold: true))
                    + StyledText("  \(field.declaration.summary)", Style(.mutedForeground)))
            let (input, place) = self.rows(of: field, columns: columns - 4)
            if isSelected { caret = CellPosition(row: rows.count + place.row, column: 4 + place.column) }
            rows += input.map { StyledText("    ") + $0 }
            if isSelected, let words = listed(field, columns: columns - 6) { rows.append(StyledText("      ") + words) }
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

    /// The words of a field that fit what is written, as many as fit on a line; nil if there are none.
    private func listed(_ field: Field, columns: Int) -> StyledText? {
        guard case .text(let input) = field.input, columns > 0 else { return nil }
        let text = input.text
        let current = field.words.firstIndex(of: text)
        // Of all words, those around the one that is written.
        let words =
            current.map { field.words[max(0, $0 - 1)...] } ?? field.words.filter { $0.begins(with: text) }[...]
        guard !words.isEmpty else { return nil }
        var line = StyledText()
        for word in words {
            let isCurrent = word == text
            let next = StyledText(
                line.isEmpty ? word : "  \(word)", isCurrent ? Style(bold: true) : Style(.mutedForeground))
            guard line.isEmpty || line.width + next.width <= columns - 2 else {
                line.append(" …", Style(.mutedForeground))
                break
            }
            line = line + next
        }
        return line
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
