import Capabilities
import JSON
import Screens
import TerminalForms
import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("Blocks as text")
struct BlockFormTests {
    private struct Host: Record {
        let name: String
        let state: String
        let load: Double

        static let fields: [Field<Host>] = [
            Field("name", "The host", .name) { $0.name },
            Field("state", "Its state", .state) { $0.state },
            Field("load", "Its load") { $0.load },
        ]
    }

    private func text(_ block: Block, width: Int? = nil) -> String {
        let form = TextForm(level: .none, width: width)
        return form.text(form.lines(block))
    }

    @Test("A table is drawn like the result of an action, and an empty one says why")
    func table() {
        let hosts = [Host(name: "web1", state: "ok", load: 0.5), Host(name: "web2", state: "failed", load: 2)]
        #expect(
            text(Block(.table(Table(hosts, id: "name")), title: "Hosts")) == """
                Hosts
                NAME  STATE   LOAD
                web1  ok       0.5
                web2  failed   2.0

                """)
        #expect(text(Block(.table(Table([Host](), id: "name", empty: "no hosts")))) == "no hosts\n")
    }

    @Test("Blocks are drawn below each other with an empty line between them, whatever holds them")
    func containers() {
        let (one, two) = (Block(.text("one"), title: "First"), Block(.text("two")))
        let drawn = "First\none\n\ntwo\n"
        for block in [
            Block.stack([one, two]), .stack([one, two], .horizontal), Block(.split(Split(one, two))),
            Block(.tabs(Tabs([one, two]))), Block(.collapsible(Collapsible(.stack([one, two])))),
        ] {
            #expect(text(block) == drawn)
        }
    }

    @Test("A tree is indented, and a log has its times and states")
    func nested() {
        let tree = Tree([Tree.Node("a", "build", state: "running", [Tree.Node("b", "compile", state: "ok")])])
        #expect(text(Block(.tree(tree))) == "▶ build  running\n  ✔ compile  ok\n")
        let feed = Feed<Log.Line>()
        feed.append(Log.Line("began", time: Timestamp(microseconds: 0), state: "ok"))
        #expect(text(Block(.log(Log(feed)))) == "1970-01-01T00:00:00Z  ok  began\n")
    }

    @Test("A transcript shows who said what")
    func transcript() {
        let feed = Feed<Transcript.Entry>()
        feed.append([
            Transcript.Entry("1", .person, "Hi"), Transcript.Entry("2", .tool, "a.txt", title: "glob", state: "ok"),
        ])
        #expect(text(Block(.transcript(Transcript(feed)))) == "person\nHi\n\nglob  ok\na.txt\n")
    }

    @Test("It is said how much of a long log or transcript was dropped")
    func dropped() {
        let lines = Feed<Log.Line>(mostEntries: 2)
        for text in ["a", "b", "c"] { lines.append(Log.Line(text)) }
        #expect(text(Block(.log(Log(lines)))) == "1 older line is not shown\nb\nc\n")
        let entries = Feed<Transcript.Entry>(mostEntries: 1)
        for number in 1...3 { entries.append(Transcript.Entry("\(number)", .tool, "\(number)")) }
        let transcript = Block(.transcript(Transcript(entries)))
        #expect(text(transcript) == "2 older entries are not shown\n\ntool\n3\n")
        let document = BlockDocument.markdown(transcript, TextForm(level: .none, width: nil))
        #expect(document.hasPrefix("2 older entries are not shown\n\n**tool**"))
    }

    @Test("Numbers are drawn as bars that fit a line, and a missing number is a gap")
    func numbers() {
        #expect(
            text(Block(.gauge(Gauge(5, of: 10, unit: "GB"))))
                == String(repeating: "█", count: 15) + String(repeating: "·", count: 15) + "  5 of 10 GB\n")
        #expect(text(Block(.gauge(Gauge(20, of: 10)))).hasPrefix(String(repeating: "█", count: 30)))
        #expect(text(Block(.gauge(Gauge(1, of: 0)))).hasPrefix("·"))
        let chart = Chart(.line, [Chart.Series("load", [0, .nan, 7])], unit: "%")
        #expect(text(Block(.chart(chart))) == "load  ▁ █  7 %  (0 to 7)\n")
        #expect(text(Block(.chart(Chart(.line, [Chart.Series("load", [.nan])])))) == "load: no values\n")
        #expect(text(Block(.progress(ProgressBar("copying", completed: 1, of: 4)))).hasSuffix("  1 of 4\n"))
        #expect(text(Block(.progress(ProgressBar("copying")))) == "copying\n")
    }

    @Test("Bars with labels have a line each, and the largest is the longest")
    func bars() {
        let chart = Chart(.bars, [Chart.Series("cost", [3, 1.5, .nan])], labels: ["big", "b", "c"], unit: "$")
        let lines = text(Block(.chart(chart))).split(separator: "\n")
        #expect(lines[0] == "big  " + String(repeating: "█", count: 30) + "  3 $")
        #expect(lines[1] == "b    " + String(repeating: "█", count: 15) + String(repeating: "·", count: 15) + "  1.5 $")
        #expect(lines[2].hasSuffix("·  no value") && lines.count == 3)
        let two = Chart(.bars, [Chart.Series("read", [1]), Chart.Series("written", [2])], labels: ["Mon"])
        #expect(text(Block(.chart(two))).split(separator: "\n").count == 4)
    }

    @Test("Each series has its own colour, and after five they begin again", arguments: [Chart.Form.bars, .line])
    func colours(_ kind: Chart.Form) {
        let series = (1...6).map { Chart.Series("\($0)", [Double($0)]) }
        let labels = kind == .bars ? ["Mon"] : []
        let form = TextForm(level: .none, width: nil)
        let lines = form.lines(Block(.chart(Chart(kind, series, labels: labels))))
        let tokens = lines.flatMap { $0.runs.compactMap(\.style.token) }.filter { $0 != .mutedForeground }
        #expect(tokens == [.chart1, .chart2, .chart3, .chart4, .chart5, .chart1])
    }

    @Test("Spans are drawn where they were, below what they belong to")
    func waterfall() {
        let start = Timestamp(microseconds: 0)
        let bars = [
            Waterfall.Bar("1", "ask", state: "ok", start: start, duration: .seconds(3)),
            Waterfall.Bar("2", "tool", state: "ok", start: start + .seconds(1), duration: .seconds(1), parent: "1"),
        ]
        let lines = text(Block(.waterfall(Waterfall(bars)))).split(separator: "\n")
        #expect(lines[0].hasPrefix(String(repeating: "█", count: 30)) && lines[0].hasSuffix("ok  ask"))
        let before = String(repeating: "·", count: 10)
        #expect(lines[1].hasPrefix(before + String(repeating: "█", count: 10) + before))
        #expect(lines[1].hasSuffix("ok    tool"))
    }

    @Test("Text from outside cannot control the terminal, wherever it stands")
    func hostile() {
        let bad = "a\u{1B}[31mb\u{202E}c\u{7}"
        let feed = Feed<Log.Line>()
        feed.append(Log.Line(bad))
        let blocks = [
            Block(.text(RichText(bad)), title: bad), Block(.markdown(MarkdownText(bad))), Block(.code(Code(bad))),
            Block(.diff(Diff("+" + bad))), Block(.log(Log(feed))), Block(.tree(Tree([Tree.Node("a", RichText(bad))]))),
            Block(.table(Table([Host(name: bad, state: bad, load: 1)], id: "name", empty: bad))),
            Block(.values(Values(Host(name: bad, state: bad, load: 1)))),
            Block(.placeholder(Placeholder(.failed, bad))),
            Block(.timeline(Timeline([Timeline.Step("1", bad, state: bad, note: bad)]))),
            Block(.composer(Composer("a.b", "c", hint: bad))), Block(.progress(ProgressBar(bad))),
            Block(.chart(Chart(.bars, [Chart.Series(bad, [1])], unit: bad))), Block(.gauge(Gauge(1, of: 2, unit: bad))),
            Block(.form(Form("a.b", values: ["x": .string(bad)], submit: bad))),
        ]
        for block in blocks {
            let drawn = text(block, width: 60)
            #expect(!drawn.contains("\u{1B}") && !drawn.contains("\u{202E}") && !drawn.contains("\u{7}"), "\(block.id)")
            #expect(drawn.contains("a"), "\(block.id)")
        }
    }

    @Test("Without a terminal's width nothing is wrapped, and with one every line fits")
    func width() {
        let words = Block(.text(RichText(Array(repeating: "word", count: 50).joined(separator: " "))))
        #expect(text(words).split(separator: "\n").count == 1)
        #expect(text(words, width: 40).split(separator: "\n").allSatisfy { TextWidth.of($0) <= 40 })
    }

    @Test(
        "In a few rows the nodes that run come first, then those that failed; what stands beside them is always there")
    func live() {
        let nodes =
            (0..<20).map { Tree.Node("ok\($0)", "ok\($0)", state: "ok") } + [
                Tree.Node("bad", "bad", state: "failed"),
                Tree.Node("now", "now", state: "running", [Tree.Node("part", "part", state: "running")]),
                Tree.Node("next", "next", state: "waiting"),
            ]
        let block = Block.stack([Block(.tree(Tree(nodes)), id: "tree"), Block(.text("20/23"), id: "sum")])
        func drawn(_ rows: Int) -> [String] {
            TextForm(level: .none, width: 80).lines(block, rows: rows).map(\.plainText)
        }
        #expect(drawn(40).count == 25 && drawn(40).suffix(3) == ["  ▶ part", "• next", "20/23"])
        #expect(
            drawn(7) == ["✔ ok18", "✔ ok19", "✘ bad", "▶ now", "  ▶ part", "  … and 19 more", "20/23"])
        #expect(drawn(3) == ["▶ now", "  … and 22 more", "20/23"])
        #expect(drawn(1) == ["20/23"] && drawn(0).isEmpty)
    }
}
