import Capabilities
import JSON
import Testing

@testable import Screens

private struct City: Record {
    let name: String
    let degrees: Double

    static let fields: [Field<City>] = [
        Field("name", "Name of the city", .name) { $0.name },
        Field("degrees", "Temperature in °C") { $0.degrees },
    ]
}

/// One block of each kind.
private let everyKind: [Block] = {
    let lines = Feed<Log.Line>()
    lines.append(Log.Line("started", time: Timestamp(microseconds: 0), state: "ok"))
    let entries = Feed<Transcript.Entry>()
    entries.append(Transcript.Entry("1", .person, "Hi", time: Timestamp(microseconds: 0)))
    let text = Block(.text("a " + RichText("b", .error, bold: true)))
    let link = Link.action("weather.forget", "Forget", key: "d", ["city": .row("name"), "all": .value(false)])
    return [
        text, Block(.markdown(MarkdownText("# Title", isOpen: true))),
        Block(.code(Code("let a = 1", language: "swift"))),
        Block(.diff(Diff("-a\n+b"))), Block(.values(Values(City(name: "Bern", degrees: 7.5)))),
        Block(
            .table(
                Table(
                    [City(name: "Bern", degrees: 7.5)], id: "name", links: [link],
                    detail: .screen("weather.today", "Today", ["city": .row("name")]))), title: "Cities"),
        Block(.table(Table(City.fields.map(\.property), .source(RowSource { _ in RowSource.Page([]) }), id: ["name"]))),
        Block(.tree(Tree([Tree.Node("a", "A", state: "running", [Tree.Node("b", "B")])], links: [link]))),
        Block(.log(Log(lines))), Block(.transcript(Transcript(entries))),
        Block(.timeline(Timeline([Timeline.Step("1", "build", state: "ok", duration: .seconds(2), exitCode: 0)]))),
        Block(
            .waterfall(
                Waterfall([
                    Waterfall.Bar("1", "ask", state: "ok", start: Timestamp(microseconds: 0), duration: .seconds(1))
                ]))),
        Block(
            .chart(
                Chart(.line, [Chart.Series("tokens", [1, .nan, 3])], labels: ["Mon", "Tue", "Wed"], unit: "tokens"))),
        Block(.gauge(Gauge(3, of: 10, unit: "GB", warning: 0.8, failure: 0.95))),
        Block(.progress(ProgressBar("copying", completed: 1, of: 2))),
        Block(.form(Form("weather.add", parameters: ["city"], values: ["city": "Bern"], submit: "Add"))),
        Block(
            .composer(
                Composer(
                    "chat.send", "message", files: "file", command: Composer.Target("chat.run", "command"),
                    arguments: ["model": "a"], hint: "Ask something"))),
        Block.stack([text], .horizontal), Block(.split(Split(text, Block(.text("b"), id: "second"), fraction: 0.3))),
        Block(.tabs(Tabs([text]))),
        Block(.collapsible(Collapsible(text, isOpen: true)), links: [link]),
        Block(.placeholder(Placeholder(.failed, "no network", retry: .action("weather.now", "Try again")))),
    ]
}()

