import Capabilities
import JSON
import Testing

@Suite("Record")
struct RecordTests {
    @Test("The JSON of a record has its members in the declared order")
    func json() {
        let reading = Reading(city: "Bern", degrees: 21.5, units: .metric)
        #expect(reading.json.text() == #"{"city":"Bern","degrees":21.5,"units":"metric"}"#)
    }

    @Test("An absent optional is left out")
    func absent() {
        let reading = Reading(city: "Bern", degrees: nil, units: .imperial)
        #expect(reading.json.text() == #"{"city":"Bern","units":"imperial"}"#)
    }

    @Test("The schema of a record has names, summaries, shapes and roles")
    func schema() {
        #expect(
            Reading.schema
                == .record([
                    .init("city", "Where it was measured", .string, role: .name),
                    .init("degrees", "Temperature", .optional(.number(nil)), role: .plain),
                    .init("units", "Units of measure", .choice(["metric", "imperial"]), role: .detail),
                ]))
    }

    @Test("Records fit their own schema, alone and in lists", arguments: [21.5, nil])
    func fits(degrees: Double?) {
        let reading = Reading(city: "Bern", degrees: degrees, units: .metric)
        #expect(Reading.schema.problems(in: reading.json).isEmpty)
        #expect([Reading].schema.problems(in: [reading, reading].json).isEmpty)
    }

    @Test("Nothing is an empty object")
    func nothing() {
        #expect(Nothing().json == [:])
        #expect(Nothing.schema.problems(in: Nothing().json).isEmpty)
    }

    @Test("Usage adds up, and unknown values stay unknown")
    func usage() {
        let first = Usage(inputTokens: 10, cost: Cost(nanodollars: 1))
        let second = Usage(inputTokens: 5, outputTokens: nil, cost: Cost(nanodollars: 2))
        #expect(first + second == Usage(inputTokens: 15, outputTokens: nil, cost: Cost(nanodollars: 3)))
        #expect(
            (first + Usage(outputTokens: 7)).json.text() == #"{"input_tokens":10,"output_tokens":7,"cost_usd":1e-09}"#)
        #expect(Usage().json == [:])
    }

    @Test(
        "An amount of money is shown with two to four digits",
        arguments: [
            (0, "$0.00"), (1, "under $0.0001"), (100_000, "$0.0001"), (4_100_000, "$0.0041"), (250_000_000, "$0.25"),
            (75_000_000, "$0.075"), (1_200_000_000, "$1.20"), (12_345_678_901, "$12.34"),
        ])
    func money(nanodollars: Int, words: String) {
        #expect(Cost(nanodollars: nanodollars).words == words)
    }

    @Test("Progress has a fraction if both numbers are known")
    func progress() {
        #expect(Progress("copying", completed: 1, of: 4).fraction == 0.25)
        #expect(Progress("copying", completed: 5, of: 4).fraction == 1)
        #expect(Progress("copying", completed: -1, of: 4).fraction == 0)
        #expect(Progress("copying", completed: 1, of: 0).fraction == nil)
        #expect(Progress("copying", completed: 1).fraction == nil)
        #expect(Progress("copying", completed: 1).json.text() == #"{"activity":"copying","completed":1}"#)
    }

    @Test("The text of a message leaves out calls and results")
    func message() {
        let call = ToolCall(id: "1", name: "read", input: [:])
        let message = Message(
            .assistant, [.text("one "), .call(call), .text("two"), .result(ToolResult(call: "1", content: "x"))])
        #expect(message.text == "one two")
        #expect(Message(.user, "hi").parts == [.text("hi")])
    }
}
