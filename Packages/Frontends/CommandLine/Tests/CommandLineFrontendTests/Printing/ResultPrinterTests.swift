import Capabilities
import JSON
import TerminalKit
import Testing

@testable import CommandLineFrontend

/// A result with a member of each kind that has its own format.
private struct Machine: Record {
    var name: String
    var state = "ok"
    var memory: ByteCount?
    var tags: [String] = []
    var isOn: Bool?
    var secretive = "detail"

    static let fields: [Field<Machine>] = [
        Field("name", "Its name", .name) { $0.name }, Field("state", "Its state", .state) { $0.state },
        Field("free_memory", "What is free") { $0.memory }, Field("tags", "Its labels") { $0.tags },
        Field("on", "Whether it is on") { $0.isOn }, Field("note", "More", .detail) { $0.secretive },
    ]
}

private struct Rack: Record {
    var place: String
    var machines: [Machine]

    static let fields: [Field<Rack>] = [
        Field("place", "Where") { $0.place }, Field("machines", "What is in it") { $0.machines },
    ]
}

private struct Parcel: Record {
    static let fields: [Field<Parcel>] = [
        Field("name", "Its name", .name) { _ in "p" },
        Field("contents", "What is in it, of whatever shape") { _ in
            ["review": "First\n\nLast", "count": 2, "more": ["a": "b"]] as JSON
        },
    ]
}

private func printed(_ value: some OutputValue, _ format: OutputFormat, width: Int? = nil) -> String {
    ResultPrinter(format: format, level: .none, width: width).text(value.json, type(of: value).schema, isStream: false)
}

private struct Bill: Record {
    var name: String
    var cost: Cost?

    static let fields: [Field<Bill>] = [
        Field("name", "Whose", .name) { $0.name }, Field("cost_usd", "What it cost") { $0.cost },
    ]
}

private struct Wait: Record {
    var name: String
    var duration: Duration?

    static let fields: [Field<Wait>] = [
        Field("name", "Whose", .name) { $0.name }, Field("duration", "How long it took") { $0.duration },
    ]
}

/// A record whose lists are wider than most windows.
private struct Session: Record {
    var id: String
    var title: String
    var place = "01a204ea-3e39-73e8-b3c0-7f718725d863"

    static let fields: [Field<Session>] = [
        Field("id", "Which", .name) { $0.id }, Field("title", "What it is about") { $0.title },
        Field("place", "Where it works") { $0.place }, Field("model", "Who answers") { _ in "some/model-of-theirs" },
        Field("running", "Whether it runs") { _ in false }, Field("messages", "How many") { _ in 4 },
        Field("tokens", "How many") { _ in 4592 },
        Field("updated", "When") { _ in Timestamp(microseconds: 0) },
    ]
}

private struct Job: Record {
    static let fields: [Field<Job>] = [
        Field("id", "Which", .name) { _ in "20261122t201950-vpkb" },
        Field("name", "What") { _ in "smoke-test-of-the-whole-house" },
        Field("status", "How it went", .state) { _ in "broken-off" },
        Field("exit", "Its exit code", .minor) { _ in 1 }, Field("seconds", "How long") { _ in 7.5 },
        Field("failed", "How many failed") { _ in 2 }, Field("steps", "How many", .minor) { _ in 123 },
    ]
}

