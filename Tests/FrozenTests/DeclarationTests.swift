import Capabilities
import CoreTesting
import HostKit
import JSON
import Registry
import Settings
import Testing

@testable import CommandLineFrontend

@Suite("What the features declare", .timeLimit(.minutes(10)))
struct DeclarationTests {
    private let workbench = Product.workbench()

    @Test("every action has the parameters, effects and questions of the list")
    func actions() throws {
        #expect(workbench.failure == nil)
        let common = SettingOption.everyOption(workbench.host).map { "every command \($0.line(at: 0))" }
        try FrozenList("actions").expect(workbench.registry.actions.all.flatMap(\.lines) + common)
    }

    @Test("every screen has the title, the place and the parameters of the list")
    func screens() throws {
        let lines = workbench.registry.screens.all.flatMap { screen in
            screen.declaration.lines + ["\(screen.id) is '\(screen.title)' at \(screen.placement.words)"]
        }
        #expect(lines.count > 50)
        try FrozenList("screens").expect(lines)
    }

    @Test("every setting has the key, schema, default and risk of the list")
    func settings() throws {
        let catalogue = workbench.host.catalogue
        var lines = catalogue.declarations.flatMap { Self.lines(of: $0, at: $0.key) }
        for key in [["profiles", "NAME", "server"], ["profiles", "NAME", "kind"]] {
            let declaration = try #require(catalogue.declaration(of: key))
            lines += Self.lines(of: declaration, at: key)
        }
        try FrozenList("settings").expect(lines)
    }

    private static func lines(of setting: SettingDeclaration, at key: [String]) -> [String] {
        let name = key.joined(separator: ".")
        var facts = ["default \((setting.defaultValue ?? .null).text(.sorted))", "risk \(setting.risk.rawValue)"]
        if setting.joinsLayers { facts.append("joins the layers") }
        if let flag = setting.flag { facts.append("option --\(flag)") }
        if key == setting.key { facts.append("variable \(SettingsVariables.name(of: key))") }
        return setting.schema.lines(at: name) + ["\(name) has \(facts.joined(separator: ", "))"]
    }

    @Test("results, events and errors have the members of the list")
    func records() async throws {
        var lines = workbench.registry.actions.all.flatMap { $0.result.lines(at: $0.id) }
        lines += try await Self.events("chat.events") + Self.events("run.events")
        lines += workbench.registry.actions.all.flatMap(\.eventLines)
        lines += Progress.schema.lines(at: "progress")
        lines.append("an error in JSON is \(SampleFailure().report.text(.sorted))")
        for source in try SourceText.product() {
            lines += source.eventLines
            // What is read and written over HTTP, as far as no schema declares it.
            if source.module == "GatewayAPI" || source.module.hasSuffix("Dialect") {
                lines += source.memberNames.map { "\(source.module) writes \($0)" }
            }
        }
        try FrozenList("records").expect(lines)
    }

    @Test("every action that sends events declares them")
    func events() {
        let silent = workbench.registry.actions.all.filter { $0.isStreaming && $0.events?.isEmpty != false }
        #expect(silent.map(\.id) == [])
    }

    /// What an action says of the events of another: a line for each member of each event.
    private static func events(_ id: String) async throws -> [String] {
        let schema = try await Product.withSession { session, _ in
            try await session.perform(id, as: Product.person, output: RecordingOutput()).json
        }
        let events = try #require(schema["anyOf"]?.array ?? schema["oneOf"]?.array)
        var lines: [String] = []
        var counts: [String: Int] = [:]
        for event in events {
            let type = event["properties"]?["type"]?["const"]?.string ?? "event"
            counts[type, default: 0] += 1
            // An event of one type may have several forms.
            let name = counts[type] == 1 ? "\(id) \(type)" : "\(id) \(type) \(counts[type] ?? 0)"
            let required = event["required"]?.array?.compactMap(\.string) ?? []
            for (member, schema) in event["properties"]?.object ?? [:] {
                let optional = required.contains(member) ? "" : "optional "
                lines.append("\(name).\(member): \(optional)\(schema.withoutWords.text(.sorted))")
            }
        }
        return lines
    }
}

/// An error with everything that an error can have.
private struct SampleFailure: Failure {
    let code = "sample"
    let message = "it failed"
    let cause: (any Error)? = CancellationError()
    let details: JSONObject = ["detail": 1]
}

extension Action {
    /// The events that it declares, with their members.
    fileprivate var eventLines: [String] {
        (events ?? []).flatMap { event in
            ["event \(event.type)"] + event.members.map { "event \(event.type).\($0.name)" }
        }
    }
}

extension SourceText {
    /// The events that the file makes without a declaration, with the members that are written out where it makes them.
    fileprivate var eventLines: [String] {
        code.matches(of: /\bActionEvent\(/).flatMap { match -> [String] in
            let arguments = block(after: match.range)
            let names = texts(in: arguments.prefix { $0 != "," }, /[^\[]"(\d+)"/)
            let members = texts(in: arguments, /"(\d+)":/)
            return names.flatMap { name in ["event \(name)"] + members.map { "event \(name).\($0)" } }
        }
    }

    /// The names of members of JSON that the file writes out.
    fileprivate var memberNames: [String] {
        (texts(/"(\d+)":/) + texts(/\["(\d+)"\] =/)).filter { $0.wholeMatch(of: /[A-Za-z_]+/) != nil }
    }
}
