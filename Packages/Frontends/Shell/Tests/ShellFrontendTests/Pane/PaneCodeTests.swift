import Screens
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite(.enabled(if: Markdown.isAvailable, "needs libcmark-gfm")) struct PaneCodeTests {
    private func fenced(_ code: String) -> String { "Look:\n\n```swift\n\(code)\n```\nThat is all." }

    @Test("The code of the selected entry is copied, or else the newest in the conversation")
    func selected() {
        let entries = [
            said("old", .model, fenced("old code")), said("ask", .person, "Thanks"),
            said("new", .model, fenced("new code")), said("tool", .tool, fenced("output")), said("end", .notice),
        ]
        var screen = PaneScreen(rows: 40, .transcript(Feed(entries)))
        #expect(screen.pane.lastCode?.text == "new code" && screen.pane.cursor?.id == "end")
        screen.act { $0.goToStart() }
        #expect(screen.pane.lastCode?.text == "old code" && screen.pane.cursor?.id == "old")
        screen.down()
        #expect(screen.pane.lastCode?.text == "new code" && screen.pane.cursor?.id == "ask")
        screen.down(2)
        #expect(screen.pane.lastCode?.text == "new code", "the output of a tool is not Markdown")
    }

    @Test("Far up in a long conversation, code is found, and where there is none nothing is")
    func far() {
        let talk = (0..<1_000).map { said("\($0)", .model, "words") }
        #expect(PaneScreen(.transcript(Feed(talk))).pane.lastCode == nil)
        let entries = [said("code", .model, fenced("far"))] + talk
        #expect(PaneScreen(.transcript(Feed(entries))).pane.lastCode?.text == "far")
        #expect(PaneScreen(.transcript(Feed())).pane.lastCode == nil && Pane().lastCode == nil)
    }

    @Test("A block that is still being written is said to be unfinished, and copied once it is closed")
    func growing() {
        let feed = Feed([said("old", .model, fenced("old")), said("new", .model, "```\nrm -r build", isOpen: true)])
        var screen = PaneScreen(.transcript(feed))
        #expect(screen.pane.lastCode?.isFinished == false)
        feed.replaceLast(with: said("new", .model, "```\nrm -r build/tmp\n```\n", isOpen: true))
        screen.show(.transcript(feed))
        #expect(screen.pane.lastCode == Markdown.FencedBlock(text: "rm -r build/tmp"))
        feed.replaceLast(with: said("new", .model, "```\nrm -r build/tmp"))
        screen.show(.transcript(feed))
        #expect(screen.pane.lastCode?.isFinished == true, "the answer has ended")
    }

    @Test("Blocks of code and Markdown are looked at too, the last one first")
    func blocks() {
        let markdown = Block(.markdown(MarkdownText(fenced("in a document"))), id: "markdown")
        let code = Block(.code(Code("let a = 1\n", language: "swift")), id: "code")
        #expect(PaneScreen(.stack([code, markdown])).pane.lastCode?.text == "in a document")
        #expect(PaneScreen(.stack([markdown, code])).pane.lastCode?.info == "swift")
        let beside = Block(.stack(Stack([code, .lines(2)], .horizontal)), id: "beside")
        #expect(PaneScreen(columns: 90, beside).pane.lastCode?.text == "let a = 1")
        #expect(PaneScreen(.stack([.lines(3), .table(["a"])])).pane.lastCode == nil)
    }
}
