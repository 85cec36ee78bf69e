import Capabilities
import JSON
import Registry
import Settings
import Testing

/// Registers another capability than its manifest declares.
private struct Undeclared: PlainFeature {
    static let manifest = Manifest(
        id: "undeclared", summary: "Says little", version: "1", provides: [.single(Beta.self)])
    func register(in registry: inout RegistryBuilder) {
        registry.provide(Alpha.self, Alpha())
    }
}

/// Throws when it is created.
private struct Broken: PlainFeature {
    static let manifest = Manifest(id: "broken", summary: "Breaks", version: "1", provides: [.single(Gamma.self)])
    init() {}
    init(_ settings: FeatureSettings) throws { throw DemoFailure() }
    func register(in registry: inout RegistryBuilder) { registry.provide(Gamma.self, Gamma()) }
}

/// Has a malformed id, and contradictory settings and actions.
private struct Muddled: PlainFeature {
    static let manifest = Manifest(
        id: "Mud dled", summary: "Muddles", version: "1",
        settings: [
            Setting("size", "Its size", default: 1).declaration, Setting("size", "Its size", default: 2).declaration,
            SettingDeclaration(
                key: ["depth"], summary: "Its depth", schema: .integer(1...3), defaultValue: 9, risk: .none),
        ], namespaces: ["muddled"])
    func register(in registry: inout RegistryBuilder) {
        registry.add(Action("muddled.do", "Does it.", .reads) { _ in Nothing() })
        registry.add(Action("muddled.fine", "Does it well", .reads) { _ in "done" })
    }
}

