import Capabilities
import Registry
import TerminalKit

/// A question to the person. It takes no key that was meant for something else: keys count only after a pause without
/// any.
struct QuestionDialog: Sendable {
    /// What a key did.
    enum Step: Sendable {
        case unfinished
        case answered(Answer)
        /// The person does not answer now; the question stays open.
        case postponed
        /// The person refuses to answer.
        case declined
    }

    let id: QuestionID
    let question: Question
    /// The action that asks.
    let asker: String
    /// What the action has said for the question, such as the command that it wants to run.
    private let notices: [String]
    private let shown: Duration
    private var lastKey: Duration
    /// Whether it is shown over a text that is being written.
    var isOverText = false
    /// Whether a key has counted, after which the next ones do.
    private var hasBegun = false
    private var field: ComposerField
    /// What is entered, if several values are asked for.
    private var form: ActionForm?
    private(set) var selected: Int
    private var scroll = 0
    /// The rows of the question that were seen at the last drawing.
    private var room = 5
    /// A row stays, so that the person sees where it goes on.
    private var page: Int { max(1, room - 1) }

    /// Keys count after this time without one, and at the latest after the other.
    static let quiet = Duration.milliseconds(400)
    static let longest = Duration.milliseconds(1_500)

    init(_ id: QuestionID, _ question: Question, asker: String, notices: [String] = [], now: Duration) {
        self.id = id
        self.question = question
        self.asker = asker
        self.notices = notices
        (shown, lastKey) = (now, now)
        switch question.kind {
        case .text(let text): field = ComposerField(text ?? "")
        case .composition(let history, let completions):
            field = ComposerField(history: history, completions: completions)
        case .form(let values):
            field = ComposerField()
            form = ActionForm(
                title: "Answer",
                values.fields.map { field in
                    ParameterDeclaration(
                        field, form: .option, isRequired: !field.schema.isOptional, completion: .nothing)
                }, values: values.given, only: values.fields.map(\.name))
        case .secret, .choice, .confirm: field = ComposerField()
        }
        selected = Self.least(of: Self.options(of: question))
    }

    /// The option that grants least, which is selected at first: the first that refuses, or else the first that does not
    /// agree.
    private static func least(of options: [String]) -> Int {
        func begins(_ option: String, with words: Set<String>) -> Bool {
            words.contains(String(option.lowercased().prefix { $0.isLetter }))
        }
        return options.firstIndex { begins($0, with: ["no", "deny", "refuse", "decline", "reject", "cancel"]) }
            ?? options.firstIndex { !begins($0, with: ["yes", "allow", "approve", "accept", "agree", "ok", "always"]) }
            ?? 0
    }

    /// Whether keys count. Over a text that is being written only a pause says that the next key is for the dialog.
    func isArmed(at now: Duration) -> Bool {
        now - lastKey >= Self.quiet || !isOverText && now - shown >= Self.longest || hasBegun
    }

    /// How long until keys count, if no key comes.
    func wait(at now: Duration) -> Duration? {
        if isArmed(at: now) { return nil }
        return (isOverText ? lastKey + Self.quiet : min(lastKey + Self.quiet, shown + Self.longest)) - now
    }

    private static func options(of question: Question) -> [String] {
        switch question.kind {
        case .choice(let options): options
        case .confirm: ["No", "Yes"]
        case .text, .secret, .composition, .form: []
        }
    }

    private var options: [String] { Self.options(of: question) }

    mutating func receive(_ event: InputEvent, at now: Duration) -> Step {
        guard isArmed(at: now) else {
            // A movement of the mouse or an answer of the terminal is no typing.
            switch event {
            case .key, .text, .paste: lastKey = now
            case .mouse, .focus, .reply: break
            }
            return .unfinished
        }
        switch event {
        case .key, .text, .paste: hasBegun = true
        case .mouse, .focus, .reply: break
        }
        guard case .key(let press) = event else {
            if form != nil { return fillIn(event) }
            if options.isEmpty { _ = field.receive(event) }
            return .unfinished
        }
        switch (press.key, press.modifiers) {
        case (.escape, []): return .postponed
        case (.character("c"), .ctrl): return .declined
        case (.pageUp, _): scroll = max(0, scroll - page)
        case (.pageDown, _): scroll += page
        case _ where form != nil: return fillIn(event)
        case (.enter, []) where options.isEmpty:
            if case .composition = question.kind, field.receive(event) != .submitted { return .unfinished }
            return .answered(typedAnswer)
        case (.enter, []): return .answered(answer(selected))
        case (.up, _), (.left, _), (.tab, .shift):
            if options.isEmpty { _ = field.receive(event) } else { selected = max(0, selected - 1) }
        case (.down, _), (.right, _), (.tab, []):
            if options.isEmpty { _ = field.receive(event) } else { selected = min(options.count - 1, selected + 1) }
        default:
            if options.isEmpty {
                _ = field.receive(event)
            } else if let option = option(for: press) {
                // A letter only selects; Return agrees.
                selected = option
            }
        }
        return .unfinished
    }

