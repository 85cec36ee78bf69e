import Registry
import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite("Pictures in the shell") struct ShellPictureTests {
    /// As much of a PNG as anyone but the terminal looks at.
    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        + [0, 0, 0, 1, 0, 0, 0, 1]

    /// Begins an action and lets it hand over a picture.
    private func hand(_ bytes: [UInt8], to shell: inout TestShell, shows: Bool = true) throws {
        shell.model.showsPictures = shows
        if shell.model.runs.all.isEmpty {
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            try shell.press("x")
        }
        let run = try #require(shell.model.runs.all.last)
        _ = shell.takeEffects()
        shell.handle(
            .picture(run.id, Picture("plan\u{1B}[2J.png", "image/png", bytes, saving: "'library copy' saves it")))
    }

    private func covers(_ effects: [ShellEffect]) -> [String] {
        effects.compactMap { effect in
            switch effect {
            case .cover(_, let caption): caption
            case .uncover: "uncovered"
            default: nil
            }
        }
    }

    @Test("A picture covers the shell until a key is pressed, which does nothing else")
    func covered() async throws {
        try await withShell { shell in
            try hand(Self.png, to: &shell)
            let shown = covers(shell.takeEffects())
            #expect(shown.count == 1 && shown[0].hasSuffix("any key goes back") && !shown[0].contains("\u{1B}"))
            // What the terminal says by itself is no key.
            shell.handle(.input(.focus(true)))
            shell.handle(.input(.reply(.mode(2026, value: 1))))
            #expect(covers(shell.takeEffects()).isEmpty)
            let tab = shell.model.tabs.page.focused
            try shell.press("1")
            #expect(covers(shell.takeEffects()) == ["uncovered"] && shell.model.tabs.page.focused == tab)
            try shell.press("1")
            #expect(covers(shell.takeEffects()).isEmpty && shell.model.tabs.page.focused != tab)
        }
    }

    @Test("A paste does not get into a text below, and another size removes the picture")
    func others() async throws {
        try await withShell { shell in
            try hand(Self.png, to: &shell)
            shell.handle(.input(.text("q")))
            #expect(covers(shell.takeEffects()).last == "uncovered" && !shell.model.isOver)
            try hand(Self.png, to: &shell)
            shell.handle(.resized(TerminalSize(columns: 80, rows: 24)))
            #expect(covers(shell.takeEffects()).last == "uncovered")
            shell.handle(.resized(TerminalSize(columns: 90, rows: 24)))
            #expect(covers(shell.takeEffects()).isEmpty)
        }
    }

    @Test("Where pictures are not shown, and for what is none, the way to save it is told")
    func refused() async throws {
        try await withShell { shell in
            try hand(Self.png, to: &shell, shows: false)
            #expect(covers(shell.takeEffects()).isEmpty)
            let text = try #require(shell.model.notice?.text)
            #expect(text == "this terminal shows no pictures; 'library copy' saves it")
            try hand(Array("GIF89a".utf8), to: &shell)
            #expect(covers(shell.takeEffects()).isEmpty)
            #expect(shell.model.notice?.text.contains("only PNG") == true)
            try shell.press("1")
            #expect(shell.model.notice != nil)
        }
    }
}
