import Capabilities
import HTTPTesting
import JSON
import Registry
import RunReports
import Testing

@testable import Runs

@Suite("Run reports", .timeLimit(.minutes(5)))
struct DocumentTests {
    @Test("The HTML report escapes foreign text and loads nothing from elsewhere")
    func page() async throws {
        let error = StepError(code: "x.y", message: hostile)
        var run = summary(
            [update("\(hostile)", .failed, error, exit: 1, result: ["said": .string(hostile)]), update("b", .ok)],
            status: .failed, exit: .failed)
        run.error = error
        run.outputs = ["text": .string(hostile)]
        let html = HTMLReport.text(run)
        let read = try JSON(
            parsing: Array(try await PythonPeer.output(source: Self.reader, input: Array(html.utf8)).utf8))
        #expect(read["tags"]?.array?.contains("script") == false && read["links"] == [])
        #expect(read["unclosed"] == [])
        #expect(read["text"]?.string?.contains("<script>alert(1)</script>") == true)
        #expect(!html.contains("<script") && !html.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(html.contains("--destructive: hsl(8 89% 47%)") && !html.contains("url("))
    }

    private static let reader = """
        import json, sys
        from html.parser import HTMLParser
        class Reader(HTMLParser):
            def __init__(self):
                super().__init__()
                self.tags, self.links, self.open, self.words = set(), [], [], []
            def handle_starttag(self, tag, attrs):
                self.tags.add(tag)
                self.links += [v for k, v in attrs if k in ('src', 'href', 'action') or k.startswith('on')]
                if tag != 'meta': self.open.append(tag)
            def handle_endtag(self, tag):
                if self.open and self.open[-1] == tag: self.open.pop()
            def handle_data(self, data): self.words.append(data)
        reader = Reader()
        reader.feed(sys.stdin.buffer.read().decode())
        print(json.dumps(dict(tags=sorted(reader.tags), links=reader.links, unclosed=reader.open,
            text=''.join(reader.words))))
        """

    @Test("A GitHub annotation is a single line, whatever the message contains")
    func annotation() {
        let line = GitHubReport.annotation(
            file: "a,b:c.yaml", line: 7, column: 3, title: "step: x, y", "50% done\n::error::gotcha\r")
        #expect(
            line == "::error file=a%2Cb%3Ac.yaml,line=7,col=3,title=step%3A x%2C y::50%25 done%0A::error::gotcha%0D")
        let broken = GitHubReport.annotation(.warning, file: hostile, line: 1, title: hostile, hostile)
        #expect(!broken.contains("\n") && !broken.contains("\u{1B}") && broken.hasPrefix("::warning file=a&b <script>"))
    }

    @Test("The table of the GitHub summary escapes its cells")
    func table() throws {
        let text = GitHubReport.summary(
            summary([update("ask", .ok), update("b", .failed, StepError(code: "c", message: hostile), exit: 1)]))
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(rows.count == 4)
        for row in rows {
            var bars = 0
            var isEscaped = false
            for character in row {
                if character == "|", !isEscaped { bars += 1 }
                isEscaped = character == "\\" && !isEscaped
            }
            #expect(bars == 6, "\(row)")
        }
        #expect(!text.contains("<script>") && text.contains("1 failed"))
    }

    @Test("The members of a report match its schema")
    func report() {
        let report = RunReport(summary([update("a", .ok, result: 5)]))
        #expect(RunReport.schema.problems(in: report.json).isEmpty)
        #expect(report.json["steps"]?[0]?["result"] == 5 && report.json["exit"] == 0)
    }

    @Test("Every event line matches the published schema, and the first has the version")
    func events() async throws {
        let failed = update("b", .failed, StepError(code: "c.d", message: "no"), exit: 4)
        let run = summary([update("a", .ok), failed], status: .failed, exit: .unreachable)
        let events: [RunEvent] = [
            .began(facts(["a", "b"])), .step(update("a", .running)), .notice(step: "a", "wait"),
            .notice(step: nil, "x"),
            .step(update("a", .ok, result: [1])), .step(failed), .ended(run),
        ]
        let lines = events.map { $0.action().json }
        #expect(lines[0]["type"] == "run_started" && lines[0]["version"] == 1)
        #expect(lines.map { $0["type"]?.string ?? "" }.suffix(3) == ["step_ended", "step_ended", "run_ended"])
        let input: JSON = ["schema": RunEvents.schema, "lines": .array(lines + [["type": "step_ended"]])]
        let told = try await PythonPeer.output(source: Self.validator, input: Array(input.text().utf8))
        #expect(try JSON(parsing: Array(told.utf8)) == [true, true, true, true, true, true, true, false])
    }

    private static let validator = """
        import json, sys
        from jsonschema import Draft202012Validator
        data = json.load(sys.stdin)
        Draft202012Validator.check_schema(data['schema'])
        validator = Draft202012Validator(data['schema'])
        print(json.dumps([validator.is_valid(line) for line in data['lines']]))
        """
}