@Suite("Block")
struct BlockTests {
    @Test("Every kind has its own word, and its JSON has the members that the schema names")
    func members() throws {
        let kinds = Block.Content.kinds.map { $0.kind }
        #expect(Set(kinds).count == kinds.count)
        #expect(Set(everyKind.compactMap { $0.json["type"]?.string }) == Set(kinds))
        let schemas = try #require(Block.jsonSchema["oneOf"]?.array)
        for block in everyKind {
            let type = try #require(block.json["type"]?.string)
            let schema = try #require(schemas.first { $0["properties"]?["type"]?["const"]?.string == type })
            let properties = try #require(schema["properties"]?.object)
            let object = try #require(block.json.object)
            for (name, _) in object { #expect(properties[name] != nil, "\(type) has \(name)") }
            for name in schema["required"]?.array ?? [] {
                #expect(object[name.string ?? ""] != nil, "\(type) needs \(name)")
            }
        }
    }

    @Test("A number that is missing is null, because JSON has no other word for it")
    func missing() throws {
        let chart = Block(.chart(Chart(.line, [Chart.Series("a", [1, .nan, .infinity])])))
        #expect(chart.json["series"]?.array?.first?["values"] == [.double(1), .null, .null])
    }

    @Test("The JSON of a log and of a transcript has what is in them, with its positions")
    func feeds() {
        let lines = Feed<Log.Line>(mostEntries: 2)
        for text in ["a", "b", "c"] { lines.append(Log.Line(text)) }
        let log = Block(.log(Log(lines))).json
        #expect(log["start"] == 1 && log["end"] == 3 && log["lines"] == [["text": "b"], ["text": "c"]])
        let entries = Feed<Transcript.Entry>()
        entries.append(Transcript.Entry("1", .person, "Hi", isOpen: true))
        let transcript = Block(.transcript(Transcript(entries))).json
        #expect(transcript["end"] == 1 && transcript["entries"]?.array?.first?["text"] == "Hi")
        #expect(transcript["entries"]?.array?.first?["open"] == true)
    }

    @Test("A table takes its columns and the ids of its rows from the records")
    func table() {
        let table = Table([City(name: "Bern", degrees: 7.5)], id: "name")
        #expect(table.columns.map(\.name) == ["name", "degrees"])
        guard case .all(let rows) = table.rows else {
            Issue.record("the rows are not there")
            return
        }
        #expect(rows.map { table.id(of: $0) } == ["Bern"])
        #expect(Table([City(name: "Bern", degrees: 7.5)], id: "degrees").id(of: rows[0]) == "7.5")
    }

    @Test("A source reads its rows with the rights of the caller for whom it was made")
    func source() async throws {
        let person = Caller.person(HeadlessInteraction())
        let source = Caller.$current.withValue(person.narrowed(by: .nobody)) {
            RowSource { _ in RowSource.Page([["person": .bool(Caller.current?.isPerson ?? true)]]) }
        }
        let page = try await Caller.$current.withValue(person) { try await source.rows(RowSource.Request(count: 1)) }
        #expect(page.rows == [["person": false]])
    }

    @Test("A link takes its arguments from the row, and leaves out what the row lacks")
    func link() {
        let link = Link.action("a.b", "Do", ["id": .row("id"), "all": .value(true), "gone": .row("gone")])
        #expect(link.arguments(for: ["id": "7", "other": 1]) == ["all": true, "id": "7"])
        #expect(link.arguments() == ["all": true])
    }

    @Test("Ids that are not unique among siblings, rows, steps or nodes are found")
    func repeated() {
        let cities = ["Bern", "Basel", "Bern"].map { City(name: $0, degrees: 1) }
        let table = Block(.table(Table(cities, id: "name")), id: "cities")
        let tree = Block(.tree(Tree([Tree.Node("a", "A", [Tree.Node("a", "B")])])))
        let steps = Block(
            .timeline(Timeline([Timeline.Step("1", "a", state: "ok"), Timeline.Step("2", "b", state: "ok")])))
        #expect(Block.stack([table, tree, steps]).repeatedIDs == ["cities Bern", "tree a"])
        #expect(Block.stack([steps, steps]).repeatedIDs == ["stack timeline"])
        for block in everyKind { #expect(block.repeatedIDs.isEmpty, "\(block.id)") }
    }

    // MARK: Content

    @Test("Every kind with something in it has content, except a reason, and a text that is beside others")
    func content() async throws {
        for block in everyKind {
            let isOnlyFrame =
                switch block.content {
                case .stack, .split, .tabs, .collapsible, .placeholder: true
                case .table(let table): if case .source = table.rows { true } else { false }
                default: false
                }
            #expect(try await block.hasContent() != isOnlyFrame, "\(block.json)")
        }
    }

    @Test("Every kind without anything in it has no content")
    func noContent() async throws {
        let contents: [Block.Content] = [
            .text(""), .markdown(MarkdownText("")), .code(Code("")), .diff(Diff("")),
            .values(Values(City.fields.map(\.property), [:])),
            .values(Values(City.fields.map(\.property), ["name": .null])), .table(Table([City](), id: "name")),
            .tree(Tree([])), .log(Log(Feed())), .transcript(Transcript(Feed())), .timeline(Timeline([])),
            .waterfall(Waterfall([])), .chart(Chart(.line, [])),
            .chart(Chart(.line, [Chart.Series("a", []), Chart.Series("b", [.nan])])), .stack(Stack([])),
        ]
        for content in contents {
            #expect(try await !Block(content).hasContent(), "\(Block(content).json)")
        }
    }

    @Test("A block has content if one of those inside has some, however deep")
    func innerContent() async throws {
        let text = Block(.text("Nothing is here yet."))
        let code = Block(.code(Code("let a = 1")))
        let blocks = [
            Block.stack([text, code]), Block(.split(Split(text, code))), Block(.tabs(Tabs([text, code]))),
            Block(.collapsible(Collapsible(.stack([.stack([text, code])])))),
        ]
        for block in blocks { #expect(try await block.hasContent(), "\(block.json)") }
        #expect(try await !Block.stack([text, .stack([text])]).hasContent())
    }

    @Test("A long table has content if its source has a row, which is all that it is asked for")
    func sourceContent() async throws {
        let source = RowSource { request in RowSource.Page(request == RowSource.Request(count: 1) ? [["a": 1]] : []) }
        #expect(try await Block(.table(Table([], .source(source), id: ["a"]))).hasContent())
        let broken = RowSource { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) {
            try await Block(.table(Table([], .source(broken), id: ["a"]))).hasContent()
        }
    }

    // MARK: Limits

    @Test("A value with too many rows or too much text is refused, and the refusal names the largest block")
    func limits() throws {
        func rows(_ count: Int) -> Block {
            Block(.table(Table((0..<count).map { City(name: "\($0)", degrees: 0) }, id: "name")), id: "cities")
        }
        #expect(rows(9_998).excess == nil)
        #expect(Block.stack([Block(.text("x")), rows(9_997)]).excess == nil)
        let many = try #require(Block.stack([Block(.text("x")), rows(10_000)]).excess)
        #expect(many.block == "cities" && many.message.contains("at most 10000"))
        let text = Block(.code(Code(String(repeating: "x", count: (1 << 20) - 6))), id: "source")
        #expect(text.excess == nil)
        let long = try #require(Block.stack([text, Block(.text("x"))]).excess)
        #expect(long.block == "source" && long.message.contains("1.0 MiB"))
    }

    @Test("The texts of every part of a block count")
    func sizes() {
        let long = String(repeating: "x", count: 1 << 20)
        let link = Link.action("a.b", "Do", ["text": .value(.string(long))])
        let time = Timestamp(microseconds: 0)
        let column = [Schema.Property("a", long, .string)]
        func table(_ columns: [Schema.Property] = [], _ links: [Link] = [], empty: String = "") -> Block.Content {
            .table(Table(columns, .all([]), id: ["a"], links: links, empty: empty))
        }
        let contents: [Block.Content] = [
            table(column), table([], [link]), table(empty: long),
            .table(Table([], .source(RowSource { _ in RowSource.Page([]) }), id: ["a"], detail: link)),
            .table(Table([], .all([["a": .array(Array(repeating: [], count: 1 << 20))]]), id: ["a"])),
            .values(Values(column, [:])), .code(Code("", language: long)),
            .tree(Tree([Tree.Node(long, "a")])), .tree(Tree([Tree.Node("a", "a", state: long)])),
            .tree(Tree([], links: [link])),
            .timeline(Timeline([Timeline.Step(long, "a", state: "ok")])),
            .timeline(Timeline([Timeline.Step("a", "a", state: long)])), .timeline(Timeline([], links: [link])),
            .waterfall(
                Waterfall([Waterfall.Bar("a", "a", state: long, start: time, duration: .zero, parent: "b")])),
            .chart(Chart(.line, [Chart.Series(long, [])])), .chart(Chart(.line, [], unit: long)),
            .gauge(Gauge(1, of: 2, unit: long)), .form(Form("a.b", submit: long)),
            .form(Form("a.b", parameters: [long], submit: "a")),
            .composer(Composer("a.b", "c", arguments: ["a": .string(long)], hint: "")),
            .placeholder(Placeholder(.empty, "", retry: link)),
        ]
        for (number, content) in contents.enumerated() {
            #expect(Block(content).excess != nil, "the content \(number)")
        }
        #expect(Block(.text("a"), links: [link]).excess != nil && Block(.text("a"), id: long).excess != nil)
        for block in everyKind { #expect(block.excess == nil) }
    }

    // MARK: Changes

    private func panes(_ first: String, _ second: String, title: String? = nil) -> Block {
        Block(
            .split(
                Split(
                    Block.stack([Block(.text(RichText(first)), id: "a"), Block(.text("same"), id: "b")], id: "left"),
                    Block(.text(RichText(second)), id: "right"))), id: "panes", title: title)
    }

    @Test("Only the blocks that differ are named, with the ids that lead to them")
    func changes() {
        #expect(panes("1", "2").changes(since: panes("1", "2")).isEmpty)
        #expect(panes("1", "3").changes(since: panes("1", "2")).map(\.path) == [["right"]])
        let both = panes("0", "3").changes(since: panes("1", "2"))
        #expect(both.map(\.path) == [["left", "a"], ["right"]])
        #expect(both[0].block == Block(.text("0"), id: "a"))
    }

    @Test("If blocks were added, or their frame has changed, the whole block is named")
    func whole() {
        #expect(panes("1", "2", title: "New").changes(since: panes("1", "2")).map(\.path) == [[]])
        let one = Block.stack([Block(.text("1"), id: "a")])
        let two = Block.stack([Block(.text("1"), id: "a"), Block(.text("2"), id: "b")])
        #expect(two.changes(since: one).map(\.path) == [[]])
        #expect(Block(.text("1")).changes(since: Block(.code(Code("1")))).map(\.path) == [[]])
    }
}