    /// Gives a key to the fields. They are answered together, once they are what the question asks for.
    private mutating func fillIn(_ event: InputEvent) -> Step {
        guard case .form(let values) = question.kind, case .submitted(let entered)? = form?.receive(event) else {
            return .unfinished
        }
        do throws(InteractionError) { return .answered(.form(try values.checked(entered, of: question.id))) } catch {
            form?.blame(values.problems(in: entered))
            return .unfinished
        }
    }

    /// The option with that number, or the next one that begins with that letter.
    private func option(for press: KeyPress) -> Int? {
        guard let scalar = press.text else { return nil }
        if let digit = Int(String(Character(scalar))), options.indices.contains(digit - 1) { return digit - 1 }
        let letter = String(Character(scalar)).lowercased()
        let found = options.indices.filter { options[$0].lowercased().hasPrefix(letter) }
        return found.first { $0 > selected } ?? found.first
    }

    private func answer(_ option: Int) -> Answer {
        if case .confirm = question.kind { return .confirm(option == 1) }
        return .choice(option)
    }

    /// What is typed as an answer, where there are neither options nor fields.
    private var typedAnswer: Answer {
        switch question.kind {
        case .secret: .secret(Secret(field.text))
        case .composition: .composition(WrittenText(field.text, seen: field.seen))
        case .text(let text): .text(field.text.isEmpty ? text ?? "" : field.text)
        case .choice, .confirm: answer(selected)
        case .form(let values): .form(values.given)
        }
    }
}

/// The number of an open question.
struct QuestionID: Sendable, Hashable {
    let number: Int
}

// MARK: Drawing

extension QuestionDialog {
    /// The rows: who asks, the whole question, and the answers.
    mutating func rows(
        columns: Int, rows count: Int, at now: Duration
    ) -> (rows: [StyledText], selected: Int?, caret: CellPosition?) {
        let columns = max(4, columns)
        let prompt = self.prompt(columns)
        var (answers, caret) = self.answers(columns)
        // The answers are always seen, as far as they fit beside three rows of the dialog and one of the question. Of
        // more options those around the selected one are seen; a long question scrolls.
        let most = max(1, count - 4)
        var focus = caret?.row ?? answers.firstIndex { $0.option == selected }
        if answers.count > most, let row = focus {
            let first = max(0, min(row - most / 2, answers.count - most))
            answers = Array(answers[first..<first + most])
            focus = row - first
            if let place = caret { caret = CellPosition(row: row - first, column: place.column) }
        }
        room = max(1, count - answers.count - 3)
        scroll = min(scroll, max(0, prompt.count - room))
        var rows = [
            StyledText("\(PlainText.escape(asker)) asks", Style(.mutedForeground)).truncated(to: columns)
        ]
        rows += prompt.dropFirst(scroll).prefix(room)
        let left = prompt.count - scroll - room
        let more = left > 0 ? "\(left) more lines below: Page Down" : scroll > 0 ? "\(scroll) lines above: Page Up" : ""
        rows.append(StyledText(more, Style(.warning)).truncated(to: columns))
        let first = rows.count
        rows += answers.map(\.row)
        let next = form?.isButtonSelected == false ? "goes on" : "answers"
        let hint = isArmed(at: now) ? "Return \(next) · Esc later · Ctrl-C declines" : "wait …"
        rows.append(StyledText(hint, Style(.mutedForeground)).truncated(to: columns))
        if let place = caret { caret = CellPosition(row: first + place.row, column: place.column) }
        return (rows, options.isEmpty ? nil : focus.map { first + $0 }, caret)
    }

    /// What was said for the question, and the question. Nothing in it may look like a part of the dialog, so each row
    /// begins with a bar.
    private func prompt(_ columns: Int) -> [StyledText] {
        let bar = StyledText("┃ ", Style(.border))
        func rows(_ text: String, _ style: Style) -> [StyledText] {
            PlainText.escapeLines(text).split(separator: "\n", omittingEmptySubsequences: false)
                .flatMap { StyledText(String($0), style).wrapped(to: columns - 2) }.map { bar + $0 }
        }
        return notices.flatMap { rows($0, .plain) } + rows(question.prompt, Style(bold: true))
    }

    /// The rows of the options, or of what is typed.
    private func answers(_ columns: Int) -> (rows: [(row: StyledText, option: Int?)], caret: CellPosition?) {
        if !options.isEmpty {
            let rows = options.enumerated().flatMap { index, option -> [(row: StyledText, option: Int?)] in
                let head = "\(index == selected ? "▸" : " ") \(index + 1)  "
                let indent = String(repeating: " ", count: head.count)
                let lines = StyledText(PlainText.escape(option)).wrapped(to: max(2, columns - head.count))
                return lines.enumerated().map { (StyledText($0 == 0 ? head : indent) + $1, $0 == 0 ? index : nil) }
            }
            return (rows, nil)
        }
        if let form {
            let (rows, _, caret) = form.rows(columns: columns)
            return (rows.map { ($0, nil) }, caret)
        }
        if case .secret = question.kind {
            // As long as every other one: the length of a secret is nobody's business.
            let shown = field.text.isEmpty ? "" : "••••••••"
            return ([(StyledText("› \(shown)"), nil)], CellPosition(row: 0, column: 2 + shown.count))
        }
        let (rows, caret) = field.rows(prompt: "› ", columns: columns, rows: 4)
        return (rows.map { ($0, nil) }, caret)
    }
}
