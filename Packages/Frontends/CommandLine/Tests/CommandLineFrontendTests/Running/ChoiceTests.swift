import Testing

@testable import CommandLineFrontend

@Suite("Choices on a terminal")
struct ChoiceTests {
    private let options = ["Yes, this once", "Yes, in this project", "No", "No, and say why", "gpt-5", "gpt-5-mini"]

    @Test(
        "An option is chosen by number, by its words, or by a letter for yes or no, which selects the one that grants least"
    )
    func made() {
        func chosen(_ line: String) -> Int? { TerminalInteraction.option(line, among: options) }
        #expect(chosen("2") == 1 && chosen("6") == 5)
        #expect(chosen("y") == 0 && chosen("Y") == 0 && chosen("yes") == 0 && chosen("n") == 2 && chosen("no") == 2)
        #expect(chosen("no, and") == 3 && chosen("gpt-5") == 4 && chosen("gpt-5-m") == 5)
    }

    @Test("An ambiguous answer chooses nothing", arguments: ["", "0", "7", "-1", "gpt", "x", "/help"])
    func unclear(line: String) {
        #expect(TerminalInteraction.option(line, among: options) == nil)
    }
}