@Suite("ResultPrinter")
struct ResultPrinterTests {
    @Test("An object of any shape is shown member by member, with plain texts") func anyShape() {
        #expect(
            printed(Parcel(), .text) == """
                name  p

                CONTENTS
                review  First

                        Last
                count   2
                more    {"a":"b"}

                """)
    }

    @Test("Money is shown with its currency to people, and as a number to programs")
    func money() {
        let bills = [
            Bill(name: "a", cost: Cost(nanodollars: 4_100_000)), Bill(name: "b"),
            Bill(name: "c", cost: Cost(nanodollars: 0)),
        ]
        #expect(
            printed(bills, .text)
                == "NAME     COST\na     $0.0041\nb            \nc       $0.00\n".replacing(
                    "b            \n", with: "b\n"))
        #expect(printed(bills, .csv) == "name,cost_usd\r\na,0.0041\r\nb,\r\nc,0.0\r\n")
    }

    @Test("Durations are rounded for people, and exact for programs")
    func durations() {
        let waits = [
            Wait(name: "a", duration: .milliseconds(8)), Wait(name: "b", duration: .seconds(67)), Wait(name: "c"),
        ]
        #expect(
            printed(waits, .text) == """
                NAME  DURATION
                a     8.0 ms
                b     1 min 7 s
                c

                """)
        #expect(printed(waits[0], .text) == "name      a\nduration  8.0 ms\n")
        #expect(printed(waits, .csv) == "name,duration\r\na,8ms\r\nb,1m7s\r\nc,\r\n")
        #expect(printed(waits, .ndjson).hasPrefix(#"{"name":"a","duration":"8ms"}"# + "\n"))
        // A text that cannot be read as a duration is shown unchanged.
        let odd = ResultPrinter(format: .text, level: .none, width: nil).text(
            ["duration": "soon"], Wait.schema, isStream: false)
        #expect(odd == "duration  soon\n")
    }

    private let machines = [
        Machine(name: "web1", memory: ByteCount(2048), tags: ["a", "b"]), Machine(name: "web20", state: "failed"),
    ]

    @Test("A list of records is a table without empty columns and details")
    func table() {
        #expect(
            printed(machines, .text) == """
                NAME   STATE   FREE MEMORY  TAGS
                web1   ok          2.0 KiB  a, b
                web20  failed

                """)
    }

    @Test("A table that is too wide drops the least important columns, and names them")
    func leavesOut() {
        let sessions = [Session(id: "01a204ea-3e41-791d-ae99-5686b8689587", title: "What does the README say")]
        let lines = printed(sessions, .text, width: 80).split(separator: "\n")
        #expect(lines.first?.split(separator: " ") == ["ID", "TITLE", "UPDATED"])
        #expect(lines.allSatisfy { TextWidth.of(String($0)) <= 80 })
        let note = "not shown for lack of space: PLACE, MODEL, RUNNING, MESSAGES, TOKENS; --json shows all"
        #expect(printed(sessions, .text, width: 80).replacing("\n", with: " ").hasSuffix(note + " "))
        // A pipe and a wide window show all columns; a narrow window shows each row as a complete record.
        for width in [nil, 200] {
            let whole = printed(sessions, .text, width: width)
            #expect(whole.contains("4592") && !whole.contains("not shown"))
        }
        let narrow = printed(sessions, .text, width: 40)
        #expect(narrow.contains("TOKENS") && narrow.contains("4592") && !narrow.contains("not shown"))
    }

    @Test("A table that is too wide drops minor columns before others become narrow")
    func leavesOutMinor() {
        let lines = printed([Job()], .text, width: 75).split(separator: "\n").map(String.init)
        #expect(lines.first?.split(separator: " ") == ["ID", "NAME", "STATUS", "TOOK", "FAILED"])
        #expect(lines.last == "not shown for lack of space: EXIT, STEPS; --json shows all")
    }

    @Test("A list of records has the same content in every other format")
    func formats() {
        let first = #"{"name":"web1","state":"ok","free_memory":2048,"tags":["a","b"],"note":"detail"}"#
        let second = #"{"name":"web20","state":"failed","tags":[],"note":"detail"}"#
        #expect(printed(machines, .ndjson) == "\(first)\n\(second)\n")
        #expect(
            printed(machines, .csv)
                == "name,state,free_memory,tags,on,note\r\n"
                + "web1,ok,2048,\"[\"\"a\"\",\"\"b\"\"]\",,detail\r\nweb20,failed,,[],,detail\r\n")
        #expect(
            printed(machines, .markdown) == """
                | name | state | free_memory | tags | on | note |
                | --- | --- | --- | --- | --- | --- |
                | web1 | ok | 2048 | a, b |  | detail |
                | web20 | failed |  |  |  | detail |

                """)
        #expect(printed([Machine](), .json) == "[]\n")
        #expect(
            printed([["a": 1]], .json) == """
                [
                  {
                    "a": 1
                  }
                ]

                """)
    }

    @Test("A record with nested records is a list in Markdown, with a table below and no JSON syntax")
    func markdownRecord() {
        #expect(
            printed(Rack(place: "cellar", machines: machines), .markdown) == """
                - **place**: cellar

                ## machines

                | name | state | free_memory | tags | note |
                | --- | --- | --- | --- | --- |
                | web1 | ok | 2048 | a, b | detail |
                | web20 | failed |  |  | detail |

                """)
        #expect(
            printed(Machine(name: "web1", tags: ["a", "b"]), .markdown) == """
                - **name**: web1
                - **state**: ok
                - **tags**: a, b
                - **note**: detail

                """)
        // A table row has room for a record of short values.
        #expect(printed(Machine(name: "web1"), .markdown).split(separator: "\n").count == 3)
    }

    @Test("A single record is a list of its members, including details")
    func record() {
        #expect(
            printed(Machine(name: "web1", memory: ByteCount(1), isOn: true), .text) == """
                name         web1
                state        ok
                free memory  1 B
                on           yes
                note         detail

                """)
        #expect(printed(Nothing(), .text) == "")
        #expect(printed(Nothing(), .json) == "{}\n")
    }

    @Test("Nested records are shown as a table below")
    func nested() {
        #expect(
            printed(Rack(place: "cellar", machines: machines), .text) == """
                place  cellar

                MACHINES
                NAME   STATE   FREE MEMORY  TAGS
                web1   ok          2.0 KiB  a, b
                web20  failed

                """)
        #expect(printed(Rack(place: "cellar", machines: []), .text) == "place  cellar\n")
    }

    @Test("Plain values are printed one per line") func scalars() {
        #expect(printed(["a", "b"], .text) == "a\nb\n")
        #expect(printed(["a", "b"], .csv) == "value\r\na\r\nb\r\n")
        #expect(printed(["a", "b"], .ndjson) == "\"a\"\n\"b\"\n")
        #expect(printed(7, .text) == "7\n")
        #expect(printed(true, .text) == "yes\n")
        #expect(printed(7, .csv) == "value\r\n7\r\n")
        #expect(printed("two\nlines\n", .text) == "two\nlines\n")
        #expect(printed("# Title\n\n| x |", .markdown) == "# Title\n\n| x |\n")
        #expect(printed(Duration.seconds(90), .text) == "1m30s\n")
    }

    @Test("An empty result prints nothing for people and null for programs") func nothing() {
        #expect(printed(JSON.null, .text) == "")
        #expect(printed(JSON.null, .json) == "null\n")
        #expect(printed(JSON.null, .ndjson) == "null\n")
        #expect(printed(JSON.null, .csv) == "value\r\n")
        #expect(printed([String](), .text) == "")
        #expect(printed([String](), .ndjson) == "")
        #expect(printed([Machine](), .csv) == "name,state,free_memory,tags,on,note\r\n")
    }

    @Test("A result of any shape is readable") func anything() {
        #expect(printed(JSON.array([1, "x", nil]), .text) == "1\nx\n\n")
        #expect(printed(JSON.object(["a": [1]]), .text) == "{\n  \"a\": [\n    1\n  ]\n}\n")
        #expect(printed(["b": 2], .text) == "{\n  \"b\": 2\n}\n")
    }

    @Test("The result of a stream is its last event") func stream() {
        let printer = ResultPrinter(format: .ndjson, level: .none, width: nil)
        #expect(
            printer.text(["x"], .array(.string), isStream: true)
                == #"{"type":"result","is_error":false,"result":["x"]}"# + "\n")
    }

    @Test("A result fits the terminal, and is never cut in a pipe")
    func width() {
        let long = [Machine(name: "web1", tags: [String(repeating: "x", count: 200)])]
        #expect(printed(long, .text, width: 40).split(separator: "\n").allSatisfy { $0.count <= 40 })
        #expect(printed(long, .text).contains(String(repeating: "x", count: 200)))
    }
}
