import Capabilities
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
    /// What the action has said about it, such as the change that it wants to make.
    let about: String
    /// The action that asks.
    let asker: String
    private let shown: Duration
    private var lastKey: Duration
    private var field: ComposerField
    private(set) var selected: Int
    private var scroll = 0

    /// Keys count after this time without one, and at the latest after the other.
    static let quiet = Duration.milliseconds(400)
    static let longest = Duration.milliseconds(1_500)

    init(_ id: QuestionID, _ question: Question, about: String = "", asker: String, now: Duration) {
        self.id = id
        self.about = about
        self.question = question
        self.asker = asker
        (shown, lastKey) = (now, now)
        switch question.kind {
        case .text(let text): field = ComposerField(text ?? "")
        case .composition(let history, let completions):
            field = ComposerField(history: history, completions: completions)
        case .secret, .choice, .confirm: field = ComposerField()
        }
        // What grants nothing is selected at first.
        selected = Self.options(of: question).firstIndex { $0.lowercased().hasPrefix("no") } ?? 0
    }

    func isArmed(at now: Duration) -> Bool { now - lastKey >= Self.quiet || now - shown >= Self.longest }

    /// How long until keys count, if no key comes.
    func wait(at now: Duration) -> Duration? {
        isArmed(at: now) ? nil : min(lastKey + Self.quiet, shown + Self.longest) - now
    }

    private static func options(of question: Question) -> [String] {
        switch question.kind {
        case .choice(let options): options
        case .confirm: ["No", "Yes"]
        case .text, .secret, .composition: []
        }
    }

    private var options: [String] { Self.options(of: question) }

    mutating func receive(_ event: InputEvent, at now: Duration) -> Step {
        guard isArmed(at: now) else {
            lastKey = now
            return .unfinished
        }
        guard case .key(let press) = event else {
            if options.isEmpty { _ = field.receive(event) }
            return .unfinished
        }
        switch (press.key, press.modifiers) {
        case (.escape, []): return .postponed
        case (.character("c"), .ctrl): return .declined
        case (.pageUp, _): scroll = max(0, scroll - 5)
        case (.pageDown, _): scroll += 5
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

    private func option(for press: KeyPress) -> Int? {
        guard let scalar = press.text else { return nil }
        if let digit = Int(String(Character(scalar))), options.indices.contains(digit - 1) { return digit - 1 }
        let letter = String(Character(scalar)).lowercased()
        return options.firstIndex { $0.lowercased().hasPrefix(letter) }
    }

    private func answer(_ option: Int) -> Answer {
        if case .confirm = question.kind { return .confirm(option == 1) }
        return .choice(option)
    }

    private var typedAnswer: Answer {
        switch question.kind {
        case .secret: .secret(Secret(field.text))
        case .composition: .composition(field.text)
        case .text(let text): .text(field.text.isEmpty ? text ?? "" : field.text)
        case .choice, .confirm: .choice(selected)
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
        // Nothing in a question may look like a part of the dialog.
        func lines(_ text: String, _ style: Style) -> [StyledText] {
            guard !text.isEmpty else { return [] }
            return PlainText.escapeLines(text).split(separator: "\n", omittingEmptySubsequences: false)
                .flatMap { StyledText(String($0), style).wrapped(to: columns) }
        }
        let prompt = lines(question.prompt, Style(bold: true)) + lines(about, .plain)
        var answers: [StyledText] = []
        var caret: CellPosition?
        if options.isEmpty {
            if case .secret = question.kind {
                let shown = field.text.isEmpty ? "" : "••••••••"
                answers = [StyledText("› \(shown)")]
                caret = CellPosition(row: 0, column: 2 + shown.count)
            } else {
                let (rows, place) = field.rows(prompt: "› ", columns: columns, rows: 4)
                (answers, caret) = (rows, place)
            }
        } else {
            answers = options.enumerated().map { index, option in
                StyledText("\(index == selected ? "▸" : " ") \(index + 1)  \(PlainText.escape(option))")
                    .truncated(to: columns)
            }
        }
        let hint = isArmed(at: now) ? "Return answers · Esc later · Ctrl-C declines" : "wait …"
        // The answers are always seen; a long question scrolls.
        let room = max(1, count - answers.count - 3)
        scroll = min(scroll, max(0, prompt.count - room))
        var rows = [StyledText("\(asker) asks", Style(.mutedForeground))]
        rows += prompt.dropFirst(scroll).prefix(room)
        let left = prompt.count - scroll - room
        rows.append(
            left > 0 ? StyledText("\(left) more lines below: Page Down", Style(.warning)) : "")
        let first = rows.count
        rows += answers
        rows.append(StyledText(hint, Style(.mutedForeground)).truncated(to: columns))
        if let place = caret { caret = CellPosition(row: first + place.row, column: place.column) }
        return (rows, options.isEmpty ? nil : first + selected, caret)
    }
}
