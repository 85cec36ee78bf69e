import Capabilities
import CoreTesting
import JSON
import Testing
import TurnLoop

@Suite("The question whether a call may run")
struct ApprovalPromptTests {
    private func prompt(from source: String? = nil, remembering remembered: String?) -> ApprovalPrompt {
        let call = ToolCall(id: "1", name: "bash_run", input: ["command": "make test"])
        return ApprovalPrompt(
            call, of: "bash.run", from: source, .writes, reach: ToolReach(), remembering: remembered,
            [(.conversation, "in this conversation"), (.always, "always")])
    }

    @Test("It shows the call, names the tool and its source, and says what a lasting answer is about")
    func words() async throws {
        let person = ScriptedPerson(["chat.approve": ["No", "No"]])
        let prompt = prompt(from: "workspace", remembering: "make test *")
        #expect(prompt.notice == "The model wants to use bash.run:\n$ make test")
        _ = try await prompt.answer(from: person)
        _ = try await self.prompt(remembering: nil).answer(from: person)
        #expect(person.prompts == ["Allow bash.run (writes) from workspace?", "Allow bash.run (writes)?"])
        #expect(
            person.options == [
                [
                    "Yes, this once", "Yes, 'make test *', in this conversation", "Yes, 'make test *', always", "No",
                    "No, and say why",
                ], ["Yes, this once", "No", "No, and say why"],
            ])
    }

    @Test(
        "Each choice has its meaning",
        arguments: [
            ("Yes, this once", ApprovalAnswer(isAllowed: true)),
            ("Yes, always", ApprovalAnswer(isAllowed: true, scope: .always)),
            ("No", ApprovalAnswer(isAllowed: false)),
            ("No, and say why", ApprovalAnswer(isAllowed: false, reason: "read it first")),
        ])
    func meanings(choice: String, answer: ApprovalAnswer) async throws {
        let person = ScriptedPerson(["chat.approve": [.string(choice)], "chat.approve.reason": ["read it first"]])
        #expect(try await prompt(remembering: "bash.run").answer(from: person) == answer)
    }
}
