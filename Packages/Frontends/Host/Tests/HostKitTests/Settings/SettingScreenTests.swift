import Capabilities
import CoreTesting
import HostKit
import HostTesting
import JSON
import Registry
import Screens
import Settings
import Testing

/// Settings of several types.
private struct PaintFeature: Feature {
    enum Tone: String, Choice { case light, dark }

    static let settings = [
        Setting("color", "The color", default: "red", risk: .sends).declaration,
        Setting("tone", "How bright it is", default: Tone.light).declaration,
        Setting("layers", "How many", in: 1...9, default: 2).declaration,
        Setting("shared", "Who may paint", default: [String]()).joiningLayers().declaration,
        SettingDeclaration(
            key: ["pass"], summary: "A password", schema: .optional(.secret), defaultValue: .null, risk: .none),
    ]
    static let manifest = Manifest(id: "paint", summary: "Paints", version: "1.0", settings: settings)

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {}
}

@Suite("The screen of a setting", .timeLimit(.minutes(5)))
struct SettingScreenTests {
    /// What is shown of a setting.
    private func block(_ key: String, _ bench: TestWorkbench) async throws -> Block {
        try await bench.open { session in
            try await session.session.open(
                "config.setting", ["key": .string(key)], as: .person(HeadlessInteraction()), output: RecordingOutput()
            ) { view in try await view.block() }
        }
    }

    private func facts(_ block: Block) -> JSONObject {
        for case .values(let values) in block.children.map(\.content) { return values.values }
        return [:]
    }

    private func form(_ block: Block) -> Form? {
        for case .form(let form) in block.children.map(\.content) { return form }
        return nil
    }

    /// The place, the value and the state of each row.
    private func places(_ block: Block) -> [[String]] {
        for case .table(let table) in block.children.map(\.content) {
            guard case .all(let rows) = table.rows else { continue }
            return rows.map { row in
                ["place", "value", "state"].map { row[$0].map { $0.string ?? $0.text() } ?? "" }
            }
        }
        return []
    }

    private func notes(_ block: Block) -> String {
        block.children.compactMap { if case .text(let text) = $0.content { text.plain } else { nil } }
            .joined(separator: "\n")
    }

