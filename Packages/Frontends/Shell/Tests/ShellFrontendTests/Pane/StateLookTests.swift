import Capabilities
import Screens
import TerminalForms
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct StateLookTests {
    @Test(
        "States of a kind have the same sign and the same colour",
        arguments: [
            (["ok", "done", "valid", "active", "trusted", "signed-in"], "✔", ThemeToken.accent),
            (["starting", "running", "stopping", "answering"], "▶", .ring),
            (["failed", "error", "damaged", "denied", "refused", "expired", "revoked"], "✘", .error),
            (["degraded", "warning", "expiring"], "▲", .warning),
            (["interrupted", "stopped", "cancelled"], "▲", .mutedForeground),
            (["", "Failed", "new"], "•", .mutedForeground),
        ])
    func kinds(words: [String], mark: String, token: ThemeToken) {
        for word in words {
            let look = StateLook(of: word)
            #expect(look.mark == mark && look.style.token == token && TextWidth.of(look.mark) == 1, "\(word)")
        }
    }

    @Test("A timeline and a tree show the word and the sign in the same look")
    func rows() {
        let steps = ["done", "running", "failed"].map { Timeline.Step($0, "Step", state: $0) }
        let tree = Tree([Tree.Node("a", "Node", state: "failed")])
        let block = Block.stack([Block(.timeline(Timeline(steps)), id: "line"), Block(.tree(tree), id: "tree")])
        let screen = PaneScreen(rows: 6, block)
        #expect(screen.rows.prefix(3) == ["✔ Step  done", "▶ Step  running", "✘ Step  failed"])
        #expect(screen.rows[4] == "  ✘ Node  failed")
        for place in [
            CellPosition(row: 2, column: 0), CellPosition(row: 2, column: 9), CellPosition(row: 4, column: 10),
        ] {
            #expect(screen.cells.style(at: place) == StateLook(of: "failed").style)
        }
    }
}
