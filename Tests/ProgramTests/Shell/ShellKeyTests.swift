import TerminalTesting
import Testing

@Suite("The keys of the shell", .serialized, .enabled(if: TmuxPane.isInstalled), .timeLimit(.minutes(5)))
struct ShellKeyTests {
    @Test("The palette finds an action by a few letters, runs it and shows its result")
    func palette() async throws {
        try await ShellHome.with { home in
            let pane = try await home.pane()
            try pane.press(":")
            try await pane.screen(with: "Commands and screens")
            try pane.type("versi")
            try await pane.screen { $0.count > 4 && $0[3].contains("› versi") && $0[4].contains(" version │") }
            try pane.press("Enter")
            let screen = try await pane.screen(with: "libutf8proc")
            #expect(screen.contains { $0.contains("martlet") && $0.contains("name") })
            try pane.press("Escape")
            try await pane.screen(without: "libutf8proc")
        }
    }

    @Test("The id of an action, written out, is found first")
    func wholeName() async throws {
        try await ShellHome.with { home in
            let pane = try await home.pane()
            for name in ["config set", "chat.list", "doctor"] {
                try pane.press(":")
                try await pane.screen(with: "Commands and screens")
                try pane.type(name)
                let screen = try await pane.screen(with: "› \(name)")
                let id = name.replacing(" ", with: ".")
                #expect(screen[4].contains(" \(id) │"), "\(screen[4])")
                try pane.press("Escape")
                try await pane.screen(without: "Commands and screens")
            }
        }
    }

    @Test("An action that needs values shows a form, says what is missing, and takes them")
    func form() async throws {
        try await ShellHome.with { home in
            let pane = try await home.pane()
            try pane.press(":")
            try await pane.screen(with: "Commands and screens")
            try pane.type("set value settings")
            try await pane.screen { $0.count > 4 && $0[4].contains(" config.set │") }
            try pane.press("Enter")
            try await pane.screen { rows in
                ["key *", "value *"].allSatisfy { name in rows.contains { $0.contains(name) } }
            }
            try pane.type("chat.model")
            try await pane.screen(with: "chat.model")
            try pane.press("Enter")
            try pane.type("martlet-offline")
            try await pane.screen(with: "› martlet-offline")
            // Through what may be left out, to the button.
            for _ in 0..<8 { try pane.press("Down") }
            try pane.press("Enter")
            try await pane.screen(without: "› martlet-offline")
            try await home.wait("the setting is set") {
                try await home.martlet("config", "get", "chat.model").contains("martlet-offline")
            }
        }
    }

    @Test("A search goes to the row that has the text, and the next one to the next")
    func search() async throws {
        try await ShellHome.with { home in
            let pane = try await home.pane("shell access.rules")
            try await pane.screen(with: "version ")
            #expect(try pane.screen().allSatisfy { !$0.contains("gateway.serve") })
            try pane.press("/")
            try pane.type("gateway.serve")
            try await pane.screen { $0.contains { $0.hasPrefix("/gateway.serve") } }
            try pane.press("Enter")
            try await pane.screen { $0.contains { $0.hasPrefix(" gateway.serve ") } }
            try pane.press("/")
            try pane.type("nowhere")
            try pane.press("Enter")
            try await pane.screen(with: "nowhere is not here")
        }
    }

    @Test("Help lists the keys, Esc closes it and goes back, and Tab goes on")
    func helpBackAndTab() async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            let pane = try await home.pane()
            try pane.press("?")
            let help = try await pane.screen(with: "─ Keys ─")
            // The keys are written as in the hints, which say Ctrl-O.
            for row in help { #expect(!row.contains(#/Ctrl-[a-z]\b/#), "\(row)") }
            try pane.press("Escape")
            try await pane.screen(without: "─ Keys ─")
            try pane.press("3")
            try await pane.screen(with: "Hello")
            try pane.press("Enter")
            try await pane.screen(with: "‹ Sessions › Hello")
            try await home.composer(pane)
            // Out of the composer, and back.
            try pane.press("Escape")
            try await pane.screen(with: "i write")
            try pane.press("Escape")
            try await pane.screen(without: "‹ Sessions › Hello")
            try await pane.screen(with: "Conversations  New conversation")
            try pane.press("5")
            try await pane.screen(with: "ABILITIES")
            try pane.press("Tab")
            try await pane.screen(with: "there are no rules for tools")
            try pane.press("BTab")
            try await pane.screen(with: "ABILITIES")
        }
    }

    @Test("At 80 columns every tab can be read")
    func tabs() async throws {
        try await ShellHome.with { home in
            let screen = try await home.pane().screen(with: " 1 Home ")
            #expect(screen[0].contains(" 7 Settings"), "\(screen[0])")
        }
    }
}
