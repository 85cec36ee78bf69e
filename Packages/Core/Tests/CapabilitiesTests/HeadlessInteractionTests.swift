import Capabilities
import JSON
import Testing

@Suite("HeadlessInteraction")
struct HeadlessInteractionTests {
    private func given(_ answer: JSON) -> HeadlessInteraction {
        HeadlessInteraction(answers: ["q.id": answer])
    }

    private let nothing = HeadlessInteraction()

    @Test("Provided answers of every kind are used")
    func given() async throws {
        #expect(try await given("Bern").text("q.id", "City?") == "Bern")
        #expect(try await given("s3cret").secret("q.id", "Token?").equals(Secret("s3cret")))
        #expect(try await given("blue").choice("q.id", "Colour?", among: ["red", "blue"]) == 1)
        #expect(try await given(true).confirm("q.id", "Sure?"))
        #expect(try await !given(false).confirm("q.id", "Sure?"))
        #expect(try await given("two\nlines").composition("q.id", "Say?")?.text == "two\nlines")
        #expect(try await given(.null).composition("q.id", "Say?") == nil)
        #expect(!nothing.canAsk)
    }

    @Test(
        "Compositions are answered one after the other, and then the input ends",
        arguments: [["a", "", "b"], "a"] as [JSON])
    func compositions(answer: JSON) async throws {
        var said: [String] = []
        while let text = try await given(answer).composition("q.id", "Say?", history: said) {
            #expect(text.seen == text.text)
            said.append(text.text)
        }
        #expect(said == (answer.array == nil ? ["a"] : ["a", "b"]))
        await #expect(throws: InteractionError.self) { try await given(["a", 7]).composition("q.id", "Say?") }
    }

    @Test("A text question falls back on its default")
    func defaults() async throws {
        #expect(try await nothing.text("q.id", "City?", default: "Bern") == "Bern")
        #expect(try await given("Basel").text("q.id", "City?", default: "Bern") == "Basel")
    }

    @Test("A missing answer of any kind is an error at once", arguments: Kind.allCases)
    func missing(kind: Kind) async {
        let error = await #expect(throws: InteractionError.self) { _ = try await kind.ask(nothing) }
        #expect(error == .unanswered(id: "q.id", prompt: "Well?"))
        #expect(error?.code == "interaction.unanswered")
        #expect(error?.exit == .unanswered)
        #expect(
            error?.message
                == "there is nobody to answer 'Well?'; run it on a terminal, or provide an answer for 'q.id'")
    }

    @Test(
        "A wrong answer is a usage error",
        arguments: [
            (.text, 1, "the answer given for 'q.id' must be text, not an integer"),
            (.secret, ["x"], "the answer given for 'q.id' must be text, not an array"),
            (.choice, "green", "the answer given for 'q.id' must be one of red, blue"),
            (.choice, 0, "the answer given for 'q.id' must be one of red, blue"),
            (.confirm, "yes", "the answer given for 'q.id' must be true or false, not a string"),
        ] as [(Kind, JSON, String)])
    func unfit(kind: Kind, answer: JSON, message: String) async {
        let error = await #expect(throws: InteractionError.self) { _ = try await kind.ask(given(answer)) }
        #expect(error?.code == "interaction.unfit-answer")
        #expect(error?.exit == .usage)
        #expect(error?.message == message)
    }

    @Test("An error about a secret answer does not repeat it")
    func unfitSecret() async {
        let error = await #expect(throws: InteractionError.self) {
            try await given(["s3cret"]).secret("q.id", "Token?")
        }
        #expect(error?.message.contains("s3cret") == false)
    }

    @Test("An answer of the wrong kind is an error of the frontend", arguments: Kind.allCases)
    func wrongKind(kind: Kind) async {
        let confused = ConfusedInteraction(answer: kind == .text ? .confirm(true) : .text("x"))
        let error = await #expect(throws: InteractionError.self) { _ = try await kind.ask(confused) }
        #expect(error == .wrongKind("q.id"))
        #expect(error?.code == "interaction.wrong-kind")
    }

    @Test("A choice that was not offered is an error of the frontend", arguments: [-1, 2])
    func outside(index: Int) async {
        await #expect(throws: InteractionError.wrongKind("q.id")) {
            try await ConfusedInteraction(answer: .choice(index)).choice("q.id", "Colour?", among: ["red", "blue"])
        }
    }

    @Test("Only texts, and choices that say so, are values; whatever else is asked is a decision of the person")
    func purposes() {
        func purpose(_ kind: Question.Kind, _ purpose: Question.Purpose? = nil) -> Question.Purpose {
            Question("q.id", "Well?", kind, for: purpose).purpose
        }
        #expect(purpose(.text(default: nil)) == .value && purpose(.text(default: nil), .decision) == .decision)
        #expect(purpose(.composition(history: [], completions: [])) == .value)
        #expect(purpose(.form(ValueForm([]))) == .value && purpose(.form(ValueForm([])), .decision) == .decision)
        #expect(purpose(.choice(["yes", "no"])) == .decision && purpose(.choice(["red"]), .value) == .value)
        for kind in [Question.Kind.confirm, .secret] {
            #expect(purpose(kind) == .decision && purpose(kind, .value) == .decision)
        }
    }

    @Test("A declined question is a different error from an unanswered one")
    func declined() {
        let declined = InteractionError.declined(id: "q.id")
        #expect(declined.code == "interaction.declined" && declined.exit == .failed)
        #expect(declined.message == "nothing was changed")
        #expect(declined.details["question"] == "q.id")
    }
}

/// A kind of question, with a way to ask it.
enum Kind: CaseIterable {
    case text, secret, choice, confirm, composition

    func ask(_ interaction: some Interaction) async throws -> Any {
        switch self {
        case .text: try await interaction.text("q.id", "Well?")
        case .secret: try await interaction.secret("q.id", "Well?")
        case .choice: try await interaction.choice("q.id", "Well?", among: ["red", "blue"])
        case .confirm: try await interaction.confirm("q.id", "Well?")
        case .composition: try await interaction.composition("q.id", "Well?") as Any
        }
    }
}

/// A frontend that answers every question the same way.
private struct ConfusedInteraction: Interaction {
    let answer: Answer
    var canAsk: Bool { true }
    func answer(_ question: Question) async throws -> Answer { answer }
}
