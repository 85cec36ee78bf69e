import Capabilities
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct PaletteTests {
    private func palette(_ notes: [(String, String)]) -> Palette {
        Palette("Commands", notes.map { Palette.Entry(target: .action($0.0), title: $0.1, note: $0.0) })
    }

    private var commands: Palette {
        palette([
            ("files.list", "List the files"), ("files.read", "Print a file"), ("chat.ask", "Ask a model"),
            ("chat.ask.again", "Ask it again"), ("config.set", "Change a setting"),
            ("monitor.list", "List the monitors"),
        ])
    }

    private func type(_ text: String, _ palette: inout Palette) {
        for scalar in text.unicodeScalars { _ = palette.receive(.key(KeyPress(.character(scalar)))) }
    }

    private func notes(_ palette: Palette) -> [String] { palette.matches.map { palette.entries[$0].note } }

    private func chosen(_ palette: inout Palette) -> String? {
        if case .chosen(let index) = palette.receive(.key(KeyPress(.enter))) {
            palette.entries[index].note
        } else {
            nil
        }
    }

    @Test("Without a text everything is offered in its order")
    func all() { #expect(notes(commands).first == "files.list" && commands.matches.count == 6) }

    @Test(
        "The best match comes first",
        arguments: [
            ("fl", "files.list"), ("fr", "files.read"), ("chat.ask", "chat.ask"), ("again", "chat.ask.again"),
            ("list mon", "monitor.list"), ("SETTING", "config.set"), ("ml", "monitor.list"),
        ])
    func best(text: String, note: String) {
        var palette = commands
        type(text, &palette)
        #expect(notes(palette).first == note)
        #expect(chosen(&palette) == note)
    }

    @Test("All words have to match, and letters from everywhere do not")
    func nothing() {
        var palette = commands
        type("files again", &palette)
        #expect(palette.matches.isEmpty && chosen(&palette) == nil)
        #expect(palette.rows(columns: 40, rows: 9).rows.last?.plainText == "nothing fits")
        for _ in 0..<6 { _ = palette.receive(.key(KeyPress(.backspace))) }
        #expect(notes(palette).sorted() == ["files.list", "files.read"])
    }

    @Test("The selection moves within the matches, and begins again with each letter")
    func selection() {
        var palette = commands
        _ = palette.receive(.key(KeyPress(.up)))
        #expect(palette.selected == 0)
        for _ in 0..<3 { _ = palette.receive(.key(KeyPress(.down))) }
        _ = palette.receive(.key(KeyPress(.pageDown)))
        #expect(palette.selected == 5)
        _ = palette.receive(.key(KeyPress(.pageUp)))
        #expect(palette.selected == 0)
        _ = palette.receive(.key(KeyPress(.character("n"), .ctrl)))
        #expect(palette.selected == 1 && chosen(&palette) == "files.read")
        type("l", &palette)
        #expect(palette.selected == 0)
    }

    @Test("Esc and Ctrl-C close it")
    func closing() {
        var palette = commands
        for press in [KeyPress(.escape), KeyPress(.character("c"), .ctrl)] {
            guard case .cancelled = palette.receive(.key(press)) else {
                Issue.record("\(press) does not close")
                return
            }
        }
    }

    @Test("The selected entry is always drawn", arguments: [1, 2, 3, 5, 20, 200])
    func drawing(rows: Int) {
        var palette = palette((0..<100).map { ("id.\($0)", "Title \($0)") })
        for step in 0..<100 {
            let drawn = palette.rows(columns: 30, rows: rows)
            #expect(drawn.rows.count <= max(2, rows))
            #expect(drawn.selected.map { drawn.rows[$0].plainText.contains("Title \(step) ") } == true)
            _ = palette.receive(.key(KeyPress(.down)))
        }
    }

    @Test("No row is wider than its window, whatever an entry is called", arguments: [0, 1, 2, 10, 40])
    func widths(columns: Int) {
        let palette = palette([("an.id.that.is.long", "A title\nof two lines"), ("", "漢字漢字漢字漢字"), ("x", "")])
        for row in palette.rows(columns: columns, rows: 9).rows.dropFirst() {
            #expect(row.width <= columns && !row.plainText.contains(where: \.isNewline))
        }
    }

    @Test("A long word and a long text are compared in no time")
    func long() {
        let text = String(repeating: "a ", count: 2_000)
        #expect(Fuzzy.score(of: String(repeating: "a", count: 30), in: text) != nil)
        #expect(Fuzzy.score(of: "", in: "x") == 0 && Fuzzy.score(of: "xyz", in: "xy") == nil)
    }

    @Test("Letters that begin words count more than the first ones that fit")
    func beginnings() {
        let inside = Fuzzy.score(of: "fl", in: "file") ?? 0
        let begins = Fuzzy.score(of: "fl", in: "file list") ?? 0
        #expect(begins > inside)
        #expect((Fuzzy.score(of: "ask", in: "ask") ?? 0) > (Fuzzy.score(of: "ask", in: "ask again") ?? 0))
    }
}
