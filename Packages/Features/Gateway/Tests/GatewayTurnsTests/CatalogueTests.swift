import Capabilities
import CoreTesting
import GatewayStore
import JSON
import Synchronization
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Catalogue of models")
struct CatalogueTests {
    private static func model(_ id: String, _ ids: String...) -> ScriptedModel {
        ScriptedModel(id, models: { ids.map { ModelDescription(id: $0, provider: id) } })
    }

    @Test("A model is found by provider and name, or by name alone if only one provider has it")
    func names() async throws {
        let first = Self.model("first", "small", "large", "vendor/model")
        let second = Self.model("second", "small", "first/odd")
        try await Workshop.run(first, second) { (workshop) async throws in
            func found(_ name: String) async throws -> String {
                let model = try await workshop.turns.model(named: name)
                return "\(model.provider) \(model.id)"
            }
            #expect(try await found("first/small") == "first small")
            #expect(try await found("second/small") == "second small")
            #expect(try await found("large") == "first large")
            #expect(try await found("vendor/model") == "first vendor/model")
            #expect(try await found("first/vendor/model") == "first vendor/model")
            // A provider's prefix does not count if that provider has no such model.
            #expect(try await found("first/odd") == "second first/odd")
            #expect(try await found("martlet/martlet-offline") == "martlet martlet-offline")
            #expect(try await found("") == "first small")
            #expect(try await refusal { _ = try await found("small") } == .modelAmbiguous)
            for name in ["none", "first/none", "FIRST/small", "first/", "/small", "first", " large"] {
                #expect(try await refusal { _ = try await found(name) } == .modelNotFound, "\(name)")
            }
            #expect(await workshop.turns.models().map(\.id).last == "martlet-offline")
        }
    }

    @Test("A name of any length or kind makes a short error message")
    func badNames() async throws {
        try await Workshop.run(Self.model("first", "small")) { workshop in
            do {
                _ = try await workshop.turns.model(named: "sm\u{1B}[2J" + String(repeating: "x", count: 10_000))
                Issue.record("there is no such model")
            } catch let error as GatewayError {
                #expect(error.message.count < 300)
                #expect(!error.message.unicodeScalars.contains("\u{1B}"))
                #expect(error.param == "model" && error.status == 404)
            }
            await #expect { _ = try await workshop.turns.model(named: "smal") } throws: { error in
                (error as? GatewayError)?.message.contains("did you mean 'small'?") == true
            }
        }
    }

    @Test("The default is the setting, else the first provider with a model, else the built-in model")
    func defaults() async throws {
        var settings = TurnSettings()
        settings.defaultModel = "first/large"
        try await Workshop.run(Self.model("first", "small", "large"), settings: settings) { (workshop) async throws in
            #expect(try await workshop.turns.model(named: "").id == "large")
        }
        try await Workshop.run(Self.model("empty")) { (workshop) async throws in
            #expect(try await workshop.turns.model(named: "").id == "martlet-offline")
        }
        settings.defaultModel = "first/gone"
        try await Workshop.run(Self.model("first", "small"), settings: settings) { (workshop) async throws in
            #expect(try await refusal { _ = try await workshop.turns.model(named: "") } == .modelNotFound)
        }
    }

    @Test("Without a provider and a built-in model, no model is available, and the error says what to do")
    func nothing() async throws {
        try await Workshop.run { workshop in
            let turns = Turns(store: workshop.store, providers: { [] }, now: { Timestamp(microseconds: 1) })
            #expect(await turns.models().isEmpty)
            await #expect {
                _ = try await turns.model(named: "")
            } throws: { error in
                guard let error = error as? GatewayError, error.kind == .modelUnavailable else { return false }
                return error.message.hasPrefix("no model is available") && error.message.contains("martlet features")
            }
            await turns.close()
        }
    }

    @Test("A discovered server is offered, but used only by name")
    func found() async throws {
        let found = ScriptedModel("found", isFound: true)
        try await Workshop.run(found) { (workshop) async throws in
            #expect(await workshop.turns.models().map(\.provider) == ["found", "martlet"])
            #expect(try await workshop.turns.model(named: "").provider == "martlet")
            #expect(try await workshop.turns.model(named: "found/one").provider == "found")
        }
    }

    @Test("Models are listed at most once a minute, even by many concurrent requests")
    func cached() async throws {
        let time = Mutex<Int64>(0)
        let first = Self.model("first", "small")
        try await Workshop.run(first, now: { Timestamp(microseconds: time.withLock { $0 }) }) { workshop in
            await withTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { await workshop.turns.models().count } }
                for await count in group { #expect(count == 2) }
            }
            #expect(first.lists == 1)
            time.withLock { $0 = 59_999_999 }
            _ = await workshop.turns.models()
            #expect(first.lists == 1)
            time.withLock { $0 = 60_000_000 }
            _ = await workshop.turns.models()
            #expect(first.lists == 2)
            // A clock that was set back must not keep the list forever.
            time.withLock { $0 = 0 }
            _ = await workshop.turns.models()
            #expect(first.lists == 3)
        }
    }

    @Test("A provider whose list fails is left out, with an entry in the audit log")
    func leftOut() async throws {
        let broken = ScriptedModel("broken", models: { throw Refusal() })
        let away = ScriptedModel("away", isThere: false)
        try await Workshop.run(broken, away, Self.model("first", "small")) { workshop in
            #expect(await workshop.turns.models().map(\.provider) == ["first", "martlet"])
            #expect(try await refusal { _ = try await workshop.turns.model(named: "broken/one") } == .modelUnavailable)
            #expect(try await refusal { _ = try await workshop.turns.model(named: "away/one") } == .modelNotFound)
            let entries = try await workshop.audit()
            #expect(entries.map(\.action) == ["models.left-out"])
            #expect(entries.first?.subject == "broken")
            #expect(entries.first?.detail == "the server does not want to")
        }
    }

    @Test("A provider that does not respond does not delay the others")
    func hangs() async throws {
        let clock = TestClock()
        let hanging = ScriptedModel(
            "hanging",
            models: {
                try await TestClock().sleep(for: .seconds(1))
                return []
            })
        try await Workshop.run(hanging, Self.model("first", "small"), clock: clock) { workshop in
            let found = Promise<[ModelDescription]>()
            let asking = Task { [turns = workshop.turns] in found.settle(await turns.models()) }
            // Its timeout may start a moment after the request.
            while !found.isSettled {
                clock.advance(by: .seconds(10))
                await Task.yield()
            }
            await asking.value
            let models = try await found.value()
            #expect(models.map(\.provider) == ["first", "martlet"])
        }
    }
}