    @Test("A setting that nothing sets shows its meaning, its type and its default, with a form for its value")
    func plain() async throws {
        try await withBench(PaintFeature.self) { bench in
            let block = try await block("paint.layers", bench)
            #expect(block.title == "paint.layers" && notes(block) == "How many")
            let facts = facts(block)
            #expect(facts["value"] == 2 && facts["origin"] == "default" && facts["default"] == 2)
            #expect(facts["type"] == "a whole number from 1 to 9" && facts["variable"] == "MARTLET_PAINT_LAYERS")
            #expect(
                form(block)
                    == Form(
                        "config.set", parameters: ["value", "project"], values: ["key": "paint.layers", "value": "2"],
                        submit: "Change"))
            #expect(places(block).isEmpty && block.links.map(\.title) == ["Edit the file"])
        }
    }

    @Test("Every setting can be shown, and its value begins as a word that is read back as the same value")
    func words() async throws {
        try await withBench(PaintFeature.self) { bench in
            for declaration in try bench.workbench.host.catalogue.declarations {
                let block = try await block(declaration.name, bench)
                guard let word = form(block)?.values["value"]?.string else { continue }
                #expect(try declaration.schema.json(fromWord: word) == declaration.defaultValue, "\(declaration.name)")
            }
        }
    }

    @Test("Every place that sets a value is listed, the strongest first, and why a change may not be used")
    func places() async throws {
        try await withBench(PaintFeature.self) { bench in
            let project = "\(bench.home)/work/.martlet/config.json"
            try bench.write(
                "{paint: {tone: 'dark'}, profile: 'lab', profiles: {lab: {paint: {layers: 3}}}}", to: bench.userFile)
            try bench.write("{paint: {tone: 'light', color: 'blue'}}", to: project)
            bench.current = "\(bench.home)/work"

            let tone = try await block("paint.tone", bench)
            #expect(
                places(tone) == [
                    ["\(project) (the project)", "light", "used"], ["\(bench.userFile) (yours)", "dark", "overridden"],
                    ["default", "light", "overridden"],
                ])
            #expect(notes(tone).contains("The project sets it, and takes precedence over your file."))
            // It is changed where it comes from.
            #expect(form(tone)?.values["project"] == true)
            #expect(tone.links.map(\.title) == ["Use the default", "Remove it from the project", "Edit the file"])

            let layers = try await block("paint.layers", bench)
            #expect(facts(layers)["origin"] == "profile lab")
            #expect(notes(layers).contains("change profiles.lab.paint.layers"))
            #expect(layers.links.first?.arguments["key"] == .value("profiles.lab.paint.layers"))
            let inProfile = try await block("profiles.lab.paint.layers", bench)
            #expect(facts(inProfile)["value"] == 3)
            #expect(facts(inProfile)["origin"] == .string("\(bench.userFile) (yours)"))

            let color = try await block("paint.color", bench)
            #expect(facts(color)["value"] == "red" && notes(color).contains("trusts the project"))
            #expect(places(color).map(\.last) == ["not trusted", "used"])
            #expect(facts(color)["trust"]?.string?.contains("it decides where data is sent") == true)

            bench.environment["MARTLET_PAINT_TONE"] = "dark"
            let variable = try await block("paint.tone", bench)
            #expect(facts(variable)["value"] == "dark" && facts(variable)["origin"] == "$MARTLET_PAINT_TONE")
            #expect(notes(variable).contains("$MARTLET_PAINT_TONE sets it for this run; a change is used only when"))
            bench.options.settings = ["paint.tone=light"]
            #expect(notes(try await block("paint.tone", bench)).contains("The command line sets it for this run"))
        }
    }

    @Test("Of a list that grows with each place, each place is listed with its part")
    func parts() async throws {
        try await withBench(PaintFeature.self) { bench in
            try bench.write("{paint: {shared: ['me']}}", to: bench.userFile)
            bench.environment["MARTLET_PAINT_SHARED"] = "you"
            let block = try await block("paint.shared", bench)
            #expect(facts(block)["value"] == ["me", "you"])
            #expect(places(block).map(\.last) == ["used", "added", "overridden"])
        }
    }

    @Test("A secret is neither shown nor entered")
    func secret() async throws {
        try await withBench(PaintFeature.self) { bench in
            try bench.write("{paint: {pass: 'hunter2'}}", to: bench.userFile)
            bench.environment["MARTLET_PAINT_PASS"] = "hunter3"
            let block = try await block("paint.pass", bench)
            #expect(!block.json.text().contains("hunter") && form(block) == nil && places(block).count == 3)
        }
    }

    @Test("The form writes by config set, which checks the value, and the screen shows the new one")
    func change() async throws {
        try await withBench(PaintFeature.self) { bench in
            try await bench.open { session in
                try await session.session.open(
                    "config.setting", ["key": "paint.tone"], as: .person(HeadlessInteraction()),
                    output: RecordingOutput()
                ) { view in
                    let form = try #require(form(try await view.block()))
                    var values = form.values
                    values["value"] = "pale"
                    #expect(await session.attempt(form.action, values).failure?.code == "settings.invalid")
                    values["value"] = "dark"
                    try await session.perform(form.action, values)
                    let block = try await view.block { facts($0)["value"] == "dark" }
                    #expect(block.links.map(\.title) == ["Use the default", "Edit the file"])
                    let link = try #require(block.links.first)
                    guard case .action(let id) = link.target else { return }
                    try await session.perform(id, link.arguments(for: [:]))
                    try await view.block { facts($0)["origin"] == "default" }
                }
            }
            #expect(try bench.readSettings()["paint"]?.object?.isEmpty ?? true)
        }
    }

    @Test("The list of settings has all of them with their origin, each with its screen, and a wrong key says so")
    func list() async throws {
        try await withBench(PaintFeature.self) { bench in
            let block = try await bench.open { session in
                try await session.session.open(
                    "config.settings", as: .person(HeadlessInteraction()), output: RecordingOutput()
                ) { view in try await view.block() }
            }
            guard case .table(let table) = block.content, case .all(let rows) = table.rows else {
                Issue.record("\(block)")
                return
            }
            let tone = try #require(rows.first { $0["key"] == "paint.tone" })
            #expect(tone["value"] == "light" && tone["origin"] == "built in")
            #expect(table.detail?.arguments(for: tone) == ["key": "paint.tone"])
            for key in ["paint.tune", "paint"] {
                #expect(await failure { _ = try await self.block(key, bench) }?.code == "settings.unknown")
            }
        }
    }
}
