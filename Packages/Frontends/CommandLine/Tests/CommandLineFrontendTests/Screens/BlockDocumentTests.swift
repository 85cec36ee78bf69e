import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("Blocks as Markdown and CSV")
struct BlockDocumentTests {
    private let rows: Block = {
        let columns = [
            Schema.Property("name", "The host", .string, role: .name), Schema.Property("note", "A note", .string),
        ]
        let rows: [JSONObject] = [["name": "web1", "note": "a|b"], ["name": "web2", "note": "x,\"y\""]]
        return Block(.table(Table(columns, .all(rows), id: ["name"])), id: "rows", title: "Hosts")
    }()

    private func markdown(_ block: Block) -> String {
        BlockDocument.markdown(block, TextForm(level: .none, width: nil))
    }

    @Test("A table is a Markdown table below its title, and its cells stay in their columns")
    func table() {
        #expect(
            markdown(rows) == """
                ## Hosts

                | name | note |
                | --- | --- |
                | web1 | a\\|b |
                | web2 | x,"y" |

                """)
        #expect(markdown(Block(.table(Table([], .all([]), id: ["a"], empty: "no hosts")))) == "no hosts\n")
    }

    @Test("The rows of the first table are CSV, and a screen without one has none")
    func csv() {
        let nested = Block.stack([Block(.text("before")), .stack([rows], id: "inner")])
        #expect(BlockDocument.csv(nested) == "name,note\r\nweb1,a|b\r\nweb2,\"x,\"\"y\"\"\"\r\n")
        #expect(BlockDocument.csv(Block(.text("nothing"))) == nil)
    }

    @Test("A fence is longer than any in the code, and the language is one word")
    func fence() {
        let code = Block(.code(Code("```\nrm\n````", language: "sh`\nx")))
        #expect(markdown(code) == "`````sh\n```\nrm\n````\n`````\n")
        #expect(markdown(Block(.diff(Diff("-a\n+b")))) == "```diff\n-a\n+b\n```\n")
    }

    @Test("A conversation keeps the Markdown of the model, and fences the output of tools")
    func transcript() {
        let feed = Feed<Transcript.Entry>()
        feed.append([
            Transcript.Entry("1", .model, "# Hi", time: Timestamp(microseconds: 0)),
            Transcript.Entry("2", .tool, "# not a title", title: "read"),
        ])
        #expect(
            markdown(Block(.transcript(Transcript(feed))))
                == "**model**, 1970-01-01T00:00:00Z\n\n# Hi\n\n**read**\n\n```\n# not a title\n```\n")
    }
}
