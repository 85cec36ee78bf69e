import Capabilities
import CoreTesting
import JSON
import MCPKit
import Synchronization
import Testing

@testable import MCPServers

@Suite struct ServerFormTests {
    private func answer(_ schema: JSON, from person: any Interaction) async throws -> (MCPAnswer, told: [String]) {
        let told = Mutex([String]())
        let form = ServerForm(.form(message: "Where to?", schema: schema), of: "tools")
        let answer = try await form.answer(from: person) { text in told.withLock { $0.append(text) } }
        return (answer, told.withLock { $0 })
    }

    @Test("what reads like a secret is declined, also where a reference leads to it")
    func secrets() async throws {
        for schema: JSON in [
            ["properties": ["password": ["type": "string"]]],
            ["properties": ["a": ["type": "string", "title": "Your password"]]],
            [
                "properties": ["a": ["$ref": "#/$defs/x"]],
                "$defs": ["x": ["type": "string", "title": "Your password"]],
            ],
        ] {
            let person = ScriptedPerson(["mcp.form": [["a": "x", "password": "x"]]], showsForms: true)
            let (given, told) = try await answer(schema, from: person)
            guard case .decline = given else {
                Issue.record("\(schema) was answered")
                continue
            }
            #expect(person.asked.isEmpty && told.first?.contains("reads like a secret") == true)
        }
        // The control: another title, and it is asked.
        let person = ScriptedPerson(["mcp.form": [["a": "Bern"]]], showsForms: true)
        let harmless: JSON = [
            "properties": ["a": ["$ref": "#/$defs/x"]], "$defs": ["x": ["type": "string", "title": "City"]],
        ]
        guard case .accept(let values) = try await answer(harmless, from: person).0 else {
            Issue.record("it was not answered")
            return
        }
        #expect(values == ["a": "Bern"])
    }

    @Test("what a server asks is for the person, and not for a program in between")
    func purpose() async throws {
        let person = ScriptedPerson(["mcp.form": [["a": "Bern"]]], showsForms: true)
        _ = try await answer(["properties": ["a": ["type": "string"]]], from: person)
        #expect(person.questions.map(\.purpose) == [.decision])
    }
}
