import Testing

@testable import CommandLineFrontend

@Suite("TerminalAbilities") struct TerminalAbilitiesTests {
    @Test(
        "Links are used only in terminals that support them",
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

    @Test("A terminal that is dumb or unknown supports nothing")
    func dumb() {
        #expect(TerminalAbilities.isDumb(["TERM": "dumb"]) && TerminalAbilities.isDumb([:]))
        #expect(!TerminalAbilities.isDumb(["TERM": "xterm"]))
    }
}
