import Capabilities
import JSON
import TerminalKit
import Testing

@testable import ShellFrontend

/// A question for several values, shown as one form.
@Suite struct FormDialogTests {
    private let later = Duration.seconds(20)
    private var form: ValueForm {
        ValueForm([
            Schema.Property("days", "How many days", .optional(.integer(1...10)), defaultValue: 3),
            Schema.Property("city", "Where to look", .string),
            Schema.Property("units", "Units of measure", .choice(["metric", "imperial"])),
        ])
    }

    private func dialog(_ form: ValueForm? = nil) -> QuestionDialog {
        QuestionDialog(
            QuestionID(number: 1), Question("x.y", "The arguments of forecast", .form(form ?? self.form)),
            asker: "Call",
            now: .seconds(10))
    }

    private func press(_ dialog: inout QuestionDialog, _ keys: Key...) -> QuestionDialog.Step {
        var step = QuestionDialog.Step.unfinished
        for key in keys { step = dialog.receive(.key(KeyPress(key)), at: later) }
        return step
    }

    private func type(_ text: String, _ dialog: inout QuestionDialog) {
        for scalar in text.unicodeScalars { _ = dialog.receive(.key(KeyPress(.character(scalar))), at: later) }
    }

    private func texts(_ dialog: inout QuestionDialog, columns: Int = 60, rows: Int = 20) -> [String] {
        dialog.rows(columns: columns, rows: rows, at: later).rows.map(\.plainText)
    }

    @Test("All fields are shown, the needed ones first, and answered together")
    func answers() throws {
        var dialog = dialog()
        let shown = texts(&dialog).joined(separator: "\n")
        for words in [
            "Call asks", "The arguments of forecast", "city *  Where to look", "( ) metric", "days", "› 3",
            "[ Answer ]",
        ] {
            #expect(shown.contains(words), "\(words) in \(shown)")
        }
        type("Bern", &dialog)
        _ = press(&dialog, .enter, .right, .enter, .enter)
        guard case .answered(.form(let values)) = press(&dialog, .enter) else {
            Issue.record("\(texts(&dialog))")
            return
        }
        #expect(values == ["city": "Bern", "units": "metric", "days": 3])
    }

    @Test("What is missing or does not fit is shown beside its field, and nothing is answered")
    func problems() {
        var dialog = dialog()
        #expect(press(&dialog, .down, .down, .down, .enter).isUnfinished)
        #expect(texts(&dialog).contains { $0.contains("▲ is needed") })
        type("Bern", &dialog)
        _ = press(&dialog, .down, .right, .down, .backspace)
        type("99", &dialog)
        #expect(press(&dialog, .down, .enter).isUnfinished)
        #expect(texts(&dialog).contains { $0.contains("▲") && $0.contains("10") })
    }

    @Test("It can wait or be declined as any question")
    func leaving() {
        var postponed = dialog()
        if case .postponed = press(&postponed, .escape) {} else { Issue.record("Esc did not postpone it") }
        var declined = dialog()
        if case .declined = declined.receive(.key(KeyPress(.character("c"), .ctrl)), at: later) {
        } else {
            Issue.record("Ctrl-C did not decline it")
        }
    }

    @Test("A form that is too long follows the selected field", arguments: [8, 12, 30])
    func long(rows: Int) {
        let names = (0..<20).map { "field\($0)" }
        var dialog = dialog(ValueForm(names.map { Schema.Property($0, "", .optional(.string)) }))
        for name in names {
            let (lines, _, caret) = dialog.rows(columns: 40, rows: rows, at: later)
            #expect(lines.count <= rows && caret.map { $0.row < lines.count } == true)
            #expect(lines.contains { $0.plainText.contains("▸ \(name)") }, "\(name)")
            _ = press(&dialog, .down)
        }
        #expect(texts(&dialog, columns: 40, rows: rows).contains { $0.contains("[ Answer ]") })
    }

    @Test("A long question above a form can be read to its end")
    func longQuestion() {
        let words = (0..<50).map { "line \($0)" }.joined(separator: "\n")
        var dialog = QuestionDialog(
            QuestionID(number: 1), Question("x.y", words, .form(form)), asker: "Call", now: .seconds(10))
        #expect(
            !texts(&dialog).contains { $0.hasSuffix("line 49") } && texts(&dialog).contains { $0.contains("Page Down") }
        )
        for _ in 0..<20 {
            _ = press(&dialog, .pageDown)
            _ = texts(&dialog)
        }
        #expect(texts(&dialog).contains { $0.hasSuffix("line 49") })
    }

    @Test("Names that come from elsewhere cannot draw over the dialog")
    func hostile() {
        var dialog = dialog(ValueForm([Schema.Property("a\u{1b}[2Jb\nc", "", .optional(.string))]))
        let shown = texts(&dialog)
        #expect(!shown.joined().unicodeScalars.contains("\u{1b}") && !shown.contains { $0.contains("\n") })
    }
}
