import Testing

@testable import CommandLineFrontend

@Suite("What a terminal is known to do") struct TerminalAbilitiesTests {
    @Test(
        "links only where they surely work",
        arguments: [
            (["TERM": "xterm-256color"], false), (["TERM": "xterm-kitty"], true),
            (["TERM": "xterm-256color", "VTE_VERSION": "7200"], true),
            (["TERM": "xterm-256color", "VTE_VERSION": "4602"], false),
            (["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"], true),
            (["TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"], false),
            (["TERM": "tmux-256color", "VTE_VERSION": "7200", "TMUX": "/tmp/x"], false),
            (["TERM": "screen", "TERM_PROGRAM": "vscode"], false), (["TERM": "dumb", "WT_SESSION": "x"], false),
            ([:], false),
        ] as [([String: String], Bool)])
    func links(environment: [String: String], expected: Bool) {
        #expect(TerminalAbilities.followsLinks(environment) == expected)
    }

    @Test("nothing where the terminal says that it is dumb, or nothing at all")
    func dumb() {
        #expect(TerminalAbilities.isDumb(["TERM": "dumb"]) && TerminalAbilities.isDumb([:]))
        #expect(!TerminalAbilities.isDumb(["TERM": "xterm"]))
    }
}
