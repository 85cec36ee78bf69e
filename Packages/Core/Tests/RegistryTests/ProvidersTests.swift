import Capabilities
import Registry
import Settings
import Testing

/// Provides a shared greeting.
private struct First: PlainFeature {
    static let manifest = Manifest(
        id: "first", summary: "Greets", version: "1", provides: [.shared((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) {
        registry.provide((any Greeter).self, Greeting(greeting: "hello"))
    }
}

/// Provides two more.
private struct Second: PlainFeature {
    static let manifest = Manifest(
        id: "second", summary: "Greets twice", version: "1", provides: [.shared((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) {
        registry.provide((any Greeter).self, Greeting(greeting: "good day"))
        registry.provide((any Greeter).self, Greeting(greeting: "good night"))
    }
}

/// Must be the only provider.
private struct Sole: PlainFeature {
    static let manifest = Manifest(
        id: "sole", summary: "Greets alone", version: "1", provides: [.single((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) {
        registry.provide((any Greeter).self, Greeting(greeting: "hey"))
    }
}

/// Provides a greeting if no other feature does.
private struct Reserve: PlainFeature {
    static let manifest = Manifest(
        id: "reserve", summary: "Greets if it must", version: "1", provides: [.fallback((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) { registry.provide((any Greeter).self, Greeting(greeting: "…")) }
}

/// Needs exactly one greeting.
private struct Guest: PlainFeature {
    static let manifest = Manifest(
        id: "guest", summary: "Is greeted", version: "1", needs: [.one((any Greeter).self)])
}

/// Needs a greeting, and provides one itself if no other feature does.
private struct SelfServing: PlainFeature {
    static let manifest = Manifest(
        id: "self", summary: "Greets itself", version: "1", provides: [.fallback((any Greeter).self)],
        needs: [.one((any Greeter).self)])
    func register(in registry: inout RegistryBuilder) { registry.provide((any Greeter).self, Greeting(greeting: "me")) }
}

@Suite("Capability providers")
struct ProvidersTests {
    private func greetings(_ types: [any Feature.Type]) throws -> [String] {
        let composition = try compose(types)
        #expect(composition.complaints.isEmpty)
        return composition.registry.all((any Greeter).self).map(\.greeting)
    }

    @Test("Lookups return one provider, an optional one or all, in the order of the features")
    func lookups() throws {
        let registry = try compose([Second.self, First.self]).registry
        #expect(registry.all((any Greeter).self).map(\.greeting) == ["good day", "good night", "hello"])
        #expect(try registry.one((any Greeter).self).greeting == "good day")
        #expect(registry.optional((any Greeter).self)?.greeting == "good day")
    }

    @Test("A lookup without a provider returns nil, an empty list, or an error with the capability's name")
    func missing() throws {
        let registry = try compose([]).registry
        #expect(registry.all((any Greeter).self).isEmpty)
        #expect(registry.optional((any Greeter).self) == nil)
        let error = #expect(throws: RegistryError.self) { try registry.one((any Greeter).self) }
        #expect(error?.code == "registry.missing-capability")
        #expect(error?.exit == .usage)
        #expect(error?.message == "nothing provides Greeter here; 'martlet features' shows which features are on")
    }

    @Test("A fallback is used only if there is no other provider")
    func fallback() throws {
        #expect(try greetings([Reserve.self]) == ["…"])
        #expect(try greetings([Reserve.self, First.self]) == ["hello"])
        #expect(try greetings([Sole.self, Reserve.self]) == ["hey"])
        #expect(try greetings([Reserve.self, Guest.self]) == ["…"])
        #expect(try greetings([SelfServing.self]) == ["me"])
        #expect(try greetings([SelfServing.self, First.self]) == ["hello"])
    }

    @Test("Other providers next to a single one are reported, each by name")
    func single() throws {
        let composition = try compose([First.self, Sole.self, Second.self])
        #expect(
            composition.complaints == [
                "first provides Greeter, but only one feature can, and sole already does; "
                    + "switch one of them off with 'martlet config set features.first false'",
                "second provides Greeter, but only one feature can, and sole already does; "
                    + "switch one of them off with 'martlet config set features.second false'",
            ])
        #expect(composition.problems.allSatisfy { $0.code == .ambiguous })
    }

    @Test("A shared capability may have many providers, unless a feature needs exactly one")
    func ambiguous() throws {
        #expect(try greetings([First.self, Second.self]).count == 3)
        #expect(
            try compose([First.self, Second.self, Guest.self]).complaints
                == ["guest needs one Greeter, but first, second all provide one; switch off all but one"])
        #expect(try greetings([First.self, Guest.self]) == ["hello"])
    }

    @Test("Two features with the same single capability are reported once")
    func twice() throws {
        struct Other: PlainFeature {
            static let manifest = Manifest(id: "other", summary: "X", version: "1", provides: [.single(Alpha.self)])
            func register(in registry: inout RegistryBuilder) { registry.provide(Alpha.self, Alpha()) }
        }
        let composition = try compose([Source<Alpha>.self, Other.self, Link<Beta, Alpha>.self])
        #expect(composition.problems.map(\.code) == [.ambiguous])
        #expect(composition.problems.map(\.feature) == ["other"])
    }
}
