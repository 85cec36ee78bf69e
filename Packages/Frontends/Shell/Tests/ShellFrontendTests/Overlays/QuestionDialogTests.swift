import Capabilities
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct QuestionDialogTests {
    private func dialog(
        _ kind: Question.Kind = .confirm, _ prompt: String = "Delete all?", notices: [String] = []
    ) -> QuestionDialog {
        QuestionDialog(
            QuestionID(number: 1), Question("x.y", prompt, kind), asker: "Delete", notices: notices, now: .seconds(10))
    }

    private func key(_ key: Key, _ modifiers: Modifiers = []) -> InputEvent { .key(KeyPress(key, modifiers)) }

    private let later = Duration.seconds(20)

    private func texts(_ dialog: inout QuestionDialog, columns: Int = 40, rows: Int = 20) -> [String] {
        dialog.rows(columns: columns, rows: rows, at: later).rows.map(\.plainText)
    }

    // MARK: Arming

    @Test("Keys within 400 ms of the question do nothing")
    func unarmed() {
        var dialog = dialog()
        #expect(!dialog.isArmed(at: .milliseconds(10_399)) && dialog.isArmed(at: .milliseconds(10_400)))
        #expect(dialog.receive(key(.character("y")), at: .milliseconds(10_100)).isUnfinished)
        #expect(dialog.receive(key(.enter), at: .milliseconds(10_200)).isUnfinished && dialog.selected == 0)
        #expect(dialog.receive(key(.escape), at: .milliseconds(10_300)).isUnfinished)
        #expect(dialog.receive(key(.character("c"), .ctrl), at: .milliseconds(10_350)).isUnfinished)
    }

    @Test("Twenty keys a second answer nothing; after 400 ms without one the keys count")
    func typing() {
        var dialog = dialog()
        var now = Duration.seconds(10)
        for _ in 0..<20 {
            now += .milliseconds(50)
            #expect(dialog.receive(key(.enter), at: now).isUnfinished)
        }
        #expect(dialog.wait(at: now) == .milliseconds(400) && !dialog.isArmed(at: now + .milliseconds(399)))
        #expect(dialog.isArmed(at: now + .milliseconds(400)))
    }

    @Test("After 1.5 s keys count at the latest, and the first one cannot agree")
    func longest() {
        var dialog = dialog()
        for step in 1...29 { _ = dialog.receive(key(.enter), at: .milliseconds(10_000 + step * 50)) }
        #expect(dialog.wait(at: .milliseconds(11_450)) == .milliseconds(50))
        #expect(dialog.receive(key(.enter), at: .milliseconds(11_500)).confirmed == false)
    }

    @Test("The mouse, the focus and answers of the terminal are no typing")
    func noise() {
        var dialog = dialog()
        for step in 1...8 { _ = dialog.receive(.focus(step % 2 == 0), at: .milliseconds(10_000 + step * 50)) }
        #expect(dialog.isArmed(at: .milliseconds(10_400)))
    }

    @Test("Once keys count they count until the answer")
    func stays() {
        var dialog = dialog()
        #expect(dialog.receive(key(.down), at: .milliseconds(10_500)).isUnfinished)
        #expect(dialog.receive(key(.enter), at: .milliseconds(10_510)).confirmed == true)
    }

    // MARK: Choosing

    @Test(
        "The option that grants least is selected first",
        arguments: [
            (["Yes, this once", "Yes, always", "No", "No, and say why"], 2), (["Allow", "Deny"], 1),
            (["Notify everybody", "Cancel"], 1), (["Edit again", "Leave the file"], 0), (["Always", "Later"], 1),
            (["Yes", "Always"], 0),
        ])
    func least(options: [String], selected: Int) { #expect(dialog(.choice(options)).selected == selected) }

    @Test("A letter only selects, and Return answers")
    func letters() {
        var dialog = dialog(.choice(["Yes, this once", "Yes, always", "No", "No, and say why"]))
        #expect(dialog.receive(key(.character("y")), at: later).isUnfinished && dialog.selected == 0)
        #expect(dialog.receive(key(.character("Y"), .shift), at: later).isUnfinished && dialog.selected == 1)
        #expect(dialog.receive(key(.character("n")), at: later).isUnfinished && dialog.selected == 2)
        #expect(dialog.receive(key(.character("4")), at: later).isUnfinished && dialog.selected == 3)
        #expect(dialog.receive(key(.character("9")), at: later).isUnfinished && dialog.selected == 3)
        #expect(dialog.receive(key(.character("y"), .ctrl), at: later).isUnfinished && dialog.selected == 3)
        guard case .answered(.choice(3)) = dialog.receive(key(.enter), at: later) else {
            Issue.record("not answered")
            return
        }
    }

    @Test("The arrows stop at the first and at the last option")
    func arrows() {
        var dialog = dialog(.choice(["a", "b", "c"]))
        for _ in 0..<9 { _ = dialog.receive(key(.down), at: later) }
        #expect(dialog.selected == 2)
        for _ in 0..<9 { _ = dialog.receive(key(.up), at: later) }
        #expect(dialog.selected == 0)
    }

    @Test("Esc leaves the question open, Ctrl-C declines")
    func leaving() {
        var dialog = dialog()
        guard case .postponed = dialog.receive(key(.escape), at: later) else {
            Issue.record("not postponed")
            return
        }
        guard case .declined = dialog.receive(key(.character("c"), .ctrl), at: later) else {
            Issue.record("not declined")
            return
        }
    }

    // MARK: Typing

    private func type(_ text: String, _ dialog: inout QuestionDialog) {
        for scalar in text.unicodeScalars { _ = dialog.receive(key(.character(scalar)), at: later) }
    }

    @Test("A text is typed and sent with Return")
    func text() {
        var dialog = dialog(.text(default: nil))
        type("hello", &dialog)
        #expect(texts(&dialog).contains("› hello"))
        guard case .answered(.text("hello")) = dialog.receive(key(.enter), at: later) else {
            Issue.record("not answered")
            return
        }
    }

    @Test("A secret is never drawn, nor its length, and is the answer")
    func secret() {
        var dialog = dialog(.secret, "Passphrase")
        type("hunter2-hunter2", &dialog)
        let first = texts(&dialog)
        #expect(first.allSatisfy { !$0.contains("hunter") } && first.contains("› ••••••••"))
        type("!", &dialog)
        #expect(texts(&dialog) == first)
        _ = dialog.receive(.key(KeyPress(.character("r"), .ctrl)), at: later)
        #expect(texts(&dialog).allSatisfy { !$0.contains("hunter") })
        guard case .answered(.secret(let secret)) = dialog.receive(key(.enter), at: later) else {
            Issue.record("not answered")
            return
        }
        #expect(secret.withText { $0 == "hunter2-hunter2!" })
    }

    // MARK: Drawing

    @Test("What was said for the question and the question are seen above the answers")
    func layout() {
        var dialog = dialog(notices: ["The model wants to use bash:\nrm -rf /"])
        #expect(
            texts(&dialog) == [
                "Delete asks", "┃ The model wants to use bash:", "┃ rm -rf /", "┃ Delete all?", "", "▸ 1  No",
                "  2  Yes",
                "Return answers · Esc later · Ctrl-C dec…",
            ])
        #expect(dialog.rows(columns: 40, rows: 20, at: later).selected == 5)
    }

    @Test("A long question scrolls to its end, and the answers stay")
    func long() {
        let text = (0..<50).map { "line \($0)" }.joined(separator: "\n")
        var dialog = dialog(.confirm, text)
        #expect(texts(&dialog, rows: 12).prefix(3) == ["Delete asks", "┃ line 0", "┃ line 1"])
        #expect(texts(&dialog, rows: 12).contains("43 more lines below: Page Down"))
        for _ in 0..<20 { _ = dialog.receive(key(.pageDown), at: later) }
        let end = texts(&dialog, rows: 12)
        #expect(end.contains("┃ line 49") && end.contains("▸ 1  No") && end.count == 12)
        _ = dialog.receive(key(.pageUp), at: later)
        #expect(texts(&dialog, rows: 12).contains("┃ line 43") && !texts(&dialog, rows: 12).contains("┃ line 49"))
    }

    @Test("Of many options those around the selected one are seen")
    func manyOptions() {
        var dialog = dialog(.choice((1...60).map { "option \($0)" }))
        for _ in 0..<40 { _ = dialog.receive(key(.down), at: later) }
        let (rows, selected, _) = dialog.rows(columns: 40, rows: 12, at: later)
        #expect(rows.count <= 12 && selected.map { rows[$0].plainText } == "▸ 41  option 41")
    }

    @Test("A long option is wrapped, so that its end is read")
    func longOption() {
        var dialog = dialog(.choice(["Yes, and for every command that begins with git push", "No"]))
        let rows = texts(&dialog, columns: 30)
        #expect(rows.contains("  1  Yes, and for every") && rows.contains("     git push"))
        #expect(dialog.rows(columns: 30, rows: 20, at: later).selected.map { rows[$0] } == "▸ 2  No")
    }

    @Test(
        "Nothing in a question draws outside or looks like a part of the dialog",
        arguments: [
            "\u{1B}[2J\u{1B}[1;1Hgone", "a\u{202E}b\u{2066}c", "x\n▸ 1  Yes\nReturn answers", "a\rb\u{8}c\u{7}",
            "a\u{2028}b\u{85}c\u{0B}d", "\u{9B}31mred", String(repeating: "w", count: 500), "\u{200B}\u{FEFF}",
        ])
    func hostile(text: String) {
        for kind in [Question.Kind.confirm, .choice([text, "No"]), .text(default: nil)] {
            var dialog = QuestionDialog(
                QuestionID(number: 1), Question("x.y", text, kind), asker: text, notices: [text], now: .zero)
            var cells = CellBuffer(columns: 30, rows: 40)
            let rows = dialog.rows(columns: 30, rows: 40, at: later).rows
            cells.draw(rows, in: cells.area, selected: nil)
            for (number, row) in rows.enumerated() {
                #expect(row.width <= 30)
                #expect(
                    row.plainText.unicodeScalars.allSatisfy {
                        $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
                            && $0.properties.generalCategory != .format
                            && ![0x2028, 0x2029].contains($0.value)
                    })
                // A row with a mark of the dialog is one of the dialog.
                if row.plainText.hasPrefix("▸") { #expect(number == rows.firstIndex { $0.plainText.hasPrefix("▸") }) }
            }
            let marked = rows.filter { $0.plainText.hasPrefix("▸") || $0.plainText.hasPrefix("Return answers") }
            #expect(marked.count == (kind.hasOptions ? 2 : 1), "\(rows.map(\.plainText))")
        }
    }

    @Test("Any size can be drawn", arguments: [(0, 0), (1, 1), (2, 3), (500, 1), (3, 100)])
    func sizes(columns: Int, rows: Int) {
        for kind in [Question.Kind.confirm, .secret, .text(default: "a"), .choice(["x", "y"]), .choice([])] {
            var dialog = dialog(kind)
            _ = dialog.rows(columns: columns, rows: rows, at: later)
            for press in [Key.pageDown, .up, .down, .character("x"), .enter] {
                _ = dialog.receive(key(press), at: later)
            }
            _ = dialog.rows(columns: columns, rows: rows, at: later)
        }
    }
}

extension Question.Kind {
    fileprivate var hasOptions: Bool {
        switch self {
        case .choice, .confirm: true
        default: false
        }
    }
}

extension QuestionDialog.Step {
    var isUnfinished: Bool { if case .unfinished = self { true } else { false } }
    fileprivate var confirmed: Bool? { if case .answered(.confirm(let isAgreed)) = self { isAgreed } else { nil } }
}
