import Capabilities
import CoreTesting
import JSON
import Registry
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite("A pinned screen") struct PinnedScreenTests {
    /// Opens a conversation from the list of books and pins it.
    private func pinTalk(_ shell: inout TestShell) throws -> ViewID {
        try shell.press("2")
        try shell.show("library.books", LibraryFeature.books)
        try shell.openTalk()
        try shell.press("esc")
        let id = try #require(shell.view("library.talk"))
        _ = shell.takeEffects()
        try shell.press("P")
        return id
    }

    /// Whether a screen was closed, opened, hidden or begun again.
    private func isTouched(_ id: ViewID, _ shell: TestShell) -> Bool {
        shell.effects.contains {
            switch $0 {
            case .open(id, _, _), .close(id), .see(id, _), .refresh(id): true
            default: false
            }
        }
    }

    @Test("A pinned screen stays in the right half, with its body, while tabs, pages and rows are walked through")
    func pinned() async throws {
        try await withShell { shell in
            let talk = try pinTalk(&shell)
            #expect(!shell.model.tabs.page.isPinFocused && !shell.model.tabs.canGoBack)
            #expect(shell.text().contains("Persuasion") && shell.text().contains("Welcome"))
            try shell.press("down", "enter")
            try shell.show("library.book", .text("A novel"))
            #expect(shell.text().contains("A novel") && shell.text().contains("Welcome"))
            try shell.press("esc", "1")
            #expect(shell.text().contains("─ Desk ─") && shell.text().contains("Welcome"))
            // What it streams is drawn.
            shell.handle(.state(talk, .ready(.text("An answer"))))
            #expect(shell.text().contains("An answer") && !isTouched(talk, shell))
        }
    }

    @Test("Tab moves the focus between both halves, Esc goes back to the left one, and the same key unpins")
    func pinFocus() async throws {
        try await withShell { shell in
            let talk = try pinTalk(&shell)
            try shell.press("shift-tab")
            #expect(shell.model.tabs.page.focused == talk && shell.text().contains("P unpin"))
            try shell.press("tab")
            #expect(!shell.model.tabs.page.isPinFocused)
            // The other screens of the tab are passed on the way.
            try shell.press("tab", "tab")
            #expect(shell.model.tabs.page.focused == talk)
            try shell.press("esc")
            #expect(shell.model.tabs.page.focused != talk && shell.model.tabs.pinned == talk)
            // Writing goes to it.
            try shell.press("tab", "i")
            shell.type("hello")
            try shell.press("enter", "esc", "2")
            #expect(shell.performed.last == #"library.say {"text":"hello"}"#)
            #expect(!shell.model.tabs.page.isPinFocused && shell.model.tabs.current == 1)
            try shell.press("shift-tab", "shift-tab")
            while shell.model.tabs.page.focused != talk { try shell.press("tab") }
            _ = shell.takeEffects()
            try shell.press("P")
            #expect(shell.model.tabs.pinned == nil && shell.model.tabs.page.focused == talk && !isTouched(talk, shell))
            // It is a page like any other again.
            try shell.press("esc")
            #expect(shell.effects.contains { if case .close(talk) = $0 { true } else { false } })
        }
    }

    @Test("A detail that is pinned leaves its list, whose rows then open at Return only, and the same one is gone to")
    func pinnedDetail() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            for effect in shell.takeEffects() {
                if case .wait(.detail(let number), _) = effect { shell.handle(.timer(.detail(number))) }
            }
            try shell.show("library.book", .text("Emma, a novel"))
            let detail = try #require(shell.view("library.book"))
            try shell.press("enter", "P")
            #expect(shell.model.tabs.pinned == detail && shell.model.tabs.page.detail == nil)
            _ = shell.takeEffects()
            try shell.press("down")
            #expect(!shell.effects.contains { if case .wait(.detail, _) = $0 { true } else { false } })
            #expect(shell.text().contains("Emma, a novel") && shell.opened.isEmpty)
            try shell.press("enter")
            #expect(shell.opened == ["library.book"] && shell.model.tabs.canGoBack)
            try shell.press("esc", "up", "enter")
            #expect(shell.model.tabs.page.focused == detail && shell.opened.count == 1)
            #expect(!isTouched(detail, shell))
        }
    }

    @Test("A screen of a tab that is pinned stays on its tab; another one that is pinned takes its place")
    func pinnedTab() async throws {
        try await withShell { shell in
            try shell.press("2")
            try shell.show("library.books", LibraryFeature.books)
            let books = try #require(shell.view("library.books"))
            try shell.press("P")
            // The other screen of the tab is seen instead.
            let readers = try #require(shell.view("library.readers"))
            #expect(shell.model.tabs.pinned == books && shell.model.tabs.page.focused == readers)
            _ = shell.takeEffects()
            try shell.press("P")
            #expect(shell.model.tabs.pinned == readers && shell.model.tabs.page.focused == books)
            #expect(!isTouched(books, shell) && !isTouched(readers, shell))
            try shell.press("tab", "P")
            #expect(shell.model.tabs.pinned == nil && shell.model.tabs.page.focused == readers)
        }
    }

    @Test("Ctrl-C stops what runs in the half with the focus")
    func stopInHalf() async throws {
        try await withShell { shell in
            _ = try pinTalk(&shell)
            try shell.press("shift-tab", "i")
            shell.type("hello")
            try shell.press("enter", "esc", "esc")
            _ = shell.takeEffects()
            func stops(_ shell: TestShell) -> Bool {
                shell.effects.contains { if case .cancel = $0 { true } else { false } }
            }
            try shell.press("ctrl-c")
            #expect(!stops(shell))
            shell.now += .seconds(10)
            try shell.press("shift-tab", "ctrl-c")
            #expect(stops(shell))
        }
    }

    @Test("In a narrow window the pinned screen is not beside, but Tab goes to it")
    func pinnedNarrow() async throws {
        try await withShell(TerminalSize(columns: 80, rows: 24)) { shell in
            let talk = try pinTalk(&shell)
            #expect(shell.text().contains("Persuasion") && !shell.text().contains("Welcome"))
            #expect(shell.text().contains("Talk stays here; Tab goes to it"))
            try shell.press("shift-tab")
            #expect(shell.text().contains("Welcome") && !shell.text().contains("Persuasion"))
            try shell.press("esc")
            #expect(shell.text().contains("Persuasion"))
            shell.handle(.resized(TerminalSize(columns: 100, rows: 24)))
            #expect(shell.text().contains("Persuasion") && shell.text().contains("Welcome"))
            #expect(!shell.effects.contains { if case .close(talk) = $0 { true } else { false } })
        }
    }

    @Test("A pinned screen is pinned in the next shell, and one that is gone is not", arguments: [true, false])
    func pinnedState(isThere: Bool) async throws {
        try await TemporaryDirectory.run { folder in
            try await withShell { shell in
                _ = try pinTalk(&shell)
                var state = shell.model.state
                #expect(state.pinned?.screen == "library.talk" && state.pages.isEmpty)
                if !isThere { state.pinned = ShellState.Page(screen: "library.gone", arguments: [:]) }
                try state.write(to: "shell.json", in: folder, Redactor())
                #expect(try ShellState(file: "\(folder)/shell.json") == state)
            }
            try await withShell { shell in
                shell.model.restore(try ShellState(file: "\(folder)/shell.json"))
                shell.effects += shell.model.takeEffects()
                #expect((shell.model.tabs.pinned != nil) == isThere && shell.model.tabs.current == 1)
                guard isThere else { return }
                try shell.show("library.talk", LibraryFeature.talk)
                try shell.show("library.books", LibraryFeature.books)
                #expect(shell.text().contains("Welcome") && shell.text().contains("Persuasion"))
            }
        }
    }

    @Test("Every size is drawn with a pinned screen", arguments: [0, 1, 15, 40, 99, 100, 101, 240, 300])
    func pinnedSizes(columns: Int) async throws {
        for rows in [0, 14, 15, 100] {
            try await withShell(TerminalSize(columns: 120, rows: 30)) { shell in
                _ = try pinTalk(&shell)
                shell.handle(.resized(TerminalSize(columns: columns, rows: rows)))
                for key in ["1", "2", "tab", "tab", "i", "esc", "P", "3", "P"] {
                    try shell.press(key)
                    let (cells, caret) = shell.model.draw()
                    #expect(cells.columns == columns && cells.rows == rows)
                    if let caret { #expect(cells.area.contains(caret), "\(columns)×\(rows) \(key) \(caret)") }
                }
            }
        }
    }
}