@Suite("Composition problems")
struct CompositionTests {
    @Test("Contradictory ids, settings and defaults are reported")
    func contradictions() throws {
        #expect(
            Composition([BuiltInFeature(Muddled.self)]).complaints == [
                "Mud dled has a malformed id; ids are lower-case words joined by dots",
                "Mud dled declares the setting size twice",
                "Mud dled declares the setting depth whose default must be from 1 to 3, not 9",
                "Mud dled declares the action muddled.do, which needs a summary of one line without a final stop",
            ])
    }

    @Test(
        "A malformed id is reported",
        arguments: ["", ".", "a.", ".a", "a..b", "A", "1a", "a_b", "-a", "a-", "a b", "ä"])
    func malformed(id: String) throws {
        struct Named: PlainFeature {
            @TaskLocal static var id = ""
            static var manifest: Manifest { Manifest(id: id, summary: "X", version: "1", namespaces: ["x"]) }
        }
        Named.$id.withValue(id) {
            #expect(Composition([BuiltInFeature(Named.self)]).problems.map(\.code) == [.malformed])
        }
        Named.$id.withValue("a1.b-2.c") { #expect(Composition([BuiltInFeature(Named.self)]).problems.isEmpty) }
    }

    @Test("A duplicate feature id is reported, and the first feature stays")
    func duplicate() throws {
        let composition = try compose([Source<Alpha>.self, Loose<Alpha, Beta>.self])
        #expect(composition.complaints == ["alpha exists twice; give one of them another id"])
        #expect(composition.problems.map(\.code) == [.duplicateFeature])
        #expect(composition.features.map(\.manifest.summary) == ["A source"])
    }

    @Test("A provision without declaration, and a declaration without provision, are reported")
    func undeclared() throws {
        let composition = try compose([Undeclared.self])
        #expect(
            composition.complaints == [
                "undeclared provides Alpha without naming it in its manifest; add it to 'provides'",
                "undeclared names Beta in its manifest and does not provide it; call provide(_:_:)",
            ])
        #expect(composition.problems.allSatisfy { $0.code == .undeclared })
        #expect(composition.registry.optional(Alpha.self) == nil)
    }

    @Test("A list entry that differs from the manifest is reported")
    func list() {
        let composition = Composition([
            BuiltInFeature(trait: "Alpha", provides: "Beta", "Gamma") { Source<Alpha>.self },
            BuiltInFeature(trait: "Beta") { Source<Beta>.self },
        ])
        #expect(
            composition.complaints == [
                "alpha provides Alpha, but its entry in the list of features names Beta, Gamma; make the entry the same",
                "beta provides Beta, but its entry in the list of features names nothing; make the entry the same",
            ])
    }

    @Test("A list entry with another summary is reported") func described() {
        let composition = Composition([
            BuiltInFeature(trait: "Alpha", provides: "Alpha") { Source<Alpha>.self }.described("Something else")
        ])
        #expect(composition.complaints.count == 1)
        #expect(
            composition.complaints.first?.contains("its entry in the list of features has 'Something else'") == true)
    }

    @Test("A feature that is left out is not a problem; its commands and its summary are known") func leftOut() throws {
        let list = [
            BuiltInFeature(trait: "Alpha", provides: "Alpha") { Source<Alpha>.self },
            BuiltInFeature(trait: "Chat") {}.described("Talk to models", commands: "chat", "ask"),
            BuiltInFeature(trait: "Files") {},
        ]
        let composition = Composition(list)
        #expect(composition.complaints == [])
        #expect(composition.off.map(\.commands) == [["chat", "ask"], ["files"]])
        #expect(composition.off.map(\.summary) == ["Talk to models", ""])
        #expect(composition.off.first?.reason == "not in this build; build with 'make build TRAITS=Alpha,Chat'")
        #expect(
            Composition(list, selection: .init(only: ["chat"])).complaints
                == ["chat is not in this build; build with 'make build TRAITS=Alpha,Chat'"])
        let catalogue = SettingsCatalogue(of: list)
        #expect(catalogue.absent["chat"] == "is not in this build; build with 'make build TRAITS=Alpha,Chat'")
        #expect(catalogue.declaration(of: ["features", "files"]) != nil)
    }

    @Test("A feature that cannot be created is reported, and the others are created")
    func failed() throws {
        let composition = try compose([Broken.self, Link<Alpha, Gamma>.self])
        #expect(composition.complaints == ["broken cannot be created: it broke"])
        #expect(composition.problems.map(\.code) == [.failed])
        #expect(composition.features.map { $0.feature == nil } == [true, false])
        #expect(composition.registry.optional(Gamma.self) == nil)
        #expect(composition.registry.optional(Alpha.self) != nil)
    }

    @Test("All problems are reported at once, and valid parts stay usable")
    func everything() async throws {
        let composition = try compose(
            [
                Broken.self, Undeclared.self, Muddled.self, Link<Alpha, Alpha>.self, Link<Delta, Omega>.self,
                Source<Delta>.self,
            ], only: ["broken", "undeclared", "Mud dled", "alpha", "delta", "nobody"])
        #expect(
            Set(composition.problems.map(\.code)) == [
                .failed, .undeclared, .contradiction, .malformed, .cycle, .missing, .duplicateFeature, .unknownFeature,
            ])
        let failure = CompositionFailure(composition.problems)
        #expect(failure.code == "composition.invalid")
        #expect(failure.exit == .usage)
        let lines = failure.message.split(separator: "\n")
        #expect(lines.count == composition.problems.count + 1)
        #expect(lines.first == "these features cannot be combined:")
        #expect(composition.registry.actions["muddled.fine"] != nil)
        #expect(composition.registry.optional(Alpha.self) != nil)
    }

    @Test("The health checks and libraries of features are kept")
    func checks() async throws {
        struct Doctor: PlainFeature {
            static let manifest = Manifest(id: "doctor", summary: "Looks", version: "1")
            func register(in registry: inout RegistryBuilder) {
                registry.add(HealthCheck("doctor.folder", "The folder") { _ in .warning("full", mend: "tidy up") })
                registry.uses(Library("libfoo") { "1.2" })
            }
        }
        let registry = try compose([Doctor.self]).registry
        #expect(registry.checks.map(\.id) == ["doctor.folder"])
        #expect(registry.libraries.map { "\($0.name) \($0.version())" } == ["libfoo 1.2"])
    }
}
