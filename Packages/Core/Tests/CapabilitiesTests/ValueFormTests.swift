import Capabilities
import CoreTesting
import JSON
import Testing

@Suite struct ValueFormTests {
    private let form = ValueForm([
        Schema.Property("city", "Where to look", .string),
        Schema.Property("days", "How many days", .optional(.integer(1...10)), defaultValue: 3),
        Schema.Property("units", "Units of measure", .choice(["metric", "imperial"])),
        Schema.Property("tags", "", .optional(.array(.string))),
        Schema.Property("loud", "Whether to shout", .boolean),
    ])

    @Test(
        "One value after the other is asked for, each under an id of the form, and empty lines leave optional ones out")
    func oneByOne() async throws {
        let person = ScriptedPerson([
            "q.form.city": ["Bern"], "q.form.days": [""], "q.form.units": ["imperial"], "q.form.tags": ["a,b"],
            "q.form.loud": [true],
        ])
        #expect(
            try await person.form("q.form", "Weather", form)
                == ["city": "Bern", "days": 3, "units": "imperial", "tags": ["a", "b"], "loud": true])
        #expect(person.prompts.first == "city (Where to look)" && person.prompts.contains("tags"))
        let terse = ScriptedPerson(["q.form.city": ["Bern"], "q.form.units": ["metric"]], otherwise: .declines)
        #expect(
            try await terse.form("q.form", "Weather", form)
                == ["city": "Bern", "days": 3, "units": "metric", "loud": false])
    }

    @Test("A value that was given is not asked for again")
    func given() async throws {
        let person = ScriptedPerson(["q.form.city": ["Bern"]])
        let form = ValueForm(form.fields.filter { ["city", "days"].contains($0.name) }, given: ["days": 2])
        #expect(try await person.form("q.form", "Weather", form) == ["days": 2, "city": "Bern"])
        #expect(person.asked == ["q.form.city"])
    }

    @Test("Without a person an object answers all of it, and otherwise each value has an id")
    func headless() async throws {
        let all: JSONObject = ["city": "Bern", "units": "metric", "loud": false]
        #expect(try await HeadlessInteraction(answers: ["q.form": .object(all)]).form("q.form", "Weather", form) == all)
        let each = HeadlessInteraction(answers: [
            "q.form": true, "q.form.city": "Bern", "q.form.units": "metric", "q.form.loud": true,
        ])
        #expect(try await each.form("q.form", "Weather", form)["loud"] == true)
        let error = await #expect(throws: InteractionError.self) {
            try await HeadlessInteraction().form("q.form", "Weather", form)
        }
        #expect(error == .unanswered(id: "q.form.city", prompt: "city (Where to look)"))
    }

    @Test(
        "Values that do not fit are refused by name",
        arguments: [
            (["city": "Bern", "units": "metric"], "loud"),
            (["city": 5, "units": "metric", "loud": true], "city"),
            (["city": "Bern", "units": "furlongs", "loud": true], "units"),
            (["city": "Bern", "units": "metric", "loud": true, "days": 11], "days"),
            (["city": "Bern", "units": "metric", "loud": true, "more": 1], "more"),
        ] as [(JSONObject, String)])
    func unfit(values: JSONObject, name: String) async throws {
        for person in [
            ScriptedPerson(["q.form": [.object(values)]], showsForms: true),
            HeadlessInteraction(answers: ["q.form": .object(values)]),
        ] as [any Interaction] {
            let error = await #expect(throws: InteractionError.self) {
                try await person.form("q.form", "Weather", form)
            }
            #expect(error?.isUnfit == true && error?.message.contains(name) == true)
        }
        let error = await #expect(throws: InteractionError.self) {
            try await ScriptedPerson(["q.form.city": ["Bern"], "q.form.days": ["many"]]).form("q.form", "Weather", form)
        }
        #expect(error?.message.contains("q.form.days") == true && error?.message.contains("many") == true)
    }

    @Test("A frontend that answers something else is told so")
    func wrongKind() async throws {
        let confused = ScriptedPerson(showsForms: true, otherwise: .answers { _ in .text("x") })
        await #expect(throws: InteractionError.wrongKind("q.form")) {
            try await confused.form("q.form", "Weather", form)
        }
    }
}
